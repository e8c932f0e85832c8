"""Parts of the excitation node while it is configured: robot, watch, planner, executor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rclpy.node import Node

from robot_identification.action import ExecuteExcitation
from robot_identification.errors import MissingLimitError
from robot_identification.msg import ExcitationStatus
from robot_identification.ros.common import qos
from robot_identification.ros.common.diagnostics import NodeDiagnostics
from robot_identification.ros.common.jobs import JobSlot
from robot_identification.ros.common.joint_states import NANOSECONDS
from robot_identification.ros.common.parameters.declaration import NodeParameters
from robot_identification.ros.controllers.choice import Controller, make_wire
from robot_identification.ros.excitation import execution as executor
from robot_identification.ros.excitation.execution import MotionExecutor
from robot_identification.ros.excitation.markers import MarkerPublisher
from robot_identification.ros.excitation.motion_preparation import MotionPreparation
from robot_identification.ros.excitation.moved_robot import moved_robot, warm_up
from robot_identification.ros.excitation.other_arms import OtherArms
from robot_identification.ros.excitation.parameters import ExcitationParameters
from robot_identification.ros.excitation.point_efforts import PointEfforts
from robot_identification.ros.excitation.status import status_message
from robot_identification.ros.lifecycle.transitions import Ending, Lifecycle
from robot_identification.ros.planning.planner import Planner
from robot_identification.ros.robots.in_use import RobotsInUse, say_robot_in_use
from robot_identification.ros.robots.source import RobotSource
from robot_identification.ros.robots.view import RobotsWatch
from robot_identification.ros.supervision.phases import MotionSettings
from robot_identification.ros.supervision.watch import MotionWatch
from robot_identification.settings import per_joint

_WATCH_PERIOD = 0.005
_IDLE_PERIOD = 0.025  # while nothing is about to move: every wake-up of an executor costs
_SLOW_PERIOD = 0.04  # of every second look while idle
_TRACKING = "tracking_error_limit"
_EFFORTS = "point_efforts"


class ExcitationWorks:
    """Plans, moves, watches, stops; goes on after a stop only where that is asked for.

    Args:
        node: the node.
        slot: where its jobs are.
        declared: its parameters.
        lifecycle: says whether a motion may begin.
        source: where the robot is described.
        diagnostics: told of the joint states.

    Attributes:
        planner: makes plans.
        preparation: prepares and previews a motion.
        executor: moves the robot.

    Raises:
        RobotIdentificationError: the robot, or a parameter, is wrong.
    """

    def __init__(
        self,
        node: Node,
        slot: JobSlot,
        declared: NodeParameters[ExcitationParameters],
        lifecycle: Lifecycle,
        source: RobotSource,
        diagnostics: NodeDiagnostics,
    ) -> None:
        self._log, self._slot, self._declared = node.get_logger(), slot, declared
        self._lifecycle = lifecycle
        v = declared.now
        self._robot = moved_robot(v, self._log)
        diagnostics.of_robot(self._robot.name)
        wire = make_wire(node, v.interface, v.controller_action)
        warm_up(node, v, self._robot)
        self._watch = MotionWatch(
            node,
            self._robot,
            timeout=v.state_timeout,
            tracking_error=self._motion_settings().tracking_error,
        )
        diagnostics.add(lambda: self._watch.report(lifecycle.state))
        said = say_robot_in_use(node, self._robot, source, joint_states=self._watch.topic)
        self._efforts = PointEfforts(node, self._robot, declared)
        self._arms = OtherArms(node, v.robot, v.cell, timeout=v.arm_timeout)
        markers = MarkerPublisher(node, v.base_frame or self._robot.base_link)
        controller = Controller(node, v.interface, wire, cancel_brakes=v.cancel_brakes)
        self._status = node.create_publisher(ExcitationStatus, "~/status", qos.STATUS_LATCHED)
        self.planner = self._new_planner(node, markers)
        robots = RobotsWatch(said, source, RobotsInUse(node))
        self.preparation = self._new_preparation(controller, markers, robots)
        self.executor = self._new_executor(node, controller)
        # A clock that is set back, or stands still with a simulation, must not stop these.
        steady = self._watch.clock.steady
        self._looks = node.create_timer(_IDLE_PERIOD, self._look, clock=steady)
        self._looked_elsewhere = self._watch.now()
        node.create_timer(v.status_period, self.publish_status, clock=steady)

    def _new_planner(self, node: Node, markers: MarkerPublisher) -> Planner:
        return Planner(
            node,
            self._robot,
            self._slot,
            self._declared,
            markers=markers,
            arms=self._arms,
            place=self._watch.place,
            problem=self._watch.problem,
            kept=self._forget_motion,
            changed=self.publish_status,
        )

    def _new_preparation(
        self, controller: Controller, markers: MarkerPublisher, robots: RobotsWatch
    ) -> MotionPreparation:
        return MotionPreparation(
            self._declared,
            settings=self._motion_settings,
            require_active=self._lifecycle.require_active,
            controller=controller,
            watch=self._watch,
            planner=self.planner,
            markers=markers,
            arms=self._arms,
            efforts=self._efforts,
            robots=robots,
        )

    def _new_executor(self, node: Node, controller: Controller) -> MotionExecutor:
        return MotionExecutor(
            node,
            self._slot,
            self._declared,
            require_active=self._lifecycle.require_active,
            controller=controller,
            watch=self._watch,
            planner=self.planner,
            preparation=self.preparation,
            arms=self._arms,
            efforts=self._efforts,
            changed=self.publish_status,
        )

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

    def refuse_change(self, values: Mapping[str, Any]) -> str:
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

    def judge(self) -> None:
        """Judge states by the parameters as they are now."""
        tracking_error = self._motion_settings().tracking_error
        self._watch.judge(self._declared.now.state_timeout, tracking_error)

    # As Works of a managed node

    def activate(self) -> None:
        """Have motions begin when somebody asks for them."""
        self._log.info(f"ready: {self._robot.name}; nothing moves before ~/start")

    def rest(self, why: str) -> Ending:
        """Brake if something moves, and tell when the robot is at rest; a plan is finished."""
        return self.executor.rest(why)

    def end(self, why: str) -> Ending:
        """Brake if something moves, end the plan under way, and tell when both is done."""
        self.planner.cancel()
        resting = self.executor.rest(why)
        return lambda: None if self._slot.busy else resting()

    def close(self) -> None:
        """End the planning process."""
        self.planner.close()

    # What is looked after

    def _look(self) -> None:
        """Look after the motion, and more often while there is one or one is about to begin."""
        self.executor.look()
        now = self._watch.now()
        if now.seconds_since(self._looked_elsewhere) >= _SLOW_PERIOD:
            self._looked_elsewhere = now
            self.planner.poll()
            self._arms.take()
        period = _WATCH_PERIOD if self._slot.works_on(executor.WORK) else _IDLE_PERIOD
        if self._looks.timer_period_ns != round(period * NANOSECONDS):
            self._looks.timer_period_ns = round(period * NANOSECONDS)

    def _forget_motion(self) -> None:
        self.executor.forget()

    # Status

    def status_message(self) -> ExcitationStatus:
        """Return what the node is doing."""
        return status_message(
            self._watch.now().stamp,
            self._robot,
            self._motion_settings(),
            course=self.executor.course,
            planned=self.planner.planned,
            planning=self.planner.busy,
            speed=self.executor.speed,
            stale=self._watch.problem(),
            active=self._lifecycle.active,
        )

    def publish_status(self) -> None:
        """Tell what the node is doing: everybody, and the client of the motion under way."""
        status = self.status_message()
        self._status.publish(status)
        self.executor.tell(status)

    def feedback(self, status: ExcitationStatus) -> ExecuteExcitation.Feedback:
        """Return the status as feedback of a goal, with the share of the motion that is done."""
        return ExecuteExcitation.Feedback(status=status, fraction=self.executor.share())
