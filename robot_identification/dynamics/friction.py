"""Friction, offsets and drive terms of a regressor: factors that depend on rates only.

All Coulomb terms with one velocity slide and stick together, with Stribeck's friction and what
follows the load; that velocity is called a friction motion here.  The *share* of a motion is what
stands for the sign of its velocity: 1 or -1 in sliding, and in sticking the part of the sliding
force that friction takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.kernels.terms import (
    ACCELERATION,
    COULOMB,
    MAGNITUDE,
    ONE,
    ROOT,
    SMOOTH,
    STRIBECK,
    VISCOUS,
)
from robot_identification.dynamics.tree import Floats, Integers, code_of, coupling_terms_of
from robot_identification.errors import SettingError
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.kinds import TermKind


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

    def of_joints(self, shares: Floats, qd: Floats) -> Floats:
        """Return (joints, samples) what stands for the signs of the joints' own velocities.

        Args:
            shares: (motions, samples) of the friction motions.
            qd: (joints, samples) velocities.
        """
        signs = np.sign(qd)
        for motion, share in zip(self.motions, shares, strict=True):
            if np.count_nonzero(motion) == 1:
                signs[np.argmax(motion != 0.0)] = share
        return signs


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
        for _ in robot.layout.columns(
            joint, TermKind.STRIBECK, TermKind.LOAD, TermKind.GRAVITY_LOAD
        ):
            places.setdefault(tuple(np.eye(joints)[joint].tolist()), len(places))
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
        shape: parameters in which the function is not linear.
    """

    joint: int
    column: int
    kind: int
    gain: float
    motion: Array
    shape: tuple[float, ...] = ()

    @property
    def of_rate(self) -> bool:
        """Whether the function is one of a rate, neither linear nor a sign."""
        return self.kind > VISCOUS or MAGNITUDE <= self.kind <= STRIBECK

    def value(self, rate: Array) -> Array:
        """Return the function of a rate."""
        if self.kind == MAGNITUDE:
            return np.abs(rate)
        if self.kind == SMOOTH:
            return np.asarray(np.tanh(rate / self.shape[0]))
        if self.kind == STRIBECK:
            speed, exponent = self.shape
            return np.asarray(np.sign(rate) * np.exp(-((np.abs(rate) / speed) ** exponent)))
        power = 0.5 if self.kind == ROOT else self.kind
        return np.asarray(np.sign(rate) * np.abs(rate) ** power)

    def slope(self, rate: Array) -> Array:
        """Return the derivative of the function at rates, but for jumps and poles at rest."""
        if self.kind == MAGNITUDE:
            return np.sign(rate)
        if self.kind == SMOOTH:
            return np.asarray((1.0 - np.tanh(rate / self.shape[0]) ** 2) / self.shape[0])
        if self.kind == STRIBECK:
            speed, exponent = self.shape
            part = np.maximum(np.abs(rate) / speed, _AT_REST)
            return np.asarray(
                -exponent / speed * part ** (exponent - 1) * np.exp(-(part**exponent))
            )
        if self.kind == ROOT:
            return np.asarray(0.5 / np.sqrt(np.maximum(np.abs(rate), _AT_REST)))
        return np.asarray(self.kind * np.abs(rate) ** (self.kind - 1))


_AT_REST = 1e-6
"""Speed below which slopes that grow without bounds towards rest stay as they are."""


def rate_terms(robot: RobotModel, columns: npt.NDArray[np.intp]) -> tuple[RateTerm, ...]:
    """Return the terms of the chosen columns of the full regressor, one entry each.

    Springs are among them, which depend on a position, and friction that follows the load, of
    which the rate tells the direction only.

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
                shape = robot.joints[joint].shape_of(term)
                found.append(RateTerm(joint, place[column], code_of(term.kind), 1.0, motion, shape))
    terms = coupling_terms_of(robot)
    for joint, column, kind, gain, motion in zip(*terms, strict=True):
        if int(column) in place:
            found.append(RateTerm(int(joint), place[int(column)], int(kind), float(gain), motion))
    return tuple(found)


def require_kinds(robot: RobotModel, purpose: str, least: int, *, springs: bool = False) -> None:
    """Refuse a robot with joint terms or springs that something does not know; users' always.

    Args:
        robot: the robot.
        purpose: what does not know them.
        least: smallest code of a kind that it knows, of :mod:`.kernels.terms`.
        springs: whether it knows springs between links.

    Raises:
        SettingError: the robot has others.
    """
    if robot.springs and not springs:
        name = robot.springs[0].name
        raise _unknown_to(purpose, "springs", name, "springs between links", "them")
    refuse_user_terms(robot, purpose)
    refuse_temperature(robot, purpose)
    for joint in robot.joints:
        for term in joint.joint_terms:
            if code_of(term.kind) < least:
                raise _unknown_to(purpose, term.key, joint.name, term.label)


def refuse_user_terms(robot: RobotModel, purpose: str) -> None:
    """Refuse a robot with terms of users for something that knows no functions but its own.

    Args:
        robot: the robot.
        purpose: what is asked for.

    Raises:
        SettingError: a joint has such terms.
    """
    for own in robot.user_terms:
        what = f"the term {own.name}, which another package gives"
        raise _unknown_to(purpose, "user_terms", robot.joint_names[own.joint], what)


def refuse_temperature(robot: RobotModel, purpose: str) -> None:
    """Refuse a robot whose friction changes with temperatures for something that knows none.

    Args:
        robot: the robot.
        purpose: what is asked for.

    Raises:
        SettingError: a joint has such friction.
    """
    for own in robot.temperature_terms:
        joint = robot.joint_names[own.joint]
        raise _unknown_to(purpose, "temperature", joint, "temperatures", "them")


def _unknown_to(purpose: str, key: str, owner: str, what: str, it: str = "it") -> SettingError:
    """Return the refusal of something in a robot file."""
    return SettingError(
        key, owner, f"{purpose} does not know {what}; leave {it} out of the robot file there"
    )


def sign(speed: Array, width: float) -> tuple[Array, Array]:
    """Return the smoothed sign v / sqrt(v^2 + width^2) of speeds, and its derivative.

    Width 0 gives the sign itself, with the derivative 0.
    """
    if width == 0.0:
        return np.sign(speed), np.zeros_like(speed)
    root = np.sqrt(speed**2 + width**2)
    return speed / root, width**2 / (root * root * root)


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
        value, bend = term.value(rate), term.slope(rate)
    return speed * value, value, speed * bend
