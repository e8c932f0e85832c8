"""Arms of example-robot-data that are commissioned in MuJoCo, and where they stand at first."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
        urdf: its file in example-robot-data.
        home: position at first, rad: clear of itself and of the plane below.
        drives: drive inertia `Ia`, friction `Fv` and `Fc`, one per joint; empty: the example's.
        still: joints that are fixed.
    """

    urdf: str
    home: tuple[float, ...]
    drives: dict[str, tuple[float, ...]]
    still: tuple[str, ...] = ()

    def described(self, name: str, folder: Path) -> Arm:
        """Return it with its gains; a URDF with fixed joints is written into a folder."""
        if not self.drives:
            arm = EXAMPLES[name]
            return _stiffer(replace(arm, urdf=str(example(arm.urdf))))
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
    "xarm7": CommissionedArm(EXAMPLES["xarm7"].urdf, (0.0, -0.6, 0.0, 1.2, 0.0, 1.2, 0.0), {}),
    "ur5": CommissionedArm(EXAMPLES["ur5"].urdf, _UR, {}),
    "ur3": CommissionedArm(
        "ur_description/urdf/ur3_robot.urdf",
        _UR,
        {
            "Ia": (0.8, 0.8, 0.4, 0.1, 0.1, 0.1),
            "Fv": (4.0, 4.0, 3.0, 1.0, 1.0, 1.0),
            "Fc": (3.0, 3.0, 2.0, 0.8, 0.8, 0.8),
        },
    ),
    "ur10": CommissionedArm(
        "ur_description/urdf/ur10_robot.urdf",
        _UR,
        {
            "Ia": (3.0, 3.0, 1.5, 0.4, 0.4, 0.4),
            "Fv": (20.0, 20.0, 12.0, 3.0, 3.0, 3.0),
            "Fc": (12.0, 12.0, 8.0, 2.0, 2.0, 2.0),
        },
    ),
    "panda": CommissionedArm(
        PUSHED["panda"].urdf,
        (0.0, -0.3, 0.0, -1.6, 0.0, 2.4, 0.6),
        PUSHED["panda"].drives,
        PUSHED["panda"].still,
    ),
    "kinova": CommissionedArm(
        PUSHED["kinova"].urdf, (0.0, 2.9, 1.3, 4.2, 1.4, 0.0), PUSHED["kinova"].drives
    ),
    "z1": CommissionedArm(
        "z1_description/urdf/z1.urdf",
        (0.0, 1.0, -1.0, 0.0, 0.0, 0.0),
        {
            "Ia": (0.05,) * 6,
            "Fv": (1.0, 1.0, 1.0, 0.5, 0.5, 0.5),
            "Fc": (0.5, 0.5, 0.5, 0.3, 0.3, 0.3),
        },
        ("jointGripper",),
    ),
}
