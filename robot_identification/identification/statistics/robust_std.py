"""Standard deviations that hold for coloured residuals: a sandwich in the frequency domain.

The papers' covariance s^2 A, A = (W^T W)^-1, takes the residuals for white.  With Sigma their
covariance matrix that of the estimate is

    C = A (W^T Sigma W) A,    W^T Sigma W = sum over bands and joints j, k of f_jk,b X_j^T T_b X_k,

where f_jk,b is the spectral density of the residuals of joint j (their co-spectrum, where j and k
differ) in a band, the rows being weighted already.  It is estimated from the residuals with their
lost degrees of freedom given back band by band (the fit takes most of them where the motion is),
and with the mixing of frequencies by left-out rows undone.  The number of bands grows with that of
the rows.  Residuals are assumed to be stationary, and the regressor to be exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg

from robot_identification.identification.rows.bands import BandGrams
from robot_identification.identification.rows.factor import JointFactor, stack
from robot_identification.robot.arrays import Array, read_only

# Fewer degrees of freedom in a band would make its density too uncertain for intervals of 1.96
# standard deviations.
_LEAST_FREEDOM = 8.0
# Co-spectra below this many of their standard deviations under independence are taken for zero.
_SIGNIFICANT = 3.0
# Undoing the mixing must not take more than this share of the power found in a band.
_LARGEST_CORRECTION = 0.9


def robust_std(
    bands: BandGrams,
    factors: Sequence[JointFactor],
    values: Array,
    weights: Array,
    *,
    fitted: BandGrams | None = None,
    meat: BandGrams | None = None,
    efficiency: Array | None = None,
) -> Array:
    """Return the standard deviations of an estimate for residuals of any colour.

    Bags may have been weighted apart: the residuals then have one colour, and in each bag a level
    of its own.

    Args:
        bands: Gram matrices of the same rows; of weighted bags, of rows divided by the level of
            their bag.
        factors: one factor per joint, which the estimate was made from.
        values: (parameters,) estimate.
        weights: (joints,) factor on the rows of each joint.
        fitted: Gram matrices of the rows as they were weighted by bags; by default ``bands``.
        meat: of the rows multiplied by the square of their bag's weight and by its level; by
            default ``bands``.
        efficiency: (joints,) share of a row's residual that still moves the estimate, where
            outliers are limited; 1 by default.

    Returns:
        (parameters,) standard deviations.
    """
    parameters = len(values)
    bread = _bread(factors, parameters, weights)
    scale = np.repeat(weights, bands.sizes)
    place = np.concatenate([[*columns, -1] for columns in bands.columns]).astype(np.intp)
    effort = place < 0
    leverage = np.where(effort | effort[:, None], 0.0, bread[np.ix_(place, place)])
    residual = np.where(effort, 1.0, -values[place]) * scale
    columns = np.zeros((len(place), parameters))
    columns[~effort, place[~effort]] = scale[~effort]
    if efficiency is not None:
        bread = _bread(factors, parameters, weights * np.sqrt(efficiency))
    return sandwich_std(
        bands,
        residual,
        leverage * np.outer(scale, scale),
        columns @ bread,
        fitted=fitted,
        meat=meat,
    )


def _bread(factors: Sequence[JointFactor], parameters: int, weights: Array) -> Array:
    root = stack(factors, parameters, list(weights))[:-1, :-1]
    inverse = scipy.linalg.solve_triangular(root, np.eye(parameters))
    result: Array = inverse @ inverse.T
    return result


def sandwich_std(
    bands: BandGrams,
    residual: Array,
    leverage: Array,
    gain: Array,
    *,
    fitted: BandGrams | None = None,
    meat: BandGrams | None = None,
) -> Array:
    """Return the standard deviations of any estimate that is linear in the efforts.

    Args:
        bands: Gram matrices of the rows X.
        residual: (entries,) what the columns of X, efforts included, are multiplied by to give the
            residuals.
        leverage: (entries, entries) matrix L with the hat matrix X L X^T of the fit, for the
            degrees of freedom that it takes.
        gain: (entries, parameters) matrix G with the errors G^T X^T e of the estimate.
        fitted: Gram matrices that go with ``leverage``; by default ``bands``.
        meat: Gram matrices of X times the densities, that go with ``gain``; by default ``bands``.

    Returns:
        (parameters,) standard deviations.
    """
    starts = _starts(fitted or bands, leverage)
    wide = bands.merged(starts)
    of_fit, of_meat = (wide if own is None else own.merged(starts) for own in (fitted, meat))
    densities = _densities(
        wide,
        power=_joint_sums(wide, np.outer(residual, residual)),
        leverage=_joint_sums(of_fit, leverage),
    )
    joints = np.repeat(np.arange(len(bands.sizes)), bands.sizes)
    filling = np.einsum("bij,bij->ij", densities[:, joints][:, :, joints], of_meat.grams)
    variances = np.einsum("ip,ij,jp->p", gain, filling, gain, optimize=True)
    return read_only(np.sqrt(np.maximum(variances, 0.0)))


def _joint_sums(bands: BandGrams, coefficients: Array) -> Array:
    """Return (bands, joints, joints) sums of coefficients times Gram matrices over each joint."""
    products = coefficients * bands.grams
    sums: Array = np.add.reduceat(
        np.add.reduceat(products, bands.firsts, axis=1), bands.firsts, axis=2
    )
    return sums


def _starts(bands: BandGrams, leverage: Array) -> list[int]:
    """Return which bands to merge, so that each keeps enough degrees of freedom on average."""
    rows = np.diag(bands.common)
    used = rows > 0.0
    lost = np.einsum("bjj->bj", _joint_sums(bands, leverage))[:, used]
    freedom = (bands.shares[:, None] * rows[used] - lost).mean(axis=1)
    starts, gathered = [0], 0.0
    for band, own in enumerate(freedom):
        if gathered >= _LEAST_FREEDOM:
            starts.append(band)
            gathered = 0.0
        gathered += float(own)
    if gathered < _LEAST_FREEDOM and len(starts) > 1:
        starts.pop()
    return starts


def _densities(bands: BandGrams, power: Array, leverage: Array) -> Array:
    """Return (bands, joints, joints) spectral densities and co-spectra of the residuals.

    Args:
        bands: the bands.
        power: (bands, joints, joints) of the residuals.
        leverage: (bands, joints, joints) degrees of freedom that the fit has taken.
    """
    rows = np.diag(bands.common)
    own = np.zeros((len(bands.shares), len(rows)))
    for joint in np.flatnonzero(rows):
        found = np.maximum(power[:, joint, joint], 0.0)
        system = bands.mixing[joint] - np.diag(leverage[:, joint, joint])
        least = (1.0 - _LARGEST_CORRECTION) * found / (bands.shares * rows[joint])
        own[:, joint] = np.maximum(np.linalg.lstsq(system, found, rcond=None)[0], least)
    return np.array(
        [
            _with_co_spectra(own[b], power[b], leverage[b], share * bands.common)
            for b, share in enumerate(bands.shares)
        ]
    )


def _with_co_spectra(own: Array, power: Array, leverage: Array, freedom: Array) -> Array:
    """Return the (joints, joints) densities of one band, positive semidefinite.

    Args:
        own: (joints,) densities of the joints alone.
        power: (joints, joints) of the residuals.
        leverage: (joints, joints) degrees of freedom that the fit has taken.
        freedom: (joints, joints) degrees of freedom of the rows.
    """
    level = np.sqrt(np.outer(own, own))
    some = np.maximum(freedom, 1.0)
    crossed = (power + leverage * level) / some
    sure = np.abs(crossed) * np.sqrt(some) > _SIGNIFICANT * level
    crossed = np.where(sure, crossed, 0.0)
    np.fill_diagonal(crossed, own)
    if not np.count_nonzero(crossed - np.diag(own)):
        return crossed
    eigenvalues, vectors = np.linalg.eigh(crossed)
    result: Array = (vectors * np.maximum(eigenvalues, 0.0)) @ vectors.T
    return result
