"""Parts of the excitation node while it is configured: robot, watch, planner, executor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.node import Node

from robot_identification.action import ExecuteExcitation
from robot_identification.errors import MissingLimitError, RobotDescriptionError
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.msg import ExcitationStatus
from robot_identification.robot.model import PositionMeaning, RobotModel
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
from robot_identification.ros.excitation.other_arms import OtherArms
from robot_identification.ros.excitation.parameters import ExcitationParameters
from robot_identification.ros.excitation.point_efforts import PointEfforts
from robot_identification.ros.excitation.status import status_message
from robot_identification.ros.lifecycle.transitions import Ending, Lifecycle
from robot_identification.ros.planning.planner import Planner
from robot_identification.ros.planning.planning import Sources, described, load_machine
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
        self._robot = _moved_robot(v, self._log)
        diagnostics.of_robot(self._robot.name)
        wire = make_wire(node, v.interface, v.controller_action)
        self._warm_up()
        self._watch = MotionWatch(
            node,
            self._robot,
            timeout=v.state_timeout,
            tracking_error=self._motion_settings().tracking_error,
        )
        diagnostics.add(lambda: self._watch.report(lifecycle.state))
        said = say_robot_in_use(node, self._robot, source, joint_states=self._watch.topic)
        efforts = self._efforts = PointEfforts(node, self._robot, declared)
        self._arms = OtherArms(node, v.robot, v.cell, timeout=v.arm_timeout)
        markers = MarkerPublisher(node, v.base_frame or self._robot.base_link)
        controller = Controller(node, v.interface, wire, cancel_brakes=v.cancel_brakes)
        self._status = node.create_publisher(ExcitationStatus, "~/status", qos.STATUS_LATCHED)
        self.planner = Planner(
            node,
            self._robot,
            slot,
            declared,
            markers=markers,
            arms=self._arms,
            place=self._watch.place,
            problem=self._watch.problem,
            kept=self._forget_motion,
            changed=self.publish_status,
        )
        self.preparation = MotionPreparation(
            declared,
            settings=self._motion_settings,
            require_active=lifecycle.require_active,
            controller=controller,
            watch=self._watch,
            planner=self.planner,
            markers=markers,
            arms=self._arms,
            efforts=efforts,
            robots=RobotsWatch(said, source, RobotsInUse(node)),
        )
        self.executor = MotionExecutor(
            node,
            slot,
            declared,
            require_active=lifecycle.require_active,
            controller=controller,
            watch=self._watch,
            planner=self.planner,
            preparation=self.preparation,
            arms=self._arms,
            efforts=efforts,
            changed=self.publish_status,
        )
        # A clock that is set back, or stands still with a simulation, must not stop these.
        steady = self._watch.clock.steady
        self._looks = node.create_timer(_IDLE_PERIOD, self._look, clock=steady)
        self._looked_elsewhere = self._watch.now()
        node.create_timer(v.status_period, self.publish_status, clock=steady)

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

    def _warm_up(self) -> None:
        """Compile what a start needs."""
        v = self._declared.now
        sources = Sources(
            v.robot, v.joint_limits, v.parameters_file,
            cell=v.cell, clearance=v.clearance, effort_meaning=v.effort_meaning,
        )  # fmt: skip
        try:
            machine = load_machine(sources)
        except MissingLimitError as error:
            self._log.warning(f"no trajectory can be planned: {error}")
            return
        from robot_identification.excitation.motions.approach import approach

        still = np.tile(machine.limits.middle, (2, 1))
        zero = np.zeros_like(still)
        place = Trajectory(self._robot.joint_names, np.array([0.0, 1.0]), still, zero, zero)
        away = still[0] + 0.1 * machine.limits.half_range
        approach(machine.robot, place, away, surroundings=machine.surroundings)

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


def _moved_robot(values: ExcitationParameters, log: RcutilsLogger) -> RobotModel:
    """Return the robot, which must be one whose joints can be watched; log what is odd about it.

    Raises:
        RobotDescriptionError: it is not.
    """
    robot = described(
        Sources(values.robot, values.joint_limits, effort_meaning=values.effort_meaning)
    )
    for warning in robot.warnings:
        log.warning(warning)
    if robot.position_meaning is not PositionMeaning.JOINT:
        raise RobotDescriptionError(
            "positions are of motors; this node watches and moves joints, as a "
            "joint_trajectory_controller does: give it joint states of joints and a robot file "
            "with position_meaning: joint",
            path=values.robot,
            field="position_meaning",
        )
    return robot
