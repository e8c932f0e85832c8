"""The certificate of a motion: every check that a robot's trajectory must pass before it moves.

Controllers of trajectories refuse neither NaN nor repeated names nor violated limits, so that this
may be the only gate.  Every limit is checked on the exact extrema of the polynomials, and again on
the interpolation that a joint_trajectory_controller makes of the published points, whose times
are whole nanoseconds.  The run and the braking motions from all of its intervals are covered;
:func:`~robot_identification.excitation.motions.approach.approach` covers the way to its start.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import get_args

import numpy as np
import numpy.typing as npt

from robot_identification.collision.clearance import Clearance, Nearest
from robot_identification.collision.model import CollisionModel
from robot_identification.errors import NotCertifiedError
from robot_identification.excitation.certification import checks
from robot_identification.excitation.certification.checks import Check
from robot_identification.excitation.certification.effort_bounds import Efforts
from robot_identification.excitation.certification.surroundings import Surroundings, nearest_on
from robot_identification.excitation.motions.braking import braking_times
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.timing import motion_extrema
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.presentation import Stored
from robot_identification.robot.limits import (
    Limit,
    StatedLimit,
    limits_by_joint,
    sources_in_words,
    stated_limits,
    wider_than_urdf,
)
from robot_identification.robot.model import RobotModel

START_TOLERANCE = 0.01


@dataclass(frozen=True, repr=False)
class Certificate(Stored):
    """Certificate of one trajectory of one robot: every check with its worst value.

    Attributes:
        checks: every check with its result; a check that needs something unknown, such as the
            jerk limit, is absent.
        braking_time: longest time in which braking brings a state of the trajectory to rest, in s;
            the time in which the acceleration falls to zero before that is not in it.
        digest: SHA-256 of robot, trajectory and results, hexadecimal.
        remarks: what was not checked, and what was assumed, for people.
        clearance: what was found of distances; None where obstacles were not checked.
        efforts: what was found of efforts; None without a prior model.
        limits: the limits that were checked, each with where it stands.
    """

    checks: tuple[Check, ...]
    braking_time: float
    digest: str
    remarks: tuple[str, ...] = ()
    clearance: Clearance | None = None
    efforts: Efforts | None = None
    limits: tuple[StatedLimit, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every check was passed."""
        return all(check.passed for check in self.checks)

    @property
    def results(self) -> Mapping[str, bool]:
        """Name of every check and whether it was passed."""
        return {check.name: check.passed for check in self.checks}

    @property
    def obstacles(self) -> str:
        """Result of the check of obstacles in words; empty where there was none."""
        found = (check.detail for check in self.checks if check.name == checks.OBSTACLES)
        return next(found, "")

    @property
    def refusal(self) -> str:
        """The checks that were not passed, in words; empty where all were.

        Distances are not computed of a motion that another check refuses, which is said too.
        """
        failed = [f"{check.name}: {check.detail}" for check in self.checks if not check.passed]
        if failed and not self.obstacles:
            failed.append("distances to obstacles were not checked")
        return "; ".join(failed)

    @property
    def limit_sources(self) -> str:
        """Where the limits stand that were checked, for people; empty where nobody knows."""
        return sources_in_words(self.limits)

    def nearest(self, collisions: CollisionModel, trajectory: Trajectory) -> Nearest | None:
        """Return where robot and cell are closest, to be shown.

        That is what the check of obstacles has met; where capsules around the bodies were enough
        for it, the smallest distance at many postures of the motion.

        Args:
            collisions: robot and cell.
            trajectory: the motion; its joints in the robot's order.
        """
        if self.clearance is not None and self.clearance.nearest is not None:
            return self.clearance.nearest
        return nearest_on(collisions, trajectory)

    def told(self, name: str, more: str) -> Certificate:
        """Return the certificate with more said of one of its checks, for people."""
        return replace(
            self,
            checks=tuple(
                replace(check, detail=f"{check.detail}; {more}") if check.name == name else check
                for check in self.checks
            ),
        )

    def require(self) -> None:
        """Refuse what has not passed.

        Raises:
            NotCertifiedError: naming the first check that was not passed.
        """
        for check in self.checks:
            if not check.passed:
                raise NotCertifiedError(check.name, check.detail)

    @property
    def headline(self) -> str:
        """Whether every check was passed, in one line."""
        refused = [check.name for check in self.checks if not check.passed]
        told = f"refused: {', '.join(refused)}" if refused else "passed"
        return f"{told}; {len(self.checks)} checks, at rest within {self.braking_time:.2g} s"

    def records(self) -> list[dict[str, object]]:
        """Return one row per check."""
        return [asdict(check) for check in self.checks]

    def summary(self) -> dict[str, object]:
        """Return the plain data of a certificate that ``--json`` prints; the keys are stable."""
        return {
            "certificate": dict(self.results),
            "remarks": list(self.remarks),
            "clearance": _clearance_summary(self.clearance),
            "efforts": _effort_summary(self.efforts),
            "limits": limits_by_joint(self.limits),
            "braking_time": self.braking_time,
            "sha256": self.digest,
        }


