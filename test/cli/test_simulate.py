"""The command simulate: a bag that identify reads, reproducible, bad input refused."""

import re

import numpy as np
import pytest

from robot_identification.cli.main import main
from robot_identification.excitation import simulated_recording
from robot_identification.files.bags.joint_states.reading import read_joint_states
from robot_identification.files.bags.trajectories import read_trajectories
from robot_identification.files.plans.trajectories import read_trajectory
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.share import share_directory

SHORT = ("--trajectory", "tx40", "--duration", "3")


@pytest.fixture(scope="module")
def tx40():
    return load_robot("tx40")


def states_of(robot, bag, **topics):
    return read_joint_states(bag, robot.joint_names, **topics).samples


def test_identified_parameters_are_those_that_were_simulated(run, tmp_path, tx40):
    bag = tmp_path / "bag"
    command = ("simulate", "tx40", "--trajectory", "tx40", "-o", bag, "--controller-rate", 2000)
    done = run(*command, "--noise", "position=1e-6,effort=0.02", "--seed", 5)
    assert done["samples"] == 29249
    assert done["rate_hz"] == 1000.0
    assert 0.0 < max(done["tracking_error"].values()) < 0.05
    base = base_parameters(tx40)
    truth = base.values(load_values("tx40_simulated", tx40)[base.columns])
    found = run("identify", "tx40", bag)["parameters"]
    for entry, true in zip(found, truth, strict=True):
        if entry["relative_std_percent"] < 5.0:
            allowed = 0.005 * abs(true) + 5.0 * entry["std"]
            assert abs(entry["value"] - true) < allowed, entry["name"]
    assert sum(entry["relative_std_percent"] < 5.0 for entry in found) > 30


def test_what_is_recorded_is_what_the_drives_measure(run, tmp_path):
    robot_file = tmp_path / "driven.yaml"
    text = (share_directory() / "config" / "robots" / "tx40.yaml").read_text()
    robot_file.write_text(
        text.replace("effort_meaning: joint_torque", "effort_meaning: motor_torque")
    )
    driven, plain = load_robot(robot_file), load_robot("tx40")
    options = (*SHORT, "--parameters", "tx40_simulated")
    run("simulate", robot_file, *options, "-o", tmp_path / "motor")
    run("simulate", "tx40", *options, "-o", tmp_path / "joint")
    motor = states_of(driven, tmp_path / "motor").effort
    joint = states_of(plain, tmp_path / "joint").effort
    np.testing.assert_allclose(motor @ driven.motor_matrix, joint, atol=1e-9)
    assert np.abs(motor).max() < 0.2 * np.abs(joint).max()


def test_the_trajectory_is_in_the_bag_with_its_start(run, tmp_path, tx40):
    bag = tmp_path / "bag"
    run("simulate", "tx40", *SHORT, "-o", bag, "--storage", "sqlite3", "--reference", "both")
    (sent,) = read_trajectories(bag)
    planned = read_trajectory(share_directory() / "config" / "trajectories" / "tx40.yaml")
    np.testing.assert_array_equal(sent.trajectory.positions, planned.positions)
    np.testing.assert_array_equal(sent.trajectory.velocities, planned.velocities)
    np.testing.assert_allclose(sent.trajectory.times, planned.times, atol=1e-9)
    states = states_of(tx40, bag, reference_topic="/joint_reference")
    assert sent.start_stamp == states.stamps[0]
    seconds = (states.stamps - states.stamps[0]) * 1e-9
    np.testing.assert_allclose(states.reference, planned.sample(seconds)[0], atol=1e-12)


def test_noise_depends_on_the_seed_and_can_differ_by_joint(run, tmp_path, tx40):
    noise = ("--noise-position", "1e-4", "--noise-effort", "0.1,0.2,0.3,0.4,0.5,0.6")
    found = {}
    for name, seed, options in (
        ("clean", 0, ()),
        ("one", 1, noise),
        ("again", 1, noise),
        ("two", 2, noise),
    ):
        run("simulate", "tx40", *SHORT, "-o", tmp_path / name, "--seed", seed, *options)
        found[name] = states_of(tx40, tmp_path / name)
    np.testing.assert_array_equal(found["one"].effort, found["again"].effort)
    assert not np.array_equal(found["one"].effort, found["two"].effort)
    spread = (found["one"].effort - found["clean"].effort).std(axis=0)
    np.testing.assert_allclose(spread, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], rtol=0.05)
    spread = (found["one"].position - found["clean"].position).std(axis=0)
    np.testing.assert_allclose(spread, 1e-4, rtol=0.05)


