"""Friction that is chosen by blocks left out: found where it is, and not where it is not."""

from dataclasses import replace

import numpy as np
import pytest

from friction_arm import SETTINGS, arm, chosen, moved, values_of
from robot_identification.calibration.calibrate import calibrate
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import SettingError
from robot_identification.files.bags.recordings import read_recordings
from robot_identification.files.result_documents import result_of_document
from robot_identification.files.results import dump
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.friction.evidence import critical_value
from robot_identification.identification.identify import identify
from robot_identification.identification.merging import merge_results
from robot_identification.identification.rows.whole import FactorStream
from robot_identification.identification.statistics.residuals import joint_friction
from robot_identification.identification.validate import validate
from robot_identification.robot.files.document import parse_document
from robot_identification.robot.files.loading import load_robot
from shared_data import measured_data, requires


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


@pytest.fixture(scope="module")
def plain():
    """Robot file, recording, and result with Coulomb and viscous friction, not what it states."""
    robot = arm("root_friction: true, coulomb_friction: false")
    recording = moved(robot, values_of(robot, Fr2=1.0), duration=5.0)
    found = identify(robot, [recording], overrides=SETTINGS, friction="coulomb-viscous")
    return robot, recording, found


def test_friction_that_the_robot_file_does_not_state_comes_with_the_result(plain):
    robot, recording, found = plain
    read = result_of_document(parse_document(dump(found), "result.yaml").data)
    model = read.model_of(robot)
    assert model.joints[1].terms == {"Ia", "Fv", "Fc", "off"}
    again = validate(model, read.estimate.values, [recording], overrides=SETTINGS)
    assert again.relative_error.total == pytest.approx(found.estimate.relative_error.total)
    assert calibrate(model, read, consistent=False).own_law
    stated = identify(arm(), [recording], overrides=SETTINGS, friction="coulomb-viscous")
    assert stated.friction is None


def test_results_with_the_same_stated_law_merge(plain):
    _, _, found = plain
    other = replace(found, sources=(replace(found.sources[0], digest="another"),))
    merged = merge_results([found, other])
    assert merged.friction == found.friction
    assert merged.regrouping == found.regrouping


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


def test_curves_of_friction_are_those_at_the_mean_measured_load(loaded):
    robot, recording = loaded
    result = identify(robot, [recording], overrides=SETTINGS)
    plain, own = joint_friction(result)
    assert plain.load == 0.0
    speed = np.array([-1.0, 0.5])
    values = dict(zip(result.regrouping.leading, result.estimate.values, strict=True))
    slide = values["Fc2"] + values["Fl2"] * own.load
    expected = values["Fv2"] * speed + slide * np.sign(speed) + values.get("off2", 0.0)
    np.testing.assert_allclose(own.torque(speed), expected, rtol=1e-9)
    bodies = replace(
        robot,
        joints=tuple(replace(j, terms=frozenset({"Ia"})) for j in robot.joints),
        loads=None,
    )
    parameters = values_of(robot, Fl2=0.25)
    inertial = np.array([not n.startswith(("Fv", "Fc", "Fl")) for n in robot.all_parameter_names])
    known = dict(zip(robot.all_parameter_names, np.where(inertial, parameters, 0.0), strict=True))
    carried = np.array([known[name] for name in bodies.all_parameter_names])
    segment = recording.segments[0]
    rates = np.gradient(segment.position, segment.time, axis=0)
    effort = inverse_dynamics(
        bodies, carried, segment.position, rates, np.gradient(rates, segment.time, axis=0)
    )
    assert own.load == pytest.approx(np.abs(effort[:, 1]).mean(), rel=0.05)
    assert own.speed == pytest.approx(np.abs(rates[:, 1]).max(), rel=0.1)
