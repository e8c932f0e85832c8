"""Springs between links are identified, calibrated and exported; without them they are missed."""

from dataclasses import replace

import numpy as np
import pytest
import yaml

from robot_identification.calibration.calibrate import calibrate
from robot_identification.dynamics.reference import Reference
from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.errors import InconsistentParametersError, SettingError
from robot_identification.excitation.motions.trajectory import interpolate
from robot_identification.files.export.bodies import mechanism_of
from robot_identification.files.export.controller import controller_yaml
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.diagnosis.finding import Severity
from robot_identification.identification.identify import identify
from robot_identification.robot.experiment import Controller
from robot_identification.robot.geometry import placement
from robot_identification.robot.joint import GeometricParameters
from robot_identification.signals.recording import Recording, Segment
from sprung_arm import (
    PRELOAD,
    STIFFNESS,
    heavy_arm,
    motion,
    recorded,
    true_values,
    without_spring,
)

STIFF = Controller("computed_torque", 1000.0, {"kp": (900.0,) * 3, "kd": (60.0,) * 3})


@pytest.fixture(scope="module")
def simulated():
    """A minute and a half of the arm with its spring under a controller, sensors with noise."""
    robot = heavy_arm()
    t, q, qd, qdd = motion(seconds=90.0)
    loop = ClosedLoop(robot, true_values(robot), controller=STIFF, sample_rate_hz=200.0)
    reference = Reference(t, interpolate(t, q, qd, qdd))
    samples = loop.run(reference, float(t[-1]))
    rng = np.random.default_rng(7)
    effort = samples.effort + 5.0 * rng.normal(size=samples.effort.shape)
    position = samples.position + 1e-5 * rng.normal(size=effort.shape)
    segment = Segment(samples.time, position, None, effort)
    return Recording(robot.joint_names, 1.0 / 200.0, (segment,))


@pytest.fixture(scope="module")
def result(simulated):
    return identify(heavy_arm(), [simulated])


def test_preload_and_stiffness_of_a_simulated_robot_are_found(result):
    values = dict(zip(result.regrouping.names, result.estimate.values, strict=True))
    assert values["balancer_preload"] == pytest.approx(PRELOAD, rel=0.02)
    assert values["balancer_stiffness"] == pytest.approx(STIFFNESS, rel=0.02)
    robot = heavy_arm()
    base = base_parameters(robot)
    truth = base.values(true_values(robot)[base.columns])
    error = (result.estimate.values - truth) / result.estimate.larger_std
    assert np.abs(error).max() < 4.0
    assert not [f for f in result.findings if f.severity is Severity.MISTAKE]


def test_without_the_spring_in_the_file_a_torque_of_position_is_named(simulated, result):
    plain = identify(without_spring(heavy_arm()), [simulated])
    first = plain.findings[0]
    assert (first.severity, first.cause) == (Severity.MISTAKE, "torque of position")
    assert first.joints == ("shoulder",)
    assert plain.estimate.relative_error.total > 3.0 * result.estimate.relative_error.total


def test_an_arm_without_a_spring_is_not_said_to_have_one():
    robot = heavy_arm()
    values = true_values(robot)
    values[-2:] = 0.0
    plain = without_spring(robot)
    findings = identify(plain, [recorded(robot, values)]).findings
    assert not [f for f in findings if f.severity is Severity.MISTAKE]


def test_a_stiffness_that_the_weight_hides_is_grouped_with_it():
    """Axes that intersect: a spring from link 1 to link 2 with l^2 = c - 2 a b sin q.

    The stiffness then acts by a multiple of dl^2/dq, as the weight does, and of the preload.
    """
    robot = heavy_arm()
    rotation, translation = placement(GeometricParameters(alpha=-np.pi / 2, theta=-np.pi / 2))
    shoulder = replace(robot.joints[1], geometry=None, rotation=rotation, translation=translation)
    joints = (robot.joints[0], shoulder, robot.joints[2])
    base = base_parameters(replace(robot, joints=joints))
    assert "balancer_stiffness" not in base.leading_names
    groups = dict(zip(base.leading_names, base.groupings, strict=True))
    assert groups["balancer_preload"]["balancer_stiffness"] == pytest.approx(
        robot.springs[0].length
    )
    assert all("balancer_stiffness" in groups[name] for name in ("MX2", "MY2"))


def test_the_energy_method_knows_springs(simulated):
    values = identify(heavy_arm(), [simulated], method="energy")
    found = dict(zip(values.regrouping.names, values.estimate.values, strict=True))
    assert found["balancer_preload"] == pytest.approx(PRELOAD, rel=0.1)


def test_calibrated_parameters_and_exports_have_the_spring(result):
    robot = heavy_arm()
    found = calibrate(robot, result)
    values = dict(zip(robot.all_parameter_names, found.values, strict=True))
    assert values["balancer_stiffness"] == pytest.approx(STIFFNESS, rel=0.05)
    text = controller_yaml(mechanism_of(robot, found.values))
    written = yaml.safe_load(text)["/**"]["ros__parameters"]["dynamics"]
    spring = written["springs"]["balancer"]
    assert spring["kind"] == "gas"
    assert spring["preload"] == pytest.approx(values["balancer_preload"])
    assert spring["first"] == {"joint": "carousel", "point": [0.1, -0.12, -0.25]}
    assert spring["length"] == robot.springs[0].length
    assert written["standard_names"][-1] == "balancer_stiffness"
    assert written["standard_units"][-2:] == ["N", "N/m"]


def test_a_negative_stiffness_is_not_exported():
    robot = heavy_arm()
    values = true_values(robot)
    values[-1] *= -1.0
    with pytest.raises(InconsistentParametersError, match="balancer: its stiffness"):
        mechanism_of(robot, values)


def test_base_parameters_are_of_the_spring_that_they_were_made_for():
    robot = heavy_arm()
    base = base_parameters(robot)
    longer = replace(robot, springs=(replace(robot.springs[0], length=1.0),))
    with pytest.raises(SettingError, match="springs"):
        base.of(longer)
