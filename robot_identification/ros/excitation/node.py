"""The node that plans exciting trajectories, has the robot follow them, and stops it.

One thread does everything that matters to a robot in motion: it takes in joint states and looks
after the motion two hundred times a second.  Plans are made in a process of their own.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from std_srvs.srv import Trigger

from robot_identification.action import ExecuteExcitation
from robot_identification.action import PlanExcitation as PlanAction
from robot_identification.errors import (
    MissingLimitError,
    RobotDescriptionError,
    RobotIdentificationError,
)
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.msg import ExcitationStatus
from robot_identification.robot.model import PositionMeaning
from robot_identification.ros.common import qos
from robot_identification.ros.common.actions import JobAction
from robot_identification.ros.common.diagnostics import NodeDiagnostics
from robot_identification.ros.common.jobs import Job, JobSlot
from robot_identification.ros.common.joint_states import NANOSECONDS
from robot_identification.ros.common.parameters import declare
from robot_identification.ros.common.process import run
from robot_identification.ros.controllers.choice import Controller, make_wire
from robot_identification.ros.excitation import execution as executor
from robot_identification.ros.excitation.execution import MotionExecutor
from robot_identification.ros.excitation.markers import MarkerPublisher
from robot_identification.ros.excitation.other_arms import OtherArms
from robot_identification.ros.excitation.parameters import ExcitationParameters
from robot_identification.ros.excitation.point_efforts import PointEfforts
from robot_identification.ros.excitation.status import status_message
from robot_identification.ros.messages.error_codes import code_name, error_code
from robot_identification.ros.planning.planner import Planner
from robot_identification.ros.planning.planning import Sources, described, load_machine
from robot_identification.ros.robots.in_use import RobotsInUse, say_robot_in_use
from robot_identification.ros.robots.source import settle_robot
from robot_identification.ros.robots.view import RobotsWatch
from robot_identification.ros.supervision.phases import MotionSettings
from robot_identification.ros.supervision.watch import MotionWatch
from robot_identification.settings import per_joint
from robot_identification.srv import PlanExcitation

_WATCH_PERIOD = 0.005
_IDLE_PERIOD = 0.025  # while nothing is about to move: every wake-up of an executor costs
_SLOW_PERIOD = 0.05
_TRACKING = "tracking_error_limit"
_EFFORTS = "point_efforts"
_PLAN = "a plan"  # name of the job


class ExcitationNode(Node):
    """Plans, moves, watches, stops; goes on after a stop only where that is asked for."""

    def __init__(self) -> None:
        super().__init__("excitation")
        self._declared = declare(
            self, ExcitationParameters, refuse=self._refuse_change, changed=self._judge
        )
        diagnostics = NodeDiagnostics(self)
        source = settle_robot(self, self._declared, diagnostics)
        v = self._declared.now
        self._robot = described(self._sources())
        diagnostics.of_robot(self._robot.name)
        if self._robot.position_meaning is not PositionMeaning.JOINT:
            raise RobotDescriptionError(
                "positions are of motors; this node watches and moves joints, as a "
                "joint_trajectory_controller does: give it joint states of joints and a robot file "
                "with position_meaning: joint",
                path=v.robot,
                field="position_meaning",
            )
        wire = make_wire(self, v.interface, v.controller_action)
        self._slot = JobSlot(self.get_logger())
        self._warm_up()
        self._watch = MotionWatch(
            self,
            self._robot,
            timeout=v.state_timeout,
            tracking_error=self._motion_settings().tracking_error,
        )
        diagnostics.add(self._watch.report)
        states = self._watch.topic
        said = say_robot_in_use(self, self._robot, source, joint_states=states)
        self._efforts = PointEfforts(self, self._robot, self._declared)
        self._arms = OtherArms(self, v.robot, v.cell, timeout=v.arm_timeout)
        markers = MarkerPublisher(self, v.base_frame or self._robot.base_link)
        self._planner = Planner(
            self,
            self._robot,
            self._slot,
            self._declared,
            markers=markers,
            arms=self._arms,
            place=self._watch.place,
            kept=self._forget_motion,
            changed=self._publish_status,
        )
        self._executor = MotionExecutor(
            self,
            self._slot,
            self._declared,
            settings=self._motion_settings,
            controller=Controller(self, v.interface, wire, cancel_brakes=v.cancel_brakes),
            watch=self._watch,
            planner=self._planner,
            markers=markers,
            arms=self._arms,
            efforts=self._efforts,
            robots=RobotsWatch(said, source, RobotsInUse(self)),
            changed=self._publish_status,
        )
        self._create_interfaces()
        self._create_actions()
        self.get_logger().info(f"ready: {self._robot.name}; nothing moves before ~/start")

    def _motion_settings(self) -> MotionSettings:
        """Return how a motion that begins now is watched."""
        values = self._declared.now
        return MotionSettings(
            tracking_error=np.array(self._per_joint(values.tracking_error_limit)),
            lead=values.start_lead,
            rest_speed=values.rest_speed,
        )

    def _per_joint(self, tracking: Sequence[float]) -> tuple[float, ...]:
        return per_joint(_TRACKING, tracking, len(self._robot.joints))

    def _refuse_change(self, values: Mapping[str, Any]) -> str:
        """Return why a motion must not be watched otherwise now; empty if it may."""
        if self._slot.works_on(executor.WORK):
            return "the robot moves: what watches it, and what it is fed, changes at rest only"
        if _TRACKING in values:
            self._per_joint(values[_TRACKING])
        if _EFFORTS in values:
            try:
                self._efforts.require(values[_EFFORTS])
            except MissingLimitError as error:
                return str(error)
        return ""

    def _judge(self) -> None:
        """Judge states by the parameters as they are now."""
        tracking_error = self._motion_settings().tracking_error
        self._watch.judge(self._declared.now.state_timeout, tracking_error)

    def _warm_up(self) -> None:
        """Compile what a start needs."""
        try:
            machine = load_machine(self._sources())
        except MissingLimitError as error:
            self.get_logger().warning(f"no trajectory can be planned: {error}")
            return
        from robot_identification.excitation.motions.approach import approach

        still = np.tile(machine.limits.middle, (2, 1))
        zero = np.zeros_like(still)
        place = Trajectory(self._robot.joint_names, np.array([0.0, 1.0]), still, zero, zero)
        away = still[0] + 0.1 * machine.limits.half_range
        approach(machine.robot, place, away, surroundings=machine.surroundings)

    def _sources(self) -> Sources:
        v = self._declared.now
        return Sources(
            v.robot, v.joint_limits, v.parameters_file,
            cell=v.cell, clearance=v.clearance, effort_meaning=v.effort_meaning,
        )  # fmt: skip

    def _create_interfaces(self) -> None:
        self._status = self.create_publisher(ExcitationStatus, "~/status", qos.STATUS_LATCHED)
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
        # A clock that is set back, or stands still with a simulation, must not stop these.
        steady = self._watch.clock.steady
        self._looks = self.create_timer(_IDLE_PERIOD, self._look, clock=steady)
        for period, work in (
            (self._declared.now.status_period, self._publish_status),
            (_SLOW_PERIOD, self._look_elsewhere),
        ):
            self.create_timer(period, work, clock=steady)

    def _look(self) -> None:
        """Look after the motion, and more often while there is one or one is about to begin."""
        self._executor.look()
        period = _WATCH_PERIOD if self._slot.works_on(executor.WORK) else _IDLE_PERIOD
        if self._looks.timer_period_ns != round(period * NANOSECONDS):
            self._looks.timer_period_ns = round(period * NANOSECONDS)

    def _look_elsewhere(self) -> None:
        """Look after the search of a plan, and where other robots stand."""
        self._planner.poll()
        self._arms.take()

    def _create_actions(self) -> None:
        self._actions = [
            JobAction(
                self,
                PlanAction,
                "~/plan",
                slot=self._slot,
                work=_PLAN,
                perform=self._planner.plan,
                on_cancel=self._planner.cancel,
            ),
            JobAction(
                self,
                ExecuteExcitation,
                "~/execute",
                slot=self._slot,
                work=executor.WORK,
                perform=self._execute,
                feedback=self._feedback,
                on_cancel=self._executor.stop,
            ),
        ]

    # Planning

    async def _on_plan(
        self, request: PlanExcitation.Request, response: PlanExcitation.Response
    ) -> PlanExcitation.Response:
        job = self._slot.take(_PLAN)
        if job is None:
            return self._slot.refuse(response)
        try:
            return await self._planner.plan(request, response, job)
        finally:
            job.end()

    def _forget_motion(self) -> None:
        self._executor.forget()

    def _on_cancel(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if not self._planner.cancel():
            return _answer(response, False, "nothing is being planned; ~/stop stops a motion")
        return _answer(response, True, "the plan is being cancelled")

    # Motion

    def _on_preview(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Certify what ~/start would do from where the robot stands; nothing moves."""
        if self._slot.busy:
            return _answer(response, False, f"BUSY: {self._slot.busy}")
        try:
            return _answer(response, True, self._executor.preview())
        except RobotIdentificationError as error:
            return _answer(response, False, f"{code_name(error_code(error))}: {error}")

    async def _on_start(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return await self._begin(response, resume=False)

    async def _on_continue(
        self, _: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        """Go on with the experiment that a stop has interrupted, from its beginning."""
        return await self._begin(response, resume=True)

    async def _begin(self, response: Trigger.Response, *, resume: bool) -> Trigger.Response:
        job = self._slot.take(executor.WORK)
        if job is None:
            return _answer(response, False, f"BUSY: {self._slot.busy}")
        begun = await self._executor.begin(ExecuteExcitation.Goal(resume=resume), job)
        name = "" if begun.success else f"{code_name(begun.error_code)}: "
        return _answer(response, begun.success, name + begun.message)

    async def _execute(self, goal: Any, result: Any, job: Job) -> Any:
        """Work off a goal: its motion, to the end."""
        done = await self._executor.execute(goal, result, job)
        done.status = self._status_message()
        return done

    def _on_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return _answer(response, True, self._executor.stop())

    # Status

    def _status_message(self) -> ExcitationStatus:
        return status_message(
            self._watch.now().stamp,
            self._robot,
            self._motion_settings(),
            course=self._executor.course,
            planned=self._planner.planned,
            planning=self._planner.busy,
            speed=self._executor.speed,
            stale=self._watch.problem(),
        )

    def _publish_status(self) -> None:
        status = self._status_message()
        self._status.publish(status)
        self._executor.tell(status)

    def _feedback(self, status: ExcitationStatus) -> ExecuteExcitation.Feedback:
        return ExecuteExcitation.Feedback(status=status, fraction=self._executor.share())

    def finish(self) -> None:
        """Brake if something moves, then end."""
        self._executor.finish()
        self._planner.close()
        for action in self._actions:
            action.destroy()


def _answer(response: Trigger.Response, success: bool, message: str) -> Trigger.Response:
    response.success, response.message = success, message
    return response


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(ExcitationNode, arguments, name="excitation", finish=ExcitationNode.finish)


if __name__ == "__main__":
    sys.exit(main())
