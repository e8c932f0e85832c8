"""Tests of the physical consistency of a link: mass, centre, inertia and pseudo-inertia.

Each test of Gautier and Venture 2013, section V-B, and those that they leave out: their condition,
a positive definite inertia at the centre of mass, admits bodies whose principal moments break the
triangle inequality.  The pseudo-inertia is positive definite exactly where all of them hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.bodies import body_of, pseudo_inertia

TOLERANCES = (0.0, 0.01, 0.02, 0.04)
"""Tolerances of the Cholesky test, in kg m^2 (Gautier and Venture 2013, table III)."""


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
        centre_seen: (3,) the centre of mass in the frame of its box, in m; None without a box.
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
    centre_seen: Array | None = None

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
            seen = self.centre if self.centre_seen is None else self.centre_seen
            return f"{head}: the centre of mass {_vector(seen)} is outside its box"
        if self.apart is False and self.triangle_inequality:
            return (
                f"{head}: no body is left of it without what fixed_joints hold on it, whose "
                "inertials the URDF states"
            )
        if not self.cholesky.get(self.tolerance, True):
            return f"{head}: the inertia at the centre of mass fails even with {self.tolerance:g}"
        moments = np.asarray(np.linalg.eigvalsh(self.inertia), dtype=np.float64)
        return f"{head}: principal moments {_vector(moments)} break the triangle inequality"


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


def _vector(values: Array) -> str:
    return "(" + ", ".join(f"{value:.4g}" for value in values) + ")"
