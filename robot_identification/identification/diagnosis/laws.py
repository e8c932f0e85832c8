"""Friction laws that a joint's own rows may ask for, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.friction import rate_terms
from robot_identification.dynamics.kernels.terms import ACCELERATION
from robot_identification.dynamics.regressor import Regressor
from robot_identification.identification.diagnosis.motion import Motion
from robot_identification.identification.diagnosis.refit import JointRows
from robot_identification.identification.friction.candidates import SPEED_SHARES
from robot_identification.robot.arrays import Array
from robot_identification.robot.term_kinds import TermKind
from robot_identification.robot.terms import TERMS, JointTerm

_SHARES = np.geomspace(SPEED_SHARES[0], SPEED_SHARES[-1], 2 * len(SPEED_SHARES) - 1)
"""Speeds of laws over the largest one: those that a choice of friction tries, and one between any
two of them, as nothing is refined afterwards."""


class Loads(NamedTuple):
    """Efforts of bodies and drives, by parameters fitted to the joint's own rows.

    Attributes:
        moving: (instants,) of the motion; zero where no row is.
        at_rest: (instants,) of weight alone.
    """

    moving: Array
    at_rest: Array

    @classmethod
    def of(
        cls, motion: Motion, joint: int, rows: JointRows, columns: npt.NDArray[np.intp]
    ) -> Loads:
        """Return the loads of a joint.

        Args:
            motion: what was measured.
            joint: place of the joint.
            rows: its rows.
            columns: of the full regressor, those that the rows' columns are numbered by.
        """
        scale = np.linalg.norm(rows.matrix, axis=0)
        scale[scale == 0.0] = 1.0
        values = np.linalg.lstsq(rows.matrix / scale, rows.effort, rcond=1e-6)[0] / scale
        place = {int(column): i for i, column in enumerate(rows.columns)}
        for term in rate_terms(motion.robot, columns):
            if term.kind != ACCELERATION and term.column in place:
                values[place[term.column]] = 0.0
        moving = np.zeros(motion.position.shape[1])
        moving[motion.kept[joint]] = rows.matrix @ values
        regressor = Regressor(motion.robot, columns)
        rest = np.zeros_like(motion.position)
        compact = regressor.compact(np.array(motion.position), rest, rest)
        return cls(moving, values @ compact[regressor.joint_rows[joint].rows])


def law_columns(motion: Motion, joint: int, loads: Loads) -> Iterator[tuple[JointTerm, str, Array]]:
    """Give out friction terms that a joint's model lacks, told for people, with their columns.

    Args:
        motion: what was measured.
        joint: place of the joint.
        loads: of the joint.
    """
    v = motion.velocity[joint]
    fastest = max(float(np.abs(v).max()), float(np.finfo(float).tiny))
    for term in TERMS:
        kind = term.kind
        if term.default or not term.dissipates or term.name in motion.robot.joints[joint].terms:
            continue
        told = f"{term.name}{joint + 1}, {kind.formula}"
        if not kind.shapes:
            load = loads.at_rest if kind is TermKind.GRAVITY_LOAD else loads.moving
            yield term, told, kind.of(v, load=load)
            continue
        for share in _SHARES:
            shape = (share * fastest, *kind.nominal_shape[1:])
            speed = f"{kind.shapes[0].symbol} about {shape[0]:.2g}"
            yield term, f"{told}, {speed}", kind.of(v, shape=shape)
