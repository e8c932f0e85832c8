"""Boxes for centres of mass, in the frames that the description of a robot gives its links."""

from __future__ import annotations

from robot_identification.calibration.consistency.boxes import Box, Boxes, checked_boxes
from robot_identification.robot.model import RobotModel
from robot_identification.robot.mounting import urdf_frames


def described_boxes(robot: RobotModel, boxes: Boxes) -> dict[str, Box]:
    """Return boxes in the links' frames: those of the URDF where one describes the robot.

    The frames of the joints, whose z axis is that of the motion, are others.

    Args:
        robot: the robot.
        boxes: by link; corners are in the link's frame.

    Raises:
        SettingError: there is no such link, or corners are none.
        UnknownRobotError, RobotDescriptionError: the description is wrong.
    """
    found = checked_boxes(robot, boxes)
    frames = urdf_frames(robot.file, robot) if found and robot.file is not None else {}
    return {
        link: Box(box.lower, box.upper, frames[link].rotation, frames[link].translation)
        if link in frames and not isinstance(boxes[link], Box)
        else box
        for link, box in found.items()
    }
