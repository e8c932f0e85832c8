"""Settings of Fourier series: length and number of periods, run-in and run-out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from robot_identification.errors import SettingError
from robot_identification.robot.arrays import Array
from robot_identification.settings import Settings, setting

_POINTS_PER_CYCLE = 8  # of the highest harmonic; docs/exciting_trajectories.md tells the error
_FEWEST_POINTS = 40  # per period, where there are few harmonics
_RUN = 0.2  # before and behind the periods, as a share of one
_BLEND = 0.75  # of the run-in and of the run-out; the rest follows the series
_MOST_POINTS = 5000  # of a trajectory file, in seconds to read and in entries


@dataclass(frozen=True)
class FourierSettings(Settings):
    """Whole periods of a series, with a run-in from rest before them and a run-out behind them.

    Raises:
        SettingError: a value is out of its range, or all together need too many points.
    """

    base_frequency: float = setting(
        "number of periods in one second", 0.1, minimum=1e-4, maximum=10.0, unit="Hz", metavar="HZ"
    )
    harmonics: int = setting(
        "highest multiple of the base frequency", 20, minimum=1, maximum=1000, metavar="N"
    )
    periods: int = setting(
        "number of whole periods, a run-in and a run-out around them",
        3,
        minimum=1,
        maximum=1000,
        metavar="N",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        points = self.periods * self.points_per_period + 2 * self._run_points
        if points > _MOST_POINTS:
            raise SettingError(
                "periods",
                self.periods,
                f"with {self.harmonics} harmonics need {points} points, a trajectory has at most "
                f"{_MOST_POINTS}: ask for fewer periods or harmonics",
            )

    @property
    def period(self) -> float:
        """Duration of one period, in s."""
        return 1.0 / self.base_frequency

    @property
    def points_per_period(self) -> int:
        """Number of points of the trajectory in one period."""
        return max(_FEWEST_POINTS, _POINTS_PER_CYCLE * self.harmonics)

    @property
    def _run_points(self) -> int:
        return math.ceil(_RUN * self.points_per_period)

    @property
    def begins(self) -> float:
        """Time from the start at which the first whole period begins, in s."""
        return self._run_points * self.period / self.points_per_period

    @property
    def blend(self) -> float:
        """Time in which the motion passes from rest to the series, and back to rest, in s.

        It ends at a point, as the jerk jumps there.
        """
        return round(_BLEND * self._run_points) * self.period / self.points_per_period

    @property
    def duration(self) -> float:
        """Duration of the whole motion, in s."""
        return self.periods * self.period + 2.0 * self.begins

    @property
    def times(self) -> Array:
        """(points,) times of the points of the trajectory, in s."""
        points = self.periods * self.points_per_period + 2 * self._run_points
        return np.arange(points + 1) * np.float64(self.period / self.points_per_period)

    def samples(self, per_cycle: int) -> Array:
        """Return (samples,) times in the middle of equal parts of the first period, in s.

        Args:
            per_cycle: parts of one cycle of the highest harmonic.
        """
        count = max(_FEWEST_POINTS, per_cycle * self.harmonics)
        middles: Array = (np.arange(count) + 0.5) * np.float64(self.period / count)
        return self.begins + middles

    def samples_with_runs(self, per_cycle: int) -> Array:
        """Return (samples,) times in the first period, the run-in and the run-out, in s.

        What the other periods do is the same.

        Args:
            per_cycle: parts of one cycle of the highest harmonic.
        """
        inside = self.samples(per_cycle)
        step = inside[1] - inside[0]
        run = (np.arange(math.ceil(self.begins / step)) + 0.5) * step
        run = run[run < self.begins]
        return np.concatenate([run, inside, self.duration - run[::-1]])


@dataclass(frozen=True)
class Periodic:
    """The part of a trajectory that repeats, as its file states it.

    Attributes:
        base_frequency: number of periods in one second, in Hz.
        harmonics: highest multiple of the base frequency in it.
        periods: number of whole periods.
        begins: time from the start of the trajectory to the first whole period, in s.
    """

    base_frequency: float
    harmonics: int
    periods: int
    begins: float

    @classmethod
    def of(cls, settings: FourierSettings, speed: float = 1.0) -> Periodic:
        """Return the part that repeats, at a share of the planned speed."""
        return cls(
            settings.base_frequency * speed,
            settings.harmonics,
            settings.periods,
            settings.begins / speed,
        )
