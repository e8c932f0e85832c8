"""A robot model as plain arrays, the form that compiled code takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.kernels import terms as kernels
from robot_identification.robot.joint import JointType
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.kinds import TermKind

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]


def code_of(kind: TermKind) -> int:
    """Return what compiled code takes for a kind of terms; see :mod:`.kernels.terms`."""
    return _CODES[kind] if kind.power is None else kind.power


_CODES = {
    TermKind.INERTIA: kernels.ACCELERATION,
    TermKind.OFFSET: kernels.ONE,
    TermKind.MAGNITUDE: kernels.MAGNITUDE,
    TermKind.ROOT: kernels.ROOT,
    TermKind.SMOOTH: kernels.SMOOTH,
    TermKind.STRIBECK: kernels.STRIBECK,
    TermKind.POSITION: kernels.POSITION,
    TermKind.LOAD: kernels.LOAD,
    TermKind.GRAVITY_LOAD: kernels.GRAVITY_LOAD,
}


class Tree(NamedTuple):
    """Kinematic tree: frame j is its antecedent's frame, placed and then moved about or along z.

    Attributes:
        antecedent: (joints,) index of the carrying joint, -1 for the base.
        prismatic: (joints,) whether the joint translates.
        rotation: (joints, 3, 3) constant orientation of frame j in its antecedent.
        translation: (joints, 3) constant origin of frame j in its antecedent, in m.
        gravity: (3,) acceleration of gravity in the base frame, in m/s^2.
        terms: (terms,) what the terms of every joint multiply, by :func:`code_of`.
        shapes: (joints, terms, shapes) shape parameters of their functions; 1 where there are none.
    """

    antecedent: Integers
    prismatic: Booleans
    rotation: Floats
    translation: Floats
    gravity: Floats
    terms: Integers
    shapes: Floats


class CouplingTerms(NamedTuple):
    """Contributions of parameters across joints, one row per contribution to one joint.

    Attributes:
        joint: (terms,) joint whose effort it adds to.
        column: (terms,) column of the full regressor.
        kind: (terms,) what the parameter multiplies, by :func:`code_of`.
        gain: (terms,) factor of the contribution.
        motion: (terms, joints) the velocity is this row times the joint velocities.
    """

    joint: Integers
    column: Integers
    kind: Integers
    gain: Floats
    motion: Floats


def tree_of(robot: RobotModel) -> Tree:
    """Return the kinematic tree of a robot as arrays."""
    return Tree(
        antecedent=np.array([joint.antecedent for joint in robot.joints], dtype=np.int64),
        prismatic=np.array([joint.type is JointType.PRISMATIC for joint in robot.joints]),
        rotation=np.array([joint.rotation for joint in robot.joints], dtype=np.float64),
        translation=np.array([joint.translation for joint in robot.joints], dtype=np.float64),
        gravity=np.array(robot.gravity, dtype=np.float64),
        terms=np.array([code_of(term.kind) for term in robot.layout.terms], dtype=np.int64),
        shapes=_shapes(robot),
    )


def _shapes(robot: RobotModel) -> Floats:
    terms = robot.layout.terms
    return shapes_of([j.shape_of(term) for j in robot.joints for term in terms]).reshape(
        len(robot.joints), len(terms), kernels.SHAPES
    )


def shapes_of(given: Sequence[Sequence[float]]) -> Floats:
    """Return (functions, shapes) shape parameters as compiled code takes them, 1 for none."""
    shapes = np.ones((len(given), kernels.SHAPES))
    for row, own in zip(shapes, given, strict=True):
        row[: len(own)] = own
    return shapes


def coupling_terms_of(robot: RobotModel) -> CouplingTerms:
    """Return the couplings of a robot as arrays, in the columns of the full regressor."""
    place = {name: index for index, name in enumerate(robot.joint_names)}
    column = {name: index for index, name in enumerate(robot.all_parameter_names)}
    rows: list[tuple[int, int, int, float]] = []
    motions: list[Floats] = []
    for coupling in robot.couplings:
        for term in coupling.terms:
            motion = np.zeros(len(robot.joints))
            for name, factor in term.of.items():
                motion[place[name]] = factor
            for name, gain in term.on.items():
                kind = code_of(coupling.kind)
                rows.append((place[name], column[coupling.parameter], kind, gain))
                motions.append(motion)
    return CouplingTerms(
        joint=np.array([row[0] for row in rows], dtype=np.int64),
        column=np.array([row[1] for row in rows], dtype=np.int64),
        kind=np.array([row[2] for row in rows], dtype=np.int64),
        gain=np.array([row[3] for row in rows], dtype=np.float64),
        motion=np.array(motions, dtype=np.float64).reshape(len(rows), len(robot.joints)),
    )


def structure_of(robot: RobotModel) -> Booleans:
    """Return (joints, full columns): which parameters can act on the effort of which joint.

    The effort of joint k depends on the inertial parameters of the links that it moves, on its
    own joint terms, on the couplings that name it, and on the springs whose length it changes.
    """
    joints = len(robot.joints)
    structure = np.zeros((joints, len(robot.all_parameter_names)), dtype=np.bool_)
    for k in range(joints):
        for j in np.flatnonzero(robot.ancestors[k]):
            structure[k, robot.layout.link(int(j))] = True
        structure[k, robot.layout.columns(k)] = True
    terms = coupling_terms_of(robot)
    structure[terms.joint, terms.column] = True
    names = robot.all_parameter_names
    for spring in robot.springs:
        # Joints that move both ends do not change the length.
        moves = np.zeros(joints, dtype=np.bool_)
        for end in spring.ends:
            if end.joint >= 0:
                moves ^= robot.ancestors[:, end.joint]
        for parameter in spring.parameters:
            structure[moves, names.index(parameter.name)] = True
    for own in robot.user_terms:
        structure[own.joint, [names.index(parameter.name) for parameter in own.parameters]] = True
    for changing in robot.temperature_terms:
        structure[changing.joint, names.index(changing.parameter.name)] = True
    return structure
