"""Ask a model that is known: efforts, gravity, mass matrix; efforts along a trajectory."""

from __future__ import annotations

import numpy.typing as npt

from robot_identification.api.sources.parameters import FullSource, full_values_of, with_law
from robot_identification.api.sources.robots import RobotSource, robot_of
from robot_identification.calibration.calibrated import CalibratedParameters
from robot_identification.calibration.model.queries import CalibratedModel, ModelValues
from robot_identification.dynamics.feed_forward import FeedForward
from robot_identification.excitation.motions import point_efforts
from robot_identification.excitation.motions.trajectory import Trajectory


def inverse_dynamics(
    robot: RobotSource,
    parameters: FullSource,
    q: npt.ArrayLike,
    qd: npt.ArrayLike | None = None,
    qdd: npt.ArrayLike | None = None,
) -> ModelValues:
    """Return the efforts that motions need: bodies, drives, friction and offsets.

    Args:
        robot: the robot, its file, or the name of a shipped one.
        parameters: calibrated parameters, (full,) values, or a file; deviations come with
            calibrated ones.
        q: (samples, joints) or (joints,) positions in rad or m.
        qd: velocities, likewise; Coulomb friction follows their signs.  By default at rest.
        qdd: accelerations, likewise; by default 0.

    Raises:
        ResultMismatchError: the parameters belong to a robot with others.
        ShapeError: an array does not fit.
        SettingError: it holds no numbers, or is a table with the joints in another order.
        SampleError: a value is NaN or infinite, or an effort would be.
    """
    return _model(robot, parameters).inverse_dynamics(q, qd, qdd)


def gravity(robot: RobotSource, parameters: FullSource, q: npt.ArrayLike) -> ModelValues:
    """Return the efforts that hold the bodies against gravity, without offsets and springs.

    Args:
        robot: the robot, its file, or the name of a shipped one.
        parameters: calibrated parameters, (full,) values, or a file; deviations come with
            calibrated ones.
        q: (samples, joints) or (joints,) positions in rad or m.

    Raises:
        ResultMismatchError, ShapeError, SettingError, SampleError: as :func:`inverse_dynamics`.
    """
    return _model(robot, parameters).gravity(q)


def mass_matrix(robot: RobotSource, parameters: FullSource, q: npt.ArrayLike) -> ModelValues:
    """Return mass matrices (samples, joints, joints), drives included.

    Args:
        robot: the robot, its file, or the name of a shipped one.
        parameters: calibrated parameters, (full,) values, or a file; deviations come with
            calibrated ones.
        q: (samples, joints) or (joints,) positions in rad or m.

    Raises:
        ResultMismatchError, ShapeError, SettingError, SampleError: as :func:`inverse_dynamics`.
    """
    return _model(robot, parameters).mass_matrix(q)


def with_efforts(robot: RobotSource, parameters: FullSource, trajectory: Trajectory) -> Trajectory:
    """Return a trajectory whose points carry the efforts of a model, as ``point_efforts`` has them.

    For controllers that add the efforts of points, and straight lines between them, to what they
    give themselves; what the controller that the robot declares feeds forward is taken off.  Points
    are added where lines would be off; positions, velocities and accelerations stay what they are
    at every time.  Friction follows the signs of the trajectory's velocities.

    Args:
        robot: the robot, its file, or the name of a shipped one.
        parameters: calibrated parameters, (full,) values, or a file.
        trajectory: the motion.

    Raises:
        MissingLimitError: a joint has no effort limit, to which efforts are limited.
        SettingError: the controller of the robot has a model of its own.
        ResultMismatchError: the parameters belong to a robot with others.
        TrajectoryError: it moves other joints than the robot has.
        SampleError: an effort would not be finite.
    """
    described, _ = with_law(robot_of(robot, closed_loops=True), parameters)
    model = FeedForward(described, full_values_of(described, parameters))
    return point_efforts.with_efforts(trajectory, model)


def _model(robot: RobotSource, parameters: FullSource) -> CalibratedModel:
    """Return a robot with parameters and, where they are calibrated, what noise does to them."""
    described, _ = with_law(robot_of(robot, closed_loops=True), parameters)
    spread = parameters.spread if isinstance(parameters, CalibratedParameters) else None
    return CalibratedModel(described, full_values_of(described, parameters), spread)
