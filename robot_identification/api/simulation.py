"""Simulate a recording."""

from __future__ import annotations

from robot_identification.api.sources.parameters import FullSource, full_values_of, with_law
from robot_identification.api.sources.recordings import TrajectorySource, trajectory_of
from robot_identification.api.sources.robots import RobotSource, robot_of
from robot_identification.errors import SettingError
from robot_identification.excitation.simulated_recording import (
    SimulatedRecording,
    SimulationSettings,
    simulated_recording,
)
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.values import known_values, values_named_as
from robot_identification.robot.model import RobotModel


def simulate(
    robot: RobotSource,
    trajectory: TrajectorySource,
    *,
    parameters: FullSource | None = None,
    settings: SimulationSettings | None = None,
) -> SimulatedRecording:
    """Simulate a robot along a trajectory, as if it had been recorded, as ``simulate`` does.

    Args:
        robot: the robot with its controller, its file, or the name of a shipped one.
        trajectory: a trajectory, a plan, a file, or the name of a shipped one.
        parameters: true ones: calibrated ones, (full,) values, a file, or the name of a shipped
            one; by default those named as the robot.
        settings: rates, duration, noise and seed.

    Raises:
        SettingError: no parameters are known, a setting is wrong, or the robot lacks a
            controller.
        TrajectoryError: the trajectory moves other joints.
        SimulationError: the motion breaks down.
    """
    robot = robot_of(robot, closed_loops=True)
    if parameters is not None:
        robot, _ = with_law(robot, parameters)
    values = true_values(robot, parameters)
    return simulated_recording(robot, values, trajectory_of(trajectory), settings)


def true_values(robot: RobotModel, parameters: FullSource | None) -> Array:
    """Return the (full,) parameters to simulate with; see :func:`simulate`.

    Raises:
        SettingError: none are given, and none are named as the robot.
    """
    chosen = values_named_as(robot.name) if parameters is None else parameters
    if chosen is None:
        raise SettingError(
            "parameters",
            None,
            f"no parameters of {robot.name} are known: give a file with values of its "
            "standard parameters, such as calibrate writes, a URDF, or one of "
            f"{', '.join(known_values())}",
        )
    return full_values_of(robot, chosen)
