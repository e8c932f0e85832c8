"""Settings of plans of exciting motions."""

from __future__ import annotations

from dataclasses import dataclass, field

from robot_identification.errors import SettingError
from robot_identification.excitation.families.fourier_settings import FourierSettings
from robot_identification.excitation.search.points import PointSettings
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.model import RobotModel
from robot_identification.settings import Settings, setting

MODELS = ("energy", "dynamic")
QUINTIC, FOURIER = FAMILIES = ("quintic", "fourier")


@by_value
@dataclass(frozen=True)
class PlanSettings(Settings):
    """Settings of a plan.

    Attributes:
        points: how points are searched.
        start: (joints,) posture at which it starts and ends, at rest; None: zero, or the middle
            of the position range where zero is outside.
        fourier: periods of Fourier series; None: quintics through points.  Series are searched
            with the gradient, for the dynamic model, and have no other rows and duration.
    """

    # Energy: one row per interval (Gautier and Khalil 1992); dynamic: one per joint and sample.
    model: str = setting("regressor to optimise", "energy", choices=MODELS)
    points: PointSettings = field(default_factory=PointSettings)
    # Twice the number of base parameters, or one interval per 1.5 s.
    rows: int | None = setting(
        "rows of the energy model, or intervals with the dynamic one",
        minimum=2,
        maximum=100_000,
        metavar="R",
    )
    # The shortest that keeps the limits for the energy model, 30 s for the dynamic one.
    duration: float | None = setting(
        "duration to aim at", above=0.0, maximum=3600.0, unit="s", metavar="S"
    )
    start: Array | None = None
    share: float = setting(
        "share of the limits of velocity and acceleration that is used",
        0.98,
        above=0.0,
        maximum=1.0,
    )
    fourier: FourierSettings | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fourier is not None:
            self._check_fourier()

    def _check_fourier(self) -> None:
        """Refuse what only motions through points have."""
        wanted = (
            ("model", self.model, "the model dynamic", self.model == "dynamic"),
            ("rows", self.rows, "harmonics in place of rows", self.rows is None),
            ("duration", self.duration, "periods in place of a duration", self.duration is None),
            (
                "optimizer",
                ", ".join(self.points.optimizers),
                "the optimizer gradient",
                self.points.optimizers == ("gradient",),
            ),
        )
        for name, value, instead, fine in wanted:
            if not fine:
                raise SettingError(name, value, f"the family fourier takes {instead}")

    @property
    def family(self) -> str:
        """``quintic`` or ``fourier``."""
        return QUINTIC if self.fourier is None else FOURIER


def default_model(robot: RobotModel) -> str:
    """Return the model to plan with where nobody says: dynamic for a robot with friction.

    Friction adds integrals to the energy model that hardly differ from each other between points.
    """
    friction = any(term.dissipates for joint in robot.joints for term in joint.joint_terms)
    return "dynamic" if friction else "energy"
