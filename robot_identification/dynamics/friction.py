"""Friction, offsets and drive terms of a regressor: factors that depend on rates only.

All Coulomb terms with one velocity slide and stick together; that velocity is called a friction
motion here.  The *share* of a motion is what stands for the sign of its velocity: 1 or -1 in
sliding, and in sticking the part of the sliding force that friction takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.kernels.terms import ACCELERATION, COULOMB, ONE, VISCOUS
from robot_identification.dynamics.tree import Floats, Integers, code_of, coupling_terms_of
from robot_identification.robot.arrays import by_value
from robot_identification.robot.model import Array, RobotModel, TermKind


class CoulombTerms(NamedTuple):
    """Contributions of Coulomb friction: effort[joint] += factor * value[column] * share[motion].

    Attributes:
        motions: (motions, joints) velocity of each friction motion is this row times the joint
            velocities; the first entry that is not zero is 1.
        joint: (terms,) joint whose effort it adds to.
        column: (terms,) column of the full regressor.
        motion: (terms,) row of ``motions``.
        factor: (terms,) factor of the contribution.
    """

    motions: Floats
    joint: Integers
    column: Integers
    motion: Integers
    factor: Floats


def coulomb_terms_of(robot: RobotModel) -> CoulombTerms:
    """Return the Coulomb friction of a robot, every joint's own and that of couplings."""
    joints = len(robot.joints)
    places: dict[tuple[float, ...], int] = {}
    rows: list[tuple[int, int, int, float]] = []

    def add(motion: Floats, joint: int, column: int, gain: float) -> None:
        leading = motion[np.flatnonzero(motion)[0]]
        place = places.setdefault(tuple(float(x) for x in motion / leading), len(places))
        rows.append((joint, column, place, gain * float(np.sign(leading))))

    for joint in range(joints):
        for column in robot.layout.columns(joint, TermKind.COULOMB):
            add(np.eye(joints)[joint], joint, column, 1.0)
    couplings = coupling_terms_of(robot)
    for i in np.flatnonzero(couplings.kind == COULOMB):
        if couplings.motion[i].any():
            add(
                couplings.motion[i],
                int(couplings.joint[i]),
                int(couplings.column[i]),
                float(couplings.gain[i]),
            )
    return CoulombTerms(
        motions=np.array(list(places), dtype=np.float64).reshape(len(places), joints),
        joint=np.array([row[0] for row in rows], dtype=np.int64),
        column=np.array([row[1] for row in rows], dtype=np.int64),
        motion=np.array([row[2] for row in rows], dtype=np.int64),
        factor=np.array([row[3] for row in rows], dtype=np.float64),
    )


@by_value
@dataclass(frozen=True)
class RateTerm:
    """One entry of the regressor: gain times a function of one combination of rates.

    Attributes:
        joint: joint whose effort it adds to.
        column: column among the chosen ones.
        kind: of its function, as in :mod:`.kernels.terms`.
        gain: factor.
        motion: (joints,) combination of joint rates.
    """

    joint: int
    column: int
    kind: int
    gain: float
    motion: Array


def rate_terms(robot: RobotModel, columns: npt.NDArray[np.intp]) -> tuple[RateTerm, ...]:
    """Return the terms of the chosen columns of the full regressor that depend on rates only.

    Args:
        robot: the robot.
        columns: (columns,) columns of the full regressor.
    """
    place = {int(column): i for i, column in enumerate(columns)}
    found = []
    for joint, motion in enumerate(np.eye(len(robot.joints))):
        for own, term in robot.layout.places:
            column = robot.layout.first(joint) + own
            if column in place:
                found.append(RateTerm(joint, place[column], code_of(term.kind), 1.0, motion))
    terms = coupling_terms_of(robot)
    for joint, column, kind, gain, motion in zip(*terms, strict=True):
        if int(column) in place:
            found.append(RateTerm(int(joint), place[int(column)], int(kind), float(gain), motion))
    return tuple(found)


def sign(speed: Array, width: float) -> tuple[Array, Array]:
    """Return the smoothed sign v / sqrt(v^2 + width^2) of speeds, and its derivative.

    Width 0 gives the sign itself, with the derivative 0.
    """
    if width == 0.0:
        return np.sign(speed), np.zeros_like(speed)
    root = np.sqrt(speed**2 + width**2)
    return speed / root, width**2 / (root * root * root)


def slope(power: npt.ArrayLike, speed: Array) -> Array:
    """Return the derivative of sign(v) |v|^p at speeds, for powers p that are not 0."""
    p = np.asarray(power)
    return np.asarray(p * np.abs(speed) ** (p - 1))


def power(term: RateTerm, qd: Array, qdd: Array, width: float = 0.0) -> tuple[Array, Array, Array]:
    """Return the power of a term per unit of gain and parameter, and its derivatives.

    Args:
        term: the term.
        qd: (..., joints) velocities.
        qdd: (..., joints) accelerations.
        width: of the smoothed sign of velocities; 0 for the sign itself.

    Returns:
        (...) power, its derivative over the velocity of the term's joint, and over the rate that
        the term's motion combines.
    """
    speed: Array = qd[..., term.joint]
    if term.kind == ONE:
        return speed, np.ones_like(speed), np.zeros_like(speed)
    rate = (qdd if term.kind == ACCELERATION else qd) @ term.motion
    if term.kind in (ACCELERATION, VISCOUS):
        return speed * rate, rate, speed
    if term.kind == COULOMB:
        value, bend = sign(rate, width)
    else:
        value, bend = np.sign(rate) * np.abs(rate) ** term.kind, slope(term.kind, rate)
    return speed * value, value, speed * bend
