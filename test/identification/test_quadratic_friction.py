"""A further joint term: friction that grows with the square of the speed, ``Fq qd |qd|``."""

import numpy as np
import pytest
import yaml

from robot_identification.calibration.checks import check_consistency
from robot_identification.excitation.simulated_recording import (
    SimulationSettings,
    simulated_recording,
)
from robot_identification.identification.base import base_parameters
from robot_identification.identification.identify import identify
from robot_identification.identification.residuals import joint_friction
from robot_identification.report.friction_figure import friction_figure
from robot_identification.robot.loading import load_robot
from robot_identification.robot.values import load_values
from robot_identification.share import share_directory
from robot_identification.signals.joint_side import joint_side_recording
from robot_identification.storage.export.controller import controller_yaml
from robot_identification.storage.export.mechanism import mechanism_of
from robot_identification.storage.export.urdf_files import urdf_remarks
from robot_identification.storage.trajectories import read_trajectory

CONFIG = share_directory() / "config"
FRICTION = {"Fq1": 0.9, "Fq2": 0.05}
STATED = "quadratic_friction: true\n"


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    """The SCARA, both joints with quadratic friction."""
    path = tmp_path_factory.mktemp("robot") / "scara.yaml"
    text = (CONFIG / "robots" / "scara.yaml").read_text()
    path.write_text(text.replace("  offset: false\n", "  offset: false\n  " + STATED))
    return load_robot(str(path))


@pytest.fixture(scope="module")
def values(robot, tmp_path_factory):
    path = tmp_path_factory.mktemp("values") / "scara.yaml"
    document = yaml.safe_load((CONFIG / "parameters" / "scara.yaml").read_text())
    path.write_text(yaml.safe_dump({"parameters": document["parameters"] | FRICTION}))
    return load_values(path, robot)


@pytest.fixture(scope="module")
def result(robot, values):
    """What a simulated motion of 40 s without noise tells."""
    trajectory = read_trajectory(CONFIG / "trajectories" / "scara.yaml")
    settings = SimulationSettings(rate_hz=200.0, duration=40.0)
    samples = simulated_recording(robot, values, trajectory, settings).samples
    return identify(robot, [joint_side_recording(samples, robot, source="run")])


def test_it_is_simulated_and_identified(robot, values, result):
    base = base_parameters(robot)
    assert set(FRICTION) <= set(base.names)
    truth = dict(zip(base.names, base.values(values[base.columns]), strict=True))
    found = dict(zip(result.regrouping.names, result.estimate.values, strict=True))
    for name, value in FRICTION.items():
        assert found[name] == pytest.approx(value, rel=0.02)
    for name in ("ZZ1R", "ZZ2", "Fv1", "Fc1", "Fc2"):
        assert found[name] == pytest.approx(truth[name], rel=0.05, abs=0.02)


def test_it_is_exported(robot, values):
    mechanism = mechanism_of(robot, values)
    text = controller_yaml(mechanism)
    dynamics = yaml.safe_load(text)["/**"]["ros__parameters"]["dynamics"]
    for name, joint in zip(FRICTION, robot.joint_names, strict=True):
        assert dynamics["by_joint"][joint]["quadratic_friction"] == FRICTION[name]
        unit = dynamics["standard_units"][dynamics["standard_names"].index(name)]
        assert unit == "N m s^2/rad^2"
    assert "quadratic_friction * sign(v) |v|^2" in text
    assert "Fq1, Fq2" in urdf_remarks(robot, values)[0]


def test_it_is_drawn(result):
    friction = joint_friction(result)[0]
    assert "Fq1" in friction.names
    figure = friction_figure(friction, 0, (), ("rad/s", "N m"))
    curve = figure.axes[0].lines[-3]  # forwards; before the two axes
    speed, effort = (np.asarray(data) for data in curve.get_data())
    found = dict(zip(result.regrouping.names, result.estimate.values, strict=True))
    expected = found["Fv1"] * speed + found["Fc1"] + found["Fq1"] * speed * np.abs(speed)
    np.testing.assert_allclose(effort, expected, rtol=1e-9)


def test_it_must_not_drive_the_joint(robot, values):
    wrong = np.array(values)
    wrong[robot.all_parameter_names.index("Fq2")] = -0.1
    assert check_consistency(robot, values).consistent
    (problem,) = check_consistency(robot, wrong).problems
    assert problem == "joint_2: quadratic friction -0.1 is negative"
