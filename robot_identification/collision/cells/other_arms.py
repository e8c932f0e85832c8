"""Other robots of a cell: where they stand, by the cell file or by their joint states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from robot_identification.collision.cells.cell import Arm
from robot_identification.collision.cells.postures import require_posture
from robot_identification.collision.scene import STATIC, CollisionBody
from robot_identification.errors import SettingError
from robot_identification.robot.geometry import forward_kinematics
from robot_identification.robot.loops import loop_matrix, loop_offset
from robot_identification.robot.model import RobotModel

Postures = Mapping[str, Mapping[str, float]]
"""By name of another robot, its joint positions in rad or m by name."""


def arm_position(arm: Arm, robot: RobotModel, postures: Postures | None) -> list[float]:
    """Return where the joints of another robot are, in its order, in rad or m.

    Joints that follow others are where the relations of the loops put them, unless they are told.

    Args:
        arm: as a cell file describes it.
        robot: the robot that it is.
        postures: what the topics of other robots have said; None: nobody has listened, and the
            position of the cell file counts.

    Raises:
        SettingError: the cell file states no posture of this robot, or its topic has not said
            where all joints are.
    """
    position = dict(arm.position)
    require_posture(f"arms: {arm.name}: position", robot, position)
    active = robot.active_names
    if arm.joint_states and postures is not None:
        told = postures.get(arm.name, {})
        # The file may have a follower where it was before the joints moved that it follows.
        position = {name: place for name, place in position.items() if name in active} | dict(told)
        missing = [name for name in active if name not in position]
        if missing:
            raise SettingError(
                f"arms: {arm.name}",
                arm.joint_states,
                f"nothing has said where its joints {', '.join(missing)} are; give them in "
                "position of the cell file if the driver does not tell them",
            )
    moved = np.array([position.get(name, 0.0) for name in active])
    related = loop_matrix(robot) @ moved + loop_offset(robot)
    names = enumerate(robot.joint_names)
    return [position.get(name, float(related[i])) for i, name in names]


def standing_bodies(
    arm: Arm, robot: RobotModel, bodies: Iterable[CollisionBody], position: list[float]
) -> list[CollisionBody]:
    """Return the bodies of another robot as bodies of the cell.

    Args:
        arm: where its base is.
        robot: the robot that it is.
        bodies: of that robot.
        position: of its joints, in rad or m.
    """
    frames = forward_kinematics(robot, position)
    placed = []
    for body in bodies:
        turn, place = body.pose(frames)
        placed.append(
            replace(
                body,
                name=f"{arm.name}: {body.name}",
                link=f"{arm.name}: {body.link}",
                joint=STATIC,
                rotation=arm.rotation @ turn,
                translation=arm.translation + arm.rotation @ place,
                of_robot=False,
            )
        )
    return placed
