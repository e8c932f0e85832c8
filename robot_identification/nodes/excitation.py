"""The node that plans exciting trajectories, has the robot follow them, and stops it.

One thread does everything that matters to a robot in motion: it takes in joint states and looks
after the motion two hundred times a second.  Plans are made in a process of their own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from robot_identification.errors import (
    CancelledError,
    MissingLimitError,
    NothingInterruptedError,
    RobotDescriptionError,
    RobotIdentificationError,
)
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.msg import ExcitationStatus
from robot_identification.msg import Progress as ProgressMessage
from robot_identification.nodes import qos
from robot_identification.nodes.excitation_diagnostics import WatchDiagnostics
from robot_identification.nodes.excitation_parameters import APPROACH_SPEED, PARAMETERS, SPEED
from robot_identification.nodes.excitation_status import status_message
from robot_identification.nodes.experiments import Course
from robot_identification.nodes.joint_states import stamp_of
from robot_identification.nodes.motion import Command, Motion, MotionSettings
from robot_identification.nodes.motion_braking import BrakingLimits
from robot_identification.nodes.motion_states import MotionStates
from robot_identification.nodes.parameters import current, declare, per_joint
from robot_identification.nodes.plan_requests import fill_plan, job_of, write
from robot_identification.nodes.planning import (
    Job,
    Prepared,
    Sources,
    described,
    load_machine,
    prepare,
)
from robot_identification.nodes.planning_worker import Failed, Planned, PlanningWorker, Progress
from robot_identification.nodes.progress import ProgressReporter
from robot_identification.nodes.running import run
from robot_identification.nodes.services import CODES, Desk, code_name, error_code, refuse
from robot_identification.nodes.trajectories import message_of
from robot_identification.robot.model import PositionMeaning
from robot_identification.srv import PlanExcitation
from robot_identification.storage.atomic import check_target

_WATCH_PERIOD = 0.005
_PAUSE = 0.02
_POLL_PERIOD = 0.05
_DIAGNOSTICS_PERIOD = 1.0
_NO_PLAN = "RESULT_INVALID: there is no certified plan"
_ACKNOWLEDGED_WITHIN = Duration(seconds=1)


class ExcitationNode(Node):
    """Plans, moves, watches, stops; goes on after a stop only where that is asked for."""

    def __init__(self) -> None:
        super().__init__("excitation")
        self._values = declare(self, PARAMETERS)
        v = self._values
        self._robot = described(Sources(v["robot"], v["joint_limits"]))
        if self._robot.position_meaning is not PositionMeaning.JOINT:
            raise RobotDescriptionError(
                "positions are of motors; this node watches and moves joints, as a "
                "joint_trajectory_controller does: give it joint states of joints and a robot file "
                "with position_meaning: joint",
                path=v["robot"],
                field="position_meaning",
            )
        joints = len(self._robot.joints)
        tracking = per_joint("tracking_error_limit", v["tracking_error_limit"], joints)
        self._settings = MotionSettings(
            tracking_error=np.array(tracking),
            state_timeout=v["state_timeout"],
            lead=v["start_lead"],
            rest_speed=v["rest_speed"],
        )
        self._states = MotionStates(self._robot.joint_names)
        self._job: Job | None = None
        self._planned: Planned | None = None
        self._course: Course | None = None  # the last motion through a plan
        self._planning: Any = None  # future of the outcome of the plan under way
        self._next_state: Any = None  # future of the first state after a start was prepared
        self._prepared_at = 0
        self._paused = False
        self._speed = 1.0
        self._desk = Desk(self.get_logger())
        self._warm_up()
        self._worker = PlanningWorker()
        self._create_interfaces()
        self.get_logger().info(f"ready: {self._robot.name}; nothing moves before ~/start")

    def _warm_up(self) -> None:
        """Compile what a start needs."""
        v = self._values
        try:
            machine = load_machine(Sources(v["robot"], v["joint_limits"], v["parameters_file"]))
        except MissingLimitError as error:
            self.get_logger().warning(f"no trajectory can be planned: {error}")
            return
        from robot_identification.excitation.approach import approach

        still = np.tile(machine.limits.middle, (2, 1))
        zero = np.zeros_like(still)
        place = Trajectory(self._robot.joint_names, np.array([0.0, 1.0]), still, zero, zero)
        away = still[0] + 0.1 * machine.limits.half_range
        approach(machine.robot, place, away, surroundings=machine.surroundings)

    def _create_interfaces(self) -> None:
        self._commands = self.create_publisher(JointTrajectory, "joint_trajectory", qos.COMMANDS)
        self._status = self.create_publisher(ExcitationStatus, "~/status", qos.STATUS)
        progress = self.create_publisher(ProgressMessage, "~/progress", qos.STATUS)
        self._report = ProgressReporter(self, progress, self._robot.name)
        self._diagnostics = WatchDiagnostics(self, self._robot.name)
        self.create_subscription(JointState, "joint_states", self._on_state, qos.STATES_WATCHED)
        group = ReentrantCallbackGroup()  # answers that take time leave the others their turn
        for kind, name, callback in (
            (PlanExcitation, "~/plan", self._on_plan),
            (Trigger, "~/preview", self._on_preview),
            (Trigger, "~/start", self._on_start),
            (Trigger, "~/continue", self._on_continue),
            (Trigger, "~/stop", self._on_stop),
            (Trigger, "~/cancel", self._on_cancel),
        ):
            self.create_service(
                kind, name, callback, qos_profile=qos.SERVICES, callback_group=group
            )
        self.create_timer(_WATCH_PERIOD, self._on_watch)
        self.create_timer(_POLL_PERIOD, self._on_poll)
        self.create_timer(self._values["status_period"], self._publish_status)
        self.create_timer(_DIAGNOSTICS_PERIOD, self._publish_diagnostics)

    @property
    def _busy(self) -> str:
        """What keeps the node from another plan or start; empty if nothing does."""
        if self._planning is not None:
            return "a plan is being computed"
        if self._next_state is not None or (self._motion is not None and self._motion.moving):
            return "a motion is under way"
        return ""

    @property
    def _motion(self) -> Motion | None:
        return None if self._course is None else self._course.motion

    def _now(self) -> int:
        return int(self.get_clock().now().nanoseconds)

    # Planning

    async def _on_plan(
        self, request: PlanExcitation.Request, response: PlanExcitation.Response
    ) -> PlanExcitation.Response:
        if self._busy:
            return refuse(response, CODES.BUSY, f"{self._busy}; nothing was changed")
        jobs: list[Job] = []
        answer = self._desk.answer("plan", response, lambda _: self._submit(request, jobs))
        if not answer.success:
            return answer
        try:
            outcome: Planned | Failed = await self._planning
        finally:
            self._planning = None
        answer = self._desk.answer(
            "plan", response, lambda filled: self._take(request, filled, jobs[0], outcome)
        )
        self._publish_status()
        return answer

    def _submit(self, request: PlanExcitation.Request, jobs: list[Job]) -> str:
        if request.output:
            check_target(Path(request.output))
        age = self._states.age(self._now())
        latest = self._states.latest if abs(age) <= self._settings.state_timeout else None
        here = None if latest is None else latest.position
        job = job_of(request, self._robot, self._values, here)
        load_machine(job.sources)  # what is missing is told at once
        jobs.append(job)
        self._worker.submit(job)
        self._planning = Future()
        self._publish_status()
        return ""

    def _take(
        self,
        request: PlanExcitation.Request,
        response: PlanExcitation.Response,
        job: Job,
        outcome: Planned | Failed,
    ) -> str:
        """Keep a plan and fill in the response."""
        if isinstance(outcome, Failed):
            raise outcome.exception
        outcome.plan.certificate.require()
        if request.output:
            write(request.output, outcome)
        self._job, self._planned, self._course = job, outcome, None
        return fill_plan(response, outcome, load_machine(job.sources))

    def _on_poll(self) -> None:
        """Pass on what the planning process has to say."""
        if self._planning is None or self._planning.done():
            return
        for event in self._worker.poll():
            if isinstance(event, Progress):
                self._report(event.stage, event.fraction)
            else:
                self._planning.set_result(event)

    def _on_cancel(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._planning is None:
            return _answer(response, False, "nothing is being planned; ~/stop stops a motion")
        self._worker.cancel()
        return _answer(response, True, "the plan is being cancelled")

    # Motion

    def _on_preview(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Certify what ~/start would do from where the robot stands; nothing moves."""
        if self._busy:
            return _answer(response, False, f"BUSY: {self._busy}")
        if self._job is None or self._planned is None:
            return _answer(response, False, f"{_NO_PLAN}; call ~/plan first")
        try:
            speed = current(self, SPEED)
            prepared = self._prepare(self._job, self._planned, None, speed)
        except RobotIdentificationError as error:
            return _answer(response, False, f"{code_name(error_code(error))}: {error}")
        return _answer(response, True, _outline(prepared, speed))

    async def _on_start(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return await self._execute(response, lambda: None)

    async def _on_continue(
        self, _: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        """Go on with the experiment that a stop has interrupted, from its beginning."""
        return await self._execute(response, self._interrupted)

    def _interrupted(self) -> int:
        if self._course is None:
            raise NothingInterruptedError("nothing was interrupted; ~/start begins the plan")
        return self._course.interrupted()

    async def _execute(
        self, response: Trigger.Response, first: Callable[[], int | None]
    ) -> Trigger.Response:
        """Begin the plan, or what is left of it from an experiment on."""
        if self._busy:
            return _answer(response, False, f"BUSY: {self._busy}")
        try:
            if self._job is None or self._planned is None:
                return _answer(response, False, f"{_NO_PLAN}; call ~/plan first")
            since, self._speed = first(), current(self, SPEED)
            prepared = self._prepare(self._job, self._planned, since, self._speed)
            # Preparing took time in which no state was taken in.
            self._prepared_at, self._next_state = self._now(), Future()
            try:
                if not await self._next_state:
                    raise CancelledError("~/stop was called before anything moved")
            finally:
                self._next_state = None
            text = self._begin(prepared, self._planned, since)
        except RobotIdentificationError as error:
            self.get_logger().warning(f"start: {error}")
            return _answer(response, False, f"{code_name(error_code(error))}: {error}")
        return _answer(response, True, text)

    def _prepare(self, job: Job, planned: Planned, since: int | None, speed: float) -> Prepared:
        reading = self._states.fresh(self._now(), self._settings.state_timeout)
        return prepare(
            job,
            planned.plan,
            reading.position,
            since=since,
            speed=speed,
            approach_speed=current(self, APPROACH_SPEED),
        )

    def _begin(self, prepared: Prepared, planned: Planned, since: int | None) -> str:
        """Send the first trajectory; return a summary."""
        motion = Motion(
            limits=BrakingLimits(
                planned=prepared.machine.limits,
                declared=prepared.machine.declared,
                time=prepared.braking_time,
                lag_time=self._values["braking_lag_time"],
            ),
            states=self._states,
            settings=self._settings,
            run=prepared.run,
            approach=prepared.approach,
        )
        self._send(motion.begin(self._now()))
        self._course = Course(planned.plan, motion, self._speed, since)
        self._publish_status()
        begins = "" if since is None else f"from experiment {since + 1} on: "
        return begins + _outline(prepared, self._speed)

    def _on_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._next_state is not None:
            self._settle_start(False)
            return _answer(response, True, "nothing has moved yet")
        if self._motion is None or not self._motion.moving:
            return _answer(response, True, "nothing moves")
        command = self._motion.stop(self._now())
        if command is None:
            return _answer(response, True, "braking already")
        self._send(command)
        self._publish_status()
        return _answer(response, True, f"braking: at rest in {command.trajectory.duration:.3f} s")

    def _on_state(self, message: JointState) -> None:
        self._states.add(message)
        self._diagnostics.observe(stamp_of(message), self._now())

    def _on_watch(self) -> None:
        """Look after the motion under way; states that came during a pause go first."""
        pause = self._diagnostics.watched(self._now())
        self._paused = pause > _PAUSE and not self._paused
        if self._paused:
            return
        if self._next_state is not None:
            waited = (self._now() - self._prepared_at) / 1e9
            latest = self._states.latest
            newer = latest is not None and latest.stamp > self._prepared_at
            if newer or waited > max(0.2, 2.0 * self._settings.state_timeout):
                self._settle_start(True)
        if self._motion is None or not self._motion.moving:
            return
        before = self._motion.phase
        command = self._guarded(lambda motion: motion.tick(self._now()))
        if command is not None:
            self._send(command)
        if self._motion.phase is not before:
            self.get_logger().info(f"{self._motion.phase.name.lower()}: {self._motion.text}")
            self._publish_status()

    def _guarded(self, look: Callable[[Motion], Command | None]) -> Command | None:
        """Brake where watching itself fails: a robot that nobody watches must not move."""
        motion = self._motion
        if motion is None:
            return None
        try:
            return look(motion)
        except Exception as error:  # noqa: BLE001
            import traceback

            self.get_logger().error(f"watching failed:\n{traceback.format_exc()}")
            return motion.stop(self._now(), text=f"a fault of this node: {error}")

    def _settle_start(self, go: bool) -> None:
        if not self._next_state.done():
            self._next_state.set_result(go)

    def _send(self, command: Command) -> None:
        self._commands.publish(message_of(command.trajectory, command.start))

    def _publish_diagnostics(self) -> None:
        problem = self._states.problem(self._now(), self._settings.state_timeout)
        self._diagnostics.publish(problem)

    def _publish_status(self) -> None:
        self._status.publish(
            status_message(
                self._now(),
                self._robot,
                self._settings,
                course=self._course,
                planned=self._planned,
                planning=self._planning is not None,
                speed=self._speed,
                stale=self._states.problem(self._now(), self._settings.state_timeout),
            )
        )

    def finish(self) -> None:
        """Brake if something moves, then end."""
        if self._motion is not None and self._motion.moving:
            command = self._motion.stop(self._now(), text="the node ends")
            if command is not None:
                self._send(command)
                self._commands.wait_for_all_acked(_ACKNOWLEDGED_WITHIN)
        self._worker.close()


def _answer(response: Trigger.Response, success: bool, message: str) -> Trigger.Response:
    response.success, response.message = success, message
    return response


def _outline(prepared: Prepared, speed: float) -> str:
    """Return what a motion consists of, for people."""
    way = 0.0 if prepared.approach is None else prepared.approach.duration
    return (
        f"approach {way:.1f} s, trajectory {prepared.run.duration:.1f} s at "
        f"{100.0 * speed:g} % speed, at rest within {prepared.braking_time:.3f} s"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(ExcitationNode, arguments, name="excitation", finish=ExcitationNode.finish)


if __name__ == "__main__":
    sys.exit(main())
