"""Plans for the excitation node: from a request to a certified plan that is kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from rclpy.node import Node
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectory

from robot_identification.errors import CancelledError, NoPlanError, SettingError
from robot_identification.msg import Progress as ProgressMessage
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel
from robot_identification.ros.common import qos
from robot_identification.ros.common.jobs import Job, JobSlot
from robot_identification.ros.common.parameters.declaration import NodeParameters, output_folder
from robot_identification.ros.excitation.markers import MarkerPublisher
from robot_identification.ros.excitation.other_arms import OtherArms
from robot_identification.ros.excitation.parameters import ExcitationParameters
from robot_identification.ros.messages.progress import ProgressReporter
from robot_identification.ros.messages.trajectories import message_of
from robot_identification.ros.planning.planning import Machine, PlanningJob, load_machine
from robot_identification.ros.planning.requests import file_of, fill_plan, job_of
from robot_identification.ros.planning.reserve import missing_reserve
from robot_identification.ros.planning.worker import Failed, Planned, PlanningWorker, Progress

_STATE_WITHIN = 2.0  # s; a node that has just begun may find the driver a second later


@dataclass(frozen=True)
class _Wait:
    """A plan that waits for a joint state: until when, by the clock of the planner."""

    job: Job
    over: Future
    until: float


class Planner:
    """Has plans made in a process of their own, and keeps the last one.

    Args:
        node: the node.
        robot: the robot.
        slot: turns failures into answers.
        parameters: of the node.
        markers: shows plans.
        arms: know where other robots stand.
        place: returns the (joints,) position of the robot; None where that is not known.
        problem: tells why that is not known.
        kept: called when a plan takes the place of the one before.
        changed: called when a plan is begun, kept or given up; after ``kept``.
        clock: time in s that never jumps.

    Attributes:
        planned: the last certified plan; None before the first.
    """

    def __init__(
        self,
        node: Node,
        robot: RobotModel,
        slot: JobSlot,
        parameters: NodeParameters[ExcitationParameters],
        *,
        markers: MarkerPublisher,
        arms: OtherArms,
        place: Callable[[], Array | None],
        problem: Callable[[], str],
        kept: Callable[[], None],
        changed: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._node, self._robot, self._slot, self._parameters = node, robot, slot, parameters
        self._markers, self._arms = markers, arms
        self._place, self._problem, self._kept, self._changed = place, problem, kept, changed
        self._clock = clock
        self._wait: _Wait | None = None
        self._outputs = output_folder(node, parameters.now.output_directory)
        self._wanted: PlanningJob | None = None
        self.planned: Planned | None = None
        self._outcome: Any = None  # future of the outcome of the plan under way
        self._worker = PlanningWorker(parameters.now.planning_niceness)
        self._progress = node.create_publisher(ProgressMessage, "~/progress", qos.STATUS)
        self._trajectories = node.create_publisher(
            JointTrajectory, "~/planned_trajectory", qos.LATCHED
        )
        self._report = self._reporter(lambda _: None)

    def _reporter(self, listener: Callable[[ProgressMessage], None]) -> ProgressReporter:
        name = self._robot.name
        return ProgressReporter(self._node, self._progress, name, listener=listener)

    @property
    def busy(self) -> bool:
        """Whether a plan is being computed, or is about to be."""
        return self._outcome is not None or self._wait is not None

    def latest(self, digest: str = "") -> tuple[PlanningJob, Planned]:
        """Return the last plan and what it was made for.

        Args:
            digest: hash of the plan that is meant; empty: whichever is the last.

        Raises:
            NoPlanError: there is none, or it is another one.
        """
        if self._wanted is None or self.planned is None:
            raise NoPlanError("there is no certified plan; call ~/plan first")
        own = self.planned.plan.certificate.digest
        if digest not in ("", own):
            raise NoPlanError(f"the last plan has the hash {own}, not {digest}; plan again")
        return self._wanted, self.planned

    async def plan(self, request: Any, response: Any, job: Job) -> Any:
        """Return the response to a request, or the result of a goal: their fields are the same."""
        if not len(request.start_position):
            await self._wait_for_state(job)
        orders: list[PlanningJob] = []
        answer = self._slot.answer("plan", response, lambda _: self._submit(request, orders, job))
        if not answer.success:
            return answer
        try:
            outcome: Planned | Failed = await self._outcome
        finally:
            self._outcome = None
        answer = self._slot.answer(
            "plan", response, lambda filled: self._take(request, filled, orders[0], outcome)
        )
        self._changed()
        return answer

    async def _wait_for_state(self, job: Job) -> None:
        """Wait a little where no joint state says yet where the robot is."""
        if self._place() is not None:
            return
        self._wait = _Wait(job, Future(), self._clock() + _STATE_WITHIN)
        try:
            await self._wait.over
        finally:
            self._wait = None

    def _submit(self, request: Any, orders: list[PlanningJob], job: Job) -> str:
        if job.cancelled():
            raise CancelledError("cancelled before anything was planned")
        if request.output:
            self._outputs.target(request.output, overwrite=request.overwrite)
        place = self._place()
        problem = self._problem() if place is None else ""
        wanted = job_of(request, self._robot, self._parameters.now, place, problem)
        wanted = replace(wanted, sources=replace(wanted.sources, arms=self._arms.postures()))
        machine = load_machine(wanted.sources)  # what is missing is told at once
        _require_reserve(machine, wanted, stands=not len(request.start_position))
        orders.append(wanted)
        self._report = self._reporter(job.tell)
        self._worker.submit(wanted)
        self._outcome = Future()
        self._changed()
        return ""

    def _take(
        self, request: Any, response: Any, wanted: PlanningJob, outcome: Planned | Failed
    ) -> str:
        """Keep a plan and fill in the response."""
        if isinstance(outcome, Failed):
            raise outcome.exception
        outcome.plan.certificate.require()
        machine = load_machine(wanted.sources)
        summary = fill_plan(response, outcome, machine)
        message = message_of(outcome.plan.trajectory, 0)
        picture = self._picture(outcome, machine)
        files = [(request.output, file_of(outcome))] if request.output else []
        response.written = self._outputs.write(files, overwrite=request.overwrite)
        # Nothing below fails: a request that is refused leaves the plan as it was.
        self._wanted, self.planned = wanted, outcome
        self._kept()
        self._trajectories.publish(message)
        self._markers.publish(picture)
        return summary

    def _picture(self, planned: Planned, machine: Machine) -> Any:
        plan, around = planned.plan, machine.surroundings.collisions
        motion = plan.trajectory.reordered(machine.robot.joint_names)
        nearest = None if around is None else plan.certificate.nearest(around, motion)
        return self._markers.picture(around, (motion,), nearest)

    def poll(self) -> None:
        """Pass on what the planning process has to say, and go on with a plan that waits."""
        wait = self._wait
        if wait is not None and not wait.over.done():
            late = self._clock() >= wait.until
            if late or wait.job.cancelled() or self._place() is not None:
                wait.over.set_result(None)
            return
        if self._outcome is None or self._outcome.done():
            return
        for event in self._worker.poll():
            if isinstance(event, Progress):
                self._report(event.stage, event.fraction)
            else:
                self._outcome.set_result(event)

    def cancel(self) -> bool:
        """Ask the plan under way to end; return whether there is one."""
        if self._wait is not None:
            self._wait.job.cancel()
        elif self._outcome is not None:
            self._worker.cancel()
        return self.busy

    def close(self) -> None:
        """End the planning process."""
        self._worker.close()


def _require_reserve(machine: Machine, wanted: PlanningJob, *, stands: bool) -> None:
    """Refuse a start that is too near to a limit for a motion to begin, or to end.

    Args:
        machine: the robot.
        wanted: what is to be planned.
        stands: whether the robot stands there already.

    Raises:
        SettingError: which joint is too near, how near, and what to do.
    """
    start, error = wanted.settings.start, wanted.sources.tracking_error
    if start is None:
        return
    problem = missing_reserve(machine.described, machine.limits, start, error, stands=stands)
    if problem:
        shown = "where the robot is" if stands else start.tolist()
        raise SettingError("start_position", shown, problem)
