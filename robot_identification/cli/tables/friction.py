"""Tables of friction: what was tried at the joints, and the law that was chosen."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from robot_identification.cli.tables.printing import print_table
from robot_identification.identification.friction.law import FrictionLaw
from robot_identification.identification.friction.selection import Tried

_SHAPES = ("shape", "value", "std", "correlation with its term")


def print_friction(out: Console, law: FrictionLaw, joint_names: Sequence[str]) -> None:
    """Print the terms of every joint with their shapes, and what was tried."""
    if law.errors:
        before, after = law.errors
        tried = [_row(one, joint_names) for one in _best(law.tried)]
        columns = ("joint", "term", "shape", "for", "gain", "std", "value/std", "")
        title = (
            f"friction chosen on blocks left out: unexplained effort {before:.6f} before, "
            f"{after:.6f} after (gain: of the joint's squared residual)"
        )
        print_table(out, title, columns, tried)
        out.print()
    if law.shapes:
        shapes = [
            (shape.name, f"{shape.value:.4g}", f"{shape.std:.2g}", f"{shape.correlation:.2f}")
            for shape in law.shapes
        ]
        print_table(out, "shapes of friction, as estimated", _SHAPES, shapes)
        out.print()


def _best(tried: Sequence[Tried]) -> list[Tried]:
    """Return of every joint and term the trial that was chosen, or that gained most."""
    found: dict[tuple[int, str], Tried] = {}
    for one in tried:
        key = one.joint, one.term
        known = found.get(key)
        if known is None or (one.chosen, one.gain) > (known.chosen, known.gain):
            found[key] = one
    return list(found.values())


def _row(one: Tried, joint_names: Sequence[str]) -> tuple[str, ...]:
    return (
        joint_names[one.joint],
        one.term,
        " ".join(f"{value:.3g}" for value in one.shape),
        one.replaces,
        f"{one.gain:.3f}",
        f"{one.gain_std:.3f}",
        f"{one.value_over_std:.1f}",
        f"chosen in step {one.step}" if one.chosen else one.reason,
    )
