"""Published recordings arrive whole, are what was published, and become bags."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

import forked_processes
from command_line import run
from robot_identification.cli.main import main
from robot_identification.errors import DownloadError, MissingPackageError, SettingError
from robot_identification.files.bags.joint_states.reading import read_joint_states
from robot_identification.files.datasets import table
from robot_identification.files.datasets.conversion import emps_samples, tx40_samples
from robot_identification.files.datasets.fetching import cache_folder, fetch_dataset, find_dataset
from shared_data import measured_data, requires

SAMPLES = 60
__all__ = ["run"]


@pytest.fixture
def needs_pooch():
    pytest.importorskip("pooch")


class Published(ThreadingHTTPServer):
    """A server whose files lie in memory, and which answers in the ways that networks do."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.files = {}
        self.asked = []
        self.behaviour = "well"
        self.half_sent = threading.Event()
        self.client_gone = threading.Event()


class Answer(BaseHTTPRequestHandler):
    def do_GET(self):
        server, name = self.server, self.path.strip("/")
        server.asked.append(name)
        if name not in server.files or server.behaviour == "nothing there":
            self.send_error(404)
            return
        content, announced = server.files[name], len(server.files[name])
        if server.behaviour == "another file of the same size":
            content = content[:-1] + bytes([content[-1] ^ 1])
        elif server.behaviour == "a page of a proxy":
            content, announced = b"<html>please log in</html>", 26
        elif server.behaviour == "an endless file":
            content, announced = content + b"more", announced + 4
        elif server.behaviour in ("breaks off", "stops half way"):
            content = content[: announced // 2]
        self.send_response(200)
        self.send_header("Content-Length", str(announced))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()
        if server.behaviour == "stops half way":
            server.half_sent.set()
            server.client_gone.wait()

    def log_message(self, *arguments):
        """Say nothing."""


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")
    published = Published()
    thread = threading.Thread(target=published.serve_forever)
    thread.start()
    yield published
    published.client_gone.set()
    published.shutdown()
    thread.join()
    published.server_close()


@pytest.fixture
def emps(server, tmp_path, monkeypatch):
    """Return the data set of a short EMPS that the server publishes."""
    time = 1e-3 * np.arange(SAMPLES)[:, None]
    signals = {"t": time, "qm": np.sin(time), "qg": np.cos(time), "vir": 2.0 * time, "gtau": 35.0}
    path = tmp_path / "published.mat"
    savemat(path, signals)
    server.files = {"DATA_EMPS.mat": path.read_bytes(), "LICENSE.md": b"Apache License"}
    address = f"http://127.0.0.1:{server.server_port}"
    files = tuple(
        table.DatasetFile(name, f"{address}/{name}", len(data), hashlib.sha256(data).hexdigest())
        for name, data in server.files.items()
    )
    dataset = replace(table.DATASETS["emps"], files=files)
    monkeypatch.setitem(table.DATASETS, "emps", dataset)
    return dataset


def check_samples(folder: Path) -> None:
    read = read_joint_states(folder / "bag", ["slide"], reference_topic="/joint_reference").samples
    time = 1e-3 * np.arange(SAMPLES)
    np.testing.assert_allclose(1e-9 * (read.stamps - read.stamps[0]), time, atol=1e-9)
    np.testing.assert_array_equal(read.position[:, 0], np.sin(time))
    np.testing.assert_array_equal(read.effort[:, 0], 35.0 * 2.0 * time)
    np.testing.assert_array_equal(read.reference[:, 0], np.cos(time))


def test_the_licence_is_told_before_the_download_and_a_bag_is_made(
    needs_pooch, server, emps, tmp_path
):
    told = []

    def tell(line):
        told.append((line, len(server.asked)))

    fetched = fetch_dataset("emps", tmp_path / "here", tell=tell)
    assert fetched.downloaded == ("DATA_EMPS.mat", "LICENSE.md")
    assert fetched.recording == tmp_path / "here" / "emps" / "bag"
    check_samples(fetched.folder)
    (before,) = [asked for line, asked in told if line.startswith("licence: Apache-2.0")]
    assert before == 0
    assert any(emps.files[0].address in line for line, _ in told)


def test_what_is_there_is_not_fetched_again(needs_pooch, server, emps, tmp_path, monkeypatch):
    assert find_dataset("emps", tmp_path) is None
    fetch_dataset("emps", tmp_path)
    asked = list(server.asked)
    monkeypatch.setitem(sys.modules, "pooch", None)  # nor is anything needed for it
    again = fetch_dataset("emps", tmp_path)
    assert server.asked == asked
    assert again.downloaded == ()
    assert find_dataset("emps", tmp_path) == again


def test_a_file_that_was_copied_by_hand_is_taken_without_network_and_pooch(
    server, emps, tmp_path, monkeypatch
):
    (tmp_path / "emps").mkdir()
    for name, data in server.files.items():
        (tmp_path / "emps" / name).write_bytes(data)
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert fetch_dataset("emps", tmp_path).downloaded == ()
    assert not server.asked
    check_samples(tmp_path / "emps")


@pytest.mark.parametrize("damaged", ["DATA_EMPS.mat", "bag/bag.mcap"])
def test_what_was_damaged_later_is_made_good(needs_pooch, server, emps, tmp_path, damaged):
    folder = fetch_dataset("emps", tmp_path).folder
    with (folder / damaged).open("r+b") as file:
        file.seek(300)
        byte = file.read(1)
        file.seek(300)
        file.write(bytes([byte[0] ^ 255]))
    again = fetch_dataset("emps", tmp_path)
    assert again.downloaded == (("DATA_EMPS.mat",) if damaged == "DATA_EMPS.mat" else ())
    check_samples(folder)


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        ("another file of the same size", "not what was published"),
        ("a page of a proxy", "26 came"),
        ("an endless file", "more than that came"),
        ("breaks off", "broke off|came"),
        ("nothing there", "404"),
    ],
)
def test_what_is_not_the_published_file_is_refused_and_not_kept(
    needs_pooch, server, emps, tmp_path, behaviour, said
):
    server.behaviour = behaviour
    with pytest.raises(DownloadError, match=said) as caught:
        fetch_dataset("emps", tmp_path)
    assert caught.value.address == emps.files[0].address
    assert list((tmp_path / "emps").iterdir()) == []
    assert find_dataset("emps", tmp_path) is None
    server.behaviour = "well"
    check_samples(fetch_dataset("emps", tmp_path).folder)


