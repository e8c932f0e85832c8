"""Samples that are not numbers: left out and counted, as live ones are.

Drivers send NaN until their hardware has been read, and where a reading has failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from robot_identification.errors import SampleError
from robot_identification.robot.arrays import Array, first_not_finite

_MOST = 0.5  # of the samples: where more are no numbers, the driver or the topic is the wrong one


class Refusals:
    """Finds the samples of a source that are not numbers throughout.

    Args:
        where: the source, for what is told of it.
        names: names of the joints.
        what: what the samples are called.

    Attributes:
        count: samples that are not numbers.
    """

    def __init__(self, where: str, names: Sequence[str], what: str = "states") -> None:
        self.count = 0
        self._where, self._names, self._what = where, tuple(names), what
        self._read = 0
        self._first: SampleError | None = None

    def kept(self, signals: Mapping[str, Array]) -> npt.NDArray[np.bool_]:
        """Return (samples,) which of the next samples are numbers throughout.

        Args:
            signals: name of a signal -> (samples, joints); at least one.
        """
        kept: npt.NDArray[np.bool_] = np.logical_and.reduce(
            [np.isfinite(values).all(axis=1) for values in signals.values()]
        )
        if self._first is None and not kept.all():
            place = int(np.argmin(kept))
            found = (
                first_not_finite(name, values[[place]], self._names, self._read + place)
                for name, values in signals.items()
            )
            self._first = next(error for error in found if error is not None)
        self._read += len(kept)
        self.count += len(kept) - int(np.count_nonzero(kept))
        return kept

    def told(self) -> list[str]:
        """Return what there is to be told of the samples read, in lines.

        Raises:
            SampleError: more than half of them are not numbers.
        """
        if self._first is None:
            return []
        if self.count > _MOST * self._read:
            raise self._first
        first = self._first
        told = (
            f"{self._where}: {self.count} of {self._read} {self._what} were left out, for they are "
            f"not numbers; the first: {first.signal} of joint {first.joint} is {first.value} at "
            f"sample {first.index}"
        )
        return [told]
