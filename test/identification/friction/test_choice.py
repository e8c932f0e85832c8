"""Friction that is chosen by blocks left out: found where it is, and not where it is not."""

from dataclasses import replace

import numpy as np
import pytest

from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import SettingError
from robot_identification.files.bags.recordings import read_recordings
from robot_identification.files.result_documents import result_of_document
from robot_identification.files.results import dump
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.friction.selection import critical_value
from robot_identification.identification.identify import identify, validate
from robot_identification.identification.merging import merge_results
from robot_identification.identification.rows.whole import FactorStream
from robot_identification.robot.files.document import parse_document
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.robot_yaml import build
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.recording import Recording
from shared_data import measured_data, requires

ARM = """\
name: arm
effort_meaning: joint_torque
joints:
  - {name: shoulder, type: revolute, geometry: {alpha: pi/2}}
  - {name: elbow, type: revolute, geometry: {d: 0.4}, MORE}
"""
SETTINGS = ProcessingSettings(cutoff_hz=20.0, rate_hz=50.0, velocity_threshold=(0.0, 0.0))


def arm(more="drive_gain: 1"):
    return build(parse_document(ARM.replace("MORE", more), "arm.yaml"))


def values_of(robot, **terms):
    """Standard parameters of the arm, with those of joint terms as named."""
    known = {
        "ZZ1": 0.9, "XX1": 0.4, "YY1": 0.5, "MX1": 1.2, "MY1": 0.2, "M1": 5.0,
        "ZZ2": 0.5, "XX2": 0.2, "YY2": 0.3, "MX2": 0.8, "MY2": 0.3, "M2": 3.0,
        "Ia1": 0.3, "Ia2": 0.2, "Fv1": 1.5, "Fv2": 1.0, "Fc1": 2.0, "Fc2": 1.5,
    }  # fmt: skip
    known |= terms
    return np.array([known.get(name, 0.0) for name in robot.all_parameter_names])


def moved(robot, values, *, noise=0.05, seed=0, duration=40.0):
    """A recording of a motion of many frequencies at 200 Hz, with white noise on the efforts."""
    rng = np.random.default_rng(seed)
    time = np.arange(0.0, duration, 0.005)
    rates = 2.0 * np.pi * np.array([0.13, 0.29, 0.47, 0.71])
    size = rng.uniform(0.2, 0.5, (2, 4))
    phase = rng.uniform(0.0, 6.0, (2, 4))
    angle = rates[:, None] * time
    q, qd, qdd = (
        np.einsum("jk,jkt->tj", size * rates**order, turn(angle + phase[..., None]))
        for order, turn in (
            (0, np.sin), (1, np.cos), (2, lambda x: -np.sin(x)),
        )
    )  # fmt: skip
    effort = inverse_dynamics(robot, values, q, qd, qdd)
    effort += noise * rng.normal(size=effort.shape)
    return Recording.from_arrays(robot, time, q, effort)


def chosen(result):
    """Terms beyond those of the robot file, by joint."""
    return {
        name: set(terms) - {"Ia", "Fv", "Fc", "off"}
        for name, terms in zip(result.joint_names, result.friction.joints, strict=True)
    }


@pytest.fixture(scope="module")
def loaded():
    robot = arm("load_friction: true")
    return robot, moved(robot, values_of(robot, Fl2=0.25))


def test_friction_that_follows_the_load_is_chosen_where_it_is(loaded):
    _, recording = loaded
    result = identify(arm(), [recording], overrides=SETTINGS, friction="auto")
    assert chosen(result) == {"shoulder": set(), "elbow": {"Fl"}}
    before, after = result.friction.errors
    assert after < 0.5 * before
    names = list(result.regrouping.names)
    found = result.estimate.values[names.index("Fl2")]
    std = result.estimate.larger_std[names.index("Fl2")]
    assert abs(found - 0.25) < 3.0 * std < 0.03


def test_stated_load_friction_is_identified_by_iteration(loaded):
    robot, recording = loaded
    result = identify(robot, [recording], overrides=SETTINGS)
    names = list(result.regrouping.names)
    assert result.estimate.values[names.index("Fl2")] == pytest.approx(0.25, abs=0.02)
    again = validate(
        result.model_of(robot), result.estimate.values, [recording], overrides=SETTINGS
    )
    assert again.relative_error.total == pytest.approx(
        result.estimate.relative_error.total, rel=1e-3
    )


def test_nothing_is_chosen_where_there_is_nothing():
    robot = arm()
    added = 0
    for seed in range(3):
        recording = moved(robot, values_of(robot), seed=seed)
        result = identify(robot, [recording], overrides=SETTINGS, friction="auto")
        added += sum(map(bool, chosen(result).values()))
        assert {one.joint for one in result.friction.tried} == {0, 1}
        assert all(one.reason for one in result.friction.tried if not one.chosen)
    assert added == 0


