"""Settings of the rows that are made of an average over periods, and the noise of these rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robot_identification.errors import SettingError
from robot_identification.robot.arrays import Array, read_only
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.filtered import FilteredSegment
from robot_identification.signals.filters.decimation import CUTOFF
from robot_identification.signals.periodic.average import AveragedPeriods
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.processing.derived import NOISE_FACTOR, SPEED_SHARE
from robot_identification.signals.processing.settings import per_joint, usual

PERIODS = "periods"
"""Setting that marks a result of averages over periods."""

# The other settings have no use here: positions need no filter, and a period has no ends.
_USED = (
    "rate_hz",
    "velocity_threshold",
    "velocity_threshold_window",
    "velocity_threshold_scope",
    "residual_divisor",
)
_FEWEST_ROWS = 200
# Band of the rows, in highest harmonics of the positions, and decimation steps around a reversal
# that are left out.  Near a reversal a joint sticks and its acceleration jumps, which no series
# follows; an average over periods has so little noise that this is seen further away than in a
# single run.
_PASSED, _WINDOW = 2.0, 4.0


def periodic_processing(
    robot: RobotModel, averages: Sequence[AveragedPeriods], overrides: ProcessingSettings
) -> Processing:
    """Return complete settings for averaged periods.

    Args:
        robot: its file may recommend velocity thresholds.
        averages: at least one.
        overrides: what the caller states.

    Raises:
        SettingError: a setting is stated that has no meaning here, or is impossible.
    """
    stated = overrides.stated()
    for name, value in stated.items():
        if name not in _USED:
            raise SettingError(
                name, value, "a recording that is averaged over its periods has no use for it"
            )
    highest = max(max(a.series.harmonics) / a.series.period for a in averages)
    longest = max(a.series.period for a in averages)
    fewest = _FEWEST_ROWS / longest
    table = ProcessingSettings.table()
    derived: dict[str, tuple[Any, str]] = {
        "rate_hz": (
            max(2.0 * _PASSED * highest / CUTOFF, fewest),
            f"derived: decimation passes {_PASSED:g} x the highest harmonic, {highest:.4g} Hz",
        ),
        "velocity_threshold": _thresholds(averages),
        "velocity_threshold_window": (
            _WINDOW,
            "default: as far as decimation spreads what happens at a reversal above the noise",
        ),
        "velocity_threshold_scope": usual(table["velocity_threshold_scope"])[:2],
        "residual_divisor": usual(table["residual_divisor"])[:2],
        "cutoff_hz": (highest, "highest harmonic of the series of the positions, not a filter"),
        "filter_order": (1, "not used: positions are a Fourier series"),
        "difference_order": (2, "not used: derivatives are those of the series"),
        "drop_start": (0, "one whole period has no ends"),
        "drop_end": (0, "one whole period has no ends"),
        "ends": ("cut", "rows outside of the one period"),
        "decimation_pins": ("first", "one whole period has no ends"),
        "velocities": ("derived", "derivatives are those of the series"),
    }
    recommended = robot.processing.stated()
    values: dict[str, Any] = {}
    reasons: dict[str, str] = {}
    for name, (value, reason) in derived.items():
        values[name], reasons[name] = value, reason
        if name in stated:
            values[name], reasons[name] = stated[name], "option"
        elif name == "velocity_threshold" and recommended.get(name) is not None:
            values[name], reasons[name] = recommended[name], "robot file"
    values["velocity_threshold"] = per_joint(values["velocity_threshold"], len(robot.active_joints))
    return Processing(**values, reasons=reasons)


def _thresholds(averages: Sequence[AveragedPeriods]) -> tuple[Any, str]:
    """Return the speeds below which the sign of the friction is not reliable."""
    thresholds = np.zeros(len(averages[0].position_noise))
    for average in averages:
        rate = (
            2.0 * np.pi / average.series.period * np.arange(average.series.spread.shape[1] // 2 + 1)
        )
        own = np.repeat(rate, 2)[1:] * average.series.spread
        noise = average.position_noise * np.linalg.norm(own, axis=1)
        speed = np.abs(average.segment.velocity).max(axis=1)
        thresholds = np.maximum(thresholds, np.maximum(SPEED_SHARE * speed, NOISE_FACTOR * noise))
    reason = f"derived: {SPEED_SHARE:.0%} of the largest speed, {NOISE_FACTOR:g} x noise or more"
    return thresholds.tolist(), reason


def periods_entry(averages: Sequence[AveragedPeriods]) -> dict[str, dict[str, object]]:
    """Return how many periods were averaged, as a setting of a result; none without averages."""
    if not averages:
        return {}
    period = averages[0].motion.period
    reason = f"option: averages over periods of {period:.6g} s"
    return {PERIODS: {"value": [average.periods for average in averages], "reason": reason}}


def rows_segment(average: AveragedPeriods, processing: Processing) -> FilteredSegment:
    """Return the period with what decimation needs to both sides, which is cut again.

    Args:
        average: the recording.
        processing: settings, with ends that are cut.
    """
    step = average.segment.period
    return average.wrapped(processing.cut_outputs(step) * processing.decimator(step).factor)


def row_noise(average: AveragedPeriods, processing: Processing) -> Array:
    """Return (joints,) standard deviations of the noise of the decimated mean efforts."""
    factor = processing.decimator(average.segment.period).factor
    passed = 1.0 if factor == 1 else CUTOFF / factor
    return read_only(np.sqrt(passed) * average.noise)
