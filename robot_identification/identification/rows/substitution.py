"""Other unknowns for the same rows: factors and Gram matrices after a linear substitution.

Where the parameters p of a regressor are p = E x, the rows of the new unknowns x are W E, and with
[W Y] = Q [R z; 0 rho] all that is needed of them is R E: no sample is touched again.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_identification.identification.rows.bands import BandGrams
from robot_identification.identification.rows.factor import JointFactor, triangle_of
from robot_identification.robot.model import Array, read_only


def substituted(factor: JointFactor, substitution: Array) -> JointFactor:
    """Return the factor of the same rows for other unknowns.

    Args:
        factor: of the rows of one joint.
        substitution: (parameters, unknowns) E with parameters = E unknowns.

    Returns:
        The factor, whose columns are all unknowns.
    """
    unknowns = substitution.shape[1]
    left = factor.triangle[:, :-1] @ substitution[factor.columns]
    rows = np.column_stack([left, factor.triangle[:, -1]])
    return JointFactor(factor.joint, np.arange(unknowns), triangle_of(rows), factor.rows)


def substituted_grams(grams: BandGrams, substitution: Array) -> BandGrams:
    """Return the Gram matrices of the same rows for other unknowns; see :func:`substituted`."""
    size = substitution.shape[1] + 1
    blocks = []
    for first, columns in zip(grams.firsts, grams.columns, strict=True):
        mapping = np.zeros((len(columns) + 1, size))  # of the columns of a joint and its effort
        mapping[:-1, :-1] = substitution[columns]
        mapping[-1, -1] = 1.0
        blocks.append((slice(first, first + len(mapping)), mapping))
    right = np.concatenate([grams.grams[:, :, own] @ mapping for own, mapping in blocks], axis=2)
    both = np.concatenate([mapping.T @ right[:, own] for own, mapping in blocks], axis=1)
    every = tuple(np.arange(size - 1) for _ in grams.columns)
    return replace(grams, columns=every, grams=read_only(both))
