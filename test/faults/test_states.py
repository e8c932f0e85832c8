"""Joint states that go wrong on their way: what is counted, said, and identified."""

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus

from faults.driver import SAMPLES, noisy_states
from live_nodes import ROBOT, TRUTH
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.ros.common.joint_states import stamp_of
from robot_identification.ros.messages.error_codes import CODES

pytestmark = pytest.mark.ros

BASE = base_parameters(ROBOT)
EXACT = BASE.values(TRUTH[BASE.columns])


def values(result):
    return [parameter.value for parameter in result.parameters]


def sigmas(result):
    """Return how many robust standard deviations each parameter is off."""
    std = np.array([parameter.std_robust for parameter in result.parameters])
    return np.abs(np.array(values(result)) - EXACT) / std


def identified(faulty, *recordings):
    """Return a result, which must be right."""
    response = faulty.identify_ended(*recordings)
    assert response.success, response.message
    assert sigmas(response.result).max() < 3.0
    return response.result


def told(result):
    return "\n".join(result.warnings)


def within(sent, begin, end):
    """Return how many messages have their stamps in an interval, in s after the first."""
    first = stamp_of(sent[0])
    return sum(begin <= (stamp_of(message) - first) / 1e9 < end for message in sent)


@pytest.fixture(scope="module")
def sound(faulty):
    """Return what is identified without faults."""
    (last,), _ = faulty.record_with()
    assert (last.lost, last.refused, last.duplicate, last.out_of_order) == (0, 0, 0, 0)
    return identified(faulty, last.recording)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("kind: not_a_number, signal: effort, joint: joint_2", "effort of joint joint_2 is nan"),
        (
            "kind: not_a_number, signal: position, joint: joint_1",
            "position of joint joint_1 is nan",
        ),
        ("kind: infinite, signal: effort, joint: joint_1", "effort of joint joint_1 is inf"),
        ("kind: missing, signal: effort", "no effort"),
        ("kind: missing, signal: position", "no position"),
        ("kind: rename, joint: joint_2, to: wrist", "joint joint_2 of the robot is not among"),
    ],
)
def test_states_of_no_use_are_refused_counted_and_named(faulty, fault, reason):
    (last,), sent = faulty.record_with(f"{fault}, from: 4.0, until: 4.2")
    spoilt = within(sent, 4.0, 4.2)
    assert (last.refused, last.lost) == (spoilt, spoilt) == (20, 20)
    result = identified(faulty, last.recording)
    assert f"20 of {SAMPLES} samples refused" in told(result)
    assert "20 lost samples bridged" in told(result)
    faulty.wait(lambda: reason in faulty.value("last_refusal"), "reason on /diagnostics")


def test_states_that_are_never_of_use_are_no_recording(faulty):
    (last,), sent = faulty.record_with("kind: rename, joint: joint_2, to: wrist")
    assert last.refused == last.received == len(sent)
    response = faulty.identify_ended(last.recording)
    assert response.error_code == CODES.UNKNOWN_RECORDING
    assert "joint_2" in faulty.value("last_refusal")


def test_velocities_that_are_not_numbers_count_as_absent(faulty, sound):
    (last,), _ = faulty.record_with("kind: not_a_number, signal: velocity")
    assert last.refused == 0
    assert values(identified(faulty, last.recording)) == values(sound)


@pytest.mark.parametrize(
    "fault",
    [
        "kind: permute",
        "kind: swap, probability: 0.05, until: 7.0",
        "kind: duplicate, probability: 0.05",
    ],
)
def test_order_and_repetition_change_nothing(faulty, sound, fault):
    (last,), sent = faulty.record_with(fault)
    stamps = [stamp_of(message) for message in sent]
    newest = np.maximum.accumulate(stamps)
    late = sum(stamp < new for stamp, new in zip(stamps, newest, strict=True))
    double = len(stamps) - len(set(stamps))
    assert (last.out_of_order, last.duplicate) == (late, double)
    assert (late > 0, double > 0) == ("swap" in fault, "duplicate" in fault)
    assert last.refused == 0
    assert last.lost == 0
    kept = last.first_sample + len(last.stamps)
    dropped = len(set(stamps)) - kept  # late samples whose block was out
    assert 0 <= dropped <= last.out_of_order
    if dropped == 0:
        assert values(identified(faulty, last.recording)) == values(sound)


@pytest.mark.parametrize("share", [0.01, 0.02, 0.05, 0.1, 0.2])
def test_lost_states_are_counted_and_never_bend_a_result(faulty, share):
    (last,), sent = faulty.record_with(f"kind: drop, probability: {share}, until: 7.9, seed: 1")
    assert last.lost == SAMPLES - len(sent)
    assert last.lost == pytest.approx(SAMPLES * share, rel=0.5)
    result = identified(faulty, last.recording)
    assert sigmas(result).max() < 3.0
    assert f"{last.lost} of {last.received} samples lost" in told(result)
    assert f"{last.lost} lost samples bridged, in gaps of at most" in told(result)


def test_an_outage_splits_the_recording(faulty):
    (last,), sent = faulty.record_with("kind: drop, from: 3.0, until: 3.5")
    assert last.lost == SAMPLES - len(sent) == 50
    assert "50 samples lost in 1 gaps; the recording was split there" in told(
        identified(faulty, last.recording)
    )


def test_a_clock_that_jumps_forward_splits_the_recording(faulty):
    (last,), sent = faulty.record_with("kind: clock_jump, by: 10.0, from: 4.0")
    result = identified(faulty, last.recording)
    assert "a pause of 10 s in all" in told(result)
    assert sum(source.samples for source in result.sources) == len(sent)


@pytest.mark.parametrize("by", [-5.0, -0.5, -0.055])
def test_a_clock_that_is_set_back_begins_another_recording(faulty, by):
    lasts, sent = faulty.record_with(f"kind: clock_jump, by: {by}, from: 4.0")
    before, after = lasts
    assert after.recording == f"{before.recording}.2"
    assert (before.received, after.received) == (400, 400)
    assert (before.out_of_order, after.out_of_order, before.lost, after.lost) == (0, 0, 0, 0)
    result = identified(faulty, before.recording, after.recording)
    assert f"the clock was set back; {after.recording} goes on" in told(result)
    assert sum(source.samples for source in result.sources) == len(sent)
    faulty.wait(lambda: int(faulty.value("clock_set_back")) > 0, "set-back on /diagnostics")


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("freeze", "have not changed"), ("repeat", "stamps of the joint states do not rise")],
)
def test_a_driver_that_is_stuck_is_stale_and_told(faulty, kind, reason):
    since = len(faulty.diagnostics.statuses)
    (last,), _ = faulty.record_with(f"kind: {kind}, from: 7.0", messages=noisy_states()[:750])
    assert any(
        level == DiagnosticStatus.STALE and reason in text for level, text in faulty.verdicts(since)
    )
    assert last.duplicate == (50 if kind == "repeat" else 0)
    result = identified(faulty, last.recording)
    assert ("50 samples in a row repeat" if kind == "freeze" else "50 of 750 samples dup") in told(
        result
    )
