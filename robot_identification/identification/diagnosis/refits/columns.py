"""Fits of a joint's own rows: terms that the model lacks there, and the sign of its friction.

A joint's rows are fitted by themselves here, so that mistakes of other joints do not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.friction import rate_terms
from robot_identification.dynamics.kernels.terms import ACCELERATION, ONE, POSITION
from robot_identification.dynamics.regressor import Regressor
from robot_identification.identification.diagnosis.causes import FRICTION_LAW
from robot_identification.identification.diagnosis.refits.laws import mixture
from robot_identification.identification.diagnosis.refits.motion import Motion
from robot_identification.identification.diagnosis.refits.refit import (
    FLOOR,
    Grams,
    JointRows,
    foretold,
    gain,
    gain_in_parts,
    independent_rows,
    rms,
)
from robot_identification.robot.arrays import Array
from robot_identification.robot.joint import JointType
from robot_identification.robot.terms.joint_terms import TERMS

_RCOND = 1e-6
"""Singular values below this part of the largest are taken for zero."""


class Addition(NamedTuple):
    """Columns that are added to the rows of a joint.

    Attributes:
        cause: what they stand for.
        joints: places of the joints: that of the rows first.
        matrix: (instants, columns).
        detail: the functions, for people.
    """

    cause: str
    joints: tuple[int, ...]
    matrix: Array
    detail: str


class Explained(NamedTuple):
    """What added columns explain.

    Attributes:
        addition: the columns.
        gain: in halvings of the variance of the joint, in the half of time where it is less, each
            with the coefficients of the other one: drift and noise do not come again.
        left: residual over effort before and after.
        independent: how many of the rows are worth independent ones.
        shown: place of the joint whose efforts these are, where several were fitted.
    """

    addition: Addition
    gain: float
    left: tuple[float, float]
    independent: float
    shown: int = 0


class OwnFit:
    """Fit of the rows of one joint by themselves, to which columns are added.

    Args:
        rows: of the joint.
    """

    def __init__(self, rows: JointRows) -> None:
        self._basis = _basis(rows.matrix)
        self._residual = self._beside(rows.effort)
        self._size = rows.size

    def gained(
        self, columns: Array, part: npt.NDArray[np.bool_]
    ) -> tuple[float, tuple[float, float], float]:
        """Return what columns explain: gain, what is left, independent rows, as in `Explained`.

        Args:
            columns: (rows, added).
            part: (rows,) which rows are foretold from the others, and they from these.
        """
        extra, residual = self._beside(columns), self._residual
        basis = _basis(extra)
        after = residual - basis @ (basis.T @ residual)
        ratios = [
            self._left(residual[rows]) / self._left(_foretold(extra, residual, rows))
            for rows in (part, ~part)
        ]
        left = (rms(residual) / self._size, rms(after) / self._size)
        return float(2.0 * np.log2(min(ratios))), left, independent_rows(after)

    def _beside(self, values: Array) -> Array:
        """Return what the rows' own columns do not explain of values."""
        found: Array = values - self._basis @ (self._basis.T @ values)
        return found

    def _left(self, residual: Array) -> float:
        return max(rms(residual) / self._size, FLOOR)


def additions(
    motion: Motion, joint: int, rows: JointRows, columns: npt.NDArray[np.intp]
) -> Iterator[Addition]:
    """Give out what might be missing in the rows of a joint; as for :func:`explained`."""
    v, a = motion.velocity[joint], motion.acceleration[joint]
    robot = motion.robot
    own = robot.joints[joint]
    for term in TERMS:
        if term.default and term.name not in own.terms:
            name = f"{term.name}{joint + 1}"
            yield Addition("missing term", (joint,), term.kind.of(v, a)[:, None], name)
    yield torque_of_position(motion, joint)
    yield Addition(FRICTION_LAW, (joint,), *mixture(motion, joint, rows, columns))
    for other in range(len(robot.joints)):
        if other != joint:
            speed = motion.velocity[other]
            yield Addition(
                "missing coupling", (joint, other),
                np.column_stack([speed, np.sign(speed), np.sign(v + speed), np.sign(v - speed)]),
                f"friction that depends on the speed of joint {other + 1}",
            )  # fmt: skip


def torque_of_position(motion: Motion, joint: int) -> Addition:
    """Return the torque of a spring, a balancer or cables that the rows of a joint may lack."""
    q = motion.position[joint]
    if motion.robot.joints[joint].type is JointType.REVOLUTE:
        functions, detail = [q, np.sin(q), np.cos(q)], "q, sin q, cos q"
    else:
        functions, detail = [q, q**2], "q, q^2"
    return Addition("torque of position", (joint,), np.column_stack(functions), detail)


def hidden_torque(
    motion: Motion, rows: Sequence[JointRows], columns: int
) -> tuple[Explained, float]:
    """Return the torque of position of one joint that explains most beside all other joints.

    A balancer acts much like the weight that it holds, so that the joint's own rows alone take it
    for less weight and show nothing.  The same weight acts on other joints by its inertia, though,
    which a fit to all joints knows; what is left there is that of this torque.

    Args:
        motion: what was measured.
        rows: of every joint.
        columns: number of their columns.

    Returns:
        the addition, its gain over all joints foretold from the other half of time, and what it
        leaves of the efforts of the joint that it helps most; and its gain in the fit.
    """
    before = foretold(rows, columns)
    fitted = Grams(rows, columns).fit()
    found = []
    for joint, own in enumerate(rows):
        addition = torque_of_position(motion, joint)
        extra = addition.matrix[motion.kept[joint]]
        places = columns + np.arange(extra.shape[1])
        changed = [*rows[:joint], own.extended(places, extra), *rows[joint + 1 :]]
        gained = gain_in_parts(before, foretold(changed, columns + extra.shape[1]))
        after = Grams(changed, columns + extra.shape[1]).fit()
        most = int(np.argmax(fitted.left / np.maximum(after.left, FLOOR)))
        left = (float(fitted.left[most]), float(after.left[most]))
        independent = independent_rows(after.residuals[most])
        one = Explained(addition, gained, left, independent, most)
        found.append((one, gain(fitted, after)))
    return max(found, key=lambda one: one[0].gain)


