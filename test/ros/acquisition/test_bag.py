"""Bags of live recordings: the same as what was recorded, whole after a kill, no harm when full."""

import signal
import time

import numpy as np
import pytest
from robot_identification.msg import DataSelection
from robot_identification.srv import Identify

from diagnostics import values_of
from live_nodes import ROBOT, states
from refused_starts import refused_start
from robot_identification.errors import OutputError
from robot_identification.files.bags.cdr.joint_states import MESSAGE_TYPE
from robot_identification.files.bags.joint_states.reading import read_joint_states
from robot_identification.files.bags.parts import BagMessage, PartedBag
from robot_identification.files.bags.recordings import read_recordings
from robot_identification.ros.acquisition.bag import BagRecording, bag_folder
from robot_identification.ros.clients.client import RequestRefusedError
from robot_identification.ros.common.joint_states import stamp_of
from robot_identification.ros.messages.common import time_of

pytestmark = pytest.mark.ros


def test_a_bag_gives_the_result_of_the_recording_bit_by_bit(make_suite, tmp_path):
    suite = make_suite()
    suite.start(
        "acquisition",
        block_period=0.05,
        diagnostics_period=0.1,
        bag_directory=str(tmp_path),
        bag_part_period=0.5,
    )
    suite.start("identification")
    suite.wait_for_acquisition()
    suite.verbs.require("identification")
    sent = states()
    sent[700].effort = [float("nan")] * 2
    recording = suite.record(sent)[0].recording
    bag = tmp_path / recording
    suite.wait((bag / "metadata.yaml").exists, "end of the bag")
    live = suite.identify(recording)
    request = Identify.Request(
        data=DataSelection(bags=[str(bag)], joint_states_topic=f"{suite.namespace}/joint_states")
    )
    settings = {entry.key: entry.value for entry in live.result.settings}
    read = suite.verbs.answers.ask(request)
    assert live.success, live.message
    assert read.success, read.message
    assert settings == {entry.key: entry.value for entry in read.result.settings}
    assert [p.value for p in live.result.parameters] == [p.value for p in read.result.parameters]
    assert [f.triangle for f in live.result.factors] == [f.triangle for f in read.result.factors]
    assert not any("checksum" in line for line in read.result.warnings)


@pytest.mark.parametrize("by", [-5.0, -0.5])
def test_where_the_clock_is_set_back_each_bag_has_the_states_of_its_recording(
    make_suite, tmp_path, by
):
    suite = make_suite()
    suite.start("acquisition", diagnostics_period=0.1, bag_directory=str(tmp_path))
    suite.wait_for_acquisition()
    sent = states(350)
    stamps = np.array([stamp_of(message) for message in sent])
    stamps[200:] += round(by * 1e9)
    stamps[-1] = stamps[-100] + 1  # held to the end, for it may be of another clock
    for message, stamp in zip(sent, stamps, strict=True):
        message.header.stamp = time_of(int(stamp))
    recording = suite.verbs.start_recording().message
    for message in sent:
        suite.driver.publish(message)
    suite.wait(lambda: told(suite, "messages_received") == len(sent), "all states")
    assert suite.verbs.stop_recording().message == f"{recording}.2"
    for name, own in ((recording, stamps[:200]), (f"{recording}.2", stamps[200:])):
        bag = tmp_path / name
        suite.wait((bag / "metadata.yaml").exists, "end of the bag")
        (read,) = read_recordings([bag], ROBOT, topic=f"{suite.namespace}/joint_states")
        assert read.statistics.received == len(own)
        assert read.start_stamp == own.min()
        raw = read_joint_states(bag, ROBOT.joint_names, topic=f"{suite.namespace}/joint_states")
        np.testing.assert_array_equal(raw.samples.stamps, own)


def told(suite, key):
    """Return the last number of a key on /diagnostics."""
    found = [int(v[key]) for v in map(values_of, suite.diagnostics.statuses) if key in v]
    return found[-1] if found else 0


def test_what_was_written_before_a_kill_is_whole(make_suite, tmp_path):
    suite = make_suite()
    process = suite.start(
        "acquisition", autostart=True, bag_directory=str(tmp_path), bag_part_period=0.5
    )
    suite.wait_for_acquisition()
    stream = iter(states())

    def parts():
        for _ in range(3):
            suite.driver.publish(next(stream, states(1)[0]))
        time.sleep(0.05)
        return len(list(tmp_path.glob("*/*.mcap"))) >= 2

    suite.wait(parts, "two parts")
    process.send_signal(signal.SIGKILL)
    process.wait()
    suite.processes.stop("acquisition")
    (bag,) = tmp_path.iterdir()
    read = read_joint_states(bag, ("joint_1", "joint_2"), topic=f"{suite.namespace}/joint_states")
    sent = np.array([m.position for m in states(len(read.samples.stamps))])
    assert len(sent) > 10
    np.testing.assert_array_equal(np.unique(read.samples.stamps), np.sort(read.samples.stamps))
    np.testing.assert_array_equal(read.samples.position, sent)


def test_a_bag_that_cannot_be_made_is_refused_before_anything_is_recorded(make_suite, tmp_path):
    suite = make_suite()
    folder = tmp_path / "bags"
    suite.start("acquisition", bag_directory=str(folder))
    suite.wait_for_acquisition()
    folder.rmdir()
    folder.write_text("in the way")
    with pytest.raises(RequestRefusedError, match="no folder for bags can be made"):
        suite.verbs.start_recording()
    assert not suite.verbs.answers.stop_recording().success


def test_the_folder_of_bags_is_made_with_those_above_it(tmp_path, monkeypatch):
    assert bag_folder("") is None
    folder = tmp_path / "arm" / "bags"
    assert bag_folder(str(folder)) == folder
    assert folder.is_dir()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert bag_folder("~/arm/bags") == folder


def test_a_node_that_could_write_no_bags_does_not_start(tmp_path):
    way = tmp_path / "file"
    way.write_text("in the way")
    said = refused_start("acquisition", {"robot": "scara", "bag_directory": str(way / "bags")})
    assert "no folder for bags can be made" in said


def test_a_full_disk_ends_the_bag_and_keeps_its_parts(tmp_path, monkeypatch):
    write, written = PartedBag.write, []

    def filling_up(self, messages):
        if written:
            raise OutputError(self.path, "cannot be written: No space left on device")
        write(self, messages)
        written.extend(messages)

    monkeypatch.setattr(PartedBag, "write", filling_up)
    bag = BagRecording(tmp_path / "run", 0.2)
    number = 0
    while not bag.problem:
        number += 1
        bag.add(BagMessage("/joint_states", MESSAGE_TYPE, number, bytes(8)))
        time.sleep(0.001)
    assert "No space left on device" in bag.problem
    bag.add(BagMessage("/joint_states", MESSAGE_TYPE, number, bytes(8)))
    bag.close()
    assert bag.join(3600.0)
    assert bag.messages == len(written) > 0
    names = {path.name for path in tmp_path.glob("run/*")}
    assert names == {"run_00000.mcap", "metadata.yaml"}
