"""Plan an exciting trajectory: points, motion between them, certificate."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field, replace

import numpy as np
import numpy.typing as npt

from robot_identification.errors import NotCertifiedError, SettingError
from robot_identification.excitation.certification.certificate import Certificate, certify
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.families.fourier_settings import Periodic
from robot_identification.excitation.motions.approach import slowed
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.random_points import condition_number
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.objective.unidentified import Unidentified, unidentified
from robot_identification.excitation.plan_settings import PlanSettings
from robot_identification.excitation.search import search
from robot_identification.excitation.search.optimizers import Cancelled, refuse_cancelled
from robot_identification.excitation.search.points import Progress, Quality
from robot_identification.identification.base.parameters import BaseParameters, base_parameters
from robot_identification.presentation import Drawn, Stored
from robot_identification.robot.arrays import Array, checked_vector
from robot_identification.robot.loops import refuse_loops
from robot_identification.robot.model import RobotModel

SINGULAR_VALUES_START, SINGULAR_VALUES = "singular_values_start", "singular_values"
"""Names of the singular values before and after the search, in plain data and files."""

_RATE_HZ = 50.0
_ATTEMPTS = 3
_SLOWER = tuple(0.9**i for i in range(1, 15))
"""Shares of the speed that are tried, one after the other, where efforts are too large."""
_ROOM = 0.03
"""Distance in m beyond the clearance that a search keeps on samples, for what lies between."""


@dataclass(frozen=True, repr=False)
class Plan(Stored, Drawn):
    """A certified exciting trajectory.

    Attributes:
        robot: name of the robot.
        trajectory: from rest to rest.
        certificate: passed.
        settings: how it was planned.
        before: quality of the system at the start of the search.
        after: quality of the system of the trajectory.
        trajectory_condition_number: condition number of the inverse dynamic model, friction
            included, sampled along the whole trajectory at 50 Hz.
        rows: rows of the system.
        optimizer: the one that won.
        reduced: whether velocities at points had to be reduced for the position limits.
        unidentified: parameters that the trajectory does not tell, and why.
        seconds: time that it took.
        description: the robot.
        periodic: the part that repeats; None where none does.
    """

    robot: str
    trajectory: Trajectory
    certificate: Certificate
    settings: PlanSettings
    before: Quality
    after: Quality
    trajectory_condition_number: float
    rows: int
    optimizer: str
    reduced: bool
    unidentified: tuple[Unidentified, ...]
    seconds: float
    description: RobotModel = field(compare=False)
    periodic: Periodic | None = None

    @property
    def headline(self) -> str:
        """Robot, duration and condition number, in one line."""
        return (
            f"{len(self.trajectory.times)} points in {self.trajectory.duration:.4g} s for "
            f"{self.robot}; condition number {self.trajectory_condition_number:.4g}"
        )

    def records(self) -> list[dict[str, object]]:
        """Return one row per point of the trajectory."""
        return self.trajectory.records()

    def summary(self) -> dict[str, object]:
        """Return the plain data of a plan that ``--json`` prints; the keys are stable."""
        return {
            "robot": self.robot,
            "model": self.settings.model,
            "family": self.settings.family,
            "periodic": None if self.periodic is None else asdict(self.periodic),
            "condition_number": self.after.condition_number,
            "equilibrium": self.after.equilibrium,
            "condition_number_start": self.before.condition_number,
            "equilibrium_start": self.before.equilibrium,
            "trajectory_condition_number": self.trajectory_condition_number,
            SINGULAR_VALUES_START: [float(x) for x in self.before.singular_values],
            SINGULAR_VALUES: [float(x) for x in self.after.singular_values],
            "rows": self.rows,
            "optimizer": self.optimizer,
            "missing_parameters": {one.name: one.reason for one in self.unidentified},
            "seed": self.settings.points.seed,
            "seconds": self.seconds,
            "points": len(self.trajectory.times),
            "duration": self.trajectory.duration,
            **self.certificate.summary(),
        }


def plan(
    robot: RobotModel,
    settings: PlanSettings | None = None,
    *,
    surroundings: Surroundings | None = None,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> Plan:
    """Plan an exciting trajectory and certify it.

    Where obstacles or the box of the tool point are in the way, other seeds and narrower position
    limits around the start are tried; where efforts are too large, the motion is slowed down.
    With a prior model, the criterion of the energy model counts the error to expect as well, and
    friction that follows the load follows that of the model; without, that of parameters of 1.

    Args:
        robot: the robot, with limits of position, velocity and acceleration.
        settings: how to plan.
        surroundings: prior model and obstacles.
        progress: told the stage and the fraction that is done.
        cancelled: asked now and then whether to stop, last before what was found is given out.

    Raises:
        MissingLimitError: a joint lacks a limit.
        SettingError: a setting is wrong, or the start is outside of the limits.
        NotCertifiedError: no trajectory that passes every check was found.
        CancelledError: if ``cancelled`` says so.
    """
    refuse_loops(robot, "the search for exciting motions")
    begin = time.monotonic()
    chosen = settings or PlanSettings()
    robot, around = (surroundings or Surroundings()).at_reference(robot)
    limits = MotionLimits.of(robot)
    posture = start_posture(robot, limits, chosen.start, around)
    base = base_parameters(robot)
    if around.prior is not None:
        base = replace(base, robot=robot.loaded_by(around.prior))
    chosen = _informed(chosen, base, around.prior)
    certificate: Certificate | None = None
    for attempt in range(_ATTEMPTS):
        inner = _around(limits, posture, 0.7**attempt, chosen.share)
        motions = search.search(
            base,
            inner,
            posture,
            chosen,
            seed_step=attempt,
            intrusion=around.intrusion(inner, _ROOM * 2**attempt),
            progress=progress,
            cancelled=cancelled,
        )
        for found in motions:
            refuse_cancelled(cancelled)
            trajectory, certificate = certified(robot, found.trajectory, posture, around)
            refuse_cancelled(cancelled)
            if not certificate.passed:
                continue
            speed = found.trajectory.duration / trajectory.duration
            series = chosen.fourier
            result = Plan(
                robot=robot.name,
                trajectory=trajectory,
                certificate=certificate,
                settings=chosen,
                before=found.before,
                after=found.after,
                trajectory_condition_number=condition_number(base, trajectory, _RATE_HZ),
                rows=found.rows,
                optimizer=found.optimizer,
                reduced=found.reduced,
                unidentified=unidentified(base, trajectory),
                seconds=time.monotonic() - begin,
                description=robot,
                periodic=None if series is None else Periodic.of(series, speed),
            )
            refuse_cancelled(cancelled)
            return result
    if certificate is not None:
        certificate.require()
    raise NotCertifiedError("limits", "no trajectory was found")


def start_posture(
    robot: RobotModel,
    limits: MotionLimits,
    start: npt.ArrayLike | None,
    surroundings: Surroundings,
) -> Array:
    """Return the posture to start from, after checking it.

    Args:
        robot: the robot.
        limits: its limits.
        start: (joints,) what is wanted; None: zero, or the middle of the position range where
            zero is outside, or where the robot would touch something there, a free posture near
            it.
        surroundings: what the robot must not touch.

    Raises:
        ShapeError: the number of positions is not that of the joints.
        SettingError: a position is outside of the limits.
        NotCertifiedError: the robot would touch something there, or no free posture was found.
    """
    if start is None:
        inside = (limits.lower < 0.0) & (limits.upper > 0.0)
        return surroundings.free_posture(limits, np.where(inside, 0.0, limits.middle))
    posture = checked_vector("start", start, len(robot.joints))
    for joint in np.flatnonzero(~((posture >= limits.lower) & (posture <= limits.upper))):
        raise SettingError(
            "start",
            float(posture[joint]),
            f"{robot.joint_names[joint]} has the limits {limits.lower[joint]:g} and "
            f"{limits.upper[joint]:g}",
        )
    surroundings.require_free(limits, posture)
    return posture


def _informed(settings: PlanSettings, base: BaseParameters, prior: Array | None) -> PlanSettings:
    """Return the settings with what the prior model says about the base parameters."""
    criterion = settings.points.criterion
    if settings.model != "energy" or criterion.prior is not None or prior is None:
        return settings
    values = base.values(prior[base.columns])
    if not values.any():
        return settings
    points = replace(settings.points, criterion=replace(criterion, prior=values))
    return replace(settings, points=points)


def _around(limits: MotionLimits, posture: Array, reach: float, share: float) -> MotionLimits:
    """Return the limits to plan with: shares of them, and a part of the ranges that has the start.

    The margin of positions is for rounding only; that of the others is for the controller too.
    """
    inner = limits.tightened(0.999, share, share)
    lower = posture + reach * (inner.lower - posture)
    upper = posture + reach * (inner.upper - posture)
    return MotionLimits(
        np.minimum(lower, posture),
        np.maximum(upper, posture),
        inner.velocity,
        inner.acceleration,
        share * inner.jerk,
        inner.effort,
    )


def certified(
    robot: RobotModel,
    trajectory: Trajectory,
    posture: Array,
    surroundings: Surroundings,
) -> tuple[Trajectory, Certificate]:
    """Return the trajectory, slowed down as far as its efforts need, and its certificate.

    Where no speed helps, it is the trajectory as it was, refused.

    Args:
        robot: the robot, with limits of position, velocity and acceleration.
        trajectory: to be certified.
        posture: (joints,) where it must begin.
        surroundings: prior model and obstacles.
    """
    refuse_loops(robot, "the certification of motions")
    certificate = certify(robot, trajectory, start=posture, surroundings=surroundings)
    if certificate.results.get("effort", True):
        return trajectory, certificate
    # A motion has all lower speeds in its tube: where the slowest is refused, so are the others.
    slowest = slowed(trajectory, _SLOWER[-1]).reordered(robot.joint_names)
    efforts = surroundings.efforts(robot, slowest, MotionLimits.of(robot))
    if efforts is not None and not efforts.kept:
        return trajectory, certificate
    for speed in _SLOWER:
        slower = slowed(trajectory, speed)
        certificate = certify(robot, slower, start=posture, surroundings=surroundings)
        if certificate.results["effort"]:
            break
    return slower, certificate
