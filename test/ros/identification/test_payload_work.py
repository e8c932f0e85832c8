"""Requests to identify payloads and drive gains, worked on without a node."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from robot_identification.srv import IdentifyDriveGains, IdentifyPayload

import robot_identification as ri
from live_nodes import BEGIN, ROBOT, SAMPLES, TRUTH, motion
from robot_identification import msg
from robot_identification.errors import (
    OutputError,
    RecordingError,
    ResultFileError,
    SettingError,
)
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.files.output_folder import OutputFolder
from robot_identification.files.payloads import read_payload
from robot_identification.files.results import write_result
from robot_identification.identification.payload.body import QUANTITIES
from robot_identification.robot.bodies import Body
from robot_identification.robot.mounting import mounting
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.ros.acquisition.recorder import Block, Counts
from robot_identification.ros.identification.payload_work import PayloadWork, known_of
from robot_identification.ros.identification.recordings.live_recordings import LiveRecordings
from robot_identification.signals.raw_samples import RawSamples

BODY = Body(1.5, [0.1, 0.02, 0.0], np.diag([0.004, 0.004, 0.006]))
LOADED = mounting(ROBOT).with_body(TRUTH, BODY)
STAMPS = BEGIN + np.rint(np.arange(SAMPLES) * 1e7).astype(np.int64)


def samples_of(values, gain=1.0):
    q, tau = motion(values)
    noise = 1e-3 * np.random.default_rng(3).normal(size=tau.shape)
    return RawSamples(STAMPS, q, None, gain * tau + noise)


@pytest.fixture(scope="module")
def bags(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bags")
    for name, values in (("bare", TRUTH), ("loaded", LOADED)):
        write_joint_states(folder / name, ROBOT.joint_names, samples_of(values))
    return [str(folder / "bare"), str(folder / "loaded")]


class Cell:
    """Recordings bare and loaded in memory, and the work on them."""

    def __init__(self, folder):
        now = itertools.count()  # every look at the clock finds the newest block long ago
        self.live = LiveRecordings(10**9, 10, clock=lambda: 10.0 * next(now))
        self.work = PayloadWork(ROBOT, "scara", self.live, OutputFolder(folder, "identification"))

    def record(self, name, values, meaning="joint_torque", gain=1.0):
        block = Block(name, 0, 0, True, samples_of(values, gain), Counts(), "")
        self.live.add(block, meaning)

    def ask(self, request):
        response = _RESPONSES[type(request)]()
        perform = self.work.payload
        if isinstance(request, IdentifyDriveGains.Request):
            perform = self.work.drive_gains
        told = perform(request, response, ProcessingSettings(), lambda *_: None, lambda: False)
        return response, told


_RESPONSES = {kind.Request: kind.Response for kind in (IdentifyPayload, IdentifyDriveGains)}


@pytest.fixture
def cell(tmp_path):
    cell = Cell(tmp_path / "outputs")
    cell.record("bare", TRUTH)
    cell.record("loaded", LOADED)
    return cell


def selection(*recordings, bags=()):
    return msg.DataSelection(recordings=[*recordings], bags=[*bags])


def test_a_payload_of_recordings_in_memory(cell):
    request = IdentifyPayload.Request(bare=selection("bare"), output="payload.yaml")
    response, told = cell.ask(request)  # loaded: the recording that came last
    found = dict(zip(QUANTITIES, response.payload.values, strict=True))
    std = dict(zip(QUANTITIES, response.payload.std, strict=True))
    assert found["mass"] == pytest.approx(1.5, rel=0.02)
    assert found["x"] == pytest.approx(0.1, abs=2e-3)
    assert np.isnan(found["z"])  # no motion of a SCARA tells heights
    assert 0.0 < std["mass"] < 0.03
    assert response.payload.lower[0] < 1.5 < response.payload.upper[0]
    assert (response.payload.joint, response.consistent) == ("joint_2", False)
    assert np.isnan(response.payload.inertia.m)
    assert "kg, 95 % within" in told
    assert Path(response.written[0]).read_text().startswith("kind: robot_identification/payload")


def test_bags_are_worked_on_as_by_the_command(cell, bags):
    request = IdentifyPayload.Request(
        bare=selection(bags=bags[:1]),
        loaded=selection(bags=bags[1:]),
        frame="joint_1",
        placement=[0.1, 0.0, 0.0, 0.0, 0.0, 0.5],
        separate_friction=True,
    )
    response, _ = cell.ask(request)
    asked = {"frame": "joint_1", "placement": request.placement, "separate_friction": True}
    same = ri.identify_payload("scara", *bags, **asked).result
    np.testing.assert_array_equal(response.payload.standard, same.estimate.values)
    np.testing.assert_array_equal(response.payload.covariance, same.estimate.covariance.ravel())
    assert response.payload.joint == "joint_1"
    assert list(response.warnings) == list(same.warnings)


def test_a_result_stands_for_the_bare_runs(cell, bags, tmp_path):
    result = tmp_path / "result.yaml"
    ri.identify("scara", bags[0]).save(result)
    response, _ = cell.ask(IdentifyPayload.Request(loaded=selection("loaded"), result=str(result)))
    assert response.payload.values[0] == pytest.approx(1.5, rel=0.02)


def test_a_result_of_another_robot_is_refused_and_one_of_another_version_of_its_file_told(
    cell, bags, tmp_path
):
    path = tmp_path / "result.yaml"
    result = ri.identify("scara", bags[0])
    write_result(path, replace(result, robot="another_arm"))
    request = IdentifyPayload.Request(loaded=selection("loaded"), result=str(path))
    with pytest.raises(ResultFileError, match="is a result of another_arm, and the robot is scara"):
        cell.ask(request)
    write_result(path, replace(result, robot_digest="0" * 64))
    response, _ = cell.ask(request)
    assert "the file of scara has changed since the identification" in response.warnings[0]


def test_nothing_is_written_over_what_a_request_reads(cell, bags, tmp_path):
    folder = tmp_path / "outputs"
    folder.mkdir()
    result, payload = folder / "result.yaml", folder / "payload.yaml"
    ri.identify("scara", bags[0]).save(result)
    payload.write_text("kind: robot_identification/payload\n")
    write_joint_states(folder / "bag", ROBOT.joint_names, samples_of(LOADED))
    (bag,) = (folder / "bag").glob("*.mcap")
    of_bag = {"loaded": selection(bags=[str(folder / "bag")])}
    for request in (
        IdentifyPayload.Request(loaded=selection("loaded"), result=str(result), output=result.name),
        IdentifyPayload.Request(**of_bag, output=f"bag/{bag.name}"),
        IdentifyDriveGains.Request(**of_bag, payload=str(payload), output=payload.name),
    ):
        request.overwrite = True
        before = (folder / request.output).read_bytes()
        with pytest.raises(OutputError, match="read"):
            cell.ask(request)
        assert (folder / request.output).read_bytes() == before


def test_drive_gains_of_recordings_and_bags_together(cell, bags):
    request = IdentifyDriveGains.Request(
        bare=selection(bags=bags[:1]),
        loaded=selection("loaded"),
        mass=BODY.mass,
        centre=BODY.centre,
        inertia=BODY.inertia[np.triu_indices(3)],
        output="gains.yaml",
    )
    response, told = cell.ask(request)
    assert list(response.factor) == pytest.approx([1.0, 1.0], abs=0.02)
    assert (np.array(response.lower) < response.factor).all()
    assert (np.array(response.upper) > response.factor).all()
    assert np.isnan(response.believed).all()
    assert "joint_1 " in told
    assert len(response.written) == 1


def test_exchanged_recordings_are_told_to_who_reads_the_message_alone(cell):
    exchanged = {"bare": selection("loaded"), "loaded": selection("bare")}
    response, told = cell.ask(IdentifyPayload.Request(**exchanged))
    assert response.payload.values[0] == pytest.approx(-1.5, rel=0.02)
    assert "the mass is negative: are bare and loaded runs exchanged?" in told
    response, told = cell.ask(IdentifyDriveGains.Request(**exchanged, mass=BODY.mass))
    assert max(response.factor) < 0.0
    assert "all gains are negative" in told


def test_currents_of_live_recordings_give_the_gains_themselves(tmp_path):
    cell = Cell(tmp_path)
    cell.record("bare", TRUTH, "current", gain=0.5)
    cell.record("loaded", LOADED, "current", gain=0.5)
    request = IdentifyDriveGains.Request(bare=selection("bare"), mass=BODY.mass)
    request.centre, request.inertia = BODY.centre, BODY.inertia[np.triu_indices(3)]
    response, _ = cell.ask(request)
    assert list(response.drive_gain) == pytest.approx([2.0, 2.0], rel=0.02)
    assert np.isnan(response.believed).all()
    assert not any("far from the believed" in line for line in response.warnings)


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ({}, RecordingError, "bare"),
        ({"bare": selection("loaded"), "loaded": selection("loaded")}, SettingError, "bare"),
        ({"bare": selection("bare"), "frame": "hand"}, SettingError, "no moving link"),
        ({"bare": selection("bare"), "placement": [1.0]}, SettingError, "x y z roll pitch yaw"),
        ({"bare": selection("bare"), "output": "/etc/x.yaml"}, OutputError, "folder"),
    ],
)
def test_what_cannot_be_asked_of_a_payload_is_refused(cell, fields, error, words):
    with pytest.raises(error, match=words):
        cell.ask(IdentifyPayload.Request(**fields))


def test_a_known_payload_is_said_once(tmp_path):
    path = tmp_path / "payload.yaml"
    path.write_text("mass: 2.0\ncentre: [0.0, 0.1, 0.0]\n")
    ask = IdentifyDriveGains.Request
    assert known_of(ask(payload=str(path))) == read_payload(path)
    known = known_of(ask(mass=2.0, centre=[0.0, 0.1, 0.0]))
    assert known == read_payload(path)
    for fields, words in (
        ({}, "weigh the payload"),
        ({"payload": str(path), "mass": 2.0}, "leave out mass"),
        ({"mass": 2.0, "centre": [1.0]}, "give 3 numbers"),
        ({"mass": 2.0, "inertia": [1.0] * 6}, "centre of mass"),
    ):
        with pytest.raises(SettingError, match=words):
            known_of(ask(**fields))
