import dataclasses
import math
import sys
import threading

import numpy as np
import pytest

from robot_identification.errors import CancelledError, UnknownRecordingError
from robot_identification.ros.acquisition.recorder import Block, Counts
from robot_identification.ros.identification.recordings.live_recordings import (
    LiveRecordings,
    last_block_due,
)
from robot_identification.ros.identification.recordings.recording import size_of
from robot_identification.signals.raw_samples import RawSamples


def block(sequence, recording="r", *, samples=10, last=False, velocity=True):
    stamps = np.arange(samples, dtype=np.int64) + samples * sequence
    values = np.repeat(stamps.astype(float)[:, None], 2, axis=1)
    raw = RawSamples(stamps, values, values if velocity else None, values)
    return Block(recording, sequence, samples * sequence, last, raw, Counts(received=samples))


SIZE = size_of(block(0))


def live(blocks=(), max_blocks=100, max_recordings=10, **options):
    recordings = LiveRecordings(max_blocks * SIZE, max_recordings, **options)
    for one in blocks:
        recordings.add(one, "joint_torque")
    return recordings


def test_the_current_recording_is_the_one_begun_last():
    recordings = live([block(0, "a"), block(0, "b"), block(1, "a")])
    assert recordings.get().recording == "b"
    assert len(recordings.get("a").samples().stamps) == 20


def test_missing_blocks_are_noticed():
    recordings = live()
    assert recordings.add(block(0), "joint_torque") == []
    problems = recordings.add(block(3), "joint_torque")
    assert "blocks 1 to 2 did not arrive" in problems[0]
    found = recordings.get("r")
    assert (found.missing_blocks, found.missing_samples) == (2, 20)
    assert "2 blocks, 20 samples" in found.warnings()[0]


def test_a_block_that_comes_twice_is_ignored():
    recordings = live([block(0), block(1)])
    assert "twice" in recordings.add(block(0), "joint_torque")[0]
    assert len(recordings.get().samples().stamps) == 20


def test_unknown_and_empty_recordings_are_errors():
    with pytest.raises(UnknownRecordingError, match="no recording yet"):
        live().get()
    with pytest.raises(UnknownRecordingError, match=r"no recording x: in memory are r"):
        live([block(0)]).get("x")
    with pytest.raises(UnknownRecordingError, match="no sample has arrived"):
        live([block(0, samples=0, last=True)]).get("r").samples()


def test_a_recording_without_samples_says_what_became_of_them():
    recordings = live()
    recordings.announce("r")
    with pytest.raises(UnknownRecordingError, match=r"^recording r: no sample.*/diagnostics"):
        recordings.get()
    nothing = dataclasses.replace(
        block(0, samples=0, last=True), counts=Counts(received=500, refused=20, without_effort=480)
    )
    recordings.add(nothing, "joint_torque")
    told = "no sample has arrived, 20 of 500 samples refused, 480 of 500 samples without effort"
    with pytest.raises(UnknownRecordingError, match=told):
        recordings.get().samples()
    assert "20 of 500 samples refused" in recordings.get().warnings()[0]


def test_memory_is_bounded_and_ended_recordings_make_room():
    recordings = live([block(0, "a", last=True)], max_blocks=3)
    problems = [line for i in range(5) for line in recordings.add(block(i, "b"), "joint_torque")]
    assert problems == ["a: forgotten to make room", "b: memory is used up, the rest is not kept"]
    found = recordings.get("b")
    assert len(found.samples().stamps) == 30
    assert found.missing_blocks == 0
    assert "cut short" in found.warnings()[0]
    with pytest.raises(UnknownRecordingError):
        recordings.get("a")


def test_the_number_of_recordings_is_bounded():
    recordings = live([block(0, name) for name in "abcd"], max_recordings=2)
    with pytest.raises(UnknownRecordingError, match="in memory are c, d"):
        recordings.get("a")


def test_velocity_needs_every_block():
    assert live([block(0), block(1)]).get().samples().velocity is not None
    assert live([block(0), block(1, velocity=False)]).get().samples().velocity is None


def test_what_became_of_samples_is_told():
    counts = Counts(received=100, lost=3, refused=1)
    recordings = live([dataclasses.replace(block(0), counts=counts)])
    text = "\n".join(recordings.get().warnings())
    assert "3 of 100 samples lost" in text
    assert "1 of 100 samples refused" in text


def test_a_recording_that_was_asked_for_does_not_change_when_blocks_come():
    recordings = live([block(0)])
    found = recordings.get()
    for number in range(1, 5):
        recordings.add(block(number, last=number == 4), "joint_torque")
    assert len(found.samples().stamps) == 10
    assert any("not ended" in line for line in found.warnings())
    assert len(recordings.get().samples().stamps) == 50
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.ended = True


