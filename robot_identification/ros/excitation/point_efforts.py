"""Efforts of a model in the points of what the excitation node sends, where that is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from rclpy.node import Node

from robot_identification.dynamics.feed_forward import FeedForward
from robot_identification.errors import ResultFileError, SettingError
from robot_identification.excitation.motions.point_efforts import with_efforts
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.files.parameters import with_law_of
from robot_identification.msg import InertialParameters
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.values import load_values
from robot_identification.robot.model import RobotModel
from robot_identification.ros.common import qos
from robot_identification.ros.common.joint_states import stamp_of
from robot_identification.ros.common.parameters.declaration import NodeParameters
from robot_identification.ros.excitation.parameters import (
    CALIBRATED,
    FROM_FILE,
    NO_EFFORTS,
    ExcitationParameters,
)
from robot_identification.ros.messages.inertial import feed_forward_of
from robot_identification.ros.supervision.phases import Command

_SHORTEST_IN_BRAKING = 0.01
"""Time between two points of a braking trajectory, s: it is to be sent at once."""


class PointEfforts:
    """Puts efforts into the points of commands; positions, velocities and accelerations stay.

    The parameter `point_efforts` says whose.  A motion keeps the model that it began with.

    Args:
        node: the node.
        robot: its robot.
        parameters: of the node.

    Attributes:
        text: whose efforts the motion has, for people; empty: it has none.

    Raises:
        SettingError, MissingLimitError: as :meth:`require`.
    """

    def __init__(
        self, node: Node, robot: RobotModel, parameters: NodeParameters[ExcitationParameters]
    ) -> None:
        self._robot, self._parameters = robot, parameters
        self._log = node.get_logger()
        self._message: InertialParameters | None = None
        self._model: FeedForward | None = None
        self._known: list[tuple[Trajectory, Trajectory]] = []  # motions, without and with efforts
        self.text = ""
        self.require(parameters.now.point_efforts)
        node.create_subscription(InertialParameters, "inertial_parameters", self.take, qos.LATCHED)

    def require(self, source: str) -> None:
        """Refuse efforts that this robot cannot have.

        Args:
            source: value of the parameter.

        Raises:
            SettingError: its controller has a model of its own, or there is no file.
            MissingLimitError: a joint has no effort limit.
        """
        if source == NO_EFFORTS:
            return
        FeedForward(self._robot, np.zeros(len(self._robot.all_parameter_names)))
        if source == FROM_FILE and not self._parameters.now.parameters_file:
            raise SettingError("point_efforts", source, "needs parameters_file")

    def take(self, message: InertialParameters) -> None:
        """Take parameters for the motions that begin from now on."""
        self._message = message

    def prepare(self, motions: Iterable[Trajectory], position: Array) -> None:
        """Take the model for a motion that is to begin, and compute the efforts of its parts.

        Args:
            motions: what will be sent, as it was certified.
            position: (joints,) where the robot stands, in rad or m.

        Raises:
            ResultFileError: no parameters have come yet.
            ResultMismatchError, MessageError, InconsistentParametersError: they are not of this
                robot, or do not hold it where it stands.
            RobotDescriptionError: the file is wrong.
            SampleError: an effort would not be finite.
        """
        self._model, self.text, self._known = None, "", []
        model, text = self._chosen(self._parameters.now)
        if model is None:
            return
        model.require_holding(position)
        known = []
        limited: dict[str, None] = {}
        for motion in motions:
            known.append((motion, with_efforts(motion, model)))
            limited |= dict.fromkeys(model.limited)
        if limited:
            text += f", which asks for more than the effort limit of {', '.join(limited)}"
        self._model, self.text, self._known = model, text, known

    def _chosen(self, values: ExcitationParameters) -> tuple[FeedForward | None, str]:
        """Return the model that the parameters name, and its origin for people."""
        if values.point_efforts == CALIBRATED:
            if self._message is None:
                raise ResultFileError(
                    "inertial_parameters",
                    "none have come: call ~/calibrate of the calibration node first, or set "
                    "point_efforts to file or none",
                )
            model = feed_forward_of(self._message, self._robot)
            return model, f"efforts by the parameters of {stamp_of(self._message)} ns"
        if values.point_efforts == FROM_FILE:
            path = values.parameters_file
            robot = with_law_of(path, self._robot)
            model = FeedForward(robot, load_values(path, robot, complete=True))
            return model, f"efforts by {path}"
        return None, ""

    def added(self, command: Command) -> Command:
        """Return a command of the motion with efforts in its points; as it is without a model."""
        if self._model is None:
            return command
        for motion, fed in self._known:
            if motion is command.trajectory:
                return replace(command, trajectory=fed)
        try:
            fed = with_efforts(command.trajectory, self._model, shortest=_SHORTEST_IN_BRAKING)
        except Exception as error:  # noqa: BLE001
            # A braking trajectory goes out, with efforts or without.
            self._log.error(f"no efforts in the points: {error!r}")
            return command
        self._known.append((command.trajectory, fed))
        return replace(command, trajectory=fed)
