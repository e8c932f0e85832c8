"""The faults themselves, without ROS nodes."""

import math

import pytest

from live_nodes import RATE, ROBOT, states
from robot_identification.errors import InputError
from robot_identification.ros.common.joint_states import stamp_of
from robot_identification.ros.simulation.fault_injector import read_faults
from robot_identification.ros.simulation.faults import Fault, Injector, Kind


def spoilt(count=100, **fields):
    return Injector([Fault(**fields)]).apply_all(states(count))


def stamps(messages):
    return [stamp_of(message) for message in messages]


def test_a_fault_acts_in_its_interval_on_its_joint():
    found = spoilt(kind=Kind.NOT_A_NUMBER, begin=0.2, end=0.5, joint="joint_2")
    for i, (was, now) in enumerate(zip(states(100), found, strict=True)):
        assert math.isnan(now.effort[1]) == (20 <= i < 50)
        assert (now.effort[0], now.position) == (was.effort[0], was.position)


@pytest.mark.parametrize("kind", list(Kind))
def test_the_same_messages_are_spoilt_in_the_same_way(kind):
    first, again = (spoilt(kind=kind, probability=0.3, seed=5, by=1.0) for _ in range(2))
    assert repr(first) == repr(again)
    assert repr(first) != repr(states(100))


def test_drops_duplicates_and_swaps():
    sent = stamps(states(400))
    kept = stamps(spoilt(400, kind=Kind.DROP, probability=0.1))
    assert set(kept) < set(sent)
    assert 20 <= len(sent) - len(kept) <= 60
    doubled = stamps(spoilt(400, kind=Kind.DUPLICATE, probability=0.1))
    assert doubled == sorted(doubled)
    assert len(set(doubled)) == len(sent) < len(doubled)
    swapped = stamps(spoilt(401, kind=Kind.SWAP, end=3.9, probability=0.1))
    assert swapped != sorted(swapped) == stamps(states(401))


def test_delayed_states_come_late_in_their_order_and_none_is_lost():
    longest, sent = 0.05, states(400)
    injector = Injector([Fault(Kind.DELAY, end=3.8, by=longest)])
    came = [(stamp_of(one), stamp_of(now)) for now in sent for one in injector.apply(now)]
    assert [stamp for stamp, _ in came] == stamps(sent)
    ages = [(now - stamp) / 1e9 for stamp, now in came]
    # A state waits for the next one after its time, and for those before it.
    assert 0.8 * longest <= max(ages) <= longest + 1.0 / RATE
    assert len({round(age, 6) for age in ages}) > 3
    assert ages[-5:] == [0.0] * 5


def test_names_are_permuted_together_with_their_values():
    for was, now in zip(states(50), spoilt(50, kind=Kind.PERMUTE), strict=True):
        one = dict(zip(was.name, zip(was.position, was.effort, strict=True), strict=True))
        assert one == dict(zip(now.name, zip(now.position, now.effort, strict=True), strict=True))


def test_clocks_jump_and_states_freeze():
    sent = states(100)
    jumped = spoilt(kind=Kind.CLOCK_JUMP, begin=0.5, by=-2.0)
    assert stamps(jumped)[49:51] == [stamp_of(sent[49]), stamp_of(sent[50]) - 2 * 10**9]
    frozen = spoilt(kind=Kind.FREEZE, begin=0.5)
    assert stamps(frozen) == stamps(sent)
    assert {tuple(message.position) for message in frozen[49:]} == {tuple(sent[49].position)}
    assert set(stamps(spoilt(kind=Kind.REPEAT, begin=0.5))[49:]) == {stamp_of(sent[49])}


def test_faults_act_one_after_the_other_as_the_file_says(tmp_path):
    path = tmp_path / "faults.yaml"
    path.write_text(
        "seed: 7\nfaults:\n"
        "  - {kind: drop, from: 0.1, until: 0.3}\n"
        "  - {kind: rename, joint: joint_1, to: elbow, probability: 0.5, seed: 8}\n"
        "  - {kind: missing, signal: effort, from: 0.9}\n"
    )
    faults = read_faults(path)
    assert [fault.seed for fault in faults] == [7, 8, 7]
    found = Injector(faults).apply_all(states(100))
    assert len(found) == 100 - round(0.2 * RATE)
    assert {message.name[0] for message in found} == {"elbow", ROBOT.joint_names[0]}
    assert [len(message.effort) for message in found[-10:]] == [0] * 10


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("faults: 3", "must be a list"),
        ("seed: 1", "must be a list"),
        ("other: 1", "needs the keys"),
        ("faults: [drop]", "must be a mapping"),
        ("faults: [{kind: lightning}]", "choose one of"),
        ("faults: [{kind: [drop]}]", "choose one of"),
        ("faults: [{kind: drop, chance: 1}]", "unknown key chance"),
        ("faults: [{kind: drop, probability: 2}]", "probability"),
        ("faults: [{kind: drop, probability: often}]", "must be a number"),
        ("faults: [{kind: drop, from: 2, until: 1}]", "must come after"),
        ("faults: [{kind: missing, signal: smell}]", "choose one of"),
        ("faults: [{kind: drop, seed: x}]", "whole number"),
        ("faults: [{kind: delay}]", "longest delay"),
    ],
)
def test_files_of_no_use_are_refused(tmp_path, text, told):
    path = tmp_path / "faults.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=told):
        read_faults(path)
