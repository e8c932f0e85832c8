"""The smooth surrogate of the criterion as a function of points, with its exact gradient."""

from __future__ import annotations

from robot_identification.excitation.criterion import smooth, smooth_condition
from robot_identification.excitation.curve import Points
from robot_identification.excitation.observation import Observation
from robot_identification.robot.model import Array


def surrogate(
    observation: Observation,
    points: Points,
    sharpness: float,
    equilibrium_weight: float = 0.0,
    prior: Array | None = None,
) -> tuple[float, Points]:
    """Return the surrogate of :func:`~robot_identification.excitation.criterion.smooth`.

    Without equilibrium and prior only the singular values count: they need W^T W, and no W.

    Args:
        observation: the system W that points give.
        points: where.
        sharpness: positive; the larger, the closer to the criterion.
        equilibrium_weight: weight of log S; 0 leaves it out.
        prior: (columns,) approximate parameters, or None.

    Returns:
        The value and its derivatives over the points.
    """
    if equilibrium_weight == 0.0 and prior is None:
        gram, pull = observation.gram(points)
        value, slope = smooth_condition(gram, sharpness)
        return value, pull(slope)
    value, slope = smooth(observation.rows(points), sharpness, equilibrium_weight, prior)
    return value, observation.pull(points, slope)
