"""Requests to identify a recording that runs, one after the other."""

import gc
import itertools
import weakref

import numpy as np
import pytest
from robot_identification.srv import Identify

from long_recordings import BASE, RATE, ROBOT, TRUTH, blocks_of, samples
from robot_identification.files.output_folder import OutputFolder
from robot_identification.identification.rows.growing import StreamingIdentification
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.ros.acquisition.recorder import Block, Counts
from robot_identification.ros.identification.recordings.live_recordings import LiveRecordings
from robot_identification.ros.identification.recordings.running_recordings import is_about_whole
from robot_identification.ros.identification.work import IdentificationWork

SIZE = 50
OUTPUTS = OutputFolder("/nowhere", "identification")


class Cell:
    """A recording that goes on, and the work on it."""

    def __init__(self, monkeypatch):
        now = itertools.count()  # every look at the clock finds the newest block long ago
        self.live = LiveRecordings(10**9, 10, clock=lambda: 10.0 * next(now))
        self.work = IdentificationWork(ROBOT, BASE, "", self.live, OUTPUTS)
        self.blocks = blocks_of(samples(100.0), SIZE)
        self.sent = 0
        self.folded = []  # samples that were folded in by each request
        push = StreamingIdentification.push

        def counting(stream, raw):
            self.folded[-1] += len(raw.stamps)
            push(stream, raw)

        monkeypatch.setattr(StreamingIdentification, "push", counting)

    def record(
        self, until, *, last=False, name="run", effort_topic="", effort_meaning="joint_torque"
    ):
        """Go on until so many seconds of the recording have come."""
        end = round(until * RATE / SIZE)
        for number in range(self.sent, end):
            raw = self.blocks[number]
            ended = last and number == end - 1
            block = Block(name, number, number * SIZE, ended, raw, Counts(), effort_topic)
            self.live.add(block, effort_meaning)
        self.sent = end

    def ask(self, **fields):
        self.folded.append(0)
        request = Identify.Request(**fields)
        return self.work.identify(
            request, ProcessingSettings(), "stated", lambda *_: None, lambda: False
        ).result


@pytest.fixture
def cell(monkeypatch):
    return Cell(monkeypatch)


def test_every_request_folds_in_only_what_is_new(cell):
    errors = []
    for second in range(70, 80):
        cell.record(float(second))
        result = cell.ask()
        errors.append(np.abs(result.estimate.values - TRUTH).max())
        assert result.sources[0].samples == second * RATE
        assert any("not ended" in line for line in result.warnings)
    assert cell.folded == [70 * RATE, *[RATE] * 9]
    assert max(errors) < 0.1


def test_a_block_that_comes_late_is_folded_in_with_all_the_others(cell):
    """What was folded in before it was not in the order of the samples."""
    cell.record(70.0)
    number, late = cell.sent, cell.blocks[cell.sent]
    cell.sent += 1
    cell.record(75.0)
    cell.ask()
    cell.live.add(Block("run", number, number * SIZE, False, late, Counts()), "joint_torque")
    assert cell.ask().sources[0].samples == 75 * RATE
    assert cell.folded[-1] == 75 * RATE


def test_samples_of_a_recording_that_was_forgotten_are_kept_by_nobody(cell):
    cell.record(70.0)
    cell.ask()
    del cell.blocks
    number = cell.sent - 5
    kept = weakref.ref(cell.live.get("run").blocks[number])
    cell.live._recordings.clear()
    gc.collect()
    assert kept() is None


def test_results_tell_what_the_efforts_of_their_recording_were(cell):
    """The robot file calls them joint torques; a transmission of 1 makes them motor torques too."""
    cell.record(70.0, effort_meaning="motor_torque")
    stated = [cell.ask().settings["effort_meaning"]]
    cell.record(70.5, last=True, effort_meaning="motor_torque")
    stated.append(cell.ask().settings["effort_meaning"])
    assert stated == [{"value": "motor_torque", "reason": "recording"}] * 2


def test_a_recording_that_has_ended_is_worked_on_whole(cell):
    cell.record(80.0)
    running = cell.ask()
    cell.record(80.5, last=True)
    ended = cell.ask()
    assert cell.folded[-1] == 0
    assert "the first" not in ended.settings["cutoff_hz"]["reason"]
    difference = np.abs(running.estimate.values - ended.estimate.values)
    assert (difference < 2.0 * ended.estimate.std_robust + 1e-9).all()


def test_a_short_recording_that_runs_is_worked_on_whole(cell):
    cell.record(30.0)
    assert "the first" not in cell.ask().settings["cutoff_hz"]["reason"]


def test_another_recording_begins_anew(cell):
    cell.record(70.0)
    cell.ask()
    cell.sent = 0
    cell.record(70.0, name="another")
    assert cell.ask().sources[0].name == "another"
    assert cell.folded == [70 * RATE] * 2


def test_a_recording_that_was_forgotten_and_goes_on_begins_anew(cell):
    cell.record(70.0)
    cell.ask()
    del cell.live._recordings["run"]  # as where memory ran short
    cell.sent, cell.blocks = 0, blocks_of(samples(100.0), SIZE)
    cell.record(75.0)
    cell.ask()
    assert cell.folded == [70 * RATE, 75 * RATE]


def test_the_delay_of_separate_efforts_is_told_once_it_is_known(cell):
    cell.record(70.0, effort_topic="/efforts")
    result = cell.ask()
    assert any("efforts on /efforts lie" in line for line in result.warnings)
    assert result.settings["effort_delay"]["value"] == [0.0]
    cell.record(71.0, effort_topic="/efforts")
    assert cell.ask().warnings[0] == result.warnings[0]


@pytest.mark.parametrize(
    ("fields", "about_whole"),
    [
        ({}, True),
        ({"method": "ols"}, True),
        ({"essential": True}, True),
        ({"method": "energy"}, False),
        ({"robust": "huber"}, False),
        ({"robust_threshold": 2.0}, False),
        ({"held_out_fraction": 0.2}, False),
        ({"held_out": ["run"]}, False),
        ({"bag_weights": [2.0]}, False),
        ({"bag_noise": True}, False),
    ],
)
def test_what_needs_another_pass_is_worked_on_whole(fields, about_whole):
    assert is_about_whole(Identify.Request(**fields)) == about_whole


@pytest.mark.parametrize(
    "data", [{"begin": 0.1}, {"end": 0.9}, {"estimate_effort_delay": True}, {"bags": ["bag"]}]
)
def test_a_part_of_the_data_or_more_is_worked_on_whole(data):
    request = Identify.Request()
    for name, value in data.items():
        setattr(request.data, name, value)
    assert not is_about_whole(request)
    request = Identify.Request()
    request.data.recordings = ["one", "two"]
    assert not is_about_whole(request)
