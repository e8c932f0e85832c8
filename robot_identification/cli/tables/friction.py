"""Tables of friction: what was tried at the joints, and the law that was chosen."""

from __future__ import annotations

from rich.console import Console

from robot_identification.cli.tables.printing import print_table
from robot_identification.identification.friction.law import TRIED, FrictionLaw, tried_rows

_SHAPES = ("shape", "value", "std", "correlation with its term")


def print_friction(out: Console, law: FrictionLaw, joint_names: tuple[str, ...]) -> None:
    """Print the terms of every joint with their shapes, and what was tried."""
    if law.errors:
        before, after = law.errors
        tried = tried_rows(law, joint_names)
        title = (
            f"friction chosen on blocks left out: unexplained effort {before:.6f} before, "
            f"{after:.6f} after (gain: of the joint's squared residual)"
        )
        print_table(out, title, TRIED, tried)
        out.print()
    if law.shapes:
        shapes = [
            (shape.name, f"{shape.value:.4g}", f"{shape.std:.2g}", f"{shape.correlation:.2f}")
            for shape in law.shapes
        ]
        print_table(out, "shapes of friction, as estimated", _SHAPES, shapes)
        out.print()
