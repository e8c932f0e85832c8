"""Rows that arrive a few at a time: factors at once, bands when there are enough for a block."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_identification.identification.bands import BLOCK, BandGrams
from robot_identification.identification.factor import JointFactor
from robot_identification.identification.stream import FactorStream, band_stream
from robot_identification.robot.model import Array, RobotModel
from robot_identification.signals.processing import Processing


class StreamedRows:
    """Factors and bands of all rows so far, whose size does not grow.

    Args:
        robot: the robot.
        columns: columns of the full regressor that the base parameters belong to.
        processing: settings of the signal processing.
    """

    def __init__(
        self, robot: RobotModel, columns: npt.NDArray[np.intp], processing: Processing
    ) -> None:
        self._factors = FactorStream(robot, columns, processing)
        self._bands = band_stream(robot, columns)
        self._rows = np.zeros((self._bands.entries, BLOCK))
        self._kept = np.zeros((len(robot.joints), BLOCK), dtype=np.bool_)
        self._filled = 0

    def take(self, rows: Array, kept: npt.NDArray[np.bool_]) -> None:
        """Take in (compact rows, instants) that follow those before, and which of them count."""
        self._factors.add(rows, kept)
        first = 0
        while first < rows.shape[1]:
            count = min(rows.shape[1] - first, BLOCK - self._filled)
            place = slice(self._filled, self._filled + count)
            self._rows[:, place] = rows[:, first : first + count]
            self._kept[:, place] = kept[:, first : first + count]
            self._filled += count
            first += count
            if self._filled == BLOCK:
                self.interrupt()

    def interrupt(self) -> None:
        """Say that the rows that follow do not continue those before."""
        if self._filled:
            self._bands.add(*self._waiting())
            self._filled = 0

    def factors(self) -> tuple[JointFactor, ...]:
        """Return the factors of all rows so far."""
        return self._factors.factors()

    def grams(self) -> BandGrams:
        """Return the Gram matrices of the bands of all rows so far."""
        return self._bands.with_rows(*self._waiting()).grams()

    def _waiting(self) -> tuple[Array, npt.NDArray[np.bool_]]:
        return self._rows[:, : self._filled], self._kept[:, : self._filled]
