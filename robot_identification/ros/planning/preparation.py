"""Motions that are ready to begin: a plan and the way to its start, certified as things are now."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from robot_identification.collision.clearance import Clearance, Nearest
from robot_identification.errors import NotCertifiedError
from robot_identification.excitation.certification import checks
from robot_identification.excitation.certification.certificate import (
    START_TOLERANCE,
    Certificate,
    certify,
)
from robot_identification.excitation.motions.approach import approach, slowed
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.one_joint.plan import OneJointPlan
from robot_identification.robot.arrays import Array
from robot_identification.ros.planning.planning import (
    AnyPlan,
    Machine,
    PlanningJob,
    Sources,
    load_machine,
)
from robot_identification.ros.planning.reserve import missing_reserve


@dataclass(frozen=True)
class Prepared:
    """A motion whose every part is certified.

    Attributes:
        machine: the robot.
        run: what it is to follow.
        approach: the way to its start; None where the robot stands there.
        braking_time: longest time from the order to brake to rest, in s.
        obstacles: the smallest distances that were met, or why they are not checked, for people.
        nearest: where bodies are closest along ``run``; None where that is not known.
    """

    machine: Machine
    run: Trajectory
    approach: Trajectory | None
    braking_time: float
    obstacles: str
    nearest: Nearest | None

    @property
    def motions(self) -> tuple[Trajectory, ...]:
        """Approach and run."""
        return (self.run,) if self.approach is None else (self.approach, self.run)


def require_reserve(machine: Machine, position: Array, sources: Sources) -> None:
    """Refuse to begin where a robot stands too near to a limit of position.

    Args:
        machine: the robot.
        position: (joints,) where it stands, in rad or m.
        sources: what it was loaded from.

    Raises:
        NotCertifiedError: with each such joint, its limit, the reserve, and where it must go.
    """
    problem = missing_reserve(machine.described, machine.limits, position, sources.tracking_error)
    if problem:
        raise NotCertifiedError("position", problem)


def _require_still_certified(now: Certificate) -> None:
    """Refuse a plan that passes no more, and say what has changed.

    Raises:
        NotCertifiedError: naming the first check that is not passed, and what to do.
    """
    failed = next((check for check in now.checks if not check.passed), None)
    if failed is not None:
        raise NotCertifiedError(
            failed.name,
            f"{failed.detail}; the plan passed when it was made, and limits, cell or "
            "tracking_error_limit are others now: plan again, or set them back",
        )


def prepare(
    job: PlanningJob,
    plan: AnyPlan,
    position: Array,
    *,
    since: int | None = None,
    speed: float = 1.0,
    approach_speed: float = 0.2,
) -> Prepared:
    """Certify a plan once more, for the files as they are now, and the way to its start.

    Args:
        job: what the plan was made for.
        plan: the plan.
        position: (joints,) where the robot stands.
        since: place of the experiment to begin with, of a plan that has any; None: the whole plan.
        speed: share of the planned speed.
        approach_speed: share of the limits for the approach.

    Raises:
        NotCertifiedError: a limit is not kept any more, plan or robot have changed, the robot
            stands too near to a limit, or a joint that is to be held stands elsewhere or would have
            to move on the way.
        MissingLimitError: a limit is gone.
        SettingError: there is no such experiment.
    """
    machine = load_machine(job.sources)
    run, room = plan.trajectory.reordered(machine.robot.joint_names), machine.surroundings
    now = certify(machine.robot, plan.trajectory, start=run.positions[0], surroundings=room)
    _require_still_certified(now)
    if now.digest != plan.certificate.digest:
        raise NotCertifiedError("hash", "robot or trajectory have changed since; plan again")
    if since is not None and isinstance(plan, OneJointPlan):
        run = plan.since(since).reordered(machine.robot.joint_names)
        now = certify(machine.robot, run, surroundings=room)
        now.require()
    run, start = slowed(run, speed), run.positions[0]
    # The tube in which distances are checked is that of all lower speeds, too.
    if speed < 1.0:
        slow = certify(machine.robot, run, surroundings=replace(room, collisions=None))
        slow.require()
    else:
        slow = now
    clearance = _slowed_clearance(now.clearance, speed)
    told = "" if clearance is None else checks.obstacles(clearance).detail
    way, longest, obstacles = None, machine.braking_time(slow), [told]
    if abs(position - start).max() > START_TOLERANCE:
        _require_held(machine, start, position, job.sources.held)
        require_reserve(machine, position, job.sources)
        way, certificate = approach(
            machine.robot, run, position, speed=approach_speed, surroundings=room
        )
        certificate.require()
        _require_still(way, job.sources.held)
        longest = max(longest, machine.braking_time(certificate))
        obstacles = [f"approach: {certificate.obstacles}", f"trajectory: {told}"]
    if not machine.surroundings.checked:
        obstacles = [machine.surroundings.unchecked]
    nearest = None if clearance is None else clearance.nearest
    return Prepared(machine, run, way, longest, "; ".join(obstacles), nearest)


def _require_held(machine: Machine, start: Array, position: Array, held: Collection[str]) -> None:
    """Refuse an approach that would move a joint that is to be held."""
    away = dict(zip(machine.robot.joint_names, np.abs(position - start), strict=True))
    for name in held:
        if away[name] > START_TOLERANCE:
            raise NotCertifiedError(
                "start",
                f"{name} is not to be moved and stands {away[name]:.4g} from where the plan holds "
                "it; plan again",
            )


def _require_still(way: Trajectory, held: Collection[str]) -> None:
    """Refuse a way around something that moves a joint that is to be held."""
    swept = dict(zip(way.joint_names, np.ptp(way.positions, axis=0), strict=True))
    for name in held:
        if swept[name] > START_TOLERANCE:
            raise NotCertifiedError(
                "obstacles", f"no way to the start was found that leaves {name} where it is"
            )


def _slowed_clearance(found: Clearance | None, speed: float) -> Clearance | None:
    """Return what was found of the distances of a motion, with the times at a lower speed."""
    if found is None or found.nearest is None:
        return found
    return replace(found, nearest=replace(found.nearest, time=found.nearest.time / speed))
