"""The calibration node's `external_wrench` and `external_wrench_deviation`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from geometry_msgs.msg import Vector3, Wrench, WrenchStamped
from rclpy.node import Node

from robot_identification.dynamics.external_efforts.wrench import COMPONENTS, WrenchEstimator
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel
from robot_identification.robot.mounting import mounting, urdf_frames
from robot_identification.ros.calibration.parameters import CalibrationParameters
from robot_identification.ros.common import qos
from robot_identification.ros.messages.common import time_of


class ExternalWrench:
    """Publishes the wrench at a frame that external joint efforts stand for, and its deviation.

    Args:
        node: the node that publishes.
        robot: the robot.
        values: parameters of the node, which name the frame.

    Raises:
        SettingError: nothing that moves has this name.
    """

    def __init__(self, node: Node, robot: RobotModel, values: CalibrationParameters) -> None:
        frames = urdf_frames(values.robot, robot)
        frame = mounting(robot, values.wrench_frame, frames)
        self._frame = frame.frame  # of a link, which transforms know
        self._estimator = WrenchEstimator(robot, frame, values.wrench_settings())
        self._told, self._sent = np.zeros(len(COMPONENTS)), 0
        self._wrenches, self._deviations = (
            qos.create_publisher(node, WrenchStamped, topic, qos.STATES_OUT)
            for topic in ("~/external_wrench", "~/external_wrench_deviation")
        )

    def publish(
        self, stamps: npt.NDArray[np.int64], position: Array, effort: Array, deviation: Array
    ) -> None:
        """Publish the wrenches of (samples, joints) external efforts; see the estimator."""
        found = self._estimator.estimate(stamps, position, effort, deviation)
        self._told += found.told.sum(axis=0)
        self._sent += len(stamps)
        for stamp, wrench, error in zip(
            stamps.tolist(), found.wrench.tolist(), found.deviation.tolist(), strict=True
        ):
            self._wrenches.publish(self._message(stamp, wrench))
            self._deviations.publish(self._message(stamp, error))

    def _message(self, stamp: int, values: list[float]) -> WrenchStamped:
        force, torque = (
            Vector3(x=x, y=y, z=z) for x, y, z in (tuple(values[:3]), tuple(values[3:]))
        )
        message = WrenchStamped(wrench=Wrench(force=force, torque=torque))
        message.header.stamp, message.header.frame_id = time_of(stamp), self._frame
        return message

    def report(self) -> dict[str, object]:
        """Return what is said of it on /diagnostics: how often each component was told."""
        shares = self._told / max(self._sent, 1)
        found = {
            f"told_{name}": f"{share:.2f}" for name, share in zip(COMPONENTS, shares, strict=True)
        }
        self._told[:], self._sent = 0.0, 0
        return {"wrench_frame": self._frame, **found}
