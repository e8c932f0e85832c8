"""Columns of friction of any law in a joint's own rows, compared with other causes of a misfit.

The choice of friction laws (:mod:`.friction`) determines which law it is, from all rows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.friction import rate_terms
from robot_identification.dynamics.kernels.terms import ACCELERATION
from robot_identification.identification.diagnosis.refits.motion import Motion
from robot_identification.identification.diagnosis.refits.refit import JointRows
from robot_identification.robot.arrays import Array

_STRIBECK = 0.1
"""Speed, over the largest, at which the friction law of Stribeck has fallen: where it is not known,
a tenth is where it can still be seen."""


def mixture(
    motion: Motion, joint: int, rows: JointRows, columns: npt.NDArray[np.intp]
) -> tuple[Array, str]:
    """Return (instants, laws) columns of several laws together, and which these are.

    Args:
        motion: what was measured.
        joint: place of the joint.
        rows: its rows.
        columns: of the full regressor, those that the rows' columns are numbered by.
    """
    v = motion.velocity[joint]
    slow = _STRIBECK * max(float(np.abs(v).max()), float(np.finfo(float).tiny))
    side = np.sign(v)
    laws = [
        side * np.sqrt(np.abs(v)),
        v * np.abs(v),
        side * np.exp(-((v / slow) ** 2)),
        np.abs(v),
        side * np.abs(_load(motion, joint, rows, columns)),
    ]
    return np.column_stack(laws), "sqrt, square, Stribeck, |v|, load"


def _load(motion: Motion, joint: int, rows: JointRows, columns: npt.NDArray[np.intp]) -> Array:
    """Return (instants,) efforts of bodies and drives; zero where no row is.

    They are by parameters fitted to the joint's own rows.
    """
    scale = np.linalg.norm(rows.matrix, axis=0)
    scale[scale == 0.0] = 1.0
    values = np.linalg.lstsq(rows.matrix / scale, rows.effort, rcond=1e-6)[0] / scale
    place = {int(column): i for i, column in enumerate(rows.columns)}
    for term in rate_terms(motion.robot, columns):
        if term.kind != ACCELERATION and term.column in place:
            values[place[term.column]] = 0.0
    found = np.zeros(motion.position.shape[1])
    found[motion.kept[joint]] = rows.matrix @ values
    return found