def _clearance_summary(clearance: Clearance | None) -> Mapping[str, object] | None:
    """Return the smallest distance that was met; None where obstacles were not checked."""
    if clearance is None:
        return None
    nearest = clearance.nearest
    return {
        "kept": clearance.kept,
        "wanted": clearance.wanted,
        "smallest": None
        if nearest is None
        else {
            "distance": nearest.distance,
            "pair": list(nearest.pair),
            "time": nearest.time,
            "braking": nearest.braking,
        },
    }


def _effort_summary(efforts: Efforts | None) -> Mapping[str, object] | None:
    """Return the largest effort of every joint; None where no prior model was given."""
    if efforts is None:
        return None
    return {
        peak.joint: {
            "bound": peak.bound,
            "reached": peak.reached,
            "limit": peak.limit if np.isfinite(peak.limit) else None,
            "unit": peak.unit,
            "time": peak.time,
            "speed": peak.speed,
            "braking": peak.braking,
        }
        for peak in efforts.peaks
    }


def certify(
    robot: RobotModel,
    trajectory: Trajectory,
    *,
    start: npt.ArrayLike | None = None,
    surroundings: Surroundings | None = None,
) -> Certificate:
    """Check a trajectory against everything that is known.

    Args:
        robot: the robot, with limits of position, velocity and acceleration.
        trajectory: what is to be published.
        start: (joints,) posture that it must begin at, within 0.01 rad or m; None: anywhere.
        surroundings: prior model and obstacles.

    Returns:
        The certificate, passed or not.

    Raises:
        MissingLimitError: without limits there is nothing to certify.
        ShapeError, SettingError: the surroundings are those of another robot.
    """
    robot, around = (surroundings or Surroundings()).at_reference(robot)
    limits, names = MotionLimits.of(robot), checks.names(robot, trajectory.joint_names)
    found = [Check("finite", True), names, checks.times(trajectory)]
    braking_time, clearance, efforts = float("nan"), None, None
    if all(check.passed for check in found):
        ordered = trajectory.reordered(robot.joint_names)
        efforts = around.efforts(robot, ordered, limits)
        found += _motion_checks(robot, ordered, limits, start)
        found += _model_checks(robot, ordered, limits, around, efforts)
        if all(check.passed for check in found):
            clearance = around.clearance(ordered, limits)
            found += [] if clearance is None else [checks.obstacles(clearance)]
        extrema = motion_extrema(ordered.coefficients, np.diff(ordered.times))
        fastest = np.abs(extrema[1]).max(axis=(0, 1))
        braking_time = float(braking_times(limits, fastest).max())
    digest = digest_of(robot, trajectory, found)
    return Certificate(
        tuple(found),
        braking_time,
        digest,
        around.remarks,
        clearance,
        efforts,
        stated_limits(robot),
    )


