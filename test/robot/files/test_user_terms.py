"""Joint terms that installed packages give: found by name, imported when asked for, or refused."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

import robot_identification
from robot_identification.calibration.consistency.conditions import conditions
from robot_identification.dynamics.direct import DirectModel
from robot_identification.dynamics.energy import EnergyRegressor
from robot_identification.dynamics.regressor import Regressor, inverse_dynamics
from robot_identification.errors import RobotDescriptionError, SettingError, ShapeError
from robot_identification.files.export.bodies import mechanism_of
from robot_identification.files.export.controller import controller_yaml
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.identify import identify
from robot_identification.identification.validate import validate
from robot_identification.robot.files.document import parse_document
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.robot_yaml.robot import build
from robot_identification.robot.terms.user_terms import UserParameter, UserTerm
from robot_identification.signals.recording import Recording, Segment
from sprung_arm import motion

MODULE = """\
import numpy as np
from robot_identification.robot.terms.joint_terms import SignCondition
from robot_identification.robot.terms.user_terms import UserParameter, UserTerm

def ripple(q, v, a):
    return np.column_stack([np.sin(7.0 * q), np.cos(7.0 * q)])

def square(q, v, a):
    return v * np.abs(v)

RIPPLE = UserTerm(
    (UserParameter("Rs", "ripple, sine", ("N m", "N")),
     UserParameter("Rc", "ripple, cosine", ("N m", "N"))),
    ripple,
)
SQUARE = UserTerm(
    (UserParameter("Fq", "square friction", ("N m s^2/rad^2", "N s^2/m^2"),
     SignCondition.NOT_NEGATIVE),),
    square,
)
NUMBER = 3
"""
ENTRIES = """\
[robot_identification.joint_terms]
gear_ripple = made_up_terms:RIPPLE
square_friction = made_up_terms:SQUARE
number = made_up_terms:NUMBER
gone = made_up_terms:GONE
missing = no_such_module:TERM
"""
FILE = """\
name: arm
effort_meaning: joint_torque
joint_defaults: {{type: revolute, user_terms: [{everywhere}]}}
joints:
  - {{name: base_joint, geometry: {{r: 0.5}}}}
  - {{name: shoulder, geometry: {{alpha: -pi/2, d: 0.35}}, user_terms: [gear_ripple]}}
  - {{name: slide, type: prismatic, geometry: {{alpha: pi/2, d: 0.4}}}}
