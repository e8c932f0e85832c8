"""Results and parameters of another robot are refused, of another version of its file told."""

from dataclasses import replace

import pytest

import robot_identification as ri
from robot_identification.calibration.calibrate import calibrate
from robot_identification.errors import ResultMismatchError
from robot_identification.files.base_values import read_base_values
from robot_identification.files.parameters_text import parameters_file
from robot_identification.files.results import read_result, write_result
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.belonging import different_efforts, refuse_other_parameters
from robot_identification.identification.identify import identify
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.geometry import rotation_z
from robot_identification.robot.processing import ProcessingSettings
from several_bags import STATED, arm

SCARA = load_robot("scara")


@pytest.fixture(scope="module")
def result():
    robot, recordings, _ = arm(parts=1)
    return identify(robot, recordings, overrides=STATED)


@pytest.fixture(scope="module")
def bag():
    return arm(parts=1)[1]


def longer(robot):
    """Return a robot with a longer second link: base parameters of the same names."""
    first, second, *rest = robot.joints
    moved = replace(second, translation=1.2 * second.translation)
    return replace(robot, joints=(first, moved, *rest), digest="2" * 64)


def test_a_result_of_another_geometry_is_refused_wherever_it_is_taken(result, tmp_path):
    other, file = longer(SCARA), tmp_path / "result.yaml"
    write_result(file, result)
    for taken in (
        lambda: refuse_other_parameters(other, result, base_parameters(other)),
        lambda: read_base_values(file, other),
        lambda: ri.validate(other, result, []),
        lambda: calibrate(other, result),
    ):
        with pytest.raises(
            ResultMismatchError,
            match=r"its geometry is not that of the identification: ZZ1R? holds",
        ):
            taken()


def test_a_result_about_a_turned_last_link_is_refused_wherever_it_is_taken(result, tmp_path):
    first, second = SCARA.joints
    turned = replace(second, geometry=None, rotation=second.rotation @ rotation_z(0.5))
    other, file = replace(SCARA, joints=(first, turned), digest="4" * 64), tmp_path / "result.yaml"
    write_result(file, result)
    assert read_result(file).geometry == result.geometry
    for taken in (
        lambda: refuse_other_parameters(other, result, base_parameters(other)),
        lambda: read_base_values(file, other),
        lambda: ri.validate(other, result, []),
        lambda: calibrate(other, result),
    ):
        with pytest.raises(ResultMismatchError, match="frame of joint_2 is turned otherwise"):
            taken()
    earlier = replace(result, geometry={})
    refuse_other_parameters(other, earlier, base_parameters(other))


def test_other_limits_and_processing_are_no_other_robot(result, bag, tmp_path):
    same = replace(SCARA, processing=ProcessingSettings(cutoff_hz=30.0), digest="3" * 64)
    refuse_other_parameters(same, result, base_parameters(same))
    told = "the file of scara has changed since the identification"
    assert any(line.startswith(told) for line in calibrate(same, result).warnings)
    file = tmp_path / "result.yaml"
    write_result(file, result)
    for source in (result, file):
        validated = ri.validate(same, source, bag)
        assert len([line for line in validated.warnings if line.startswith(told)]) == 1
        validated = ri.validate(SCARA, source, bag)
        assert not any("has changed since" in line for line in validated.warnings)


def test_parameters_of_another_version_of_the_robot_file_are_told(result, bag, tmp_path):
    calibrated, file = calibrate(SCARA, result), tmp_path / "parameters.yaml"
    file.write_bytes(parameters_file(file, SCARA, calibrated))
    assert read_base_values(file, SCARA).warnings == ()
    version = replace(SCARA, digest="3" * 64)
    (line,) = read_base_values(file, version).warnings
    validated = ri.validate(version, file, bag)
    assert len([told for told in validated.warnings if "has changed since" in told]) == 1
    assert f"{file}: the file of scara has changed since the calibration" in line
    told = ri.export(version, file, urdf=tmp_path / "arm.urdf")
    assert line in told
    told = ri.export(version, calibrated, urdf=tmp_path / "arm.urdf")
    assert "the parameters: the file of scara has changed since" in told[0]


def test_parameters_know_what_the_efforts_behind_them_were(result, tmp_path):
    entry = {"effort_meaning": {"value": "current", "reason": "option"}}
    of_currents = replace(result, settings={**result.settings, **entry})
    calibrated, file = calibrate(SCARA, of_currents), tmp_path / "parameters.yaml"
    file.write_bytes(parameters_file(file, SCARA, calibrated))
    efforts = read_base_values(file, SCARA).efforts
    assert different_efforts(SCARA, efforts) == {
        "effort_meaning": {"identified": "current", "used": "joint_torque", "reason": "robot file"}
    }
    assert different_efforts(SCARA, "") == {}
    assert different_efforts(SCARA, "joint_torque") == {}