def certify_values(
    robot: RobotModel,
    joint_names: Sequence[str],
    times: npt.ArrayLike,
    positions: npt.ArrayLike,
    velocities: npt.ArrayLike,
    accelerations: npt.ArrayLike,
    *,
    start: npt.ArrayLike | None = None,
    surroundings: Surroundings | None = None,
) -> Certificate:
    """Check values that need not even form a trajectory; see :func:`certify`.

    Args:
        robot: the robot.
        joint_names: names of the columns.
        times: (points,) in s.
        positions: (points, joints) in rad or m.
        velocities: (points, joints).
        accelerations: (points, joints).
        start: as for :func:`certify`.
        surroundings: as for :func:`certify`.

    Raises:
        MissingLimitError: without limits there is nothing to certify.
    """
    MotionLimits.of(robot)
    clock = np.asarray(times, dtype=np.float64)
    values = [np.asarray(x, dtype=np.float64) for x in (positions, velocities, accelerations)]
    shape = (clock.size, len(joint_names))
    fits = clock.ndim == 1 and all(x.shape == shape for x in values)
    finite = all(bool(np.isfinite(x).all()) for x in (clock, *values))
    found = [
        Check("finite", finite, "" if finite else "a value is NaN or infinite"),
        checks.names(robot, joint_names),
        Check("times", fits and checks.rising(clock), "times must rise, one for every point"),
    ]
    if not all(check.passed for check in found):
        return Certificate(tuple(found), float("nan"), "")
    trajectory = Trajectory(tuple(joint_names), clock, *values)
    return certify(robot, trajectory, start=start, surroundings=surroundings)


def _motion_checks(
    robot: RobotModel,
    trajectory: Trajectory,
    limits: MotionLimits,
    start: npt.ArrayLike | None,
) -> list[Check]:
    found = [_with_source(robot, check) for check in checks.limits(trajectory, limits)]
    found.append(checks.interpolation(trajectory, limits))
    found.append(checks.rest(trajectory, limits))
    if start is not None:
        found.append(checks.start(robot, trajectory, start, START_TOLERANCE))
    found.append(checks.braking(trajectory, limits))
    return found


def _model_checks(
    robot: RobotModel,
    trajectory: Trajectory,
    limits: MotionLimits,
    surroundings: Surroundings,
    efforts: Efforts | None,
) -> list[Check]:
    found = []
    if efforts is not None and np.isfinite(limits.effort).any():
        found.append(checks.effort(efforts))
    tool = surroundings.tool(robot, trajectory, limits)
    return found if tool is None else [*found, tool]


def _with_source(robot: RobotModel, check: Check) -> Check:
    """Return a check that says where the limit goes beyond that of the URDF."""
    kinds: dict[str, Limit] = {name: name for name in get_args(Limit)}
    wider = wider_than_urdf(robot, kinds[check.name])
    return replace(check, detail="; ".join([check.detail, *wider]))


def digest_of(
    robot: RobotModel,
    trajectory: Trajectory,
    found: Sequence[Check],
) -> str:
    """Return the SHA-256 of robot, trajectory and results of checks, hexadecimal.

    What stands around the robot is not part of it, nor whether that was checked: who uses a plan
    certifies it again, for the cell as it is then.
    """
    content = hashlib.sha256(
        f"{robot.name} {robot.digest} {' '.join(trajectory.joint_names)}".encode()
    )
    for values in (
        trajectory.times, trajectory.positions, trajectory.velocities, trajectory.accelerations,
    ):  # fmt: skip
        content.update(b"-" if values is None else np.ascontiguousarray(values).tobytes())
    for check in found:
        if check.name != checks.OBSTACLES:
            content.update(f"{check.name} {check.passed}".encode())
    return content.hexdigest()
