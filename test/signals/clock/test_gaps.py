"""One rule for gaps, however a recording is read."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from made_up_signals import MILLISECOND, chosen, raw_samples
from robot_identification.identification.rows.growing_settings import Settling
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.ros.acquisition.recorder import Recorder
from robot_identification.ros.common.joint_states import Sample
from robot_identification.signals.clock.gaps import split, standing
from robot_identification.signals.clock.stamps import BEGINNING, StampOrder, in_order
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.growing.grid import OnlineGrid
from robot_identification.signals.growing.samples import OnlineFilter
from robot_identification.signals.raw_samples import joined_samples

NAMES = ("joint1", "joint2")
ROBOT = load_robot("scara")
STATED = ProcessingSettings(cutoff_hz=20.0, rate_hz=50.0, velocity_threshold=())
HOLD = 16
SAMPLES = 4800


@st.composite
def arrivals(draw):
    """Draw places of samples in order of arrival, with gaps, doubles and disorder, and jitter.

    A double comes, and a late sample is late, by fewer samples than a stream holds back.
    """
    kept = np.ones(SAMPLES, dtype=bool)
    for _ in range(draw(st.integers(0, 6))):
        first = draw(st.integers(1, SAMPLES - 2))
        kept[first : first + draw(st.integers(1, 40) | st.integers(400, 600))] = False
    places = np.flatnonzero(kept)
    when = np.arange(len(places), dtype=np.float64)
    for late in draw(st.lists(st.integers(0, len(places) - 1), max_size=20, unique=True)):
        when[late] += draw(st.integers(0, HOLD - 4)) + 0.5
    twice = np.array(draw(st.lists(st.integers(0, len(places) - 1), max_size=3)), dtype=int)
    order = np.argsort(np.concatenate([when, when[twice] + 1.25]), kind="stable")
    jitter = draw(st.sampled_from([0, 1_000, 100_000]))
    moved = np.random.default_rng(draw(st.integers(0, 9))).integers(-jitter, jitter + 1, SAMPLES)
    return np.concatenate([places, places[twice]])[order], moved


def made(arrival):
    places, moved = arrival
    raw = raw_samples(SAMPLES)
    raw = type(raw)(raw.stamps + moved, raw.position, None, raw.effort)
    return chosen(raw, places)


def blocks_of(raw, cuts):
    edges = np.unique([0, *(cut % (len(raw.stamps) + 1) for cut in cuts), len(raw.stamps)])
    return [raw.at(slice(a, b)) for a, b in itertools.pairwise(edges)]


def ordered(blocks):
    """Return the blocks as they leave the order of a stream, which drops none of their samples."""
    order = StampOrder(HOLD)
    settled = [*(order.push(block) for block in blocks), order.end()]
    assert order.late == 0
    return settled


def runs_of_a_stream(blocks, clock, still):
    """Return (first stamp, samples on the grid) of every run of a stream that knows its clock."""
    grid, runs = OnlineGrid(clock, still), []
    pieces = [p for b in blocks for p in grid.push(b.stamps, b.position, b.effort)]
    for piece in [*pieces, *grid.end()]:
        if piece.begins:
            runs.append([piece.begun, 0])
        runs[-1][1] += len(piece.stamps)
    return runs, grid


def starts(recording):
    return [recording.start_stamp + round(s.time[0] * 1e9) for s in recording.segments]


def recorded_live(raw, sizes):
    """Return what the acquisition node makes of joint states that arrive one by one."""
    recorder, blocks, passed = Recorder("r", 2), [], 0
    due = set(np.cumsum([HOLD + size for size in sizes]).tolist())
    for block in ordered([raw.at([i]) for i in range(len(raw.stamps))]):
        for stamp, position, effort in zip(
            block.stamps.tolist(), block.position, block.effort, strict=True
        ):
            recorder.add(Sample(stamp, position, None, effort))
            passed += 1
            if passed in due:
                blocks.append(recorder.take())
    return [*blocks, recorder.take(last=True)]


@settings(max_examples=10, deadline=None)
@given(arrivals(), st.lists(st.integers(0, 10_000), max_size=40))
def test_a_recording_is_split_in_the_same_places_however_it_is_read(arrival, cuts):
    raw = made(arrival)
    stamps = raw.stamps[in_order(raw.stamps).places]
    bag = build_recording(raw, NAMES)
    bridged = bag.statistics.longest_bridged
    assert (bridged > 0.0) == bool(bag.statistics.lost or bag.statistics.pauses)
    whole = split(stamps, fewest=1, band_hz=0.4 / bridged if bridged else None)
    expected = [int(stamps[first]) for first, _ in whole.runs]
    assert bag.statistics.gaps == len(whole.gaps)
    assert set(starts(bag)) <= set(expected)

    blocks = ordered(blocks_of(raw, cuts))
    runs, grid = runs_of_a_stream(blocks, whole.clock, standing(raw.position))
    assert [begun for begun, _ in runs] == expected
    counted = (bag.statistics.gaps, bag.statistics.lost, bag.statistics.pauses)
    assert (grid.gaps, grid.lost, grid.pauses) == counted
    assert grid.dropped == 0
    if not bag.statistics.discarded:
        assert grid.bridged == bag.statistics.bridged
    samples = dict(runs)
    for segment, begun in zip(bag.segments, starts(bag), strict=True):
        assert abs(samples[begun] - len(segment.time)) <= (1 if whole.clock.resampled else 0)

    settling, settled = Settling(ROBOT, STATED, 8.0), None
    for block in blocks:
        settled = settled or settling.push(block)
    clock = (settled or settling.end()).clock
    assert (clock.nominal_ns, clock.spread) == (whole.clock.nominal_ns, whole.clock.spread)

    live = recorded_live(raw, cuts)
    again = build_recording(joined_samples([block.samples for block in live]), NAMES)
    assert starts(again) == starts(bag)
    for ours, theirs in zip(again.segments, bag.segments, strict=True):
        np.testing.assert_array_equal(ours.position, theirs.position)


@settings(max_examples=20, deadline=None)
@given(arrivals(), st.lists(st.integers(0, 10_000), max_size=20))
def test_filtered_samples_begin_again_behind_the_gaps_of_the_bag(arrival, cuts):
    raw = made(arrival)
    online = OnlineFilter(2, 100.0, 1000.0)
    blocks = [
        found
        for block in ordered(blocks_of(raw, cuts))
        for found in online.push(block.stamps, block.position, block.effort)
    ]
    blocks += online.flush()
    begun = [int(block.stamps[0]) for block in blocks if block.begins]
    stamps = raw.stamps[in_order(raw.stamps).places]
    whole = split(stamps, band_hz=10.0)  # a tenth of the cut-off
    assert whole.clock.longest_bridged_ns == 40 * MILLISECOND
    expected = [int(stamps[first]) for first, _ in whole.runs]
    assert set(expected) <= set(begun)
    assert set(begun) <= {int(stamps[0]), *stamps[whole.gaps].tolist()}


def test_a_slow_beginning_does_not_speak_for_the_recording():
    """A driver that sends ten states a second until it is switched on, then a thousand."""
    slow = 100 * MILLISECOND * np.arange(BEGINNING + 10)
    fast = slow[-1] + MILLISECOND * np.arange(1, 5000)
    stamps = np.concatenate([slow, fast])
    clock, gaps, runs = split(stamps)
    assert clock.nominal_ns == MILLISECOND
    assert len(gaps) == len(slow) - 1
    assert runs == [(len(slow) - 1, len(stamps))]


def test_a_pause_right_behind_the_first_sample_is_one_for_all():
    places = np.delete(np.arange(SAMPLES), np.arange(1, 999))
    raw = made((places, np.zeros(SAMPLES, dtype=int)))
    bag = build_recording(raw, NAMES).statistics
    _, grid = runs_of_a_stream([raw], split(raw.stamps, fewest=1).clock, standing(raw.position))
    assert (bag.gaps, bag.lost, bag.pauses) == (grid.gaps, grid.lost, grid.pauses) == (1, 0, 1)