"""


@pytest.fixture(autouse=True)
def package(tmp_path, monkeypatch):
    """Install a distribution of two terms, and of three mistakes, in a folder of its own."""
    (tmp_path / "made_up_terms.py").write_text(MODULE)
    told = tmp_path / "made_up_terms-1.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: made-up-terms\nVersion: 1.0\n")
    (told / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("made_up_terms", None)


def arm(everywhere="square_friction"):
    return build(parse_document(FILE.format(everywhere=everywhere), "arm.yaml"))


def test_joints_have_the_parameters_of_the_terms_that_their_file_names():
    robot = arm()
    assert robot.all_parameter_names[-4:] == ("Fq1", "Rs2", "Rc2", "Fq3")
    units = [robot.unit_of(name) for name in robot.all_parameter_names[-4:]]
    assert units == ["N m s^2/rad^2", "N m", "N m", "N s^2/m^2"]
    assert {c.owner for c in conditions(robot) if c.kind == "square friction"} == {
        "base_joint",
        "slide",
    }


def test_columns_are_those_of_the_package():
    robot = arm()
    columns = np.arange(len(robot.all_parameter_names))[-4:]
    q, v, a = np.random.default_rng(0).normal(size=(3, 20, 3))
    W = Regressor(robot, columns).dense(q, v, a)
    expected = np.zeros_like(W)
    expected[:, 0, 0] = v[:, 0] * np.abs(v[:, 0])
    expected[:, 1, 1], expected[:, 1, 2] = np.sin(7 * q[:, 1]), np.cos(7 * q[:, 1])
    expected[:, 2, 3] = v[:, 2] * np.abs(v[:, 2])
    np.testing.assert_allclose(W, expected, rtol=0, atol=1e-15)
    assert not EnergyRegressor(robot, columns).contained.any()
    for model in ("dynamic", "simplified", "energy"):
        names = base_parameters(robot, model).leading_names
        assert names[-4:] == ("Fq1", "Rs2", "Rc2", "Fq3")


def test_terms_are_identified_validated_and_exported():
    robot = arm()
    names = robot.all_parameter_names
    rng = np.random.default_rng(1)
    values = np.where([n[:2] in ("XX", "YY", "ZZ") for n in names], 1.0, 0.0)
    for name, value in {"M1": 9, "M2": 9, "M3": 9, "MX2": 2, "MZ3": 1, "Ia1": 1, "Ia2": 1}.items():
        values[names.index(name)] = value
    values[-4:] = 2.0, 3.0, -1.5, 4.0
    t, q, qd, qdd = motion()
    efforts = inverse_dynamics(robot, values, q, qd, qdd)
    noisy = efforts + 0.05 * rng.normal(size=efforts.shape)
    recording = Recording(robot.joint_names, 1.0 / 200.0, (Segment(t, q, None, noisy),))
    result = identify(robot, [recording])
    found = dict(zip(result.regrouping.names, result.estimate.values, strict=True))
    for name, value in zip(names[-4:], values[-4:], strict=True):
        assert found[name] == pytest.approx(value, rel=0.02)
    assert validate(robot, result.estimate.values, [recording]).relative_error.total < 0.01
    text = controller_yaml(mechanism_of(robot, values))
    assert "Parameters of terms of users (square_friction, gear_ripple)" in text
    written = yaml.safe_load(text)["/**"]["ros__parameters"]["dynamics"]
    assert dict(zip(written["standard_names"], written["standard_values"], strict=True))["Rc2"] < 0


def test_a_robot_with_terms_goes_to_other_processes():
    robot = arm()
    assert pickle.loads(pickle.dumps(robot)) == robot


def test_simulation_and_the_energy_refuse_terms_that_are_not_compiled():
    robot = arm()
    with pytest.raises(SettingError, match=r"square_friction.*another package") as refused:
        DirectModel(robot, np.zeros(len(robot.all_parameter_names)))
    assert refused.value.name == "user_terms"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("gear_riple", "did you mean gear_ripple"),
        ("other", "there are gear_ripple, gone"),
        ("number", "is no UserTerm but int"),
        ("gone", "cannot be imported"),
        ("missing", "cannot be imported"),
    ],
)
def test_what_cannot_be_had_is_told_with_its_place(name, problem):
    with pytest.raises(RobotDescriptionError, match=problem) as refused:
        arm(name)
    assert "joint_defaults.user_terms" in str(refused.value)


def test_nothing_is_imported_before_a_robot_file_asks(package):
    arm("")
    sys.modules.pop("made_up_terms", None)
    load_robot("tx40")
    assert "made_up_terms" not in sys.modules


def test_a_term_of_a_coupling_s_name_is_refused():
    text = FILE.format(everywhere="square_friction") + (
        "couplings:\n  - {parameter: Fq1, kind: viscous, "
        "terms: [{on: {shoulder: 1}, of: {slide: 1}}]}\n"
    )
    with pytest.raises(RobotDescriptionError, match="Fq1, which the robot has already"):
        build(parse_document(text, "arm.yaml"))


def parameter(name):
    return UserParameter(name, "made up", ("N m", "N"))


@pytest.mark.parametrize("name", ["Fc", "ZZ", "F2", "", "gear ripple"])
def test_names_that_cannot_be_told_apart_are_refused(name):
    with pytest.raises(SettingError):
        parameter(name)


def test_columns_of_a_wrong_shape_or_without_a_value_are_refused():
    signal = np.zeros(5)
    wide = UserTerm((parameter("Rs"),), lambda q, v, a: np.zeros((5, 2)))
    with pytest.raises(ShapeError, match="columns of Rs"):
        wide.rows(signal, signal, signal)
    poles = UserTerm((parameter("Rs"),), lambda q, v, a: 1.0 / np.maximum(np.abs(v), 0.0))
    with np.errstate(divide="ignore"), pytest.raises(SettingError, match="finite everywhere"):
        poles.rows(signal, signal, signal)
    with pytest.raises(SettingError, match="its own name"):
        UserTerm((parameter("Rs"), parameter("Rs")), np.sin)


def test_the_command_line_takes_terms_of_an_installed_package(package):
    (package / "arm.yaml").write_text(FILE.format(everywhere="square_friction"))
    root = Path(robot_identification.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-m", "robot_identification", "base-parameters", "arm.yaml"],
        cwd=package,
        env={"PYTHONPATH": f"{root}:{package}", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Rc2" in done.stdout
