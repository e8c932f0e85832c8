"""Bad input: one clear line, exit code 2, and nothing overwritten."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robot_identification.files.bags.writing import write_joint_states
from robot_identification.robot.files.loading import load_robot
from robot_identification.share import share_directory

NAMES = ("joint_1", "joint_2")
PRECIOUS = "kept: true\n"


@pytest.fixture
def target(tmp_path) -> Path:
    """A file that is already there and must survive every failure."""
    path = tmp_path / "result.yaml"
    path.write_text(PRECIOUS)
    return path


@pytest.fixture
def refused(refusal, target):
    """Identify the SCARA from a bag; must end with exit code 2 and leave the target as it was."""

    def identify(bag, *options, robot="scara") -> str:
        code, line = refusal("identify", robot, bag, "-o", target, *options)
        assert code == 2
        assert target.read_text() == PRECIOUS
        return line

    return identify


def bag_of(tmp_path, samples, names=None, storage="sqlite3") -> Path:
    path = tmp_path / "bag"
    names = load_robot("scara").joint_names if names is None else names
    write_joint_states(path, names, samples, storage=storage)
    return path


def test_missing_effort(refused, tmp_path, scara_samples):
    silent = replace(scara_samples, effort=np.full_like(scara_samples.effort, np.nan))
    assert "effort" in refused(bag_of(tmp_path, silent))


def test_efforts_that_are_no_numbers_for_the_most_part(refused, tmp_path, scara_samples):
    effort = np.array(scara_samples.effort)
    effort[700:, 1] = np.nan
    line = refused(bag_of(tmp_path, replace(scara_samples, effort=effort)))
    assert "effort" in line
    assert load_robot("scara").joint_names[1] in line
    assert "700" in line


def test_unknown_joint(refused, tmp_path, scara_samples):
    line = refused(bag_of(tmp_path, scara_samples, ("elbow", "wrist")))
    assert load_robot("scara").joint_names[0] in line
    assert "elbow, wrist" in line


@pytest.mark.parametrize("storage", ["sqlite3", "mcap"])
def test_truncated_bag(refused, tmp_path, scara_samples, storage):
    bag = bag_of(tmp_path, scara_samples, storage=storage)
    (data,) = [*bag.glob("*.db3"), *bag.glob("*.mcap")]
    os.truncate(data, data.stat().st_size // 2)
    assert str(bag) in refused(bag)


@pytest.mark.parametrize("folder", [".", "/"])
def test_a_folder_in_place_of_a_result_of_many_bags(refusal, tmp_path, scara_samples, folder):
    bag = bag_of(tmp_path, scara_samples)
    code, line = refusal("identify-many", "scara", bag, "-o", folder)
    assert code == 2
    assert "a folder, not a regular file; name another target" in line


def test_empty_bag(refused, tmp_path, scara_samples):
    nothing = replace(
        scara_samples,
        stamps=scara_samples.stamps[:0],
        position=scara_samples.position[:0],
        velocity=None,
        effort=scara_samples.effort[:0],
    )
    assert "holds no messages" in refused(bag_of(tmp_path, nothing))


def test_wrong_topic(refused, scara_bag):
    line = refused(scara_bag, "--topic", "/robot/states")
    assert "/robot/states" in line
    assert "/joint_states" in line


def test_bag_that_is_not_there(refused, tmp_path):
    assert "nowhere" in refused(tmp_path / "nowhere")


def test_malformed_robot_file(refused, tmp_path, scara_bag):
    robot = tmp_path / "robot.yaml"
    robot.write_text("name: broken\njoints: [\n")
    assert f"{robot}:" in refused(scara_bag, robot=robot)


def test_unknown_key_in_a_robot_file_is_found_by_line(refused, tmp_path, scara_bag):
    text = (share_directory() / "config" / "robots" / "scara.yaml").read_text()
    robot = tmp_path / "robot.yaml"
    robot.write_text(text + "\ncolour: blue\n")
    line = refused(scara_bag, robot=robot)
    assert f"{robot}:{len(text.splitlines()) + 2}" in line
    assert "colour" in line


def test_malformed_urdf(refused, tmp_path, scara_bag):
    robot = tmp_path / "robot.urdf"
    robot.write_text("<robot name='broken'><link name='base'>")
    line = refused(scara_bag, "--effort-meaning", "joint_torque", robot=robot)
    assert str(robot) in line


def test_urdf_whose_efforts_nobody_has_explained(refused, tmp_path, scara_bag):
    robot = tmp_path / "robot.urdf"
    robot.write_text(
        "<robot name='two'><link name='base'/><link name='a'/><link name='b'/>"
        + "".join(
            f"<joint name='{name}' type='continuous'><parent link='{parent}'/>"
            f"<child link='{child}'/><origin xyz='0.5 0 0'/><axis xyz='0 0 1'/></joint>"
            for name, parent, child in zip(
                load_robot("scara").joint_names, ("base", "a"), ("a", "b"), strict=True
            )
        )
        + "</robot>"
    )
    assert "effort" in refused(scara_bag, robot=robot)


def test_unknown_robot(refused, scara_bag):
    line = refused(scara_bag, robot="scarra")
    assert "scarra" in line
    assert "scara" in line


def test_threshold_that_is_no_number(refused, scara_bag):
    assert "fast" in refused(scara_bag, "--velocity-threshold", "fast")


@pytest.mark.parametrize(("name", "value"), [("rule", "f-test"), ("threshold", "50")])
def test_rule_of_a_removal_that_is_not_asked_for(refused, scara_bag, name, value):
    line = refused(scara_bag, f"--essential-{name}", value)
    assert f"--essential-{name}" in line
    assert "needs --essential" in line


def test_cutoff_beyond_half_the_sampling_rate(refused, scara_bag):
    assert "cutoff" in refused(scara_bag, "--cutoff", "150")


def test_target_that_is_no_regular_file(refusal, scara_bag, tmp_path):
    code, line = refusal("identify", "scara", scara_bag, "-o", tmp_path)
    assert code == 2
    assert str(tmp_path) in line


def test_result_of_another_robot_is_not_validated(run, refusal, scara_bag, tmp_path):
    result = tmp_path / "scara.yaml"
    run("identify", "scara", scara_bag, "-o", result)
    code, line = refusal("validate", "three_dof", result, scara_bag)
    assert code == 2
    assert str(result) in line


def test_damaged_result_file(run, refusal, scara_bag, tmp_path):
    result = tmp_path / "scara.yaml"
    run("identify", "scara", scara_bag, "-o", result)
    result.write_text(result.read_text()[:-200])
    code, line = refusal("validate", "scara", result, scara_bag)
    assert code == 2
    assert "damaged" in line or "YAML" in line


def test_motion_that_determines_too_little_is_refused_with_names(
    refusal, tmp_path, scara_samples, target
):
    position = np.array(scara_samples.position)
    position[:, 1] = 0.3
    still = replace(scara_samples, position=position, velocity=None)
    bag = bag_of(tmp_path, still)
    code, line = refusal("identify", "scara", bag, "--velocity-threshold", "off", "-o", target)
    assert code == 3
    assert "Fv2" in line
    assert target.read_text() == PRECIOUS