def test_the_experiment_of_a_robot_file_says_rate_and_noise(run, tmp_path):
    command = ("simulate", "scara", "--trajectory", "scara", "--duration", "2")
    done = run(*command, "-o", tmp_path / "bag", "--noise", "experiment")
    assert done["rate_hz"] == load_robot("scara").experiment.rate_hz
    assert done["samples"] == 401


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("tx40", "--trajectory", "nowhere.yaml"), "nowhere.yaml"),
        (("scara", "--trajectory", "tx40"), "name each of them once"),
        (("tx40", *SHORT, "--noise", "loud"), "--noise"),
        (("tx40", *SHORT, "--noise", "effort"), "--noise = effort: give none"),
        (
            ("tx40", *SHORT, "--noise", "effort=1,effort=2"),
            "--noise = effort=1,effort=2: give none",
        ),
        (("tx40", *SHORT, "--noise", "experiment"), "no section experiment"),
        (("tx40", *SHORT, "--noise-effort", "1,2"), "effort_noise"),
        (("tx40", *SHORT, "--noise-position", "-1"), "position_noise"),
        (("tx40", *SHORT, "--controller-rate", "fast"), "--controller-rate"),
        (("tx40", *SHORT, "--rate", "300"), "divide"),
        (("tx40", *SHORT, "--seed", "-1"), "seed"),
        (("tx40", "--trajectory", "tx40", "--duration", "nan"), "duration"),
        (("tx40", *SHORT, "--parameters", "scara"), "values of scara"),
        (("tx40", *SHORT, "--tolerance", "1e-6", "--controller-rate", "continuous"), "in Hz"),
        (("tx40", *SHORT, "--controller-rate", "0"), "controller_rate_hz"),
        (("tx40", *SHORT, "--payload-frame", "joint_6"), "--payload-frame = joint_6: needs"),
        (("tx40", *SHORT, "--payload-placement", *"000000"), "needs --payload"),
        (("hitachi_hpr", *SHORT), "no parameters of hitachi_hpr are known"),
    ],
)
def test_bad_input_is_refused_with_one_line(refusal, tmp_path, arguments, words):
    code, line = refusal("simulate", *arguments, "-o", tmp_path / "bag")
    assert code == 2
    assert words in line
    assert not (tmp_path / "bag").exists()


def test_a_robot_whose_parameters_nobody_knows_needs_a_file(refusal, tmp_path):
    shipped = share_directory() / "config" / "robots" / "scara.yaml"
    robot = tmp_path / "unknown.yaml"
    robot.write_text(shipped.read_text().replace("name: scara", "name: unknown", 1))
    code, line = refusal("simulate", robot, "--trajectory", "scara", "-o", tmp_path / "bag")
    assert code == 2
    assert "give a file with values" in line
    assert not (tmp_path / "bag").exists()


def test_currents_without_drive_gains_are_refused_before_anything_is_simulated(
    refusal, tmp_path, monkeypatch
):
    monkeypatch.setattr(simulated_recording, "ClosedLoop", None)
    shipped = share_directory() / "config" / "robots" / "scara.yaml"
    robot = tmp_path / "scara.yaml"
    text = shipped.read_text()
    robot.write_text(re.sub("effort_meaning: .*", "effort_meaning: current", text))
    code, line = refusal("simulate", robot, "--trajectory", "scara", "-o", tmp_path / "bag")
    assert code == 2
    assert "joint joint_1 needs one" in line


def test_what_is_there_is_never_replaced(tmp_path, capsys):
    for target in (tmp_path / "file", tmp_path / "folder"):
        if target.name == "file":
            target.write_text("precious")
        else:
            target.mkdir()
        assert main(["simulate", "tx40", *SHORT, "-o", str(target)]) == 2
        assert target.name in capsys.readouterr().err
    assert (tmp_path / "file").read_text() == "precious"
    assert main(["simulate", "tx40", *SHORT, "-o", str(tmp_path / "absent" / "bag")]) == 2
    assert main(["simulate", "tx40", *SHORT, "-o", "/dev/null"]) == 2
