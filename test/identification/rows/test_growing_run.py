import numpy as np
import pytest

from robot_identification.dynamics.regressor import Regressor
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.rows.growing_run import StreamedRun
from robot_identification.identification.rows.whole import decimated_rows
from robot_identification.robot.files.loading import load_robot
from robot_identification.signals.filtered import filter_recording
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.recording import Recording, Segment
from robot_identification.signals.rows import kept_rows

PERIOD = 0.001
SETTINGS = {
    "cutoff_hz": 40.0,
    "filter_order": 4,
    "difference_order": 8,
    "rate_hz": 50.0,
    "velocity_threshold": (0.2, 0.3),
    "velocity_threshold_window": 1.0,
    "velocity_threshold_scope": "joint",
    "drop_start": 80,
    "drop_end": 70,
    "ends": "cut",
    "residual_divisor": "rows-parameters",
}
ROBOT = load_robot("scara")
BASE = base_parameters(ROBOT)
REGRESSOR = Regressor(ROBOT, BASE.base_columns, spare=1)


def motion(samples):
    """Return positions and efforts of a motion that does not come to rest at its ends."""
    time = PERIOD * np.arange(samples)[:, None]
    tones = 2.0 * np.pi * np.array([0.6, 0.9])
    position = np.sin(tones * time) + 0.3 * np.cos(2.3 * tones * time)
    effort = 5.0 * np.cos(3.1 * tones * time) + 0.3 * np.sign(np.cos(tones * time))
    return position, effort + 0.1 * np.random.default_rng(1).normal(size=effort.shape)


def speeds(position):
    """Return what noisy tachometers tell of a motion."""
    noise = 0.05 * np.random.default_rng(2).normal(size=position.shape)
    return np.gradient(position, PERIOD, axis=0) + noise


def at_once(position, effort, processing):
    """Return rows and which of them count, by way of the whole recording."""
    time = PERIOD * np.arange(len(position))
    segment = Segment(time, position.copy(), speeds(position), effort.copy())
    recording = Recording(ROBOT.joint_names, PERIOD, (segment,))
    (filtered,) = filter_recording(recording, processing)
    decimator = processing.decimator(PERIOD)
    (window,) = decimator.blocks(filtered.samples, 10**6)
    rows = decimated_rows(REGRESSOR, filtered, window, decimator)
    return rows, kept_rows(ROBOT, filtered, processing)


def in_blocks(position, effort, processing, size):
    taken = []
    run = StreamedRun(
        ROBOT, REGRESSOR, processing, PERIOD, lambda rows, kept, _: taken.append((rows, kept))
    )
    velocity = speeds(position)
    for first in range(0, len(position), size):
        part = slice(first, first + size)
        run.push(position[part], effort[part], velocity=velocity[part])
    before = sum(rows.shape[1] for rows, _ in taken)
    run.end()
    return *(np.hstack(parts) for parts in zip(*taken, strict=True)), before


@pytest.mark.parametrize("size", [1, 100, 333, 10_000])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"drop_start": 0, "drop_end": 0, "ends": "keep"},
        {"drop_end": 500, "velocity_threshold_window": 2.5, "velocity_threshold_scope": "sample"},
        {"rate_hz": 1000.0, "velocity_threshold_window": 4.0},
        {"cutoff_hz": 16.0, "difference_order": 2, "filter_order": 2},
        {"velocities": "measured"},
    ],
)
def test_rows_are_those_of_the_whole_recording(size, changes):
    processing = Processing(**{**SETTINGS, **changes})
    samples = (3007 if size > 1 else 1507) + processing.drop_start + processing.drop_end
    position, effort = motion(samples)
    rows, kept, before = in_blocks(position, effort, processing, size)
    expected, expected_kept = at_once(position, effort, processing)
    assert before > 0.3 * rows.shape[1]
    np.testing.assert_array_equal(kept, expected_kept)
    assert 0 < np.count_nonzero(kept) < kept.size
    scale = np.abs(expected).max(axis=1, keepdims=True)
    assert np.abs((rows - expected) / scale).max() < 5e-4


@pytest.mark.parametrize("samples", [0, 5, 30, 130, 200])
def test_short_runs_end_without_a_row_that_counts(samples):
    position, effort = motion(samples)
    taken = []
    run = StreamedRun(
        ROBOT,
        REGRESSOR,
        Processing(**SETTINGS),
        PERIOD,
        lambda rows, kept, _: taken.append((rows, kept)),
    )
    run.push(position, effort)
    run.end()
    assert not any(kept.any() for _, kept in taken)