def test_a_shape_that_the_robot_file_leaves_open_is_estimated_with_its_deviation():
    truth = arm("stribeck_friction: {speed: 0.2}")
    recording = moved(truth, values_of(truth, Fs2=2.0), noise=0.02)
    result = identify(arm("stribeck_friction: true"), [recording], overrides=SETTINGS)
    shapes = {shape.name: shape for shape in result.friction.shapes}
    assert set(shapes) == {"Fs2.speed", "Fs2.exponent"}
    for name, value in (("Fs2.speed", 0.2), ("Fs2.exponent", 1.0)):
        assert abs(shapes[name].value - value) < 4.0 * shapes[name].std + 0.02 * value
        assert shapes[name].std < 0.2 * value
        assert abs(shapes[name].correlation) <= 1.0


def test_a_law_survives_the_result_file(loaded):
    _, recording = loaded
    result = identify(arm(), [recording], overrides=SETTINGS, friction="auto")
    read = result_of_document(parse_document(dump(result), "result.yaml").data)
    assert read.friction == result.friction
    assert result.summary()["friction_choice"]["tried"]
    robot = read.model_of(arm())
    assert robot.joints[1].terms == {"Ia", "Fv", "Fc", "off", "Fl"}
    assert read.friction.robot_file_lines(arm()) == ("{name: elbow, load_friction: true}",)


def test_coulomb_and_viscous_friction_is_had_whatever_the_file_states():
    robot = arm("root_friction: true, coulomb_friction: false")
    recording = moved(robot, values_of(robot, Fr2=1.0))
    plain = identify(robot, [recording], overrides=SETTINGS, friction="coulomb-viscous")
    assert "Fc2" in plain.regrouping.names
    assert "Fr2" not in plain.regrouping.names
    assert "Fr2" in identify(robot, [recording], overrides=SETTINGS).regrouping.names


def test_what_cannot_be_chosen_is_refused():
    robot = arm()
    recording = moved(robot, values_of(robot), duration=5.0)
    with pytest.raises(SettingError, match="choose one of"):
        identify(robot, [recording], friction="best")
    with pytest.raises(SettingError, match="works with the methods"):
        identify(robot, [recording], method="energy", friction="auto")


def test_the_critical_value_is_that_of_student():
    assert critical_value(4, 0.05) == pytest.approx(2.776, abs=1e-3)


def test_an_own_regressor_without_loads_is_told_of_the_parameters():
    """Efforts of a robot follow the load of the parameters that they are computed with."""
    robot = arm("load_friction: true")
    values = values_of(robot, Fl2=0.2)
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 5, 2))
    plain = values * [not name.startswith("F") for name in robot.all_parameter_names]
    friction = values_of(robot) * [name.startswith("F") for name in robot.all_parameter_names]
    bodies = inverse_dynamics(robot, plain, q, qd, qdd)
    expected = bodies + inverse_dynamics(robot, friction, q, qd, qdd)
    expected[:, 1] += 0.2 * np.sign(qd[:, 1]) * np.abs(bodies[:, 1])
    np.testing.assert_allclose(inverse_dynamics(robot, values, q, qd, qdd), expected, atol=1e-12)
    other = replace(robot, loads=np.ones(len(values)))
    np.testing.assert_allclose(inverse_dynamics(other, values, q, qd, qdd), expected, atol=1e-12)


def test_results_with_a_law_of_their_own_do_not_merge(loaded):
    _, recording = loaded
    result = identify(arm(), [recording], overrides=SETTINGS, friction="auto")
    with pytest.raises(SettingError, match="identify all recordings together"):
        merge_results([result, result])


def test_streams_refuse_friction_whose_load_or_shape_is_open():
    for more, told in (
        ("load_friction: true", "which parameters load the joint"),
        ("stribeck_friction: true", "its shape is open"),
    ):
        robot = arm(more)
        with pytest.raises(SettingError, match=told):
            FactorStream(robot, base_parameters(robot).base_columns)


@requires("emps")
def test_emps_with_the_published_asymmetric_law():
    robot = load_robot("emps")
    own = robot.joints[0]
    asymmetric = replace(robot, joints=(replace(own, terms=own.terms | {"Fva"}),))
    recordings = read_recordings([measured_data("emps") / "bag"], robot)
    result = identify(asymmetric, recordings)
    assert 100.0 * result.estimate.relative_error.total == pytest.approx(3.1117, abs=5e-5)
