"""Parameter files come back as they were written, or do not appear."""

from dataclasses import replace

import numpy as np
import pytest
import yaml

from made_up_results import made_up_result
from robot_identification.api.sources.parameters import base_values_of, full_values_of
from robot_identification.calibration.calibrate import calibrate
from robot_identification.calibration.consistency.checks import check_consistency
from robot_identification.errors import (
    InconsistentParametersError,
    ResultMismatchError,
    RobotDescriptionError,
)
from robot_identification.files.base_values import read_base_values
from robot_identification.files.parameters import read_prior, with_law_of
from robot_identification.files.parameters_text import parameters_file
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.geometry import rotation_z

ROBOT = load_robot("tx40")


@pytest.fixture(scope="module")
def calibrated():
    truth = load_values("tx40_simulated", ROBOT)
    result = made_up_result(ROBOT, truth, np.random.default_rng(41), noise=0.05)
    return calibrate(ROBOT, result, read_prior("tx40", ROBOT))


def test_values_come_back_bit_by_bit_and_consistent(calibrated, tmp_path):
    path = tmp_path / "parameters.yaml"
    path.write_bytes(parameters_file(path, ROBOT, calibrated))
    values = load_values(path, ROBOT, complete=True)
    np.testing.assert_array_equal(values, calibrated.values)
    assert check_consistency(ROBOT, values).consistent
    assert read_prior(path, ROBOT).known.all()


def test_the_name_of_a_robot_may_have_spaces(tmp_path):
    robot = replace(ROBOT, name="SO 101")
    result = made_up_result(robot, load_values("tx40_simulated", ROBOT), np.random.default_rng(41))
    found = calibrate(robot, result, read_prior(None, robot))
    path = tmp_path / "parameters.yaml"
    path.write_bytes(parameters_file(path, robot, found))
    assert yaml.safe_load(path.read_text())["robot"] == "SO 101"
    np.testing.assert_array_equal(load_values(path, robot), found.values)


def test_deviations_verdicts_and_provenance_are_told(calibrated, tmp_path):
    path = tmp_path / "parameters.yaml"
    path.write_bytes(parameters_file(path, ROBOT, calibrated))
    text = path.read_text()
    assert "The frame of a link is that of its joint, z along the axis of motion" in text
    document = yaml.safe_load(text)
    assert document["kind"] == "robot_identification/parameters"
    assert document["consistent"] is True
    assert document["provenance"]["robot_sha256"] == ROBOT.digest
    assert document["provenance"]["prior"] == "tx40"
    assert len(document["provenance"]["prior_sha256"]) == 64
    assert set(document["verdicts"].values()) == {
        "identified",
        "essential",
        "prior_dominated",
        "not_identifiable",
    }
    told = {name for name, v in document["verdicts"].items() if v in ("identified", "essential")}
    assert document["std"]
    assert set(document["std"]) <= told
    assert document["quality"]["relative_error"] == pytest.approx(calibrated.error.total)


def test_a_file_that_would_not_give_consistent_values_is_not_made(calibrated, tmp_path):
    path = tmp_path / "parameters.yaml"
    wrong = calibrated.values.copy()
    wrong[14 * 2 + 9] = -1.0
    with pytest.raises(InconsistentParametersError, match="M = -1"):
        parameters_file(path, ROBOT, replace(calibrated, values=wrong))


LAW = with_law_of("tx40_stribeck_load", ROBOT)


@pytest.fixture(scope="module")
def with_law():
    truth = load_values("tx40_stribeck_load", LAW)
    result = made_up_result(LAW, truth, np.random.default_rng(43), noise=0.05)
    return calibrate(LAW, result, read_prior("tx40_stribeck_load", LAW))


def test_a_file_holds_the_friction_law_of_its_parameters(with_law, tmp_path):
    path = tmp_path / "parameters.yaml"
    path.write_bytes(parameters_file(path, LAW, with_law))
    robot = with_law_of(path, ROBOT)
    assert robot == LAW
    np.testing.assert_array_equal(robot.loads, with_law.values)
    np.testing.assert_array_equal(load_values(path, robot, complete=True), with_law.values)
    read_base_values(path, robot)


def test_a_file_holds_a_usual_law_that_its_robot_file_does_not_state(calibrated, tmp_path):
    path = tmp_path / "parameters.yaml"
    path.write_bytes(parameters_file(path, ROBOT, replace(calibrated, own_law=True)))
    read = with_law_of(path, LAW)
    assert [joint.terms for joint in read.joints] == [joint.terms for joint in ROBOT.joints]
    np.testing.assert_array_equal(load_values(path, read), calibrated.values)


def test_a_file_without_a_law_leaves_that_of_the_robot(calibrated, tmp_path):
    path = tmp_path / "parameters.yaml"
    path.write_bytes(parameters_file(path, ROBOT, calibrated))
    assert "friction" not in yaml.safe_load(path.read_text())
    assert with_law_of(path, ROBOT) is ROBOT


@pytest.mark.parametrize(
    ("written", "wrong", "words"),
    [
        ("friction:\n  joint_1:", "friction:\n  joint_9:", "these are not the joints of tx40"),
        ("    Fs:", "    Fq:", "there is no joint term 'Fq'"),
        ("[0.2,", "[-0.2,", "0.2"),
        ("[0.2,", "[", "Fs"),
    ],
)
def test_a_law_of_no_use_is_refused_with_the_file(with_law, tmp_path, written, wrong, words):
    path = tmp_path / "parameters.yaml"
    text = parameters_file(path, LAW, with_law).decode().replace(written, wrong, 1)
    path.write_text(text)
    with pytest.raises(RobotDescriptionError, match=words):
        with_law_of(path, ROBOT)


def test_parameters_about_other_link_frames_are_refused(calibrated, tmp_path):
    path = tmp_path / "parameters.yaml"
    path.write_bytes(parameters_file(path, ROBOT, calibrated))
    last = ROBOT.joints[-1]
    turned = replace(last, geometry=None, rotation=last.rotation @ rotation_z(np.pi / 2))
    other = replace(ROBOT, joints=(*ROBOT.joints[:-1], turned), digest="another")
    with pytest.raises(RobotDescriptionError, match="frame of joint_6 is turned otherwise") as told:
        load_values(path, other)
    assert told.value.field == "provenance.geometry"
    with pytest.raises(ResultMismatchError, match="frame of joint_6 is turned otherwise"):
        full_values_of(other, calibrated)
    with pytest.raises(ResultMismatchError, match="frame of joint_6 is turned otherwise"):
        base_values_of(other, calibrated)
