"""Streamed estimates without a node: the last one of a recording, and those after a failure."""

import logging
import queue

import numpy as np
import pytest

from long_recordings import BASE, RATE, ROBOT, blocks_of, samples
from robot_identification.identification.estimators.choice import DEFAULT
from robot_identification.identification.estimators.estimator import Choice
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.ros.acquisition.recorder import Block, Counts
from robot_identification.ros.identification.streaming import StreamedEstimates, StreamingOptions
from robot_identification.signals.raw_samples import RawSamples

STATED = ProcessingSettings(cutoff_hz=20.0, rate_hz=25.0, velocity_threshold=(0.05, 0.05))
SIZE = 50
REST = 20  # s


@pytest.fixture
def estimates():
    """Return a queue of what is published, and what streams the last estimate, or when asked to."""
    published = queue.Queue()
    options = StreamingOptions(STATED, settle=1.0, refresh_period=3600.0, choice=Choice(DEFAULT))
    streamed = StreamedEstimates(
        ROBOT,
        BASE,
        lambda: options,
        lambda result, stamp: published.put((result, stamp)),
        logging.getLogger("streamed"),
    )
    yield published, streamed
    streamed.stop()


def then_at_rest(raw):
    """Return samples of a motion after which the robot stands."""
    places = np.minimum(np.arange(len(raw.stamps) + REST * RATE), len(raw.stamps) - 1)
    stamps = raw.stamps[0] + np.arange(len(places), dtype=np.int64) * (10**9 // RATE)
    return RawSamples(stamps, raw.position[places], None, raw.effort[places])


def test_the_last_estimate_is_of_all_samples_where_the_robot_rests_at_the_end(estimates):
    published, streamed = estimates
    raw = then_at_rest(samples(30.0))
    blocks = [
        Block("run", number, number * SIZE, False, one, Counts())
        for number, one in enumerate(blocks_of(raw, SIZE))
    ]
    *first, last = blocks
    for block in first:
        streamed.add(block, "joint_torque")
    streamed.remark("run", "shown once more")
    before, _ = published.get(timeout=120.0)
    streamed.add(Block("run", last.sequence, last.first_sample, True, last.samples, Counts()), "")
    after, stamp = published.get(timeout=20.0)
    assert before.sources[0].samples == len(raw.stamps) - SIZE
    assert after.sources[0].samples == len(raw.stamps)
    assert stamp == raw.stamps[-1]
    assert after.estimate.rows == before.estimate.rows
    np.testing.assert_array_equal(after.estimate.values, before.estimate.values)


def blocks(name, raw):
    """Return the blocks of a recording that has ended."""
    parts = blocks_of(raw, SIZE)
    return [
        Block(name, number, number * SIZE, number + 1 == len(parts), one, Counts())
        for number, one in enumerate(parts)
    ]


def test_samples_that_lead_to_no_numbers_cost_the_estimates_of_their_recording(estimates, caplog):
    published, streamed = estimates
    raw = samples(12.0)
    absurd = raw.effort.copy()
    absurd[600:] *= 1e155
    for name, effort in (("absurd", absurd), ("sound", raw.effort)):
        for block in blocks(name, RawSamples(raw.stamps, raw.position, None, effort)):
            streamed.add(block, "joint_torque")
    found = []
    while "sound" not in found:
        found.append(published.get(timeout=120.0)[0].sources[0].name)
    assert "absurd: estimates are no longer streamed: absurd: positions or efforts" in caplog.text


def test_a_block_of_an_earlier_recording_that_comes_again_changes_nothing(estimates):
    published, streamed = estimates
    first, second, third = (blocks(name, samples(12.0)) for name in ("one", "two", "three"))
    repeated = [*first, *second[:5], first[3], *second[5:], *third[:5]]
    for block in repeated:
        streamed.add(block, "joint_torque")
    one, two = (published.get(timeout=120.0)[0].sources[0] for _ in range(2))
    assert (one.name, two.name) == ("one", "two")
    assert one.samples == two.samples
    streamed.answered(lambda: None)
    for block in (first[3], *third[5:]):
        streamed.add(block, "joint_torque")
    streamed.stop()
    assert published.empty()
