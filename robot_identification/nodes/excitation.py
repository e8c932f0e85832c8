"""The node that plans exciting trajectories, has the robot follow them, and stops it.

One thread does everything that matters to a robot in motion: it takes in joint states and looks
after the motion two hundred times a second.  Plans are made in a process of their own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from robot_identification.action import ExecuteExcitation
from robot_identification.action import PlanExcitation as PlanAction
from robot_identification.errors import (
    CancelledError,
    MissingLimitError,
    NothingInterruptedError,
    RobotDescriptionError,
    RobotIdentificationError,
)
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.msg import ExcitationStatus
from robot_identification.nodes import qos
from robot_identification.nodes.actions import DeskAction
from robot_identification.nodes.excitation_diagnostics import WatchDiagnostics
from robot_identification.nodes.excitation_parameters import APPROACH_SPEED, PARAMETERS, SPEED
from robot_identification.nodes.excitation_status import status_message
from robot_identification.nodes.execution import conclude, share_done
from robot_identification.nodes.experiments import Course
from robot_identification.nodes.joint_states import stamp_of
from robot_identification.nodes.motion import MOVING, Command, Motion, MotionSettings, Phase
from robot_identification.nodes.motion_braking import BrakingLimits
from robot_identification.nodes.motion_states import MotionStates
from robot_identification.nodes.parameters import current, declare, per_joint
from robot_identification.nodes.planner import Planner
from robot_identification.nodes.planning import (
    Job,
    Prepared,
    Sources,
    described,
    load_machine,
    prepare,
)
from robot_identification.nodes.planning_worker import Planned
from robot_identification.nodes.running import run
from robot_identification.nodes.services import Desk, Turn, code_name, error_code
from robot_identification.nodes.trajectories import message_of
from robot_identification.robot.model import Array, PositionMeaning
from robot_identification.srv import PlanExcitation

_WATCH_PERIOD = 0.005
_PAUSE = 0.02
_DIAGNOSTICS_PERIOD = 1.0
_PLAN, _MOTION = "a plan", "a motion"  # what the node works on
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
        self._course: Course | None = None  # the last motion through a plan
        self._turn: Turn | None = None  # that of the motion under way
        self._over: Any = Future()  # of the motion of the last goal
        self._share = 0.0
        self._next_state: Any = None  # future of the first state after a start was prepared
        self._prepared_at = 0
        self._paused = False
        self._speed = 1.0
        self._desk = Desk(self.get_logger())
        self._warm_up()
        self._planner = Planner(
            self,
            self._robot,
            self._desk,
            v,
            place=self._place,
            kept=self._forget_motion,
            changed=self._publish_status,
        )
        self._create_interfaces()
        self._create_actions()
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
        self._status = self.create_publisher(ExcitationStatus, "~/status", qos.STATUS_LATCHED)
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
        self.create_timer(self._values["status_period"], self._publish_status)
        self.create_timer(_DIAGNOSTICS_PERIOD, self._publish_diagnostics)

    def _create_actions(self) -> None:
        self._actions = [
            DeskAction(
                self,
                PlanAction,
                "~/plan",
                desk=self._desk,
                work=_PLAN,
                perform=self._planner.plan,
                on_cancel=self._planner.cancel,
            ),
            DeskAction(
                self,
                ExecuteExcitation,
                "~/execute",
                desk=self._desk,
                work=_MOTION,
                perform=self._execute,
                feedback=self._feedback,
                on_cancel=self._stop,
            ),
        ]

    @property
    def _motion(self) -> Motion | None:
        return None if self._course is None else self._course.motion

    def _now(self) -> int:
        return int(self.get_clock().now().nanoseconds)

    # Planning

    async def _on_plan(
        self, request: PlanExcitation.Request, response: PlanExcitation.Response
    ) -> PlanExcitation.Response:
        turn = self._desk.take(_PLAN)
        if turn is None:
            return self._desk.refuse(response)
        try:
            return await self._planner.plan(request, response, turn)
        finally:
            turn.end()

    def _forget_motion(self) -> None:
        self._course = None

    def _place(self) -> Array | None:
        """Where the robot is, if that is known."""
        fresh = abs(self._states.age(self._now())) <= self._settings.state_timeout
        latest = self._states.latest if fresh else None
        return None if latest is None else latest.position

    def _on_cancel(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if not self._planner.cancel():
            return _answer(response, False, "nothing is being planned; ~/stop stops a motion")
        return _answer(response, True, "the plan is being cancelled")

    # Motion

    def _on_preview(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Certify what ~/start would do from where the robot stands; nothing moves."""
        if self._desk.busy:
            return _answer(response, False, f"BUSY: {self._desk.busy}")
        try:
            speed = current(self, SPEED)
            prepared = self._prepare(*self._planner.latest(), None, speed)
        except RobotIdentificationError as error:
            return _answer(response, False, f"{code_name(error_code(error))}: {error}")
        return _answer(response, True, _outline(prepared, speed))

    async def _on_start(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return await self._begin_for_service(response, resume=False)

    async def _on_continue(
        self, _: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        """Go on with the experiment that a stop has interrupted, from its beginning."""
        return await self._begin_for_service(response, resume=True)

    async def _begin_for_service(
        self, response: Trigger.Response, *, resume: bool
    ) -> Trigger.Response:
        turn = self._desk.take(_MOTION)
        if turn is None:
            return _answer(response, False, f"BUSY: {self._desk.busy}")
        begun = await self._begin(ExecuteExcitation.Goal(resume=resume), turn)
        name = "" if begun.success else f"{code_name(begun.error_code)}: "
        return _answer(response, begun.success, name + begun.message)

    async def _execute(self, goal: Any, result: Any, turn: Turn) -> Any:
        """Work off a goal: its motion, to the end."""
        self._over = Future()
        begun = await self._begin(goal, turn)
        if self._turn is turn and self._course is not None:
            await self._over
            begun = conclude(result, self._course)
        begun.status = self._status_message()
        return begun

    async def _begin(self, goal: Any, turn: Turn) -> Any:
        """Begin the plan, or what is left of it; the turn ends when the robot is at rest.

        Returns:
            A result that says whether the robot is on its way, and else why not.
        """
        result = ExecuteExcitation.Result()
        try:
            job, planned = self._planner.latest(goal.trajectory_hash)
            since = self._interrupted() if goal.resume else None
            speed = current(self, SPEED)
            prepared = self._prepare(job, planned, since, speed)
            # Preparing took time in which no state was taken in.
            self._prepared_at, self._next_state = self._now(), Future()
            try:
                await self._next_state
            finally:
                self._next_state = None
            if turn.cancelled():
                raise CancelledError("stopped before anything moved")
            motion = self._motion_of(prepared)
            command = motion.begin(self._now())
            # What is sent is watched, even if sending fails half-way.
            self._course = Course(planned.plan, motion, speed, since)
            self._turn, self._speed, self._share = turn, speed, 0.0
            self._send(command)
        except Exception as error:  # noqa: BLE001
            # A fault of ours must reach the caller, and others may ask if nothing moves.
            if self._turn is not turn:
                turn.end()
            return self._desk.failed("start", result, error)
        self._publish_status()
        begins = "" if since is None else f"from experiment {since + 1} on: "
        result.success, result.message = True, begins + _outline(prepared, speed)
        return result

    def _interrupted(self) -> int:
        if self._course is None:
            raise NothingInterruptedError("nothing was interrupted; ~/start begins the plan")
        return self._course.interrupted()

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

    def _motion_of(self, prepared: Prepared) -> Motion:
        return Motion(
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

    def _on_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return _answer(response, True, self._stop())

    def _stop(self) -> str:
        """Brake, or keep a motion from beginning; return what is done, for people."""
        if self._motion is None or not self._motion.moving:
            if not self._desk.cancel(_MOTION):
                return "nothing moves"
            self._settle_start()
            return "nothing has moved yet"
        command = self._motion.stop(self._now())
        if command is None:
            return "braking already"
        self._send(command)
        self._publish_status()
        return f"braking: at rest in {command.trajectory.duration:.3f} s"

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
                self._settle_start()
        if self._motion is None or not self._motion.moving:
            return
        before = self._motion.phase
        command = self._guarded(lambda motion: motion.tick(self._now()))
        if command is not None:
            self._send(command)
        if self._motion.phase is not before:
            self.get_logger().info(f"{self._motion.phase.name.lower()}: {self._motion.text}")
            self._publish_status()
            if self._motion.phase not in MOVING:
                self._end_motion()

    def _end_motion(self) -> None:
        """Let others plan and move, and give a goal its result."""
        if self._turn is not None:
            self._turn.end()
            self._turn = None
        if not self._over.done():
            self._over.set_result(None)

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

    def _settle_start(self) -> None:
        if self._next_state is not None and not self._next_state.done():
            self._next_state.set_result(None)

    def _send(self, command: Command) -> None:
        self._commands.publish(message_of(command.trajectory, command.start))

    def _publish_diagnostics(self) -> None:
        problem = self._states.problem(self._now(), self._settings.state_timeout)
        self._diagnostics.publish(problem)

    def _status_message(self) -> ExcitationStatus:
        return status_message(
            self._now(),
            self._robot,
            self._settings,
            course=self._course,
            planned=self._planner.planned,
            planning=self._planner.busy,
            speed=self._speed,
            stale=self._states.problem(self._now(), self._settings.state_timeout),
        )

    def _publish_status(self) -> None:
        status = self._status_message()
        self._status.publish(status)
        if self._turn is not None:
            self._turn.tell(status)

    def _feedback(self, status: ExcitationStatus) -> ExecuteExcitation.Feedback:
        """Return what the client of a goal is told; braking leaves the share as it is."""
        if self._course is not None and self._course.motion.phase is not Phase.BRAKING:
            self._share = share_done(self._course, self._now())
        return ExecuteExcitation.Feedback(status=status, fraction=self._share)

    def finish(self) -> None:
        """Brake if something moves, then end."""
        if self._motion is not None and self._motion.moving:
            command = self._motion.stop(self._now(), text="the node ends")
            if command is not None:
                self._send(command)
                self._commands.wait_for_all_acked(_ACKNOWLEDGED_WITHIN)
        self._planner.close()
        for action in self._actions:
            action.destroy()


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
