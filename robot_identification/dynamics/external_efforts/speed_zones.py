"""Zones of the speed of a joint in which its friction is known alike.

Friction near rest depends on the speed and on whether the joint slows down or gathers speed: it
falls before the joint turns round, or rises after that, as the drive happens to be.  Knots stand at
logarithmic distances, and a speed belongs to the two beside it.  Below the stick speed there is a
row of knots for speeds that rise and one for speeds that fall, in which both directions are alike;
above there is one for each direction.  Below a tenth of the stick speed the joint stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.tree import Floats
from robot_identification.robot.arrays import by_value

STANDING = 0.1
"""Share of the stick speed below which a joint counts as standing."""

_DECADE = 5  # distances of knots
_SLOW, _FAST = _DECADE + 1, 8  # knots of a row, from STANDING to 1 and from 1 to 25 stick speeds
_FALLING, _FORWARD, _BACKWARD, _STILL = np.cumsum([_SLOW, _SLOW, _FAST, _FAST]).tolist()

_SETTLING = 2.0  # time constants

ZONES = _STILL + 1
"""Number of knots, that of standing joints included."""

SLOW = np.arange(ZONES) < _FORWARD
FAST = ~SLOW & (np.arange(ZONES) < _STILL)
STILL = np.arange(ZONES) == _STILL

_slow = STANDING * 10.0 ** (np.arange(_SLOW) / _DECADE)
_fast = 10.0 ** (np.arange(_FAST) / _DECADE)
SPEEDS = np.concatenate([_slow, _slow, _fast, _fast, [0.0]])
"""(zones,) speed of every knot in stick speeds."""


class Places(NamedTuple):
    """Where samples lie among the knots.

    Attributes:
        lower: (samples, joints) knot below the speed.
        upper: (samples, joints) knot above it.
        share: (samples, joints) of the upper knot; the rest is that of the lower one.
        sign: (samples, joints) of efforts: that of the velocity where directions are alike, else 1.
    """

    lower: npt.NDArray[np.intp]
    upper: npt.NDArray[np.intp]
    share: Floats
    sign: Floats

    @property
    def nearest(self) -> npt.NDArray[np.intp]:
        """(samples, joints) nearest knot."""
        return np.where(self.share > 0.5, self.upper, self.lower)

    def of(self, table: Floats) -> Floats:
        """Return (samples, joints) values at the samples of a table (joints, zones)."""
        joints = np.arange(len(table))
        low = table[joints, self.lower]
        return np.asarray(low + self.share * (table[joints, self.upper] - low))


@by_value
@dataclass(frozen=True)
class SpeedZones:
    """The zones of the joints of a robot.

    Attributes:
        stick: (joints,) stick speeds in rad/s or m/s.
        time_constant: of the filters that velocities have passed, in s.
    """

    stick: Floats
    time_constant: float

    @property
    def settling(self) -> float:
        """Time in s after which velocities behind the filters are no longer those of a sample."""
        return _SETTLING * self.time_constant

    def places(self, velocity: Floats, acceleration: Floats) -> Places:
        """Return where samples lie among the knots.

        Behind filters a sample holds what was within about their time constant: a joint that was or
        is below its stick speed in that time belongs to the slow ones.

        Args:
            velocity: (samples, joints) in rad/s or m/s, filtered.
            acceleration: (samples, joints) in rad/s^2 or m/s^2.
        """
        speed = np.abs(velocity) / self.stick
        change = self.time_constant * np.abs(acceleration) / self.stick
        slow, still = speed - change < 1.0, speed < STANDING
        height = _DECADE * np.log10(np.maximum(speed, STANDING) / STANDING)
        most = np.where(slow, _SLOW - 1.0, _FAST - 1.0)
        height = np.minimum(np.where(slow, height, height - _DECADE), most)
        step = np.minimum(height, most - 1.0).astype(np.intp)
        fast = np.where(velocity > 0.0, _FORWARD, _BACKWARD)
        first = np.where(slow, np.where(velocity * acceleration > 0.0, 0, _FALLING), fast)
        lower = np.where(still, _STILL, first + step)
        return Places(
            lower,
            np.where(still, _STILL, lower + 1),
            np.where(still, 0.0, height - step),
            np.where(slow & ~still, np.sign(velocity), 1.0),
        )