@pytest.fixture
def eager_threads():
    """Have threads interrupt each other far more often than they do by themselves."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("eager_threads")
def test_requests_read_a_running_recording_while_its_blocks_come():
    recordings = live(max_blocks=10_000)
    recordings.add(block(0), "joint_torque")
    done = threading.Event()

    def record():
        for number in range(1, 2000):
            recordings.add(block(number), "joint_torque")
        done.set()

    threading.Thread(target=record).start()
    while not done.is_set():
        found = recordings.get()
        samples = found.samples()
        assert len(samples.stamps) == len(samples.position) == len(samples.effort)
        assert len(samples.stamps) == found.next_sample
        assert len(found.warnings()) == 1


def asked(recordings, **options):
    """Return what is to be found, and the thread that asks for it."""
    found = []
    thread = threading.Thread(target=lambda: found.append(recordings.get(**options)), daemon=True)
    thread.start()
    return found, thread


def test_the_last_block_of_a_recording_that_runs_is_not_waited_for():
    now = [0.0]
    recordings = live([block(0)], clock=lambda: now[0])
    found, thread = asked(recordings, patience=1e6)
    for number in range(1, 50):
        now[0] += 0.02
        recordings.add(block(number), "joint_torque")
        thread.join(0.1)
        if not thread.is_alive():
            break
    assert found
    assert not found[0].ended


def test_the_last_block_of_a_recording_that_was_stopped_is_waited_for():
    recordings = live([block(0)], clock=lambda: 0.0)
    found, thread = asked(recordings, patience=1e6)
    thread.join(0.2)
    assert not found
    recordings.add(block(1, last=True), "joint_torque")
    thread.join(30.0)
    assert found[0].ended


def test_a_recording_that_has_been_silent_for_long_is_answered_at_once():
    now = [0.0]
    recordings = live([block(0)], clock=lambda: now[0])
    now[0] = 1.5
    assert not recordings.get(patience=1e6).ended


def test_how_long_a_last_block_is_waited_for():
    arrived = dataclasses.replace(live([block(0)]).get(), arrived=100.0)
    assert last_block_due(arrived, None, 5.0) == 105.0  # after the newest block, not the request
    assert 101.0 < last_block_due(arrived, 101.0, 5.0) < 101.1  # another one came: it runs
    assert last_block_due(arrived, 104.99, 5.0) <= 105.0
    assert last_block_due(dataclasses.replace(arrived, ended=True), None, 5.0) == -math.inf


def test_a_block_that_comes_late_takes_its_place():
    recordings = live([block(0), block(3), block(1)])
    assert "came late" in recordings.add(block(2), "joint_torque")[0]
    found = recordings.get("r")
    assert found.samples().stamps.tolist() == list(range(40))
    assert (found.missing_blocks, found.missing_samples) == (0, 0)
    assert found.next_block == 4


def test_late_blocks_need_memory_as_others_do():
    recordings = live([block(0), block(3), block(4)], max_blocks=3)
    recordings.add(block(1), "joint_torque")
    found = recordings.get("r")
    assert len(found.samples().stamps) == 30
    assert "cut short" in "\n".join(found.warnings())


def test_blocks_that_contradict_each_other_spoil_a_recording():
    recordings = live([block(0), block(1)])
    assert recordings.spoilt("r") == recordings.spoilt("nobody") == ""
    (problem,) = recordings.add(block(1, velocity=False), "joint_torque")
    assert "r: is spoilt: block 1 has come with two contents" in problem
    found = recordings.get("r")
    assert len(found.samples().stamps) == 20
    assert found.samples().velocity is not None
    assert "recording r: is spoilt: block 1" in found.warnings()[0]
    assert recordings.spoilt("r") == found.warnings()[0]


def test_the_current_recording_is_the_one_announced_last():
    recordings = live([block(0, "a"), block(0, "b")])
    for name in ("a", "soon"):
        recordings.announce(name)
    recordings.add(block(0, "c"), "joint_torque")
    with pytest.raises(UnknownRecordingError, match="soon"):
        recordings.get()
    threading.Timer(0.01, lambda: recordings.add(block(0, "soon"), "joint_torque")).start()
    assert recordings.get(patience=60.0).recording == "soon"
    assert recordings.is_own("soon")
    assert not recordings.is_own("c")


def test_who_waits_for_a_recording_can_be_cancelled():
    asked = []

    def cancelled():
        asked.append(True)
        return len(asked) > 1

    with pytest.raises(CancelledError, match="waiting for a recording"):
        live().get("soon", patience=1e6, cancelled=cancelled)
    running = live([block(0)])
    with pytest.raises(CancelledError):
        running.get("r", patience=1e6, cancelled=cancelled)


def test_what_came_before_the_announcement_is_handed_on_once():
    recordings = live([block(0, "first")])
    recordings.announce("first")
    for number in range(2):
        recordings.add(block(number, "second", last=number == 1), "joint_torque")
    early = recordings.announce("second")
    assert recordings.announce("second") is None
    assert recordings.announce("third") is None
    told = [(one.recording, one.sequence, one.first_sample, one.last) for one in early.as_blocks()]
    assert told == [("second", 0, 0, False), ("second", 1, 10, True)]
