"""Weights between bags: given, or from the noise of every bag and joint.

A bag of weight W counts as if it stood there W times: its rows are multiplied by the root of W.
With ``bag_noise`` the rows of joint j in bag g are divided by s_gj, the standard deviation of their
residual.  As the residual depends on the estimate and that on the weights, both are found in turn
(iteratively re-weighted least squares, with one variance per bag and joint):

    s_gj^2 = ||Y_gj - W_gj chi||^2 / (r_gj - trace H_gj),

with H_gj the part of the hat matrix that belongs to these rows, so that a short bag does not pass
for a quiet one because the fit follows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from robot_identification.errors import SettingError
from robot_identification.identification.estimators import least_squares
from robot_identification.identification.rows.factor import JointFactor, stack
from robot_identification.identification.rows.groups import merged
from robot_identification.robot.arrays import Array, read_only
from robot_identification.robot.processing import Divisor
from robot_identification.settings import Settings, setting

_MOST = 100
_SETTLED = 1e-6
# Fewer degrees of freedom do not tell a variance; such rows get that of all bags.
_LEAST_FREEDOM = 8.0
# No bag is taken for quieter than this part of all together.
_QUIETEST = 1e-6


@dataclass(frozen=True)
class Weighting(Settings):
    """Weighting of bags."""

    bag_weights: tuple[float, ...] = setting(
        "what each bag counts; one of weight 2 as if it were there twice; empty: 1 each",
        (),
        above=0.0,
    )
    bag_noise: bool = setting(
        "weight every bag and joint by its own noise, estimated from the residuals", False
    )

    @property
    def is_uniform(self) -> bool:
        """Whether every bag counts the same."""
        return not self.bag_noise and len(set(self.bag_weights)) <= 1

    def checked(self, bags: int) -> Weighting:
        """Return these weights, which must be one per bag or none.

        Raises:
            SettingError: they are more or fewer.
        """
        if self.bag_weights and len(self.bag_weights) != bags:
            raise SettingError(
                "bag weights", len(self.bag_weights), f"give one for each of {bags} bags, or none"
            )
        return self

    def scales(self, levels: Array) -> Array:
        """Return (bags, joints) factors on rows, for relative noise levels of the same shape."""
        bags = len(levels)
        stated = np.sqrt(np.array(self.bag_weights or [1.0] * bags))[:, None]
        noise = levels if self.bag_noise else np.ones_like(levels)
        return read_only(stated / noise)


def noise_levels(
    groups: Sequence[Sequence[JointFactor]],
    names: Sequence[str],
    weighting: Weighting,
    divisor: Divisor,
) -> Array:
    """Return the noise of every bag and joint over that of the joint in all bags.

    Args:
        groups: for each bag one factor per joint.
        names: names of the base parameters.
        weighting: whether the levels enter the weights; they are then found in turn.
        divisor: of the variance of the residual.

    Returns:
        (bags, joints) levels.

    Raises:
        NotExcitedError: the data do not determine every parameter.
    """
    levels = np.ones((len(groups), len(groups[0])))
    for _ in range(_MOST):
        scales = weighting.scales(levels)
        together = merged(groups, scales)
        estimate = least_squares.weighted(together, names, divisor)
        previous, levels = levels, _levels(groups, scales, together, estimate)
        if not weighting.bag_noise or np.abs(np.log(levels / previous)).max() < _SETTLED:
            break
    return read_only(levels)


def _levels(
    groups: Sequence[Sequence[JointFactor]],
    scales: Array,
    together: Sequence[JointFactor],
    estimate: least_squares.Estimate,
) -> Array:
    parameters = len(estimate.values)
    root = stack(together, parameters, list(estimate.weights))[:-1, :-1]
    inverse = scipy.linalg.solve_triangular(root, np.eye(parameters))
    squares, freedom = np.zeros(scales.shape), np.zeros(scales.shape)
    for g, own in enumerate(groups):
        for j, factor in enumerate(own):
            weighted = scales[g, j] * estimate.weights[j] * factor.triangle[:, :-1]
            lost = float(np.linalg.norm(weighted @ inverse[factor.columns]) ** 2)
            squares[g, j] = factor.residual_norm(estimate.values) ** 2
            freedom[g, j] = factor.rows - lost
    known = freedom >= _LEAST_FREEDOM
    pooled = np.where(known, squares, 0.0).sum(axis=0) / np.maximum(
        np.where(known, freedom, 0.0).sum(axis=0), 1.0
    )
    usable = known & (pooled > 0.0)
    ratio = np.divide(squares, freedom * pooled, out=np.ones_like(squares), where=usable)
    result: Array = np.sqrt(np.maximum(ratio, _QUIETEST**2))
    return result


def weighting_entries(weighting: Weighting, levels: Array | None) -> dict[str, dict[str, object]]:
    """Return weights between bags as settings with their reasons; none where there are none.

    Args:
        weighting: what was asked for.
        levels: (bags, joints) noise over that of the joint; None where weights do not depend on it.
    """
    entries: dict[str, dict[str, object]] = {}
    if weighting.bag_weights:
        entries["bag_weights"] = {
            "value": list(weighting.bag_weights),
            "reason": "option: what each bag counts",
        }
    if levels is not None:
        entries["bag_noise"] = {
            "value": levels.tolist(),
            "reason": "derived: residual of each bag and joint, over the joint's in all bags",
        }
    return entries
