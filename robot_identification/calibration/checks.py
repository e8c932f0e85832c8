"""Tests of physical consistency: mass, pseudo-inertia, drive inertia and friction.

Each test of Gautier and Venture 2013, section V-B, and those that they leave out: their condition,
a positive definite inertia at the centre of mass, admits bodies whose principal moments break the
triangle inequality.  The pseudo-inertia is positive definite exactly where all of them hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from robot_identification.calibration.conditions import (
    APART,
    CENTRE,
    FRICTION,
    LINK,
    Box,
    Condition,
    against_motion,
    conditions,
    speeds_of,
)
from robot_identification.errors import SettingError, ShapeError
from robot_identification.robot.arrays import by_value
from robot_identification.robot.bodies import body_of, pseudo_inertia
from robot_identification.robot.model import Array, RobotModel, read_only
from robot_identification.robot.terms.joint_terms import TERMS, SignCondition

_SPEEDS = 1000
_BETWEEN = 0.01
TOLERANCES = (0.0, 0.01, 0.02, 0.04)
"""Tolerances of the Cholesky test, in kg m^2 (Gautier and Venture 2013, table III)."""
_POSITIVE = tuple(term.label for term in TERMS if term.sign is SignCondition.POSITIVE)


@by_value
@dataclass(frozen=True)
class LinkCheck:
    """The tests of one link.

    Attributes:
        link: name of the link.
        joint: name of the joint that moves it.
        mass: in kg.
        positive_mass: whether it is above 0.
        centre: (3,) centre of mass in the link's frame, in m; NaN without a positive mass.
        inertia: (3, 3) inertia about the centre of mass, in kg m^2; NaN without a positive mass.
        cholesky: tolerance in kg m^2 -> whether the inertia plus tolerance times the unit matrix
            is positive definite.
        minors: name of each of Sylvester's minors -> its value: M, Jxx, Jxx Jyy - Jxy^2, det J.
        pseudo_inertia_min_eigenvalue: smallest eigenvalue of the pseudo-inertia, whose entries
            are in kg m^2, kg m and kg.
        triangle_inequality: whether no principal moment reaches the sum of the two others.
        centre_in_box: whether the centre of mass lies in its box; None without a box.
        tolerance: the tolerance that ``consistent`` grants the inertia, in kg m^2.
        consistent: whether the link is physically consistent: mass and, after the tolerance was
            added to the inertia, pseudo-inertia are positive (definite), the centre is in its
            box, and the link is a body also without what is held on it.
        apart: whether the link is a body also without what ``fixed_joints`` of the robot file hold
            on it, whose inertials the URDF states; None where nothing is, or nobody asked.
    """

    link: str
    joint: str
    mass: float
    positive_mass: bool
    centre: Array
    inertia: Array
    cholesky: Mapping[float, bool]
    minors: Mapping[str, float]
    pseudo_inertia_min_eigenvalue: float
    triangle_inequality: bool
    centre_in_box: bool | None
    tolerance: float
    consistent: bool
    apart: bool | None = None

    @property
    def failing_minor(self) -> str:
        """Name of the first of Sylvester's minors that is not positive; empty if all are."""
        return next((name for name, value in self.minors.items() if not value > 0.0), "")

    @property
    def problem(self) -> str:
        """Faults of the link in words; empty if there are none."""
        if self.consistent:
            return ""
        head = f"link {self.link}"
        if self.failing_minor and (self.tolerance == 0.0 or self.failing_minor == "M"):
            value = self.minors[self.failing_minor]
            return f"{head}: Sylvester's minor {self.failing_minor} = {value:.4g} is not positive"
        if self.centre_in_box is False:
            return f"{head}: the centre of mass {_vector(self.centre)} is outside its box"
        if self.apart is False and self.triangle_inequality:
            return (
                f"{head}: no body is left of it without what fixed_joints hold on it, whose "
                "inertials the URDF states"
            )
        if not self.cholesky.get(self.tolerance, True):
            return f"{head}: the inertia at the centre of mass fails even with {self.tolerance:g}"
        moments = np.asarray(np.linalg.eigvalsh(self.inertia), dtype=np.float64)
        return f"{head}: principal moments {_vector(moments)} break the triangle inequality"


