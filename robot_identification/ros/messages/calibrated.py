"""Calibrated parameters as the message InertialParameters."""

from __future__ import annotations

from robot_identification import msg
from robot_identification.calibration.calibrated import CalibratedParameters
from robot_identification.robot.files.urdf import UrdfDescription
from robot_identification.robot.model import RobotModel
from robot_identification.ros.messages.common import floats
from robot_identification.ros.messages.inertial import parameters_message


def calibrated_message(
    robot: RobotModel,
    calibrated: CalibratedParameters,
    *,
    stamp: int,
    description: UrdfDescription | None = None,
) -> msg.InertialParameters:
    """Return calibrated parameters as a message.

    Args:
        robot: the robot.
        calibrated: its parameters.
        stamp: time of the calibration, in ns.
        description: a URDF of the robot whose link frames are to be used; by default those of
            the robot.

    Raises:
        InconsistentParametersError: if a link or a friction cannot exist.
    """
    message = parameters_message(robot, calibrated.values, stamp=stamp, description=description)
    message.recordings = [source.name for source in calibrated.sources if not source.digest]
    message.bag_hashes = [source.digest for source in calibrated.sources if source.digest]
    message.std = floats(calibrated.std)
    message.std_robust = floats(calibrated.std_robust)
    message.verdicts = [int(verdict) for verdict in calibrated.full_verdicts]
    message.consistent = calibrated.consistent
    message.joint_names = list(calibrated.joint_names)
    message.relative_error = floats(calibrated.error.joints)
    message.relative_error_total = calibrated.error.total
    message.error_increase = calibrated.error_increase
    message.distance_to_prior = calibrated.distance_to_prior
    return message
