"""Many bags: one result, whoever folds them, whatever happens meanwhile."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import suppress
from multiprocessing import util
from unittest.mock import patch

import numpy as np
import pytest

import forked_processes
from made_up_states import state
from robot_identification.cli.main import main
from robot_identification.dynamics.regressor import Regressor, inverse_dynamics
from robot_identification.errors import (
    BagError,
    RecordingError,
    RobotDescriptionError,
    SettingError,
)
from robot_identification.files.bags.cdr.dynamic_states import MESSAGE_TYPE as DYNAMIC
from robot_identification.files.bags.cdr.joint_states import MESSAGE_TYPE, encode
from robot_identification.files.bags.joint_states.reading import read_joint_states
from robot_identification.files.bags.recordings import read_recordings
from robot_identification.files.bags.writing import write_bag, write_joint_states
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.estimators import least_squares
from robot_identification.identification.estimators.estimator import Choice
from robot_identification.identification.estimators.huber import HuberSettings
from robot_identification.identification.estimators.weighting import Weighting
from robot_identification.identification.identify import identify as identify_recordings
from robot_identification.identification.rows.growing_run import StreamedRun
from robot_identification.identification.rows.whole import FactorStream
from robot_identification.parallel.bags import find_bags
from robot_identification.parallel.identify import identify_many
from robot_identification.parallel.jobs import RobotReference, StatesTopic, jobs_for
from robot_identification.parallel.pool import SchedulerGoneError, work
from robot_identification.parallel.settings import common_settings
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.raw_samples import RawSamples

ROBOT = load_robot("scara")
BASE = base_parameters(ROBOT)
VALUES = load_values("scara", ROBOT)
PERIOD = 0.004
TOPIC = StatesTopic()
SETTINGS = ProcessingSettings(cutoff_hz=20.0, rate_hz=25.0, velocity_threshold=(0.02,))


def bag(path, seed, *, samples=2500, shuffled=False, measured=(1.0, 1.0)):
    """Write a bag of a random smooth motion with its efforts, and a little noise."""
    rng = np.random.default_rng(seed)
    shape = (3, 1, len(ROBOT.joints))
    rate, size = rng.uniform(0.5, 5.0, shape), rng.uniform(0.1, 0.4, shape)
    angle = rate * (np.arange(samples) * PERIOD)[:, None] + rng.uniform(0.0, 6.0, shape)
    q, qd, qdd = (
        (size * np.sin(angle)).sum(axis=0),
        (size * rate * np.cos(angle)).sum(axis=0),
        (-size * rate**2 * np.sin(angle)).sum(axis=0),
    )
    effort = inverse_dynamics(ROBOT, VALUES, q, qd, qdd)
    effort = (effort + 0.01 * rng.normal(size=effort.shape)) * np.array(measured)
    order = np.arange(samples)
    if shuffled:
        order = order.reshape(-1, 10)[:, ::-1].ravel()
    stamps = (np.arange(samples) * round(PERIOD * 1e9)).astype(np.int64)
    raw = RawSamples(stamps[order], q[order], None, effort[order])
    write_joint_states(path, ROBOT.joint_names, raw, storage="mcap" if seed % 2 else "sqlite3")
    return path


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    """Give a folder with eighteen bags, which make two jobs."""
    folder = tmp_path_factory.mktemp("fleet")
    for seed in range(18):
        (folder / f"robot_{seed % 3}").mkdir(exist_ok=True)
        bag(folder / f"robot_{seed % 3}" / f"day_{seed:02}", seed, shuffled=seed == 7)
    return folder


@pytest.fixture(scope="module")
def identified(fleet, tmp_path_factory):
    """Give the result of one process, and where its parts are."""
    parts = tmp_path_factory.mktemp("parts")
    return identify(fleet, parts), parts


def identify(places, parts, **options):
    options = {"workers": 1, "overrides": SETTINGS, **options}
    places = places if isinstance(places, list) else [places]
    return identify_many("scara", find_bags(places), parts, **options)


def test_the_result_is_the_one_of_a_single_pass_over_all_rows(fleet, identified):
    outcome, _ = identified
    bags = find_bags([fleet])
    processing = common_settings(ROBOT, bags, TOPIC, SETTINGS)
    stream = FactorStream(ROBOT, BASE.base_columns)
    for described in bags:
        samples = read_joint_states(described.path, ROBOT.joint_names).samples
        order = np.argsort(samples.stamps)
        run = StreamedRun(
            ROBOT,
            Regressor(ROBOT, BASE.base_columns, spare=1),
            processing,
            PERIOD,
            lambda rows, kept, _: stream.add(rows, kept),
            prompt=False,
        )
        run.push(samples.position[order], samples.effort[order])
        run.end()
    factors = stream.factors()
    estimate = least_squares.weighted(factors, BASE.names, processing.residual_divisor)
    assert outcome.jobs == 2
    assert outcome.skipped == ()
    assert [f.rows for f in outcome.result.factors] == [f.rows for f in factors]
    np.testing.assert_allclose(outcome.result.estimate.values, estimate.values, rtol=1e-9)


def test_the_parameters_are_those_of_the_robot_and_every_bag_is_validated(identified):
    result = identified[0].result
    truth = BASE.values(VALUES[BASE.columns])
    assert np.all(np.abs(result.estimate.values - truth) < 5.0 * result.estimate.std_robust)
    assert len(result.cross_validation.folds) == 18
    assert result.cross_validation.error.total < 0.05


@pytest.fixture
def usual_port_taken():
    """Keep the port at which Dask usually shows its dashboard, as another cluster does."""
    with socket.socket() as other:
        with suppress(OSError):  # taken already
            other.bind(("0.0.0.0", 8787))
            other.listen()
        yield


@pytest.fixture
def forked_workers(monkeypatch):
    """Fork the processes of Dask, and undo what it sets for them."""
    pytest.importorskip("distributed")
    monkeypatch.setattr(util, "spawnv_passfds", forked_processes.spawn)
    with patch.dict(os.environ):
        yield


@pytest.mark.usefixtures("usual_port_taken", "forked_workers")
def test_processes_of_a_dask_cluster_give_the_same_bits(fleet, identified, tmp_path):
    outcome = identify(fleet, tmp_path, workers=2)
    np.testing.assert_array_equal(
        outcome.result.estimate.values, identified[0].result.estimate.values
    )
    np.testing.assert_array_equal(
        outcome.result.estimate.std_robust, identified[0].result.estimate.std_robust
    )


def test_a_run_goes_on_where_another_broke_off(fleet, identified, tmp_path):
    outcome, parts = identified
    kept, lost = sorted(parts.glob("*.npz"))
    shutil.copy(kept, tmp_path / kept.name)
    (tmp_path / lost.name).write_bytes(lost.read_bytes()[:1000])  # cut short by a crash
    again = identify(fleet, tmp_path)
    assert again.reused == 1
    np.testing.assert_array_equal(again.result.estimate.values, outcome.result.estimate.values)


def test_parts_of_other_settings_are_not_used(fleet, identified, tmp_path):
    _, parts = identified
    shutil.copytree(parts, tmp_path, dirs_exist_ok=True)
    other = ProcessingSettings(cutoff_hz=15.0, rate_hz=25.0, velocity_threshold=(0.02,))
    assert identify(fleet, tmp_path, overrides=other).reused == 0


def test_held_out_bags_and_weights_are_those_of_identify(fleet, identified, tmp_path):
    places = [place for folder in sorted(fleet.iterdir()) for place in sorted(folder.iterdir())]
    fitted, unseen = places[:3], places[3:5]
    weights = {str(fitted[0]): 4.0}
    bags = [find_bags(chosen) for chosen in (fitted, unseen)]
    found = identify_many(
        "scara", [*bags[0], *bags[1][:1]], tmp_path, workers=1, overrides=SETTINGS,
        held_out=bags[1], weights=weights,
    )  # fmt: skip
    processing = common_settings(ROBOT, bags[0], TOPIC, SETTINGS)
    same = ProcessingSettings.of(vars(processing))
    whole = identify_recordings(
        ROBOT, read_recordings(fitted, ROBOT), overrides=same,
        held_out=read_recordings(unseen, ROBOT), weighting=Weighting((4.0, 1.0, 1.0)),
    )  # fmt: skip
    assert [source.name for source in found.result.sources] == [str(place) for place in fitted]
    assert [fold.name for fold in found.result.held_out_bags] == [str(place) for place in unseen]
    assert found.result.settings["bag_weights"] == whole.settings["bag_weights"]
    away = np.abs(found.result.estimate.values - whole.estimate.values)
    assert (away < 1e-2 * whole.estimate.std).all()
    assert found.result.held_out.total == pytest.approx(whole.held_out.total, rel=1e-2)
    alike = identify_many("scara", bags[0], tmp_path, workers=1, overrides=SETTINGS)
    assert alike.reused == 1  # weights and held-out bags change no part of the others
    assert (alike.result.estimate.values != found.result.estimate.values).all()
    assert alike.result.estimate.std_robust is not None
    assert found.result.estimate.std_robust is None


def test_what_goes_over_the_samples_is_refused_before_the_work(fleet, tmp_path):
    with pytest.raises(SettingError, match="goes over the samples"):
        identify(fleet, tmp_path / "parts", choice=Choice("wls", robust=HuberSettings()))
    assert not (tmp_path / "parts").exists()


def test_bad_bags_are_named_and_the_others_count(tmp_path):
    for seed in range(3):
        bag(tmp_path / f"good_{seed}", seed)
    bag(tmp_path / "short", 5, samples=20)
    bag(tmp_path / "mock", 6, measured=(0.0, 0.0))
    bag(tmp_path / "unplugged", 8, measured=(1.0, 0.0))
    bag(tmp_path / "absurd", 9, measured=(1.0, 1e200))
    (tmp_path / "torn.db3").write_bytes(b"SQLite format 3\0" + bytes(50))
    (tmp_path / "empty.mcap").write_bytes(b"")
    shutil.copytree(tmp_path / "good_1", tmp_path / "copy_of_good_1")
    with np.errstate(over="ignore", invalid="ignore"):
        outcome = identify(tmp_path, tmp_path / "parts")
    reasons = {s.bag.rsplit("/", 1)[-1]: s.reason for s in outcome.skipped}
    assert sorted(reasons) == [
        "absurd", "empty.mcap", "good_1", "mock", "short", "torn.db3", "unplugged",
    ]  # fmt: skip
    assert "efforts of joint_2, or of joints that move with them, are so large" in reasons["absurd"]
    assert "the efforts of every joint are zero" in reasons["mock"]
    assert "the efforts of joint_2 are zero" in reasons["unplugged"]
    assert "the same data as" in reasons["good_1"]
    assert "no row is left" in reasons["short"]
    assert len(outcome.result.sources) == 3
    assert all(source.digest for source in outcome.result.sources)


def write_at(path, times, states):
    """Write serialised joint states with the times of recording."""
    with write_bag(path) as made:
        for time_, row in zip(times, states, strict=True):
            made.write("/joint_states", MESSAGE_TYPE, int(time_), row.tobytes())


def test_a_bag_without_stamps_counts_by_the_times_of_recording(tmp_path):
    stamped = read_joint_states(bag(tmp_path / "stamped", 1), ROBOT.joint_names).samples
    silent = np.zeros_like(stamped.stamps)
    states = encode(silent, ROBOT.joint_names, stamped.position, None, stamped.effort)
    write_at(tmp_path / "unstamped", stamped.stamps, states)
    outcomes = [
        identify(tmp_path / name, tmp_path / f"parts of {name}")
        for name in ("stamped", "unstamped")
    ]
    assert not any(outcome.skipped for outcome in outcomes)
    wanted, found = (outcome.result for outcome in outcomes)
    np.testing.assert_array_equal(found.estimate.values, wanted.estimate.values)
    assert any("no state has a stamp" in line for line in found.sources[0].warnings)


@pytest.mark.parametrize("milliseconds", [1500, 500.3, 55, 27])
def test_a_bag_whose_clock_was_set_back_is_left_out_with_that_reason(tmp_path, milliseconds):
    sound = read_joint_states(bag(tmp_path / "good", 1), ROBOT.joint_names).samples
    stamps = sound.stamps + 10**9
    stamps[2000:] -= round(milliseconds * 1e6)
    states = encode(stamps, ROBOT.joint_names, sound.position, None, sound.effort)
    write_at(tmp_path / "set back", sound.stamps, states)
    outcome = identify(tmp_path, tmp_path / "parts")
    (skipped,) = outcome.skipped
    assert skipped.bag.endswith("/set back")
    by = (milliseconds - 1e3 * PERIOD) / 1e3
    assert f"the clock was set back by {by:.3f} s before sample 2000" in skipped.reason
    assert len(outcome.result.sources) == 1


def test_nothing_useful_is_said_with_the_reason(tmp_path):
    (tmp_path / "torn.db3").write_bytes(b"SQLite format 3\0" + bytes(50))
    with pytest.raises(RecordingError, match=r"none of 1 bags is of any use.*torn\.db3"):
        identify(tmp_path, tmp_path / "parts")
    (tmp_path / "nothing").mkdir()
    with pytest.raises(BagError, match="no bag"):
        find_bags([tmp_path / "nothing"])


def test_a_robot_that_changes_meanwhile_stops_the_work(fleet, tmp_path):
    bags = find_bags([fleet])
    processing = common_settings(ROBOT, bags, TOPIC, SETTINGS)
    jobs = jobs_for(RobotReference("scara", "another", None), processing, TOPIC, bags, tmp_path)
    with pytest.raises(RobotDescriptionError, match="differs from the description"):
        work(jobs, lambda *_: None, workers=1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"workers": 0}, "workers = 0"),
        ({"scheduler": "somewhere"}, "scheduler = somewhere"),
    ],
)
def test_impossible_processes_are_refused(fleet, tmp_path, options, said):
    pytest.importorskip("distributed")
    with pytest.raises(SettingError, match=said):
        identify(fleet, tmp_path, **options)


class Cluster:
    """A Dask scheduler and one worker at a time, processes of their own."""

    def __init__(self, folder):
        self._file = folder / "scheduler.json"
        self._started, self._worker = [], None
        self._scheduler = self._start(
            "scheduler", "--port", "0", "--scheduler-file", str(self._file)
        )
        while not self._file.exists() or not self._file.read_text().strip():
            assert self._scheduler.poll() is None
            time.sleep(0.05)
        self.address = json.loads(self._file.read_text())["address"]

    def _start(self, kind, *arguments):
        line = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *arguments, "--no-dashboard"]
        self._started.append(
            forked_processes.Popen(
                [*line, "--host", "127.0.0.1"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )
        return self._started[-1]

    def start_worker(self):
        self._worker = self._start("worker", self.address, "--no-nanny", "--nthreads", "1")

    def kill_worker(self):
        self._worker.kill()

    def kill_scheduler(self):
        self._scheduler.kill()

    def close(self):
        for process in self._started:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path):
    pytest.importorskip("distributed")
    made = Cluster(tmp_path)
    yield made
    made.close()


def test_that_the_last_worker_has_died_is_told_and_another_one_goes_on(
    fleet, identified, tmp_path, cluster, monkeypatch
):
    monkeypatch.setattr("robot_identification.parallel.pool._TOLD_AFTER", 0.5)
    told, killed = [], []

    def tell(text):
        told.append(text)
        if "no worker" in text:
            cluster.start_worker()

    def progress(stage, _fraction):
        if stage == "bags" and not killed:
            killed.append(stage)
            cluster.kill_worker()

    outcome = identify(
        fleet, tmp_path / "parts", scheduler=cluster.address, tell=tell, progress=progress
    )
    assert killed
    assert told[0].startswith("the scheduler has had no worker")
    np.testing.assert_array_equal(
        outcome.result.estimate.values, identified[0].result.estimate.values
    )


def test_a_scheduler_that_ends_is_told(fleet, tmp_path, cluster, monkeypatch):
    monkeypatch.setattr("robot_identification.parallel.pool._TOLD_AFTER", 0.5)
    with pytest.raises(SchedulerGoneError, match="finished parts are kept"):
        identify(
            fleet,
            tmp_path / "parts",
            scheduler=cluster.address,
            tell=lambda _text: cluster.kill_scheduler(),
        )


def test_the_command_writes_a_result_that_can_be_calibrated(fleet, tmp_path, capsys):
    output = tmp_path / "result.yaml"
    arguments = ["identify-many", "scara", str(fleet), "-o", str(output), "--workers", "1"]
    arguments += ["--cutoff", "20", "--rate", "25", "--velocity-threshold", "0.02", "--json"]
    assert main(arguments) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["bags"] == {"used": 18, "skipped": [], "jobs": 2, "reused_jobs": 0}
    assert output.is_file()
    named = [str(place) for place in sorted((fleet / "robot_0").iterdir())[:2]]
    more = ["--held-out-bag", named[0], "--weight", f"{named[1]}=3"]
    assert main([*arguments[:4], str(tmp_path / "held"), *arguments[5:], *more]) == 0
    printed_more = json.loads(capsys.readouterr().out)
    assert printed_more["bags"]["used"] == 17
    assert [fold["name"] for fold in printed_more["held_out_bags"]] == named[:1]
    assert sorted(printed_more["settings"]["bag_weights"]["value"]) == [1.0] * 16 + [3.0]
    assert main([*arguments, "--robust", "huber"]) == 2
    assert "goes over the samples" in capsys.readouterr().err
    assert main([*arguments]) == 0
    assert json.loads(capsys.readouterr().out)["bags"]["reused_jobs"] == 2


def test_interfaces_of_joints_may_have_other_names(fleet, tmp_path, capsys):
    """States of every joint's interfaces give what joint states do; efforts are named otherwise."""
    place = fleet / "robot_0" / "day_00"
    samples = read_joint_states(place, ROBOT.joint_names).samples
    signals = list(zip(samples.stamps.tolist(), samples.position, samples.effort, strict=True))
    with write_bag(tmp_path / "bag") as dynamic:
        for stamp, *values in signals:
            joints = {
                name: {"position": q, "torque": tau}
                for name, q, tau in zip(ROBOT.joint_names, *values, strict=True)
            }
            dynamic.write("/dynamic_joint_states", DYNAMIC, stamp, state(stamp, joints))
    common = ["--workers", "1", "--cutoff", "20", "--rate", "25", "--velocity-threshold", "0.02"]
    values = []
    for bag, options in (
        (place, []),
        (tmp_path / "bag", ["--topic", "/dynamic_joint_states", "--columns", "effort=torque"]),
    ):
        line = ["identify-many", "scara", str(bag), "-o", str(tmp_path / "r.yaml"), *common]
        assert main([*line, *options, "--json"]) == 0
        printed = json.loads(capsys.readouterr().out)
        values.append([entry["value"] for entry in printed["parameters"]])
    assert values[0] == values[1]
    assert main([*line, "--topic", "/dynamic_joint_states"]) == 2
    assert "no effort" in capsys.readouterr().err
    assert main([*line, "--columns", "temperature=heat"]) == 2
    assert "there are position, velocity, effort" in capsys.readouterr().err
