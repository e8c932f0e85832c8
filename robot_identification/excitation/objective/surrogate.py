"""The smooth surrogate of the criterion as a function of a motion, with its exact gradient."""

from __future__ import annotations

from robot_identification.excitation.objective.criterion import smooth, smooth_condition
from robot_identification.excitation.objective.motion_map import Motion, Observation
from robot_identification.robot.model import Array


def surrogate(
    observation: Observation[Motion],
    motion: Motion,
    sharpness: float,
    equilibrium_weight: float = 0.0,
    prior: Array | None = None,
) -> tuple[float, Motion]:
    """Return the surrogate of :func:`~robot_identification.excitation.objective.criterion.smooth`.

    Without equilibrium and prior only the singular values count: they need W^T W, and no W.

    Args:
        observation: the system W that a motion gives.
        motion: where.
        sharpness: positive; the larger, the closer to the criterion.
        equilibrium_weight: weight of log S; 0 leaves it out.
        prior: (columns,) approximate parameters, or None.

    Returns:
        The value and its derivatives over the motion.
    """
    if equilibrium_weight == 0.0 and prior is None:
        gram, pull = observation.gram(motion)
        value, slope = smooth_condition(gram, sharpness)
        return value, pull(slope)
    value, slope = smooth(observation.rows(motion), sharpness, equilibrium_weight, prior)
    return value, observation.pull(motion, slope)