def explained(
    motion: Motion, joint: int, rows: JointRows, columns: npt.NDArray[np.intp]
) -> list[Explained]:
    """Return what every addition to the rows of a joint explains of them, the most first.

    Args:
        motion: what was measured.
        joint: place of the joint.
        rows: its rows.
        columns: of the full regressor, those that the rows' columns are numbered by.
    """
    kept = motion.kept[joint]
    second = rows.part == 1
    if not rows.enough or second.all() or not second.any():
        return []
    own = OwnFit(rows)
    found = [
        Explained(addition, *own.gained(addition.matrix[kept], second))
        for addition in additions(motion, joint, rows, columns)
    ]
    return sorted(found, key=lambda one: -one.gain)


def friction_power(
    motion: Motion, joint: int, rows: JointRows, columns: npt.NDArray[np.intp]
) -> float:
    """Return the power that a joint's friction takes, over its standard deviation.

    It is that of friction terms fitted to the joint's own rows; where it is negative, friction
    drives the motion, which none does: efforts or positions have the wrong sign.  The inertia that
    a joint feels tells the same of one without friction; see :func:`felt_inertia`.

    Args:
        motion: what was measured.
        joint: place of the joint.
        rows: its rows.
        columns: of the full regressor, those that the rows' columns are numbered by.

    Returns:
        Zero where the joint has no friction in the model, or too few rows.
    """
    if not rows.enough:
        return 0.0
    terms = [
        term
        for term in rate_terms(motion.robot, columns)
        if term.joint == joint and term.kind not in (ACCELERATION, ONE, POSITION)
    ]
    place = {int(column): i for i, column in enumerate(rows.columns)}
    speed = motion.velocity[joint][motion.kept[joint]]
    power = np.zeros(len(rows.columns))
    for column in {place[term.column] for term in terms if term.column in place}:
        power[column] = float(np.mean(rows.matrix[:, column] * speed))
    if not power.any():
        return 0.0
    return over_deviation(rows, power)


def felt_inertia(
    motion: Motion, joint: int, rows: JointRows, columns: npt.NDArray[np.intp]
) -> float:
    """Return the inertia that a joint feels on its way, over its standard deviation.

    It is the mean of the joint's element on the diagonal of the mass matrix, from parameters fitted
    to the joint's own rows, and is positive for every robot.

    Args:
        motion: what was measured.
        joint: place of the joint.
        rows: its rows.
        columns: as for :func:`friction_power`.

    Returns:
        Zero where there are too few rows.
    """
    if not rows.enough:
        return 0.0
    weightless = replace(motion.robot, gravity=np.zeros(3))
    regressor = Regressor(weightless, columns)
    own = regressor.joint_rows[joint].rows
    rest = np.zeros_like(motion.position)
    start = np.zeros_like(motion.position)
    start[joint] = 1.0
    # Offsets and springs act without an acceleration too, and are no inertia.
    held, moved = (
        regressor.compact(np.array(motion.position), rest, acceleration)[own]
        for acceleration in (rest, start)
    )
    return over_deviation(rows, (moved - held).mean(axis=1))


def over_deviation(rows: JointRows, weights: Array) -> float:
    """Return a combination of the parameters of a joint's own rows, over its deviation.

    Args:
        rows: of the joint.
        weights: (own,) of its parameters in the combination.
    """
    scaled, scale = _unit_columns(rows.matrix)
    left, singular, right = np.linalg.svd(scaled, full_matrices=False)
    kept = singular > _RCOND * singular[0]
    inverse = (right[kept].T / singular[kept]) / scale[:, None]
    values = inverse @ (left[:, kept].T @ rows.effort)
    residual = rms(rows.effort - rows.matrix @ values)
    floor = FLOOR * rows.size
    deviation = max(residual, floor) * float(np.linalg.norm(inverse.T @ weights))
    return float(weights @ values) / deviation if deviation > 0.0 else 0.0


def _foretold(extra: Array, residual: Array, part: npt.NDArray[np.bool_]) -> Array:
    """Return what columns leave of a part, with the coefficients of the rest."""
    columns, _ = _unit_columns(extra)
    coefficients = np.linalg.lstsq(columns[~part], residual[~part], rcond=_RCOND)[0]
    found: Array = residual[part] - columns[part] @ coefficients
    return found


def _unit_columns(matrix: Array) -> tuple[Array, Array]:
    """Return a matrix with columns of length one, or zero as they were, and their lengths."""
    scale = np.linalg.norm(matrix, axis=0)
    scale[scale == 0.0] = 1.0
    return matrix / scale, scale


def _basis(matrix: Array) -> Array:
    """Return orthonormal columns that span those of a matrix."""
    left, singular, _ = np.linalg.svd(_unit_columns(matrix)[0], full_matrices=False)
    found: Array = left[:, singular > _RCOND * singular.max(initial=0.0)]
    return found
