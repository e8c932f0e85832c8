"""The current experiment of a motion, and the one from which it can go on after a stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from robot_identification.action import ExecuteExcitation
from robot_identification.errors import NothingInterruptedError
from robot_identification.excitation.one_joint.plan import OneJointPlan
from robot_identification.ros.common.jobs import refuse
from robot_identification.ros.common.joint_states import NANOSECONDS
from robot_identification.ros.controllers.transport import Transport
from robot_identification.ros.messages.error_codes import CODES
from robot_identification.ros.planning.planning import AnyPlan
from robot_identification.ros.supervision.phases import Phase, Reason
from robot_identification.ros.supervision.supervisor import MotionSupervisor

_BEGIN_ANEW = "~/start begins from the beginning"


def experiment_count(plan: AnyPlan) -> int:
    """Return of how many experiments a plan consists; a plan of points is one."""
    return len(plan.schedule) if isinstance(plan, OneJointPlan) else 1


@dataclass(frozen=True)
class Course:
    """A motion through the experiments of a plan.

    Attributes:
        plan: the plan.
        motion: the motion that executes it, or what is left of it.
        speed: share of the planned speed.
        since: place of the experiment that the motion begins with; None: the whole plan.
        transport: what it goes by; None: nothing is known of the controller.
    """

    plan: AnyPlan
    motion: MotionSupervisor
    speed: float = 1.0
    since: int | None = None
    transport: Transport | None = None

    @property
    def under_way(self) -> int:
        """Place of the experiment under way, or of the one that comes next; after a stop likewise.

        The number of experiments where all of them are over.
        """
        plan = self.plan
        if not isinstance(plan, OneJointPlan):
            return 0
        origin = 0.0 if self.since is None else plan.schedule[self.since].begin
        return plan.under_way(origin + self.motion.reached * self.speed)

    @property
    def number(self) -> int:
        """Number of that experiment from 1; that of the last one where all of them are over."""
        return min(self.under_way + 1, experiment_count(self.plan))

    def share_done(self, now: int) -> float:
        """Return the share of approach and trajectory that is done, 0 to 1, at a time in ns."""
        motion = self.motion
        way = 0.0 if motion.approach is None else motion.approach.duration
        done = way + motion.reached
        if motion.phase is Phase.APPROACHING and motion.command is not None:
            done = min(max((now - motion.command.start) / NANOSECONDS, 0.0), way)
        return done / (way + motion.run.duration)

    @property
    def text(self) -> str:
        """Description of the present phase, and what the controller says."""
        said = "" if self.transport is None else self.transport.text
        return f"{self._phase}; {said}" if said else self._phase

    @property
    def _phase(self) -> str:
        """Description of the present phase."""
        plan, motion = self.plan, self.motion
        if not isinstance(plan, OneJointPlan) or self.under_way == len(plan.schedule):
            return motion.text
        place = f"experiment {self.number} of {len(plan.schedule)}"
        if motion.phase is Phase.RUNNING:
            experiment = plan.schedule[self.under_way].experiment.motion
            names = plan.joint_names
            return (
                f"{place}: {names[experiment.moving]} moves, the effort of "
                f"{names[experiment.measured]} is read"
            )
        if motion.phase in (Phase.STOPPED, Phase.FAULT):
            return f"{motion.text}; ~/continue goes on with {place}"
        return motion.text

    def interrupted(self) -> int:
        """Return the place of the experiment that a stop has interrupted, or that was to come next.

        Raises:
            NothingInterruptedError: there is none.
        """
        if not isinstance(self.plan, OneJointPlan):
            raise NothingInterruptedError(
                f"only a plan of one joint at a time can be continued; {_BEGIN_ANEW}"
            )
        if self.motion.phase is Phase.FINISHED or self.under_way == len(self.plan.schedule):
            raise NothingInterruptedError(f"every experiment is done; {_BEGIN_ANEW}")
        return self.under_way


def conclude(result: ExecuteExcitation.Result, course: Course) -> Any:
    """Return the result of a motion that is over.

    A stop that was asked for is CANCELLED if the robot is at rest; whatever else kept the motion
    from its end is STATE_STALE: the robot is not where it should be, or does not say where it is.
    """
    motion = course.motion
    if motion.phase is Phase.FINISHED:
        result.success, result.error_code = True, CODES.OK
        result.message = course.text
        return result
    asked = motion.phase is Phase.STOPPED and motion.reason is Reason.REQUESTED
    return refuse(result, CODES.CANCELLED if asked else CODES.STATE_STALE, course.text)
