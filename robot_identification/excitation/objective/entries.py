"""Entries of a regressor along a motion, and what leads derivatives over them back to the motion.

Inertial entries are led back by :mod:`~robot_identification.excitation.kernels.effort_gradient`,
those of friction and drives by matrices.  Friction that follows the load, s(v) |T|, has T from a
regressor of its own, of bodies, drive inertias and springs, and its derivatives through that one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics import friction
from robot_identification.dynamics.kernels.terms import (
    ACCELERATION,
    COULOMB,
    POSITION,
    STRIBECK,
    VISCOUS,
)
from robot_identification.dynamics.loads import LoadRows
from robot_identification.dynamics.regressor import Regressor
from robot_identification.dynamics.springs import SpringRows
from robot_identification.dynamics.tree import tree_of
from robot_identification.excitation.kernels.effort_gradient import effort_gradients
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Bends:
    """What derivatives of the entries need besides the motion.

    Attributes:
        signs: (Coulomb terms, samples) derivatives of the smoothed signs.
        slopes: (curved terms, samples) derivatives of other functions of a rate.
        loads: derivatives of friction that follows the load; None where there is none.
    """

    signs: Array
    slopes: Array
    loads: _LoadBends | None


class Entries:
    """Entries of a regressor that can differ from zero.

    Args:
        robot: the robot, without loops.
        columns: of the full regressor.
        smoothing: width of the smoothed sign of velocities, in rad/s or m/s; 0 for the sign.
    """

    def __init__(
        self, robot: RobotModel, columns: npt.NDArray[np.intp], smoothing: float = 0.0
    ) -> None:
        self.regressor = Regressor(robot, columns)
        self._tree = tree_of(robot)
        places = np.full((len(robot.joints), len(columns)), -1, dtype=np.int64)
        for k, joint in enumerate(self.regressor.joint_rows):
            places[k, joint.columns] = np.arange(joint.rows.start, joint.rows.stop)
        self._slots = np.full((len(robot.joints), len(robot.all_parameter_names)), -1)
        self._slots[:, columns] = places
        self._rates = _RateRows(friction.rate_terms(robot, columns), places, smoothing)
        self._springs = SpringRows(robot, self._tree) if robot.springs else None
        follows = LoadRows.of(robot, self.regressor.columns)
        self._loads = None if follows is None else _Loads(robot, follows, self._slots, smoothing)

    def put(self, samples: Array, out: Array) -> Bends:
        """Fill the entries.

        Args:
            samples: (3, joints, samples) position, velocity and acceleration.
            out: (compact rows, samples) result.
        """
        self.regressor.compact(samples[0], samples[1], samples[2], out=out)
        signs, slopes = self._rates.put_signs(samples[1], out)
        loads = None if self._loads is None else self._loads.put(samples, out)
        return Bends(signs, slopes, loads)

    def pull(self, onto_entries: Array, samples: Array, bends: Bends) -> Array:
        """Return (3, joints, samples) derivatives over the motion, from those over the entries.

        Args:
            onto_entries: (compact rows, samples).
            samples: (3, joints, samples) the motion.
            bends: from :meth:`put`.
        """
        onto = np.empty_like(samples)
        cosine, sine = _turned(samples[0])
        effort_gradients(self._tree, self._slots, *samples, cosine, sine, onto_entries, onto)
        self._rates.pull(onto_entries, (bends.signs, bends.slopes), onto)
        if self._springs is not None:
            onto[0] += self._springs.pull(samples[0], self._slots, onto_entries)
        if self._loads is not None and bends.loads is not None:
            self._loads.pull(onto_entries, samples, bends.loads, onto)
        return onto


@dataclass(frozen=True, eq=False)
class _LoadBends:
    """Loads along a motion, and what derivatives of their own entries need.

    Attributes:
        over_load: (entries, samples) derivatives of friction over its load.
        over_rate: (entries, samples) derivatives over the velocity of its joint.
        inner: of the entries of weights, and of whole loads.
    """

    over_load: Array
    over_rate: Array
    inner: tuple[Bends, Bends]


class _Loads:
    """Entries of friction that follows the load.

    Args:
        robot: the robot.
        rows: its friction that follows the load.
        slots: (joints, full columns) rows of the entries.
        smoothing: width of the smoothed sign of velocities; 0 for the sign.
    """

    def __init__(self, robot: RobotModel, rows: LoadRows, slots: Places, smoothing: float) -> None:
        self._values, self._smoothing = rows.values, smoothing
        self._carried = Entries(robot, np.array(rows.regressor.columns))
        of_weight = [(joint, slots[joint, column], True) for joint, column in rows.gravity]
        self._places = of_weight + [(j, slots[j, column], False) for j, column in rows.whole]

    def put(self, samples: Array, out: Array) -> _LoadBends:
        """Fill the entries; arguments as for :meth:`Entries.put`."""
        regressor = self._carried.regressor
        entries = np.zeros((2, regressor.compact_rows, samples.shape[2]))
        inner = (
            self._carried.put(_at_rest(samples), entries[0]),
            self._carried.put(samples, entries[1]),
        )
        over_load, over_rate = np.empty((2, len(self._places), samples.shape[2]))
        for i, (joint, row, still) in enumerate(self._places):
            own = regressor.joint_rows[joint]
            load = self._values[own.columns] @ entries[0 if still else 1][own.rows]
            sign, bend = friction.sign(samples[1, joint], self._smoothing)
            out[row] = sign * np.abs(load)
            over_load[i], over_rate[i] = sign * np.sign(load), bend * np.abs(load)
        return _LoadBends(over_load, over_rate, inner)

    def pull(self, onto_entries: Array, samples: Array, bends: _LoadBends, onto: Array) -> None:
        """Add derivatives over the motion; arguments as for :meth:`Entries.pull`."""
        regressor = self._carried.regressor
        onto_carried = np.zeros((2, regressor.compact_rows, samples.shape[2]))
        for i, (joint, row, still) in enumerate(self._places):
            own = regressor.joint_rows[joint]
            share = onto_entries[row] * bends.over_load[i]
            onto_carried[0 if still else 1][own.rows] += np.outer(self._values[own.columns], share)
            onto[1, joint] += onto_entries[row] * bends.over_rate[i]
        of_weight, whole = bends.inner
        onto[0] += self._carried.pull(onto_carried[0], _at_rest(samples), of_weight)[0]
        onto += self._carried.pull(onto_carried[1], samples, whole)


def _at_rest(samples: Array) -> Array:
    """Return the positions of a motion without velocities and accelerations."""
    still = np.zeros_like(samples)
    still[0] = samples[0]
    return still


def _turned(angle: Array) -> tuple[Array, Array]:
    """Return cosine and sine from the tangent of half the angle, one function in place of two.

    With t = tan(x / 2) they are (1 - t^2) / (1 + t^2) and 2 t / (1 + t^2), to the last bit but one.
    """
    tangent = np.tan(0.5 * angle)
    square = tangent * tangent
    share = 1.0 / (1.0 + square)
    return (1.0 - square) * share, 2.0 * tangent * share


class _RateRows:
    """Entries of friction and drives, functions of combinations of rates, and of joints' springs.

    Args:
        terms: the entries.
        places: (joints, columns) row of the compact form that holds the entry; -1: none.
        smoothing: width of the smoothed sign of velocities; 0 for the sign.
    """

    def __init__(
        self, terms: tuple[friction.RateTerm, ...], places: Places, smoothing: float
    ) -> None:
        self._smoothing = smoothing
        self._inertia = _Kind.of([t for t in terms if t.kind == ACCELERATION], places)
        self._viscous = _Kind.of([t for t in terms if t.kind == VISCOUS], places)
        self._coulomb = _Kind.of([t for t in terms if t.kind == COULOMB], places)
        self._curved = _Kind.of([t for t in terms if t.of_rate], places)
        self._springs = _Kind.of([t for t in terms if t.kind == POSITION], places)
        self._signs, of_term = np.unique(self._coulomb.rows, return_inverse=True)
        self._mixing = np.zeros((len(self._signs), len(of_term)))
        self._mixing[of_term, np.arange(len(of_term))] = self._coulomb.gains

    def put_signs(self, qd: Array, entries: Array) -> tuple[Array, Array]:
        """Replace the signs of velocities by smoothed ones.

        Args:
            qd: (joints, samples) velocities.
            entries: (compact rows, samples) entries before they are weighted.

        Returns:
            (Coulomb terms, samples) derivatives of the smoothed signs, and (curved terms, samples)
            those of other functions of the velocity that are not linear.
        """
        values, bends = friction.sign(self._coulomb.motions @ qd, self._smoothing)
        if self._smoothing > 0.0:
            entries[self._signs] = self._mixing @ values
        rates = self._curved.motions @ qd
        slopes = np.empty_like(rates)
        for i, (term, rate) in enumerate(zip(self._curved.terms, rates, strict=True)):
            slopes[i] = term.slope(rate)
            if term.kind == STRIBECK:  # it jumps at rest as Coulomb friction does
                sign, bend = friction.sign(rate, self._smoothing)
                height = np.abs(term.value(rate))
                slopes[i] = bend * height + sign * np.sign(rate) * slopes[i]
                entries[self._curved.rows[i]] = term.gain * sign * height
        return bends, slopes

    def pull(self, onto_entries: Array, bends: tuple[Array, Array], onto: Array) -> None:
        """Add derivatives over the entries to those over the motion.

        Args:
            onto_entries: (compact rows, samples) derivatives over the entries.
            bends: from :meth:`put_signs`.
            onto: (3, joints, samples) takes those over position, velocity and acceleration.
        """
        onto[2] += self._inertia.back @ onto_entries[self._inertia.rows]
        onto[1] += self._viscous.back @ onto_entries[self._viscous.rows]
        onto[0] += self._springs.back @ onto_entries[self._springs.rows]
        for terms, slopes in zip((self._coulomb, self._curved), bends, strict=True):
            onto[1] += terms.back @ (onto_entries[terms.rows] * slopes)


@dataclass(frozen=True, eq=False)
class _Kind:
    """Terms of a kind: entry = gain times a function of motion times rates.

    Attributes:
        rows: (terms,) row of the compact form.
        motions: (terms, joints) combinations of rates.
        gains: (terms,) factors.
        terms: (terms,) the terms.
    """

    rows: Places
    motions: Array
    gains: Array
    terms: tuple[friction.RateTerm, ...]

    @classmethod
    def of(cls, terms: list[friction.RateTerm], places: Places) -> _Kind:
        return cls(
            np.array([places[term.joint, term.column] for term in terms], dtype=np.int64),
            np.array([term.motion for term in terms]).reshape(len(terms), len(places)),
            np.array([term.gain for term in terms]),
            tuple(terms),
        )

    @cached_property
    def back(self) -> Array:
        """(joints, terms) derivatives over the rates, but for those of the function."""
        return self.motions.T * self.gains
