"""Linear matrix inequalities of the physical consistency of standard parameters.

Every condition is linear in the parameters: a symmetric matrix F(chi) = F_0 + sum chi_i F_i must be
positive definite, where F_0 is 0 but for links that carry what the robot file holds fixed: these
must be bodies also without what the URDF states of that.  For a link it is the 4 x 4
pseudo-inertia, which is positive definite exactly where the mass is positive, the inertia at the
centre of mass is positive definite and its principal moments obey the triangle inequality.  For
joint terms that are linear in a rate it is the matrix of the kinetic energy of the rotors, and of
the power lost to viscous friction; joints whose drives are coupled share one.  The other terms must
lose power one by one, but for those that may have any sign: where a joint has such, the sum of its
friction must act against the motion at speeds of a grid in both directions, from a ten-thousandth
of the largest speed that the joint may have, or was measured at, to that.  Shapes are given, so
that this is linear too; what lies between the speeds of the grid is tested afterwards
(:mod:`.checks`).  Friction that follows a load counts for none, where it helps least.  Springs
between links must not be negative.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.calibration.consistency.boxes import Boxes, checked_boxes
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.bodies import pseudo_inertia
from robot_identification.robot.model import RobotModel
from robot_identification.robot.parameters import INERTIAL, LINK_PARAMETERS
from robot_identification.robot.terms.joint_terms import JointTerm, SignCondition

LINK, CENTRE, FRICTION = "link", "centre of mass", "friction at every speed"
APART = "link without what is held on it"
_SLOWEST = 1e-4
_GRID = 40
_UNKNOWN_SPEED = 1.0
_FIRST_MOMENTS, _MASS = INERTIAL.index("MX"), INERTIAL.index("M")


@by_value
@dataclass(frozen=True)
class Condition:
    """A symmetric matrix, linear in the standard parameters, that must be positive.

    Attributes:
        owner: name of the link, or of the joint or joints.
        kind: ``link``, ``link without what is held on it``, ``centre of mass``, ``friction at
            every speed``, or the label of a joint term, such as ``drive inertia``.
        basis: (size, size, parameters) one matrix per parameter of the full regressor.
        strict: whether a zero eigenvalue breaks the condition.
        joints: indices of the joints (of a link: the one that moves it).
        diagonal: whether the matrix is diagonal, so that its rows are conditions of their own.
        constant: (size, size) matrix that does not depend on the parameters; 0 for none.
    """

    owner: str
    kind: str
    basis: Array
    strict: bool
    joints: tuple[int, ...]
    diagonal: bool = False
    constant: Array | float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "basis", read_only(self.basis))

    @property
    def size(self) -> int:
        """Number of rows of the matrix."""
        return len(self.basis)

    def matrix(self, values: Array) -> Array:
        """Return the (size, size) matrix of (parameters,) standard parameters."""
        return np.asarray(self.basis @ values + self.constant)


def conditions(robot: RobotModel, boxes: Boxes | None = None) -> tuple[Condition, ...]:
    """Return every condition that the standard parameters of a robot must meet.

    Args:
        robot: the robot.
        boxes: link name -> box that must hold its centre of mass.

    Raises:
        SettingError: a box belongs to no link, or its corners are in the wrong order.
    """
    return (
        *_links(robot),
        *(
            condition
            for place, term in robot.layout.places
            if term.sign is not SignCondition.ANY
            for condition in (_quadratic if _is_linear(term) else _single)(robot, term, place)
        ),
        *_added(robot),
        *_friction(robot),
        *_centres(robot, boxes or {}),
    )


def _links(robot: RobotModel) -> Iterator[Condition]:
    body = np.stack([pseudo_inertia(row) for row in np.eye(LINK_PARAMETERS)], axis=-1)
    for index, joint in enumerate(robot.joints):
        basis = np.zeros((4, 4, len(robot.all_parameter_names)))
        basis[:, :, robot.layout.link(index)] = body
        yield Condition(joint.link, LINK, basis, True, (index,))
        if (held := robot.held.get(joint.name)) is not None:
            constant = read_only(-pseudo_inertia(held))
            yield Condition(joint.link, APART, basis, True, (index,), constant=constant)


def _is_linear(term: JointTerm) -> bool:
    """Tell whether a term is linear in a rate, so that v^T F v is an energy or a lost power."""
    return term.kind.stores_energy or term.kind.power == 1


def _quadratic(robot: RobotModel, term: JointTerm, own: int) -> Iterator[Condition]:
    """Yield the conditions on v^T F v / 2, one for each set of coupled joints.

    The wrist of the TX-40 gives [[Ia5, Ia6], [Ia6, Ia6]] (Gautier and Venture 2013, eq. 34, 35).
    """
    place = {joint: i for i, joint in enumerate(robot.joint_names)}
    columns = {parameter: i for i, parameter in enumerate(robot.all_parameter_names)}
    modelled = set(robot.standard_indices.tolist())
    form = np.zeros((len(place), len(place), len(columns)))
    for index in range(len(place)):
        column = robot.layout.first(index) + own
        if column in modelled:
            form[index, index, column] = 1.0
    for coupling in robot.couplings:
        if coupling.kind is term.kind:
            for part in coupling.terms:
                for on, gain in part.on.items():
                    for of, share in part.of.items():
                        form[place[on], place[of], columns[coupling.parameter]] += gain * share
    form = (form + form.transpose(1, 0, 2)) / 2.0
    for joints in _components(np.asarray(form.any(axis=2))):
        owner = ", ".join(robot.joint_names[j] for j in joints)
        strict = term.sign is SignCondition.POSITIVE
        yield Condition(owner, term.label, form[np.ix_(joints, joints)], strict, tuple(joints))


def _components(linked: npt.NDArray[np.bool_]) -> Iterator[list[int]]:
    """Yield the sets of joints that a symmetric table connects; silent ones are left out."""
    left = [j for j in range(len(linked)) if linked[j].any()]
    while left:
        found, fresh = {left[0]}, {left[0]}
        while fresh:
            fresh = {j for j in left if linked[list(fresh)][:, j].any()} - found
            found |= fresh
        left = [j for j in left if j not in found]
        yield sorted(found)


def _single(robot: RobotModel, term: JointTerm, own: int) -> Iterator[Condition]:
    """Yield the conditions on parameters one by one, those of couplings included."""
    added = robot.coupling_parameters
    strict = term.sign is SignCondition.POSITIVE
    for index, joint in enumerate(robot.joints):
        if term.name in joint.terms:
            row = _alone(robot, robot.layout.first(index) + own)
            yield Condition(joint.name, term.label, row, strict, (index,))
    for coupling in robot.couplings:
        shared = coupling.kind is term.kind and coupling.parameter in added
        if shared and all(_acts_against_motion(part.on, part.of) for part in coupling.terms):
            row = _alone(robot, robot.all_parameter_names.index(coupling.parameter))
            joints = {robot.joint_names.index(name) for part in coupling.terms for name in part.of}
            owner = ", ".join(robot.joint_names[j] for j in sorted(joints))
            yield Condition(owner, term.label, row, strict, tuple(sorted(joints)))


def _alone(robot: RobotModel, column: int) -> Array:
    """Return the (1, 1, parameters) basis of a condition on a single parameter."""
    basis = np.zeros((1, 1, len(robot.all_parameter_names)))
    basis[..., column] = 1.0
    return basis


def _added(robot: RobotModel) -> Iterator[Condition]:
    """Yield the conditions on parameters that are none of links, joint terms or couplings."""
    for parameter in robot.added_parameters.values():
        if parameter.sign is not SignCondition.ANY:
            row = _alone(robot, robot.all_parameter_names.index(parameter.name))
            strict = parameter.sign is SignCondition.POSITIVE
            yield Condition(parameter.owner, parameter.label, row, strict, parameter.joints)


def _acts_against_motion(on: Mapping[str, float], of: Mapping[str, float]) -> bool:
    """Tell whether friction acts along the motion whose sign it follows, and so loses power."""
    names = sorted({*on, *of})
    a = np.array([on.get(name, 0.0) for name in names])
    b = np.array([of.get(name, 0.0) for name in names])
    return bool(np.isclose(a @ b, np.linalg.norm(a) * np.linalg.norm(b), rtol=1e-9))


def _friction(robot: RobotModel) -> Iterator[Condition]:
    """Yield the conditions on friction at every speed, one for each joint that needs it."""
    for index in range(len(robot.joints)):
        rows = against_motion(robot, index, speeds_of(robot, index, _GRID))
        if rows is not None:
            basis = np.zeros((len(rows), len(rows), rows.shape[1]))
            basis[np.arange(len(rows)), np.arange(len(rows))] = rows
            yield Condition(robot.joints[index].name, FRICTION, basis, False, (index,), True)


def speeds_of(robot: RobotModel, joint: int, count: int) -> Array:
    """Return (2 count,) speeds at which friction must act against the motion, rising.

    Args:
        robot: the robot.
        joint: number of the joint.
        count: of speeds in each direction.
    """
    speed = np.geomspace(_SLOWEST, 1.0, count) * _fastest(robot, joint)
    return np.concatenate([-speed[::-1], speed])


def _fastest(robot: RobotModel, joint: int) -> float:
    """Return the largest speed that a joint may have, or was measured at, rad/s or m/s."""
    known = [robot.joints[joint].limits.velocity or 0.0]
    known += [] if robot.measured is None else [float(robot.measured.speeds[joint])]
    return max(known) or _UNKNOWN_SPEED


def against_motion(robot: RobotModel, joint: int, speed: Array) -> Array | None:
    """Return the friction of a joint against its motion, per unit of every parameter.

    Args:
        robot: the robot.
        joint: number of the joint.
        speed: (speeds,) none of them 0.

    Returns:
        (speeds, parameters) functions times the signs of the speeds; None where no friction of the
        joint may have any sign.
    """
    own = robot.joints[joint]
    friction = [term for term in own.joint_terms if term.kind.of_rate]
    if all(term.sign is not SignCondition.ANY for term in friction):
        return None
    rows = np.zeros((len(speed), len(robot.all_parameter_names)))
    for place, term in robot.layout.places:
        if term in friction:
            function = term.kind.of(speed, shape=own.shape_of(term))
            rows[:, robot.layout.first(joint) + place] = np.sign(speed) * function
    return rows


def _centres(robot: RobotModel, boxes: Boxes) -> Iterator[Condition]:
    links = [joint.link for joint in robot.joints]
    for link, box in checked_boxes(robot, boxes).items():
        index = links.index(link)
        first = robot.layout.first(index)
        basis = np.zeros((6, 6, len(robot.all_parameter_names)))
        for row, (moments, mass) in enumerate(box.bounds()):
            basis[row, row, first + _FIRST_MOMENTS : first + _FIRST_MOMENTS + 3] = moments
            basis[row, row, first + _MASS] = mass
        yield Condition(link, CENTRE, basis, False, (index,))
