"""A disk that is full while a bag of a live recording is written: the recording goes on."""

import resource
import subprocess
from contextlib import suppress

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus

from live_nodes import states
from robot_identification.files.bags.joint_states.reading import read_joint_states

pytestmark = pytest.mark.ros


def limit_files(process, _):
    """Let a process write no more than 1 kB per file."""
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1024, resource.RLIM_INFINITY))


def fill_disk(_, folder):
    """Leave nothing on a small disk."""
    with suppress(OSError), (folder / "rest").open("wb", buffering=0) as rest:
        while rest.write(bytes(4096)):
            pass


@pytest.fixture
def small_disk(tmp_path):
    """Return a disk of 512 kB, where one can be mounted."""
    line = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(tmp_path)]
    if subprocess.run(line, capture_output=True, check=False).returncode != 0:
        pytest.skip("no file system can be mounted here")
    yield tmp_path
    subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


@pytest.mark.parametrize(("place", "fill"), [("tmp_path", limit_files), ("small_disk", fill_disk)])
def test_the_recording_loses_nothing_and_the_bag_keeps_its_parts(make_suite, request, place, fill):
    folder = request.getfixturevalue(place)
    suite = make_suite()
    process = suite.start(
        "acquisition",
        block_period=0.05,
        diagnostics_period=0.1,
        bag_directory=str(folder),
        bag_part_period=0.5,
    )
    suite.wait_for_acquisition()
    recording = suite.verbs.start_recording().message
    sent, number = states(), 0

    def send(count):
        """Send some states when those before have been received."""
        nonlocal number
        if suite.received(recording) < number:
            return
        for message in sent[number : number + count]:
            suite.driver.publish(message)
        number += count

    def first_part():
        send(5)
        return list(folder.glob("*/*.mcap"))

    suite.wait(first_part, "a part of the bag")
    fill(process, folder)
    told = "the recording goes on without a bag"

    def levels():
        send(5)
        return [status.level for status in suite.diagnostics.statuses if told in status.message]

    assert set(suite.wait(levels, "the end of the bag")) == {DiagnosticStatus.ERROR}
    assert 0 < number < len(sent)
    suite.send(recording, sent[number:], before=number)
    suite.wait(lambda: suite.received(recording) >= len(sent), "all samples")
    assert suite.verbs.stop_recording().message == recording
    suite.wait(lambda: suite.of(recording)[-1].last, "last block")
    blocks = suite.of(recording)
    positions = np.concatenate([np.array(block.position).reshape(-1, 2) for block in blocks])
    np.testing.assert_array_equal(positions, [message.position for message in sent])
    assert (blocks[-1].received, blocks[-1].lost) == (len(sent), 0)
    bag = read_joint_states(
        folder / recording, ("joint_1", "joint_2"), topic=f"{suite.namespace}/joint_states"
    )
    kept = len(bag.samples.stamps)
    assert 0 < kept < len(sent)
    np.testing.assert_array_equal(bag.samples.position, positions[:kept])
