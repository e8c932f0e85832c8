"""The simulated controller: gains that keep natural frequency and damping (eq. 51, 58-60).

Equations are those of Gautier et al. 2013.  Seen from its own joint, the robot is a double
integrator J qdd = tau, with J the largest diagonal element of the mass matrix over all positions
(eq. 51).  Where the simulated robot has the inertia J_k and the real one J_a, all gains that make
efforts out of errors are multiplied by J_k / J_a: then natural frequency, damping, and the way
feed-forward acts stay those of the real loop (eq. 58, 59).  So are the limits of the efforts.

A controller by computed torque works with accelerations, and takes the parameters of the simulated
robot as its model: its gains need no change.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.direct import DirectModel
from robot_identification.errors import SettingError
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.experiment import Controller
from robot_identification.robot.joint import JointType
from robot_identification.robot.model import RobotModel

_POSITIONS = 256
_SEED = 51
# Powers of the bandwidth that the gains of a law grow with.
_BANDWIDTH_POWERS = {"kv": 1, "kd": 1, "ki": 3, "velocity_feedforward": 1}


@by_value
@dataclass(frozen=True)
class Inertias:
    """Extremes of the mass matrix over many positions.

    Attributes:
        joints: (joints,) largest inertia about or along each joint (eq. 51), in kg m^2 or kg.
        smallest_eigenvalue: smallest eigenvalue of the mass matrix.
        largest_eigenvalue: largest one.
    """

    joints: Array
    smallest_eigenvalue: float
    largest_eigenvalue: float


def positions_to_look_at(robot: RobotModel, along: npt.ArrayLike) -> Array:
    """Return (positions, joints) over the whole range of the joints, and some on the way.

    Args:
        robot: its limits say how far the joints move; revolute joints without any turn fully.
        along: (samples, joints) positions of the reference.
    """
    way = np.asarray(along, dtype=np.float64)
    low, high = way.min(axis=0), way.max(axis=0)
    for j, joint in enumerate(robot.joints):
        if joint.limits.lower is not None and joint.limits.upper is not None:
            low[j], high[j] = joint.limits.lower, joint.limits.upper
        elif joint.type is JointType.REVOLUTE:
            low[j], high[j] = -np.pi, np.pi
    scattered = np.random.default_rng(_SEED).uniform(low, high, (_POSITIONS, len(robot.joints)))
    chosen = np.linspace(0, len(way) - 1, min(_POSITIONS, len(way))).astype(np.intp)
    return read_only(np.vstack([scattered, way[chosen], np.clip(0.0, low, high)]))


def inertias(robot: RobotModel, values: npt.ArrayLike, positions: Array) -> Inertias:
    """Return the inertias of a robot over some positions (eq. 51).

    Args:
        robot: the robot.
        values: (full columns,) parameters; base parameters with zeros elsewhere do as well.
        positions: (positions, joints).
    """
    mass = DirectModel(robot, values).mass_matrix(positions)
    eigenvalues = np.linalg.eigvalsh(0.5 * (mass + np.swapaxes(mass, 1, 2)))
    return Inertias(
        joints=_largest_diagonal(mass),
        smallest_eigenvalue=float(eigenvalues.min()),
        largest_eigenvalue=float(eigenvalues.max()),
    )


def joint_inertias(robot: RobotModel, values: npt.ArrayLike, positions: Array) -> Array:
    """Return the (joints,) inertias of :func:`inertias` alone, without eigenvalues."""
    return _largest_diagonal(DirectModel(robot, values).mass_matrix(positions))


def _largest_diagonal(mass: Array) -> Array:
    return read_only(np.diagonal(mass, axis1=1, axis2=2).max(axis=0))


def declared_controller(robot: RobotModel) -> Controller:
    """Return the controller that a robot declares.

    Raises:
        SettingError: if it declares none.
    """
    if robot.controller is None:
        raise SettingError(
            "controller", None, f"robot {robot.name} declares none; DIDIM has to simulate it"
        )
    return robot.controller


def natural_frequencies(robot: RobotModel, inertia: npt.ArrayLike) -> Array:
    """Return (joints,) natural frequencies of the declared loop in rad/s (eq. 56).

    Args:
        robot: its controller has the gains.
        inertia: (joints,) inertias, positive.

    Raises:
        SettingError: if there is no controller, or it does not hold a position.
    """
    controller = declared_controller(robot)
    own = np.asarray(inertia, dtype=np.float64)
    stiffness = np.array(controller.gains["kp"])
    if controller.law == "cascade":
        stiffness = stiffness * np.array(controller.gains["kv"])
    if not (stiffness > 0.0).all():
        raise SettingError("kp", stiffness.tolist(), "a joint without stiffness follows nothing")
    squared = stiffness if controller.law == "computed_torque" else stiffness / own
    return read_only(np.sqrt(squared))


def simulated_robot(
    robot: RobotModel, inertia: Array, real_inertia: Array, bandwidth: float
) -> RobotModel:
    """Return the robot with the controller and limits of the simulation (eq. 59).

    Args:
        robot: the robot as declared.
        inertia: (joints,) inertias of the simulated robot; where one is not positive, the gains
            of its joint stay.
        real_inertia: (joints,) what is known of the real ones, positive.
        bandwidth: natural frequencies of the simulated loop over the declared ones.
    """
    controller = declared_controller(robot)
    usable = np.where(inertia > 0.0, inertia, real_inertia)
    scale = usable / real_inertia
    by_effort = np.ones_like(scale) if controller.law == "computed_torque" else scale
    gains = {}
    for name, given in controller.gains.items():
        power = _BANDWIDTH_POWERS.get(name, 0)
        factor = by_effort * bandwidth**power
        if name == "kp":
            factor = bandwidth * np.ones_like(scale)
            if controller.law != "cascade":
                factor = by_effort * bandwidth**2
        gains[name] = tuple((np.array(given) * factor).tolist())
    joints = tuple(
        joint
        if joint.limits.effort is None
        else replace(joint, limits=replace(joint.limits, effort=joint.limits.effort * float(s)))
        for joint, s in zip(robot.joints, scale, strict=True)
    )
    return replace(robot, joints=joints, controller=replace(controller, gains=gains))


def frequency_ratio(
    robot: RobotModel, real_inertia: Array, assumed: Array, bandwidth: float
) -> Array:
    """Return (joints,) natural frequency of the real loop over the simulated one (eq. 60).

    Args:
        robot: the robot as declared.
        real_inertia: (joints,) inertias of the real robot.
        assumed: (joints,) what :func:`simulated_robot` took for them.
        bandwidth: as there.
    """
    real = natural_frequencies(robot, np.where(real_inertia > 0.0, real_inertia, assumed))
    return read_only(real / (bandwidth * natural_frequencies(robot, assumed)))
