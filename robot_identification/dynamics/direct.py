"""Direct dynamic model: joint accelerations from positions, velocities and efforts.

    qdd = M(q)^-1 (tau - N(q, qd)),

with M and N linear in the full parameter vector of the robot: inertial parameters at the origin
of each frame, drive inertias, friction, offsets and couplings (Gautier et al. 2013, eq. 1, 2).
Base parameters do as well: in the full vector with zeros elsewhere they give the same M and N.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_identification.compiled import as_compiled
from robot_identification.dynamics.friction import RateTerm, rate_terms, refuse_user_terms
from robot_identification.dynamics.kernels import direct as direct_kernels
from robot_identification.dynamics.kernels import mass as mass_kernels
from robot_identification.dynamics.kernels.terms import (
    ACCELERATION,
    COULOMB,
    GRAVITY_LOAD,
    LOAD,
    ONE,
    POSITION,
    STRIBECK,
    VISCOUS,
)
from robot_identification.dynamics.springs import SpringArrays, spring_arrays
from robot_identification.dynamics.tree import Floats, Integers, Tree, shapes_of, tree_of
from robot_identification.errors import MassMatrixError, SampleError, ShapeError
from robot_identification.robot.arrays import checked_vector
from robot_identification.robot.loops import loop_matrix, loop_offset, refuse_loops
from robot_identification.robot.model import RobotModel
from robot_identification.robot.parameters import LINK_PARAMETERS


class CurvedFriction(NamedTuple):
    """Friction that is neither constant nor linear in the velocity, couplings included.

    Element e has the velocity motion[e] . qd, v, and takes action[e] times a function of it from
    the joint efforts.  Stribeck's friction jumps at rest: the jump is a Coulomb element, and here
    is the rest, which is continuous.

    Attributes:
        motion: (elements, joints) velocities.
        action: (elements, joints) efforts where the function is 1.
        kind: (elements,) code of the function, as in :mod:`.kernels.terms`.
        shape: (elements, shapes) its shape parameters.
    """

    motion: Floats
    action: Floats
    kind: Integers
    shape: Floats


class LoadFriction(NamedTuple):
    """Coulomb friction in proportion to an effort that a joint hands on.

    Attributes:
        share: (joints,) of the effort of bodies and drives.
        gravity_share: (joints,) of the gravity effort.
        element: (joints,) Coulomb element of the joint's own velocity; -1 where it has none.
        present: whether there is any.
    """

    share: Floats
    gravity_share: Floats
    element: Integers
    present: bool


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
        stiffness: (joints,) of springs about position zero.
        springs: between points of links.
        motion: (elements, joints) velocity of the friction elements.
        action: (elements, joints) efforts of the friction elements in sliding, in N m or N.
        curved: friction that is neither constant nor linear in the velocity.
        load: friction in proportion to efforts.
        coupled: (pairs, 2) joints whose drive inertia or viscous friction is coupled.
        lanes: what does not change with the state, as :mod:`.kernels.mass` takes it.
        follow: (joints, active) matrix G of the positions G q_a + c of a robot with loops; (0, 0)
            for one without.  With loops, motion and action of Coulomb elements are those of the
            active joints.
        closing: (joints,) the positions c in rad or m; (0,) without loops.
    """

    tree: Tree
    links: Floats
    drive: Floats
    viscous: Floats
    offset: Floats
    stiffness: Floats
    springs: SpringArrays
    motion: Floats
    action: Floats
    curved: CurvedFriction
    load: LoadFriction
    coupled: Integers
    lanes: Floats
    follow: Floats
    closing: Floats


def checked_values(robot: RobotModel, values: npt.ArrayLike) -> Floats:
    """Return a full parameter vector after checking it.

    Raises:
        ShapeError: if it has not one value per name in ``robot.all_parameter_names``.
        SampleError: if a value is NaN or infinite.
    """
    names = robot.all_parameter_names
    chi = checked_vector("values", values, len(names)).copy()
    for index in np.flatnonzero(~np.isfinite(chi)):
        raise SampleError("parameter", names[index], int(index), float(chi[index]))
    return chi


