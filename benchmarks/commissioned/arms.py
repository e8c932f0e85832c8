"""Arms of example-robot-data that are commissioned in MuJoCo, and where they stand at first."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from pushes.arms import ARMS as PUSHED
from pushes.arms import fixed, gains

from engines import example
from mujoco_arms import ARMS as EXAMPLES
from mujoco_arms import Arm

_STIFF = 4.0  # times the gains of the example: an industrial arm follows within hundredths of a rad


@dataclass(frozen=True)
class CommissionedArm:
    """An arm, and what its URDF does not say.

    Attributes:
        home: position at first, rad: clear of itself and of the plane below.
        urdf: its file in example-robot-data; empty: all else is the example's of this name.
        drives: drive inertia `Ia`, friction `Fv` and `Fc`, one per joint.
        still: joints that are fixed.
    """

    home: tuple[float, ...]
    urdf: str = ""
    drives: dict[str, tuple[float, ...]] = field(default_factory=dict)
    still: tuple[str, ...] = ()

    def described(self, name: str, folder: Path) -> Arm:
        """Return it with its gains; a URDF with fixed joints is written into a folder."""
        if not self.urdf:
            return _stiffer(EXAMPLES[name])
        urdf = folder / f"{name}.urdf"
        urdf.write_text(fixed(example(self.urdf).read_text(), self.still))
        return _stiffer(Arm(str(urdf), name, *gains(urdf, self.drives), self.drives, 8.0))


def _stiffer(arm: Arm) -> Arm:
    return replace(
        arm,
        kp=tuple(_STIFF * gain for gain in arm.kp),
        kd=tuple(_STIFF**0.5 * gain for gain in arm.kd),
    )


_UR = (0.0, -1.2, 1.4, -1.4, -1.4, 0.0)
ARMS = {
    "xarm7": CommissionedArm((0.0, -0.6, 0.0, 1.2, 0.0, 1.2, 0.0)),
    "ur5": CommissionedArm(_UR),
    "ur3": CommissionedArm(
        _UR,
        "ur_description/urdf/ur3_robot.urdf",
        {
            "Ia": (0.8, 0.8, 0.4, 0.1, 0.1, 0.1),
            "Fv": (4.0, 4.0, 3.0, 1.0, 1.0, 1.0),
            "Fc": (3.0, 3.0, 2.0, 0.8, 0.8, 0.8),
        },
    ),
    "ur10": CommissionedArm(
        _UR,
        "ur_description/urdf/ur10_robot.urdf",
        {
            "Ia": (3.0, 3.0, 1.5, 0.4, 0.4, 0.4),
            "Fv": (20.0, 20.0, 12.0, 3.0, 3.0, 3.0),
            "Fc": (12.0, 12.0, 8.0, 2.0, 2.0, 2.0),
        },
    ),
    "panda": CommissionedArm(
        (0.0, -0.3, 0.0, -1.6, 0.0, 2.4, 0.6),
        PUSHED["panda"].urdf,
        PUSHED["panda"].drives,
        PUSHED["panda"].still,
    ),
    "kinova": CommissionedArm(
        (0.0, 2.9, 1.3, 4.2, 1.4, 0.0), PUSHED["kinova"].urdf, PUSHED["kinova"].drives
    ),
    "z1": CommissionedArm(
        (0.0, 1.0, -1.0, 0.0, 0.0, 0.0),
        "z1_description/urdf/z1.urdf",
        {
            "Ia": (0.05,) * 6,
            "Fv": (1.0, 1.0, 1.0, 0.5, 0.5, 0.5),
            "Fc": (0.5, 0.5, 0.5, 0.3, 0.3, 0.3),
        },
        ("jointGripper",),
    ),
}
