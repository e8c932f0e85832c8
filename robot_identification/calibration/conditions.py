"""What makes standard parameters those of a machine that can exist, as matrices to be positive.

Every condition is linear in the parameters: a symmetric matrix F(chi) = sum chi_i F_i must be
positive definite.  For a link it is the 4 x 4 pseudo-inertia, which is positive definite exactly
where the mass is positive, the inertia at the centre of mass is positive definite and its principal
moments obey the triangle inequality.  For drives it is the matrix of the kinetic energy of the
rotors, and that of the power lost to viscous friction; joints whose drives are coupled share one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.errors import SettingError
from robot_identification.robot import parameters
from robot_identification.robot.arrays import by_value
from robot_identification.robot.bodies import pseudo_inertia
from robot_identification.robot.model import Array, CouplingKind, RobotModel, read_only

LINK, DRIVE_INERTIA, VISCOUS, COULOMB, CENTRE = (
    "link",
    "drive inertia",
    "viscous friction",
    "Coulomb friction",
    "centre of mass",
)

Box = tuple[Array, Array]
"""Lower and upper corner, (3,) each, in the frame of a link and in m."""


@by_value
@dataclass(frozen=True)
class Condition:
    """A symmetric matrix, linear in the standard parameters, that must be positive.

    Attributes:
        owner: name of the link, or of the joint or joints.
        kind: ``link``, ``drive inertia``, ``viscous friction``, ``Coulomb friction`` or ``centre
            of mass``.
        basis: (size, size, parameters) one matrix per parameter of the full regressor.
        strict: whether a zero eigenvalue breaks the condition.
        joints: indices of the joints (of a link: the one that moves it).
    """

    owner: str
    kind: str
    basis: Array
    strict: bool
    joints: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "basis", read_only(self.basis))

    @property
    def size(self) -> int:
        """Number of rows of the matrix."""
        return len(self.basis)

    def matrix(self, values: Array) -> Array:
        """Return the (size, size) matrix of (parameters,) standard parameters."""
        return np.asarray(self.basis @ values)


def conditions(robot: RobotModel, boxes: Mapping[str, Box] | None = None) -> tuple[Condition, ...]:
    """Return every condition that the standard parameters of a robot must meet.

    Args:
        robot: the robot.
        boxes: link name -> box that must hold its centre of mass.

    Raises:
        SettingError: a box belongs to no link, or its corners are in the wrong order.
    """
    return (
        *_links(robot),
        *_quadratic(robot, CouplingKind.INERTIA, parameters.DRIVE_INERTIA, DRIVE_INERTIA),
        *_quadratic(robot, CouplingKind.VISCOUS, parameters.VISCOUS_FRICTION, VISCOUS),
        *_coulomb(robot),
        *_centres(robot, boxes or {}),
    )


def _links(robot: RobotModel) -> Iterator[Condition]:
    body = np.stack([pseudo_inertia(row) for row in np.eye(len(parameters.INERTIAL))], axis=-1)
    for index, joint in enumerate(robot.joints):
        basis = np.zeros((4, 4, len(robot.all_parameter_names)))
        first = parameters.joint_offset(index)
        basis[:, :, first : first + len(parameters.INERTIAL)] = body
        yield Condition(joint.link, LINK, basis, True, (index,))


def _quadratic(robot: RobotModel, kind: CouplingKind, own: int, name: str) -> Iterator[Condition]:
    """Yield the conditions on v^T F v / 2, one for each set of coupled joints.

    The wrist of the TX-40 gives [[Ia5, Ia6], [Ia6, Ia6]] (Gautier and Venture 2013, eq. 34, 35).
    """
    place = {joint: i for i, joint in enumerate(robot.joint_names)}
    columns = {parameter: i for i, parameter in enumerate(robot.all_parameter_names)}
    modelled = set(robot.standard_indices.tolist())
    form = np.zeros((len(place), len(place), len(columns)))
    for index in range(len(place)):
        column = parameters.joint_offset(index) + own
        if column in modelled:
            form[index, index, column] = 1.0
    for coupling in robot.couplings:
        if coupling.kind is kind:
            for term in coupling.terms:
                for on, gain in term.on.items():
                    for of, share in term.of.items():
                        form[place[on], place[of], columns[coupling.parameter]] += gain * share
    form = (form + form.transpose(1, 0, 2)) / 2.0
    for joints in _components(np.asarray(form.any(axis=2))):
        owner = ", ".join(robot.joint_names[j] for j in joints)
        strict = kind is CouplingKind.INERTIA
        yield Condition(owner, name, form[np.ix_(joints, joints)], strict, tuple(joints))


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


def _coulomb(robot: RobotModel) -> Iterator[Condition]:
    count, added = len(robot.all_parameter_names), robot.coupling_parameters
    for index, joint in enumerate(robot.joints):
        if joint.coulomb_friction:
            row = np.zeros((1, 1, count))
            row[0, 0, parameters.joint_offset(index) + parameters.COULOMB_FRICTION] = 1.0
            yield Condition(joint.name, COULOMB, row, False, (index,))
    for coupling in robot.couplings:
        own = coupling.kind is CouplingKind.COULOMB and coupling.parameter in added
        if own and all(_acts_against_motion(term.on, term.of) for term in coupling.terms):
            row = np.zeros((1, 1, count))
            row[0, 0, robot.all_parameter_names.index(coupling.parameter)] = 1.0
            joints = {robot.joint_names.index(name) for term in coupling.terms for name in term.of}
            owner = ", ".join(robot.joint_names[j] for j in sorted(joints))
            yield Condition(owner, COULOMB, row, False, tuple(sorted(joints)))


def _acts_against_motion(on: Mapping[str, float], of: Mapping[str, float]) -> bool:
    """Tell whether friction acts along the motion whose sign it follows, and so loses power."""
    names = sorted({*on, *of})
    a = np.array([on.get(name, 0.0) for name in names])
    b = np.array([of.get(name, 0.0) for name in names])
    return bool(np.isclose(a @ b, np.linalg.norm(a) * np.linalg.norm(b), rtol=1e-9))


def _centres(robot: RobotModel, boxes: Mapping[str, Box]) -> Iterator[Condition]:
    links = [joint.link for joint in robot.joints]
    for link, (lower, upper) in boxes.items():
        if link not in links:
            raise SettingError("box", link, f"no such link; links are {', '.join(links)}")
        low, high = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
        if low.shape != (3,) or high.shape != (3,) or not (low < high).all():
            raise SettingError("box", link, "three lower corners below three upper ones, in m")
        index = links.index(link)
        first = parameters.joint_offset(index)
        basis = np.zeros((6, 6, len(robot.all_parameter_names)))
        for axis in range(3):
            moment, mass = first + 6 + axis, first + 9
            basis[axis, axis, [moment, mass]] = 1.0, -low[axis]
            basis[3 + axis, 3 + axis, [moment, mass]] = -1.0, high[axis]
        yield Condition(link, CENTRE, basis, False, (index,))