def plant_of(robot: RobotModel, values: npt.ArrayLike) -> Plant:
    """Return a robot with values for its parameters as arrays.

    Args:
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.

    Raises:
        ShapeError: if the number of values differs.
        SampleError: if a value is NaN or infinite.
        SettingError: friction follows the load, and the robot has loops; or a joint has terms of
            users, which are not compiled.
    """
    vector = checked_values(robot, values)
    refuse_user_terms(robot, "the direct model (simulation, DIDIM)")
    if robot.follows_load:
        refuse_loops(robot, "friction that follows the load")
    joints = len(robot.joints)
    terms = rate_terms(robot, np.arange(len(vector)))
    drive, viscous = np.zeros((2, joints, joints))
    offset, stiffness, share, gravity_share = np.zeros((4, joints))
    of_joint = {ONE: offset, POSITION: stiffness, LOAD: share, GRAVITY_LOAD: gravity_share}
    for term in terms:
        if term.kind in (ACCELERATION, VISCOUS):
            matrix = drive if term.kind == ACCELERATION else viscous
            matrix[term.joint] += term.gain * vector[term.column] * term.motion
        elif term.kind in of_joint:
            of_joint[term.kind][term.joint] += vector[term.column]
    follow, closing = loop_matrix(robot), loop_offset(robot)
    jumping = [t for t in terms if t.kind in (COULOMB, STRIBECK, LOAD, GRAVITY_LOAD)]
    projected = [_projected(term, follow) for term in jumping]
    motion, action = _friction_elements(projected, vector, follow.shape[1])
    tree = tree_of(robot)
    links = np.ascontiguousarray(robot.layout.table(vector)[:, :LINK_PARAMETERS])
    apart = ~np.eye(joints, dtype=np.bool_)
    coupled = np.argwhere(apart & ((drive != 0.0) | (viscous != 0.0)))
    return Plant(
        tree=tree,
        links=links,
        drive=drive,
        viscous=viscous,
        offset=offset,
        stiffness=stiffness,
        springs=spring_arrays(robot, vector),
        motion=motion,
        action=action,
        curved=_curved_friction([t for t in terms if t.of_rate], vector, joints),
        load=_load_friction(share, gravity_share, motion),
        # What is compiled is compiled once more for another order in memory.
        coupled=np.ascontiguousarray(coupled),
        lanes=mass_kernels.lanes_of(tree, links, drive, viscous, offset),
        follow=np.array(follow) if robot.loops else np.zeros((0, 0)),
        closing=np.array(closing) if robot.loops else np.zeros(0),
    )


def _projected(term: RateTerm, follow: Floats) -> tuple[RateTerm, Floats]:
    """Return a term with its motion by the active joints, and where it acts on these."""
    return replace(term, motion=term.motion @ follow), follow[term.joint]


def _friction_elements(
    terms: list[tuple[RateTerm, Floats]], vector: Floats, joints: int
) -> tuple[Floats, Floats]:
    """Return motion and action of the Coulomb elements; those of one velocity are one element.

    Those that follow the load act nothing by themselves, but they stick.

    Args:
        terms: terms that jump at rest, with the efforts of the joints for a unit of each.
        vector: (full columns,) parameters.
        joints: number of joints that can be moved independently.
    """
    actions: dict[tuple[float, ...], Floats] = {}
    loaded: set[tuple[float, ...]] = set()
    for term, acting in terms:
        if term.motion.any():
            leading = term.motion[np.flatnonzero(term.motion)[0]]
            key = tuple(float(x) for x in term.motion / leading)
            effort = float(term.gain * vector[term.column])
            if term.kind in (LOAD, GRAVITY_LOAD) and effort != 0.0:
                loaded.add(key)
                effort = 0.0
            own = actions.setdefault(key, np.zeros(joints))
            own += effort * np.sign(leading) * acting
    kept = {key: action for key, action in actions.items() if action.any() or key in loaded}
    return (
        np.array(list(kept), dtype=np.float64).reshape(len(kept), joints),
        np.array(list(kept.values()), dtype=np.float64).reshape(len(kept), joints),
    )


def _curved_friction(terms: list[RateTerm], vector: Floats, joints: int) -> CurvedFriction:
    """Return friction with other functions of the velocity, an element for each that acts."""
    acting = [term for term in terms if term.gain * vector[term.column] != 0.0]
    action = np.zeros((len(acting), joints))
    for row, term in zip(action, acting, strict=True):
        row[term.joint] = term.gain * vector[term.column]
    return CurvedFriction(
        motion=np.array([t.motion for t in acting], dtype=np.float64).reshape(action.shape),
        action=action,
        kind=np.array([term.kind for term in acting], dtype=np.int64),
        shape=shapes_of([term.shape for term in acting]),
    )


def _load_friction(share: Floats, gravity_share: Floats, motion: Floats) -> LoadFriction:
    """Return friction that follows efforts, given the motions of the Coulomb elements."""
    element = np.full(len(share), -1, dtype=np.int64)
    for number, own in enumerate(motion):
        if np.count_nonzero(own) == 1:
            element[np.argmax(own != 0.0)] = number
    present = bool(share.any() or gravity_share.any())
    return LoadFriction(share, gravity_share, element, present)


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
        signals = {name: as_compiled(np.atleast_2d(array))[0] for name, array in arrays.items()}
        joints = len(self.robot.active_joints)
        first = next(iter(signals.values()))
        for name, signal in signals.items():
            if signal.ndim != 2 or signal.shape[1] != joints:
                raise ShapeError(name, signal.shape, f"(samples, {joints})")
            if signal.shape != first.shape:
                raise ShapeError(name, signal.shape, str(first.shape))
        return list(signals.values())