def test_without_network_the_message_says_where_to_put_the_file(
    needs_pooch, server, emps, tmp_path
):
    server.shutdown()
    server.server_close()
    with pytest.raises(DownloadError, match="no connection") as caught:
        fetch_dataset("emps", tmp_path)
    assert str(tmp_path / "emps" / "DATA_EMPS.mat") in str(caught.value)


FETCH = """
import sys
from dataclasses import replace
from robot_identification.cli.main import main
from robot_identification.files.datasets import table
dataset = table.DATASETS["emps"]
file = replace(dataset.files[0], address=sys.argv[1], size=int(sys.argv[2]), sha256=sys.argv[3])
table.DATASETS["emps"] = replace(dataset, files=(file,))
sys.exit(main(["datasets", "fetch", "emps", "--to", sys.argv[4]]))
"""


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_a_download_that_is_interrupted_leaves_nothing_that_counts(
    needs_pooch, server, emps, tmp_path, sent, code
):
    server.behaviour = "stops half way"
    first = emps.files[0]
    child = forked_processes.Popen(
        [sys.executable, "-c", FETCH, first.address, str(first.size), first.sha256, tmp_path],
        stderr=subprocess.PIPE,
        env={**os.environ, "NO_PROXY": "*"},
    )
    server.half_sent.wait()
    child.send_signal(sent)
    _, errors = child.communicate()
    assert child.returncode == code, errors
    assert not (tmp_path / "emps" / "DATA_EMPS.mat").exists()
    server.client_gone.set()
    server.behaviour = "well"
    check_samples(fetch_dataset("emps", tmp_path).folder)


def test_without_pooch_the_message_names_it(emps, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingPackageError, match=r"robot_identification\[datasets\]"):
        fetch_dataset("emps", tmp_path)


def test_a_name_that_is_none_is_refused_with_those_that_are():
    with pytest.raises(SettingError, match="emps, tx40, ur10"):
        fetch_dataset("puma")


def test_the_cache_follows_the_system(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "robot_identification" / "datasets"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # which the standard says to ignore
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "robot_identification" / "datasets"


def test_the_command_lists_and_fetches(needs_pooch, server, emps, run, tmp_path):
    def listed():
        return {d["name"]: d for d in run("datasets", "list", "--to", tmp_path)["datasets"]}

    assert not any(entry["fetched"] for entry in listed().values())
    fetched = run("datasets", "fetch", "emps", "--to", tmp_path)
    assert fetched["recording"] == str(tmp_path / "emps" / "bag")
    assert fetched["downloaded"] == ["DATA_EMPS.mat", "LICENSE.md"]
    assert listed()["emps"]["fetched"]
    assert listed()["emps"]["licence"].startswith("Apache-2.0")


def test_the_command_ends_with_1_where_nothing_can_be_had(
    needs_pooch, server, emps, capsys, tmp_path
):
    server.behaviour = "nothing there"
    assert main(["datasets", "fetch", "emps", "--to", str(tmp_path)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert emps.files[0].address in said.err.splitlines()[-1]


def test_addresses_name_a_commit_and_digests_are_whole():
    for dataset in table.DATASETS.values():
        for file in dataset.files:
            assert file.address.startswith("https://")
            assert any(len(part) == 40 for part in file.address.split("/")), file.address
            assert len(bytes.fromhex(file.sha256)) == 32
            assert file.size > 0


def test_motor_6_of_the_tx40_turns_with_joint_5(tmp_path):
    joints, efforts = np.arange(1.0, 13.0).reshape(2, 6), np.ones((2, 6))
    motors = joints * [32.0, 32.0, 45.0, -48.0, 45.0, 32.0]
    motors[:, 5] += 32.0 * joints[:, 4]
    for name, values in (("pos_read_data.csv", motors), ("curr_data.csv", efforts)):
        np.savetxt(tmp_path / name, values, delimiter=",", header="names", comments="")
    samples = tx40_samples(tmp_path)
    np.testing.assert_allclose(samples.position, joints, rtol=1e-15)
    np.testing.assert_array_equal(samples.effort[0], [32.0, 32.0, 45.0, -48.0, 77.0, 32.0])
    assert np.diff(samples.stamps).tolist() == [200_000]


@requires("emps")
def test_the_converted_emps_is_its_bag():
    folder = measured_data("emps")
    read = read_joint_states(folder / "bag", ["slide"], reference_topic="/joint_reference").samples
    samples = emps_samples(folder)
    for name in ("stamps", "position", "effort", "reference"):
        np.testing.assert_array_equal(getattr(samples, name), getattr(read, name))


@pytest.mark.parametrize("robot", [pytest.param(n, marks=requires(n)) for n in table.DATASETS])
def test_files_beside_the_repository_are_the_published_ones(robot):
    known = {file.name: file.sha256 for file in table.DATASETS[robot].files}
    there = [path for path in measured_data(robot).iterdir() if path.name in known]
    assert there
    for path in there:
        assert hashlib.sha256(path.read_bytes()).hexdigest() == known[path.name], json.dumps(known)