@dataclass(frozen=True)
class DriveCheck:
    """The test of the drive of a joint, or of the drives that are coupled with each other.

    Attributes:
        joints: name of the joint, or of the joints.
        kind: label of the joint term, such as ``drive inertia`` or ``Coulomb friction``.
        min_eigenvalue: the parameter, or the smallest eigenvalue of the matrix of coupled ones,
            in the unit of the parameters.
        consistent: whether it is above 0, or for friction not below.
    """

    joints: str
    kind: str
    min_eigenvalue: float
    consistent: bool

    @property
    def problem(self) -> str:
        """Faults of the drive in words; empty if there are none."""
        if self.consistent:
            return ""
        bound = "not positive" if self.kind in _POSITIVE else "negative"
        what = "smallest eigenvalue of the " if "," in self.joints else ""
        return f"{self.joints}: {what}{self.kind} {self.min_eigenvalue:.4g} is {bound}"


@dataclass(frozen=True)
class FrictionCheck:
    """The test that friction of a joint takes power from the motion at every speed.

    Attributes:
        joint: its name.
        speed: where the friction is least of all against the motion, rad/s or m/s, with its sign.
        friction: what it is there against the motion, N m or N; negative where it drives.
        largest: largest friction of the joint at any speed.
        fastest: speed up to which it was tested.
    """

    joint: str
    speed: float
    friction: float
    largest: float
    fastest: float

    @property
    def consistent(self) -> bool:
        """Whether friction drives the joint nowhere.

        A hundredth of the largest is granted: so much may be between the speeds at which the
        semidefinite program asks for it.
        """
        return self.friction >= -_BETWEEN * self.largest

    @property
    def problem(self) -> str:
        """The fault in words; empty if there is none."""
        if self.consistent:
            return ""
        return (
            f"{self.joint}: friction of {self.friction:.4g} would drive the joint at a speed of "
            f"{self.speed:.3g}; leave out the term of its law that does it, or identify from "
            f"motions up to {self.fastest:.3g}"
        )


@dataclass(frozen=True)
class Consistency:
    """Every test of a set of standard parameters.

    Attributes:
        links: of each link, in the order of the robot.
        drives: of the drives.
        tolerance: what the inertias at the centres of mass may lack, in kg m^2.
        friction: of friction laws, for joints whose terms may have any sign.
    """

    links: tuple[LinkCheck, ...]
    drives: tuple[DriveCheck, ...]
    tolerance: float
    friction: tuple[FrictionCheck, ...] = ()

    @property
    def consistent(self) -> bool:
        """Whether every link and every drive is physically consistent."""
        return not self.problems

    @property
    def problems(self) -> tuple[str, ...]:
        """One line per link or drive that cannot exist, for people."""
        found = [check.problem for check in self.links]
        found += [check.problem for check in self.drives]
        found += [check.problem for check in self.friction]
        return tuple(filter(None, found))


def check_consistency(
    robot: RobotModel,
    values: npt.ArrayLike,
    *,
    tolerance: float = 0.0,
    tolerances: Sequence[float] = TOLERANCES,
    boxes: Mapping[str, Box] | None = None,
    given: npt.NDArray[np.bool_] | None = None,
    apart: bool = False,
) -> Consistency:
    """Test standard parameters.

    Args:
        robot: the robot.
        values: (parameters,) in the order of ``robot.all_parameter_names``, SI units.
        tolerance: what the inertias at the centres of mass may lack, in kg m^2; 0 for parameters
            of a physically consistent robot.
        tolerances: further tolerances of the Cholesky test to report.
        boxes: link name -> box that must hold its centre of mass.
        given: (parameters,) which values are given; drives without any are not tested.  By default
            all are.
        apart: whether links have to be bodies also without what ``fixed_joints`` of the robot file
            hold on them, as a URDF has them in which these joints move.

    Raises:
        ShapeError: the number of values is not that of the parameters.
        SettingError: a tolerance is negative or no number, or a box is wrong.
    """
    vector = np.asarray(values, dtype=np.float64)
    if vector.shape != (len(robot.all_parameter_names),):
        raise ShapeError("values", vector.shape, f"({len(robot.all_parameter_names)},)")
    tested = sorted({tolerance, *tolerances})
    for wanted in tested:
        if not 0.0 <= wanted < np.inf:
            raise SettingError("tolerance", wanted, "must be a number that is not negative")
    found = conditions(robot, boxes)
    links = []
    for index, joint in enumerate(robot.joints):
        ten = vector[robot.layout.link(index)]
        box = [c for c in found if c.kind == CENTRE and c.joints == (index,)]
        inside = bool(np.diag(box[0].matrix(vector)).min() >= 0.0) if box else None
        held = robot.held.get(joint.name) if apart else None
        links.append(check_link(joint.link, joint.name, ten, tolerance, tested, inside, held))
    drives = [
        _drive(c, vector)
        for c in found
        if c.kind not in (LINK, APART, CENTRE, FRICTION)
        and (given is None or np.abs(c.basis).max(axis=(0, 1))[given].any())
    ]
    return Consistency(tuple(links), tuple(drives), tolerance, _friction(robot, vector, given))


