"""Rows of whole segments, of which samples may have been lost."""

import numpy as np
import pytest

from made_up_signals import chosen, raw_samples
from random_robots import random_robot
from robot_identification.dynamics.regressor import Regressor
from robot_identification.identification.rows.whole import each_block
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.filtered import filter_recording
from robot_identification.signals.processing.settings import resolve_processing

NAMES = ("joint_1", "joint_2")
ROBOT = random_robot(np.random.default_rng(0), joints=2)
STATED = ProcessingSettings(
    cutoff_hz=50.0, rate_hz=100.0, velocity_threshold=(0.0, 0.0), ends="keep"
)


def filtered(kept):
    """Return settings and filtered samples of a recording of which only some were measured."""
    recording = build_recording(chosen(raw_samples(4000), np.flatnonzero(kept)), NAMES)
    settings = resolve_processing(ROBOT, [recording], STATED)
    (segment,) = filter_recording(recording, settings)
    return settings, segment


def decimated(settings, segment):
    rows, kept = [], []
    columns = np.arange(len(ROBOT.all_parameter_names))

    def take(block):
        rows.append(np.array(block.rows))
        kept.append(block.kept)

    each_block(Regressor(ROBOT, columns, spare=1), segment, settings, [take])
    return np.hstack(rows), np.hstack(kept)


@pytest.fixture
def kept():
    found = np.ones(4000, dtype=bool)
    found[np.random.default_rng(0).integers(60, 3900, 600)] = False
    return found


def test_no_row_knows_what_stands_in_the_place_of_an_effort_that_was_lost(kept):
    settings, segment = filtered(kept)
    np.testing.assert_array_equal(segment.measured, kept)
    rows, counts = decimated(settings, segment)
    nonsense = np.where(kept, segment.effort, 1e6)
    again, _ = decimated(settings, segment.with_effort(nonsense))
    np.testing.assert_array_equal(again, rows)
    assert counts.any()


def test_rows_of_lost_samples_are_as_large_as_the_others(kept):
    """The samples that are there make up for those that are not."""
    whole, _ = decimated(*filtered(np.ones(4000, dtype=bool)))
    rows, counts = decimated(*filtered(kept))
    enough = counts.all(axis=0)
    assert np.count_nonzero(enough) > 300
    largest = np.abs(whole).max(axis=1, keepdims=True)
    assert (np.abs(rows - whole)[:, enough] <= 0.3 * largest).all()
