"""Disks that are full, and bags that go away while they are read."""

import resource
import subprocess
import time

import numpy as np
import pytest
from robot_identification.srv import Identify

from live_nodes import BEGIN, ROBOT, motion
from long_work import names_of
from robot_identification import msg
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.ros.messages.error_codes import CODES
from robot_identification.signals.raw_samples import RawSamples

pytestmark = pytest.mark.ros

SMALL = 4096
MANY = 400


@pytest.fixture
def limited(faulty, tmp_path):
    """Return a folder where the node can write no more than 4 kB per file."""
    process = faulty.processes.process("identification").pid
    before = resource.prlimit(process, resource.RLIMIT_FSIZE)
    resource.prlimit(process, resource.RLIMIT_FSIZE, (SMALL, before[1]))
    yield tmp_path
    resource.prlimit(process, resource.RLIMIT_FSIZE, before)


@pytest.fixture
def small_disk(tmp_path):
    """Return a disk of two pages, where one can be mounted."""
    line = ["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", str(tmp_path)]
    if subprocess.run(line, capture_output=True, check=False).returncode != 0:
        pytest.skip("no file system can be mounted here")
    (tmp_path / "rest").write_bytes(bytes(SMALL))
    yield tmp_path
    subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


@pytest.mark.parametrize("place", ["limited", "small_disk"])
def test_a_full_disk_leaves_the_old_file_and_the_old_result(faulty, recording, place, request):
    folder = request.getfixturevalue(place)
    good = faulty.identify(recording).result
    target = folder / "result.yaml"
    target.write_text("what was here before")
    content = sorted(path.name for path in folder.iterdir())
    response = faulty.identify(recording, output=str(target), method="ols", overwrite=True)
    assert response.error_code == CODES.OUTPUT_FAILED, response.message
    assert str(target) in response.message
    assert target.read_text() == "what was here before"
    assert sorted(path.name for path in folder.iterdir()) == content
    assert repr(faulty.latched()) == repr(good)
    assert faulty.identify(recording).success


@pytest.mark.parametrize("storage", ["sqlite3", "mcap"])
@pytest.mark.parametrize("fault", ["unplugged", "cut"])
def test_a_bag_that_goes_away_while_it_is_read_is_told(faulty, recording, tmp_path, storage, fault):
    q, tau = motion()
    stamps = BEGIN + np.rint(np.arange(len(q)) * 1e7).astype(np.int64)
    bag = tmp_path / "bag"
    write_joint_states(bag, ROBOT.joint_names, RawSamples(stamps, q, None, tau), storage=storage)
    good = faulty.identify(recording).result
    request = Identify.Request(data=msg.DataSelection(bags=names_of(bag, MANY)))
    reading = faulty.begin(request)
    time.sleep(0.05)
    if fault == "unplugged":
        bag.rename(tmp_path / "gone")  # at once: SQLite may add files to it
    else:
        (data,) = (path for path in bag.iterdir() if path.suffix in (".db3", ".mcap"))
        with data.open("r+b") as file:
            file.truncate(data.stat().st_size // 2)
    assert not reading.done()
    faulty.wait(reading.done, "answer")
    response = reading.result()
    assert response.error_code == CODES.BAG_UNREADABLE, response.message
    assert str(bag) in response.message
    assert repr(faulty.latched()) == repr(good)
    assert not faulty.verbs.answers.cancel("identification").success
    assert faulty.identify(recording).success
