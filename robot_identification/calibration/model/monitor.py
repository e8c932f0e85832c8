"""Monitor of a calibrated model: predicted beside measured efforts, and drift of the residual.

Positions pass the filter of the identification; efforts are predicted at every sample, and the
residual is decimated as the identification decimates, so that it can be compared with what was
left there.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from robot_identification.calibration.calibrated import CalibratedParameters
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import SettingError, ShapeError
from robot_identification.identification import entries as entry_of
from robot_identification.identification.estimators.choice import method_of
from robot_identification.identification.periodic.settings import PERIODS
from robot_identification.identification.result import IdentificationResult
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ThresholdScope
from robot_identification.signals.clock.arrivals import BlockClock
from robot_identification.signals.filters import filtering
from robot_identification.signals.growing.samples import FilteredBlock, OnlineFilter
from robot_identification.signals.rows import LeastSpeeds

WINDOW = 100
"""Rows that the drift is the mean of."""
FEWEST = 30
"""Rows below which nothing is said of it."""

# A filter of order 4 with so many times the highest harmonic as cut-off leaves it undamped to 2e-5.
_HARMONICS = 4.0
_CUT_ROWS = 6  # the decimation filter has died down after six of its outputs
_EVERY_SAMPLE = math.inf
_ROWS_EVERY = 1.0  # s: sooner nobody needs rows that the drift is the mean of a hundred of
# Share of a row that must be measured: beside a bridged gap accelerations are worse than residuals.
_MEASURED = 0.8
_LARGEST_SETTING = 1e6


@by_value
@dataclass(frozen=True)
class ResidualReference:
    """Residuals of the identification, with which later ones are compared.

    Attributes:
        cutoff_hz: cut-off of the positions, Hz; after averages over periods four times the highest
            harmonic of their series.
        rate_hz: rate of the rows, Hz.
        threshold: (joints,) speeds below which a row of a joint tells nothing.
        window: rows around a row in which the speed must stay above its threshold.
        cut_rows: rows at the start of a run that the filters' end effects reach.
        residual_std: (joints,) standard deviation of the residuals that the calibrated parameters
            left on the data of the identification, in N m or N; 0 where there are none of single
            samples and measured motion, but of averages over periods or of a simulation (DIDIM).
        scope: whether a joint that is slow costs its own row, or those of all joints.
        filter_order: order of one pass of the filter of the positions.
        difference_order: order of accuracy of the differences.
    """

    cutoff_hz: float
    rate_hz: float
    threshold: Array
    window: int
    cut_rows: int
    residual_std: Array
    scope: ThresholdScope = "joint"
    filter_order: int = filtering.DEFAULT_ORDER
    difference_order: int = filtering.DEFAULT_DIFFERENCE_ORDER

    def __post_init__(self) -> None:
        if self.threshold.shape != self.residual_std.shape:
            raise ShapeError("threshold", self.threshold.shape, str(self.residual_std.shape))
        for name in ("threshold", "residual_std"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @classmethod
    def of(
        cls, result: IdentificationResult, calibrated: CalibratedParameters
    ) -> ResidualReference:
        """Return the level of an identification and the calibration that followed it.

        Raises:
            SettingError, ShapeError: the result does not say how its signals were processed.
        """
        settings = result.settings
        joints = len(result.joint_names)
        thresholds = _value(settings, "velocity_threshold") or (0.0,) * joints
        scope = settings.get("velocity_threshold_scope", {})
        identified = calibrated.error_identified.joints
        growth = np.divide(
            calibrated.error.joints, identified, out=np.ones(joints), where=identified > 0.0
        )
        found = cls(
            cutoff_hz=float(_value(settings, "cutoff_hz")),
            rate_hz=float(_value(settings, "rate_hz")),
            threshold=np.array(thresholds, dtype=np.float64),
            window=math.ceil(float(_value(settings, "velocity_threshold_window"))),
            cut_rows=_CUT_ROWS,
            residual_std=result.estimate.residual_std * np.maximum(growth, 1.0),
            scope="sample" if scope.get("value") == "sample" else "joint",
            filter_order=int(_value(settings, "filter_order")),
            difference_order=int(_value(settings, "difference_order")),
        )
        if PERIODS in settings:  # their cut-off is the highest harmonic of a series, no filter
            found = replace(
                found,
                cutoff_hz=_HARMONICS * found.cutoff_hz,
                filter_order=filtering.DEFAULT_ORDER,
                difference_order=filtering.DEFAULT_DIFFERENCE_ORDER,
            )
        if PERIODS in settings or not method_of(result.method).measured_motion:
            found = replace(found, residual_std=np.zeros(joints))
        return found


def _value(settings: Mapping[str, Mapping[str, Any]], name: str) -> Any:
    """Return the number, or the list of numbers, that a setting was.

    Raises:
        SettingError: the result does not say, or says nothing that a setting can be.
    """
    value = settings.get(name, {}).get("value", "not stated")
    try:
        numbers = entry_of.finite(value if isinstance(value, list) else [value], name)
    except (TypeError, ValueError):
        numbers = np.array([math.nan])
    if not ((numbers >= 0.0) & (numbers <= _LARGEST_SETTING)).all():
        raise SettingError(
            name, value, "the result does not say how its signals were processed; identify again"
        )
    return value


@by_value
@dataclass(frozen=True)
class PredictedBlock:
    """Filtered samples with the efforts that the model predicts for them.

    Attributes:
        stamps: (samples,) in ns, those of the joint states.
        position: (samples, joints) in rad or m.
        velocity: (samples, joints).
        effort: (samples, joints) predicted, in N m or N.
    """

    stamps: npt.NDArray[np.int64]
    position: Array
    velocity: Array
    effort: Array


class ModelMonitor:
    """Predicts efforts from positions and compares them with the measured ones.

    Where the clock of the samples is set back the filters begin anew; residuals stay.

    Args:
        robot: the robot.
        values: (full columns,) its parameters.
        level: what residuals are compared with.
    """

    def __init__(self, robot: RobotModel, values: npt.ArrayLike, level: ResidualReference) -> None:
        self._robot = robot
        self._values = read_only(values)
        self._level = level
        self._clock = BlockClock()
        self._residuals = _Residuals(robot, level)
        self._begin()
        # Filters and compiled code take a moment to load, which the first samples would wait for.
        import_module("scipy.signal")
        inverse_dynamics(robot, self._values, *np.zeros((3, 1, len(robot.joints))))

    def _begin(self) -> None:
        """Set up the filters of positions and of residuals, without any sample."""
        level = self._level
        self._motion, self._decimated = (
            OnlineFilter(
                len(self._robot.joints),
                level.cutoff_hz,
                rate_hz,
                order=level.filter_order,
                difference_order=level.difference_order,
                least_share=_MEASURED,
                together=together,
            )
            for rate_hz, together in (
                (_EVERY_SAMPLE, 1),
                (level.rate_hz, max(1, round(_ROWS_EVERY * level.rate_hz))),
            )
        )

    def push(
        self, stamps: npt.NDArray[np.int64], position: Array, effort: Array
    ) -> Sequence[PredictedBlock]:
        """Take in samples on the joint side and return what is finished.

        Args:
            stamps: (samples,) in ns.
            position: (samples, joints) in rad or m.
            effort: (samples, joints) measured, in N m or N.

        Raises:
            ShapeError: the arrays do not fit.
            SettingError: the cut-off does not suit the rate of the samples.
        """
        if self._clock.set_back(stamps):
            self._begin()
        return [self._predicted(block) for block in self._motion.push(stamps, position, effort)]

    def _predicted(self, block: FilteredBlock) -> PredictedBlock:
        effort = inverse_dynamics(
            self._robot, self._values, block.position, block.velocity, block.acceleration
        )
        # The end effects of a run that was torn off in motion are larger than any residual.
        whole, residual = block.whole, block.effort - effort
        for rows in self._decimated.push(
            block.stamps[whole], block.position[whole], residual[whole]
        ):
            self._residuals.add(rows)
        return PredictedBlock(
            block.stamps, read_only(block.position), read_only(block.velocity), read_only(effort)
        )

    @property
    def compares(self) -> bool:
        """Whether there is a level that residuals are compared with."""
        return self._residuals.has_level

    @property
    def drift(self) -> Array:
        """(joints,) root mean square of the newest residuals over the level.

        NaN where too few rows have come in motion, or the level is zero.
        """
        return self._residuals.over_level()


class _Residuals:
    """The newest residuals of rows that the identification would have used.

    The last rows wait: should the run end with them, end effects reach them.
    """

    def __init__(self, robot: RobotModel, level: ResidualReference) -> None:
        self._level = level
        self._speeds = LeastSpeeds(robot, level.threshold, level.scope)
        joints = len(level.threshold)
        self._newest = [deque[float](maxlen=WINDOW) for _ in range(joints)]
        self._none = np.zeros((0, joints))
        self._begin_run()

    def _begin_run(self) -> None:
        self._to_cut = self._level.cut_rows
        self._velocity, self._residual = self._none, self._none

    def add(self, block: FilteredBlock) -> None:
        """Take in rows whose effort is the residual; those without all neighbours yet wait."""
        residual = block.effort
        if block.begins:
            self._begin_run()
        cut = min(self._to_cut, len(residual))
        self._to_cut -= cut
        self._velocity = np.concatenate([self._velocity, block.velocity[cut:]])
        self._residual = np.concatenate([self._residual, residual[cut:]])
        reach, held = self._level.window, max(self._level.window, self._level.cut_rows)
        if len(self._velocity) <= reach + held:
            return
        speeds = self._velocity
        moving = self._speeds.reached(len(speeds), lambda motion: np.abs(speeds @ motion)).T
        around = np.lib.stride_tricks.sliding_window_view(moving, 2 * reach + 1, axis=0)
        ready = self._residual[reach : len(self._residual) - held]
        kept = np.asarray(around[: len(ready)].all(axis=2), dtype=np.bool_)
        for joint, newest in enumerate(self._newest):
            newest.extend(ready[kept[:, joint], joint].tolist())
        pending = len(self._velocity) - reach - held
        self._velocity, self._residual = self._velocity[pending:], self._residual[pending:]

    @property
    def has_level(self) -> bool:
        """Whether a joint has a level that is not zero."""
        return bool(self._level.residual_std.any())

    def over_level(self) -> Array:
        """Return the (joints,) root mean square of the newest rows over the level, or NaN."""
        drift = np.full(len(self._newest), np.nan)
        for joint, (newest, level) in enumerate(
            zip(self._newest, self._level.residual_std, strict=True)
        ):
            if len(newest) >= FEWEST and level > 0.0:
                drift[joint] = np.sqrt(np.mean(np.square(newest))) / level
        return read_only(drift)
