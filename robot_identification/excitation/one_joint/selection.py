"""Selection of postures that make a small system well conditioned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.robot.arrays import by_value
from robot_identification.robot.model import Array

_FAINT = 1e-9
_PASSES = 3


@by_value
@dataclass(frozen=True)
class Pool:
    """Information that every candidate experiment would give about the parameters of a block.

    Attributes:
        information: (candidates, parameters, parameters) products A^T A of scaled columns.
    """

    information: Array

    @classmethod
    def of(cls, rows: Array) -> Pool:
        """Return the pool of rows (candidates, rows, parameters), their columns scaled alike."""
        norms = np.sqrt(np.mean(np.sum(rows**2, axis=1), axis=0))
        scaled = rows / np.where(norms > 0.0, norms, 1.0)
        return cls(np.einsum("kri,krj->kij", scaled, scaled))

    def best(self, count: int) -> npt.NDArray[np.intp]:
        """Return the candidates (count,) that together tell the parameters best.

        Candidates are taken one by one for the largest determinant, then exchanged one by one for
        the smallest sum of variances, in units of the columns' scale.

        Args:
            count: how many are wanted; there may be fewer candidates.
        """
        chosen: list[int] = []
        total = _FAINT * np.eye(self.information.shape[1])
        for _ in range(min(count, len(self.information))):
            _, volumes = np.linalg.slogdet(total + self.information)
            volumes[chosen] = -np.inf
            chosen.append(int(np.argmax(volumes)))
            total = total + self.information[chosen[-1]]
        for _ in range(_PASSES):
            before = list(chosen)
            for place, current in enumerate(chosen):
                rest = total - self.information[current]
                variances = _variances(rest + self.information)
                variances[[c for c in chosen if c != current]] = np.inf
                chosen[place] = int(np.argmin(variances))
                total = rest + self.information[chosen[place]]
            if chosen == before:
                break
        return np.array(chosen, dtype=np.intp)


def _variances(information: Array) -> Array:
    """Return (candidates,) sums of variances; what is not told counts as hardly told."""
    values = np.linalg.eigvalsh(information)
    result: Array = np.sum(1.0 / np.maximum(values, _FAINT), axis=1)
    return result
