"""Other unknowns for the same rows: factors and Gram matrices after a linear substitution.

Where the parameters p of a regressor are p = E x, the rows of the new unknowns x are W E, and with
[W Y] = Q [R z; 0 rho] all that is needed of them is R E: no sample is touched again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.linalg

from robot_identification.identification.bands import BandGrams
from robot_identification.identification.factor import JointFactor
from robot_identification.identification.factor import merge as merge_factor
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
    size = unknowns + 1
    rows = np.zeros((max(len(factor.triangle), size), size))
    rows[: len(factor.triangle), :unknowns] = factor.triangle[:, :-1] @ substitution[factor.columns]
    rows[: len(factor.triangle), -1] = factor.triangle[:, -1]
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


def triangle_of(rows: Array) -> Array:
    """Return the upper triangular factor R of rows."""
    (triangle,) = scipy.linalg.qr(rows, mode="r")
    return np.asarray(triangle[: rows.shape[1]])


def together(factors: Sequence[Sequence[JointFactor]]) -> tuple[JointFactor, ...]:
    """Return one factor per joint of the rows of several runs, with the same unknowns.

    Args:
        factors: for each run one factor per joint.
    """
    return tuple(merge_factor(of_joint) for of_joint in zip(*factors, strict=True))


def grams_together(grams: Sequence[BandGrams]) -> BandGrams:
    """Return the Gram matrices of the rows of several runs, with the same unknowns."""
    first = grams[0]
    return replace(
        first,
        grams=read_only(np.sum([g.grams for g in grams], axis=0)),
        common=read_only(np.sum([g.common for g in grams], axis=0)),
        mixing=read_only(np.sum([g.mixing for g in grams], axis=0)),
    )
