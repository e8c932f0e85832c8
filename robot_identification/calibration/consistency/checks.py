"""Tests of physical consistency of all parameters of a robot: links, drives and friction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from robot_identification.calibration.consistency.boxes import Boxes, checked_boxes
from robot_identification.calibration.consistency.conditions import (
    APART,
    CENTRE,
    FRICTION,
    LINK,
    Condition,
    against_motion,
    conditions,
    speeds_of,
)
from robot_identification.calibration.consistency.link_checks import (
    TOLERANCES,
    LinkCheck,
    check_link,
)
from robot_identification.errors import SettingError
from robot_identification.robot.arrays import Array, checked_vector
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.joint_terms import TERMS, SignCondition

_SPEEDS = 1000
_BETWEEN = 0.01
_POSITIVE = tuple(term.label for term in TERMS if term.sign is SignCondition.POSITIVE)


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
    boxes: Boxes | None = None,
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
    chi = checked_vector("values", values, len(robot.all_parameter_names))
    tested = sorted({tolerance, *tolerances})
    for wanted in tested:
        if not 0.0 <= wanted < np.inf:
            raise SettingError("tolerance", wanted, "must be a number that is not negative")
    found, boxed = conditions(robot, boxes), checked_boxes(robot, boxes or {})
    links = []
    for index, joint in enumerate(robot.joints):
        ten = chi[robot.layout.link(index)]
        box = [c for c in found if c.kind == CENTRE and c.joints == (index,)]
        inside = bool(np.diag(box[0].matrix(chi)).min() >= 0.0) if box else None
        held = robot.held.get(joint.name) if apart else None
        link = check_link(joint.link, joint.name, ten, tolerance, tested, inside, held)
        seen = boxed[joint.link].seen(link.centre) if box else None
        links.append(replace(link, centre_seen=seen))
    drives = [
        _drive(c, chi)
        for c in found
        if c.kind not in (LINK, APART, CENTRE, FRICTION)
        and (given is None or np.abs(c.basis).max(axis=(0, 1))[given].any())
    ]
    return Consistency(tuple(links), tuple(drives), tolerance, _friction(robot, chi, given))


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


def _drive(condition: Condition, values: Array) -> DriveCheck:
    smallest = float(np.linalg.eigvalsh(condition.matrix(values))[0])
    holds = smallest > 0.0 if condition.strict else smallest >= 0.0
    return DriveCheck(condition.owner, condition.kind, smallest, holds)


def check_entries(checks: Consistency) -> dict[str, object]:
    """Return the plain data of the tests of consistency; the keys are stable."""
    return {
        "consistent": checks.consistent,
        "links": {
            check.link: {
                "joint": check.joint,
                "consistent": check.consistent,
                "mass": check.mass,
                "positive_mass": check.positive_mass,
                "centre_of_mass": check.centre.tolist(),
                "inertia": check.inertia.tolist(),
                "cholesky": {f"{t:g}": passed for t, passed in check.cholesky.items()},
                "minors": dict(check.minors),
                "failing_minor": check.failing_minor,
                "pseudo_inertia_min_eigenvalue": check.pseudo_inertia_min_eigenvalue,
                "triangle_inequality": check.triangle_inequality,
                "centre_in_box": check.centre_in_box,
                **({} if check.apart is None else {"apart": check.apart}),
                "problem": check.problem,
            }
            for check in checks.links
        },
        "drives": [
            {
                "joints": check.joints,
                "kind": check.kind,
                "min_eigenvalue": check.min_eigenvalue,
                "consistent": check.consistent,
                "problem": check.problem,
            }
            for check in checks.drives
        ],
        **({"friction_checks": _friction_entries(checks)} if checks.friction else {}),
        "problems": list(checks.problems),
    }


def _friction_entries(checks: Consistency) -> list[dict[str, object]]:
    return [
        {
            "joint": check.joint,
            "least": check.friction,
            "speed": check.speed,
            "fastest": check.fastest,
            "consistent": check.consistent,
            "problem": check.problem,
        }
        for check in checks.friction
    ]
