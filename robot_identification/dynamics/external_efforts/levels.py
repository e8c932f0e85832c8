"""Levels of the residual of free motion: bias, deviation and thresholds of external efforts.

What the observer leaves of a motion without contact has passed its filter: its deviation, its
colour and the errors of the model are in it as they are.  A Gaussian residual with the deviation s
that changes its sign z times a second goes beyond +-u, newly, z exp(-u^2 / 2 s^2) times a second
(Rice 1945), so that

    u = s sqrt(2 ln(z / n))

is exceeded n times a second.  Errors of a model have longer tails, and last: whatever it is that
they hang on, they are drawn anew :data:`DRAWS` times a second, however fast the noise is.  The
largest residual m in the time T is what is exceeded once by its draws: beside s there is a
deviation m / sqrt(2 ln(DRAWS T)) of what is drawn so often, and the larger threshold holds.  s is
at least what the identification left, as far as it passes the filter.

Friction is what a model knows least, and it depends on the speed: mean and deviation are those of
each knot of :mod:`.speed_zones`.  n times a second in each of them is n times a second in all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.external_efforts.momentum_observer import ObservedEfforts, Stamps
from robot_identification.dynamics.external_efforts.speed_zones import FAST, SpeedZones
from robot_identification.dynamics.tree import Floats
from robot_identification.robot.arrays import Array, by_value, read_only

DRAWS = 2.0
"""Times a second that errors of a model are drawn anew."""

_HOUR = 3600.0
_UNIFORM = 1.0 / math.sqrt(3.0)  # deviation of what lies anywhere in a band of 1 each way


@by_value
@dataclass(frozen=True)
class JudgedEfforts:
    """External efforts with what is known of their errors.

    Attributes:
        stamps: (samples,) in ns.
        interval: (samples,) time since the sample before in s; 0 where the observer began anew.
        effort: (samples, joints) in N m or N, joint side, without the bias of free motion.
        deviation: (samples, joints) standard deviation of each.
        lasting: (samples, joints) share of the variance that no mean over time makes smaller.
        threshold: (samples, joints) magnitude that only a contact exceeds; infinite until the
            observer has settled.
    """

    stamps: Stamps
    interval: Floats
    effort: Floats
    deviation: Floats
    lasting: Floats
    threshold: Floats


@by_value
@dataclass(frozen=True)
class ResidualTable:
    """What the observer leaves at the knots of the speed; see :mod:`.speed_zones`.

    Attributes:
        mean: (joints, zones) in N m or N, in the direction of the motion where directions are
            alike.
        deviation: (joints, zones) standard deviation.
        tail: (joints, zones) deviation of draws whose largest is that of what was seen.
        lasting: (joints,) share of the variance of sliding joints that lasts for half a second.
    """

    mean: Array
    deviation: Array
    tail: Array
    lasting: Array


@by_value
@dataclass(frozen=True)
class ResidualLevels:
    """What the observer leaves of free motion.

    Attributes:
        deviation: (joints,) standard deviation of sliding joints, in N m or N.
        crossings: (joints,) changes of sign in a second.
        tail: (joints,) deviation of draws whose largest is that of what was seen; None: there are
            no longer tails than those of the deviation.
        table: by speed; None: it is the same at all speeds.
    """

    deviation: Array
    crossings: Array
    tail: Array | None = None
    table: ResidualTable | None = None

    def thresholds(self, false_alarms: float) -> Array:
        """Return (joints,) efforts that the residual exceeds so many times in an hour.

        Args:
            false_alarms: of all joints together, in an hour.
        """
        each = false_alarms / _HOUR / len(self.deviation)
        often = self.deviation * deviations_beyond(self.crossings / each)
        if self.tail is None:
            return read_only(often)
        return read_only(np.maximum(often, self.tail * deviations_beyond(DRAWS / each)))

    def judge(
        self, observed: ObservedEfforts, zones: SpeedZones, false_alarms: float
    ) -> JudgedEfforts:
        """Return observed efforts with their deviations and thresholds.

        Args:
            observed: from the observer.
            zones: of the speed.
            false_alarms: of all joints together, in an hour.
        """
        band, table = observed.stick_band, self.table
        sliding = self.thresholds(false_alarms)
        threshold = sliding + band
        effort, deviation = observed.effort, np.broadcast_to(self.deviation, band.shape)
        lasting = np.ones_like(band)
        if table is not None:
            place = zones.places(observed.smooth_velocity, observed.acceleration)
            effort = effort - place.sign * place.of(table.mean)
            deviation = np.sqrt(place.of(table.deviation**2))
            each = false_alarms / _HOUR / len(self.deviation)
            levels = np.maximum(
                table.deviation * deviations_beyond(self.crossings / each)[:, None],
                table.tail * deviations_beyond(DRAWS / each),
            )
            own = np.sqrt(place.of(levels**2))
            # Friction that is misjudged altogether is the wrong way round.
            most = sliding + 2.0 * observed.sliding_friction
            threshold = np.maximum(threshold, np.minimum(own, most))
            lasting = np.where(FAST[place.lower], table.lasting, 1.0)
        return JudgedEfforts(
            stamps=observed.stamps,
            interval=observed.interval,
            effort=effort,
            deviation=np.maximum(deviation, _UNIFORM * band),
            lasting=lasting,
            threshold=np.where((observed.age >= zones.settling)[:, None], threshold, np.inf),
        )


def deviations_beyond(crossings: npt.ArrayLike) -> Floats:
    """Return by how many deviations a residual goes beyond zero once in so many crossings."""
    return np.asarray(np.sqrt(2.0 * np.log(np.maximum(crossings, math.e))))
