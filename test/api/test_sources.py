"""Parameters and priors that programs hand in, and those that are none."""

from dataclasses import replace

import numpy as np
import pytest

import robot_identification as ri
from made_up_results import made_up_result
from robot_identification.errors import RobotDescriptionError
from robot_identification.identification.identify import identify
from robot_identification.robot.files.values import load_values


@pytest.fixture(scope="module")
def robot():
    return ri.load_robot("scara")


@pytest.fixture(scope="module")
def result(robot):
    return made_up_result(robot, load_values("scara", robot), np.random.default_rng(1), noise=0.01)


def test_values_that_are_no_numbers_are_refused_by_name(robot, tmp_path):
    values = np.zeros(8)
    values[3] = np.nan
    with pytest.raises(ri.SettingError, match="ZZ2 = nan: must be a finite number"):
        ri.validate(robot, values, [])
    with pytest.raises(ri.SettingError, match=r"parameters = .*array of numbers"):
        ri.validate(robot, ["a"] * 8, [])
    with pytest.raises(ri.ShapeError, match=r"\(8,\)"):
        ri.validate(robot, np.zeros(9), [])
    full = np.full(len(robot.all_parameter_names), np.inf)
    with pytest.raises(ri.SettingError, match="XX1 = inf"):
        ri.export(robot, full, urdf=tmp_path / "arm.urdf")


def test_a_table_with_the_joints_in_another_order_is_refused(robot):
    """Its columns have names, which an array of numbers would pass over."""

    class Table(list):
        columns = ("joint_2", "joint_1")

    time, motion = np.arange(200) * 0.01, np.random.default_rng(0).normal(size=(200, 2))
    table = Table(motion.tolist())
    for taken in (
        lambda: ri.Recording.from_arrays(robot, time, table, motion),
        lambda: ri.Recording.from_arrays(robot, time, motion, motion, temperature=table),
        lambda: ri.inverse_dynamics(robot, "scara", motion, table),
    ):
        with pytest.raises(ri.SettingError, match="= joint_2, joint_1: are in another order"):
            taken()


def test_a_prior_is_a_prior_or_a_file(robot, result):
    with pytest.raises(ri.SettingError, match="prior = ndarray: give a Prior, a file, or none"):
        ri.calibrate(robot, result, prior=np.zeros(28))


def test_a_result_is_no_file_of_parameters(robot, result, tmp_path):
    file = tmp_path / "result.yaml"
    result.save(file)
    for taken in (
        lambda: ri.simulate(robot, "scara", parameters=file),
        lambda: ri.calibrate(robot, result, prior=file),
    ):
        with pytest.raises(RobotDescriptionError, match="calibrate it first"):
            taken()


def test_a_robot_is_named_where_its_description_is_asked(robot, tmp_path):
    assert ri.base_parameters("scara").names == ri.base_parameters(robot).names
    limits = tmp_path / "joint_limits.yaml"
    limits.write_text("joint_limits: {joint_1: {has_velocity_limits: true, max_velocity: 1.5}}")
    assert ri.with_joint_limits("scara", limits).joints[0].limits.velocity == 1.5
    with pytest.raises(ri.SettingError, match=r"robot = scara: load it first: load_robot\(...\)"):
        ri.Recording.from_arrays("scara", [], [], [])


def test_what_is_no_recording_and_no_setting_is_refused(robot):
    with pytest.raises(ri.SettingError, match="recordings = ndarray: give recordings, such as"):
        ri.identify(robot, [np.zeros((3, 2))])
    with pytest.raises(ri.SettingError, match=r"f-test: give True, False or EliminationRule\("):
        ri.identify(robot, [], essential="f-test")
    with pytest.raises(ri.SettingError, match=r"robust = 2.0: give True, False or HuberSettings"):
        ri.identify(robot, [], robust=2.0)
    bag = ri.simulate(robot, "scara", settings=ri.SimulationSettings(duration=0.1))
    with pytest.raises(ri.SettingError, match="storage = rosbag: choose sqlite3 or mcap"):
        bag.save("never", storage="rosbag")
    for taken in (ri.external_joint_efforts, ri.running_payload):
        with pytest.raises(ri.RecordingError, match="no recording was given"):
            taken(robot, "scara", [])


def test_parameters_of_another_robot_are_refused_though_they_have_the_same_names(
    robot, result, tmp_path
):
    """Its links are longer, so that they say nothing of it."""
    file = tmp_path / "longer.yaml"
    text = robot.file.read_text(encoding="utf-8").replace("name: scara", "name: longer")
    file.write_text(text.replace("d: 0.5", "d: 0.7"))
    calibrated = ri.calibrate(robot, result)
    result.save(tmp_path / "result.yaml")
    for taken in (
        lambda: ri.inverse_dynamics(file, calibrated, [0.1, 0.2]),
        lambda: ri.simulate(file, "scara", parameters=calibrated),
        lambda: ri.load_surroundings(file, prior=calibrated),
        lambda: ri.export(file, calibrated, urdf=tmp_path / "longer.urdf"),
        lambda: ri.validate(file, calibrated, []),
        lambda: ri.validate(file, result, []),
        lambda: ri.identify_payload(file, [], [], result=result),
    ):
        with pytest.raises(ri.ResultMismatchError, match="longer: these are parameters of scara"):
            taken()
    assert not (tmp_path / "longer.urdf").exists()
    with pytest.raises(ri.ResultFileError, match="is a result of scara, and the robot is longer"):
        ri.calibrate(file, tmp_path / "result.yaml")


def test_recordings_of_joints_in_another_order_are_refused(robot):
    """Their columns would be taken for those of the robot, and thresholds learned from them."""
    time, motion = np.arange(200) * 0.01, np.random.default_rng(0).normal(size=(200, 2))
    run = ri.Recording.from_arrays(robot, time, motion, motion)
    turned = replace(run, joint_names=run.joint_names[::-1])
    told = "arrays: it was read for the joints joint_2, joint_1, and the robot has joint_1, joint_2"
    for taken in (
        lambda: ri.external_joint_efforts(robot, "scara", turned),
        lambda: ri.external_joint_efforts(robot, "scara", run, free_motion=turned),
        lambda: ri.running_payload(robot, "scara", turned),
        lambda: ri.identify(robot, run, held_out=turned),
        lambda: identify(robot, [run], held_out=[turned]),
        lambda: identify(robot, [turned]),
    ):
        with pytest.raises(ri.JointNameError, match=told):
            taken()
    with pytest.raises(ri.JointNameError, match="joint elbow of the robot is not among the rec"):
        raise ri.JointNameError(("elbow", "joint_1"), ("joint_1", "joint_2"), "arrays")
