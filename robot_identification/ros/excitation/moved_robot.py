"""Robot that the excitation node moves: loaded and checked, and code for its start compiled."""

from __future__ import annotations

import numpy as np
from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.node import Node

from robot_identification.errors import MissingLimitError, RobotDescriptionError
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.model import PositionMeaning, RobotModel
from robot_identification.ros.excitation.parameters import ExcitationParameters
from robot_identification.ros.planning.planning import Sources, described, load_machine


def moved_robot(values: ExcitationParameters, log: RcutilsLogger) -> RobotModel:
    """Return the robot, which must be one whose joints can be watched; log what is odd about it.

    Args:
        values: of the parameters of the node.
        log: of the node.

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


def warm_up(node: Node, values: ExcitationParameters, robot: RobotModel) -> None:
    """Compile what a start needs; log why nothing can be planned where a limit is missing.

    Args:
        node: the node.
        values: of its parameters.
        robot: its robot.
    """
    sources = Sources(
        values.robot, values.joint_limits, values.parameters_file,
        cell=values.cell, clearance=values.clearance, effort_meaning=values.effort_meaning,
    )  # fmt: skip
    try:
        machine = load_machine(sources)
    except MissingLimitError as error:
        node.get_logger().warning(f"no trajectory can be planned: {error}")
        return
    from robot_identification.excitation.motions.approach import approach

    still = np.tile(machine.limits.middle, (2, 1))
    zero = np.zeros_like(still)
    place = Trajectory(robot.joint_names, np.array([0.0, 1.0]), still, zero, zero)
    away = still[0] + 0.1 * machine.limits.half_range
    approach(machine.robot, place, away, surroundings=machine.surroundings)