def _friction(
    robot: RobotModel, values: Array, given: npt.NDArray[np.bool_] | None
) -> tuple[FrictionCheck, ...]:
    """Test the friction of joints at many speeds, where all of its parameters are given."""
    found = []
    for index, joint in enumerate(robot.joints):
        speed = speeds_of(robot, index, _SPEEDS)
        rows = against_motion(robot, index, speed)
        if rows is None or (given is not None and not given[rows.any(axis=0)].all()):
            continue
        friction = rows @ values
        least = int(np.argmin(friction))
        largest = float(np.abs(friction).max())
        found.append(
            FrictionCheck(
                joint.name, float(speed[least]), float(friction[least]), largest, float(speed[-1])
            )
        )
    return tuple(found)


def check_link(
    link: str,
    joint: str,
    standard: Array,
    tolerance: float = 0.0,
    tolerances: Sequence[float] = TOLERANCES,
    centre_in_box: bool | None = None,
    held: Array | None = None,
) -> LinkCheck:
    """Test the ten inertial parameters of a link.

    Args:
        link: its name.
        joint: name of the joint that moves it.
        standard: (10,) XX XY XZ YY YZ ZZ MX MY MZ M about the origin of its frame.
        tolerance: what the inertia may lack for the link to count as consistent, in kg m^2.
        tolerances: tolerances of the Cholesky test to report.
        centre_in_box: whether the centre of mass lies in its box; None without a box.
        held: (10,) what is held on it, without which it has to be a body too; None: nothing.
    """
    mass = float(standard[9])
    positive = mass > 0.0
    pseudo = pseudo_inertia(standard)
    centre, inertia = np.full(3, np.nan), np.full((3, 3), np.nan)
    if positive:
        body = body_of(standard)
        centre, inertia = body.centre, body.inertia
    # t times the unit matrix more inertia is t / 2 times the unit matrix more second moment
    granted = pseudo + np.diag([tolerance / 2.0] * 3 + [0.0])
    apart = None
    if held is not None:
        apart = positive_definite(granted - pseudo_inertia(held))
    moments = np.linalg.eigvalsh(inertia) if positive else np.full(3, np.nan)
    return LinkCheck(
        link=link,
        joint=joint,
        mass=mass,
        positive_mass=positive,
        centre=read_only(centre),
        inertia=read_only(inertia),
        cholesky=MappingProxyType(
            {t: positive and positive_definite(inertia + t * np.eye(3)) for t in tolerances}
        ),
        minors=MappingProxyType(_minors(mass, inertia)),
        pseudo_inertia_min_eigenvalue=float(np.linalg.eigvalsh(pseudo)[0]),
        triangle_inequality=bool(positive and moments[0] + moments[1] > moments[2]),
        centre_in_box=centre_in_box,
        tolerance=tolerance,
        consistent=positive
        and positive_definite(granted)
        and centre_in_box is not False
        and apart is not False,
        apart=apart,
    )


def positive_definite(matrix: Array) -> bool:
    """Tell whether a symmetric matrix has a Cholesky factor."""
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


def _minors(mass: float, inertia: Array) -> dict[str, float]:
    """Return Sylvester's leading minors; those of the inertia only where the mass is positive."""
    if not mass > 0.0:
        return {"M": mass}
    return {
        "M": mass,
        "Jxx": float(inertia[0, 0]),
        "Jxx Jyy - Jxy^2": float(inertia[0, 0] * inertia[1, 1] - inertia[0, 1] ** 2),
        "det J": float(np.linalg.det(inertia)),
    }


def _drive(condition: Condition, values: Array) -> DriveCheck:
    smallest = float(np.linalg.eigvalsh(condition.matrix(values))[0])
    holds = smallest > 0.0 if condition.strict else smallest >= 0.0
    return DriveCheck(condition.owner, condition.kind, smallest, holds)


def _vector(values: Array) -> str:
    return "(" + ", ".join(f"{value:.4g}" for value in values) + ")"
