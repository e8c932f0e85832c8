"""States whose rows are all of one size, where random ones leave the rank doubtful.

The entries are known up to rounding in proportion to their size, so the rank is clearest where
all are of one size (Gautier 1991, "Scaling of W"; the criterion is
J = lambda1 ||W||_F + lambda2 S with S = max |W_ij| / min |W_ij|).
"""

from __future__ import annotations

import numpy as np
import scipy

from robot_identification.identification.base.observation import Observation, States, random_states
from robot_identification.robot.arrays import Array

FROBENIUS_WEIGHT = 0.1
SPREAD_WEIGHT = 1.0
_CANDIDATES = 64
_ITERATIONS = 2
_EVALUATIONS = 300


def spread(w: Array) -> float:
    """Return S, the largest over the smallest absolute value of the non-zero entries.

    Entries that are zero but for rounding do not count; 1 where there are none at all.
    """
    sizes = np.abs(w)
    largest = float(sizes.max(initial=0.0))
    present = sizes[sizes > max(w.shape) * np.finfo(np.float64).eps * largest]
    return largest / float(present.min()) if len(present) else 1.0


def criterion(w: Array) -> float:
    """Return J of some rows."""
    return FROBENIUS_WEIGHT * float(np.linalg.norm(w)) + SPREAD_WEIGHT * spread(w)


def scaled_states(
    observation: Observation, half_ranges: Array, samples: int, rng: np.random.Generator
) -> States:
    """Return states whose rows minimise the criterion.

    As in the paper, every sample is optimised by itself, by Powell's method, from the best of
    some random states; distinct starts keep the rows independent.

    Args:
        observation: the model.
        half_ranges: (3, active) half ranges of position, velocity and acceleration.
        samples: number of states.
        rng: source of the starts.
    """
    columns = np.flatnonzero(observation.contained)
    joints = half_ranges.shape[1]
    scale = half_ranges.ravel()

    def states_of(numbers: Array) -> States:
        return States(*(numbers.reshape(-1, 3, joints) * half_ranges).swapaxes(0, 1))

    def cost(numbers: Array) -> float:
        return criterion(observation.blocks(states_of(numbers))[0][:, columns])

    found = []
    for _ in range(samples):
        starts = np.stack(random_states(half_ranges, _CANDIDATES, rng), axis=1)
        numbers = starts.reshape(_CANDIDATES, -1) / scale
        blocks = observation.blocks(states_of(numbers))[:, :, columns]
        best = numbers[int(np.argmin([criterion(block) for block in blocks]))]
        result = scipy.optimize.minimize(
            cost,
            best,
            method="Powell",
            bounds=[(-1.0, 1.0)] * len(best),
            options={"maxiter": _ITERATIONS, "maxfev": _EVALUATIONS},
        )
        found.append(result.x if result.fun < cost(best) else best)
    return states_of(np.array(found))
