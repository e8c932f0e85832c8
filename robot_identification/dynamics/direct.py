"""Direct dynamic model: joint accelerations from positions, velocities and efforts.

    qdd = M(q)^-1 (tau - N(q, qd)),

with M and N linear in the full parameter vector of the robot: inertial parameters at the origin
of each frame, drive inertias, friction, offsets and couplings (Gautier et al. 2013, eq. 1, 2).
Base parameters do as well: in the full vector with zeros elsewhere they give the same M and N.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics import direct_kernels, mass_kernels
from robot_identification.dynamics.tree import (
    COUPLING_KINDS,
    CouplingTerms,
    Floats,
    Integers,
    Tree,
    coupling_terms_of,
    tree_of,
)
from robot_identification.errors import MassMatrixError, SampleError, ShapeError
from robot_identification.robot import parameters
from robot_identification.robot.model import CouplingKind, RobotModel

_COULOMB = COUPLING_KINDS[CouplingKind.COULOMB]


class Plant(NamedTuple):
    """A robot with values for its parameters, as the arrays that compiled code takes.

    Coulomb friction consists of elements: element e has the velocity motion[e] . qd and takes
    action[e] times the sign of that velocity from the joint efforts.

    Attributes:
        tree: kinematic tree.
        links: (joints, 10) inertial parameters XX XY XZ YY YZ ZZ MX MY MZ M.
        drive: (joints, joints) drive inertias, couplings included; need not be symmetric.
        viscous: (joints, joints) viscous friction, couplings included.
        offset: (joints,) constant efforts.
        motion: (elements, joints) velocity of the friction elements.
        action: (elements, joints) efforts of the friction elements in sliding, in N m or N.
        coupled: (pairs, 2) joints whose drive inertia or viscous friction is coupled.
        lanes: what does not change with the state, as :mod:`.mass_kernels` takes it.
    """

    tree: Tree
    links: Floats
    drive: Floats
    viscous: Floats
    offset: Floats
    motion: Floats
    action: Floats
    coupled: Integers
    lanes: Floats


def checked_values(robot: RobotModel, values: npt.ArrayLike) -> Floats:
    """Return a full parameter vector after checking it.

    Raises:
        ShapeError: if it has not one value per name in ``robot.all_parameter_names``.
        SampleError: if a value is NaN or infinite.
    """
    vector = np.array(values, dtype=np.float64)
    names = robot.all_parameter_names
    if vector.shape != (len(names),):
        raise ShapeError("values", vector.shape, f"({len(names)},)")
    for index in np.flatnonzero(~np.isfinite(vector)):
        raise SampleError("parameter", names[index], int(index), float(vector[index]))
    return vector


def plant_of(robot: RobotModel, values: npt.ArrayLike) -> Plant:
    """Return a robot with values for its parameters as arrays.

    Args:
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.

    Raises:
        ShapeError: if the number of values differs.
        SampleError: if a value is NaN or infinite.
    """
    vector = checked_values(robot, values)
    joints = len(robot.joints)
    own = vector[: parameters.joint_offset(joints)].reshape(joints, len(parameters.PER_JOINT))
    terms = coupling_terms_of(robot)
    drive = np.diag(own[:, parameters.DRIVE_INERTIA])
    viscous = np.diag(own[:, parameters.VISCOUS_FRICTION])
    for i, kind in enumerate(terms.kind):
        if kind != _COULOMB:
            matrix = viscous if kind == COUPLING_KINDS[CouplingKind.VISCOUS] else drive
            matrix[terms.joint[i]] += terms.gain[i] * vector[terms.column[i]] * terms.motion[i]
    motion, action = _friction_elements(own[:, parameters.COULOMB_FRICTION], terms, vector)
    tree = tree_of(robot)
    links = np.ascontiguousarray(own[:, : len(parameters.INERTIAL)])
    offset = np.ascontiguousarray(own[:, parameters.OFFSET])
    apart = ~np.eye(joints, dtype=np.bool_)
    coupled = np.argwhere(apart & ((drive != 0.0) | (viscous != 0.0)))
    return Plant(
        tree=tree,
        links=links,
        drive=drive,
        viscous=viscous,
        offset=offset,
        motion=motion,
        action=action,
        # What is compiled is compiled once more for another order in memory.
        coupled=np.ascontiguousarray(coupled),
        lanes=mass_kernels.lanes_of(tree, links, drive, viscous, offset),
    )


def _friction_elements(own: Floats, terms: CouplingTerms, vector: Floats) -> tuple[Floats, Floats]:
    """Return motion and action of the Coulomb elements; those of one velocity are one element."""
    joints = len(own)
    actions: dict[tuple[float, ...], Floats] = {}

    def add(motion: Floats, joint: int, effort: float) -> None:
        leading = motion[np.flatnonzero(motion)[0]]
        key = tuple(float(x) for x in motion / leading)
        actions.setdefault(key, np.zeros(joints))[joint] += effort * np.sign(leading)

    for joint, effort in enumerate(own):
        add(np.eye(joints)[joint], joint, float(effort))
    for i in np.flatnonzero(terms.kind == _COULOMB):
        if terms.motion[i].any():
            effort = float(terms.gain[i] * vector[terms.column[i]])
            add(terms.motion[i], int(terms.joint[i]), effort)
    kept = {key: action for key, action in actions.items() if action.any()}
    return (
        np.array(list(kept), dtype=np.float64).reshape(len(kept), joints),
        np.array(list(kept.values()), dtype=np.float64).reshape(len(kept), joints),
    )


class DirectModel:
    """Direct dynamic model of a robot with given parameters.

    Args:
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.

    Raises:
        ShapeError: if the number of values differs.
        SampleError: if a value is NaN or infinite.
    """

    def __init__(self, robot: RobotModel, values: npt.ArrayLike) -> None:
        self.robot = robot
        self.plant = plant_of(robot, values)

    def accelerations(self, q: npt.ArrayLike, qd: npt.ArrayLike, effort: npt.ArrayLike) -> Floats:
        """Return joint accelerations; Coulomb friction follows the sign of the velocities.

        Args:
            q: (samples, joints) positions in rad or m.
            qd: (samples, joints) velocities.
            effort: (samples, joints) efforts in N m or N.

        Returns:
            (samples, joints) accelerations in rad/s^2 or m/s^2.

        Raises:
            ShapeError: if the arrays do not have the robot's number of joints or differ in shape.
            MassMatrixError: if the parameters make the mass matrix of a sample not positive
                definite.
        """
        signals = self._signals(q=q, qd=qd, effort=effort)
        out = np.empty_like(signals[0])
        failed = direct_kernels.accelerations(self.plant, *signals, out)
        if failed >= 0:
            raise MassMatrixError(self.robot.name, int(failed))
        return out

    def mass_matrix(self, q: npt.ArrayLike) -> Floats:
        """Return the mass matrix of every sample, drive inertias and couplings included.

        Args:
            q: (samples, joints) positions in rad or m.

        Returns:
            (samples, joints, joints).

        Raises:
            ShapeError: if ``q`` does not have the robot's number of joints.
        """
        return self._mass_and_bias(q, np.zeros(np.shape(q)))[0]

    def bias(self, q: npt.ArrayLike, qd: npt.ArrayLike) -> Floats:
        """Return the efforts at zero acceleration without Coulomb friction.

        Args:
            q: (samples, joints) positions in rad or m.
            qd: (samples, joints) velocities.

        Returns:
            (samples, joints) efforts in N m or N.

        Raises:
            ShapeError: if the arrays do not have the robot's number of joints or differ in shape.
        """
        return self._mass_and_bias(q, qd)[1]

    def _mass_and_bias(self, q: npt.ArrayLike, qd: npt.ArrayLike) -> tuple[Floats, Floats]:
        signals = self._signals(q=q, qd=qd)
        samples, joints = signals[0].shape
        mass, bias = np.empty((samples, joints, joints)), np.empty((samples, joints))
        direct_kernels.mass_matrices(self.plant, *signals, mass, bias)
        return mass, bias

    def _signals(self, **arrays: npt.ArrayLike) -> list[Floats]:
        """Return arrays as (samples, joints) after checking their shapes."""
        signals = {
            name: np.ascontiguousarray(np.atleast_2d(np.asarray(array, dtype=np.float64)))
            for name, array in arrays.items()
        }
        joints = len(self.robot.joints)
        first = next(iter(signals.values()))
        for name, signal in signals.items():
            if signal.ndim != 2 or signal.shape[1] != joints:
                raise ShapeError(name, signal.shape, f"(samples, {joints})")
            if signal.shape != first.shape:
                raise ShapeError(name, signal.shape, str(first.shape))
        return list(signals.values())
