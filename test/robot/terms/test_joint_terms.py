"""The table of joint terms: what it says is what models, files and exports do."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import robot_identification
from robot_identification.calibration.consistency.conditions import conditions
from robot_identification.dynamics.energy import EnergyRegressor
from robot_identification.dynamics.loads import carried_columns
from robot_identification.dynamics.regressor import Regressor
from robot_identification.robot.files.document import parse_document
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.robot_yaml.robot import build
from robot_identification.robot.joint import JointType
from robot_identification.robot.parameters import LINK_PARAMETERS
from robot_identification.robot.terms.joint_terms import DEFAULT_TERMS, TERMS, SignCondition
from robot_identification.robot.terms.kinds import TermKind

EVERY = frozenset(term.name for term in TERMS)
FILE = """\
name: slide
effort_meaning: joint_torque
joints:
  - {name: slide, type: prismatic, geometry: {alpha: pi/2}, TERMS}
"""


@pytest.fixture
def robot():
    """The SCARA with every term that there is."""
    scara = load_robot("scara")
    return replace(scara, joints=tuple(replace(j, terms=EVERY) for j in scara.joints))


def test_columns_of_the_regressor_are_the_functions_of_the_table(robot):
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 50, 2))
    qd[:5] = 0.0
    full = len(robot.all_parameter_names)
    rng = np.random.default_rng(1)
    robot = robot.loaded_by(rng.normal(size=full))
    W = Regressor(robot, np.arange(full)).dense(q, qd, qdd)
    bodies = carried_columns(robot)
    loads = {
        TermKind.LOAD: W[:, :, bodies] @ robot.loads[bodies],
        TermKind.GRAVITY_LOAD: Regressor(robot, bodies).dense(q, 0 * q, 0 * q)
        @ robot.loads[bodies],
    }
    for joint in range(2):
        own = W[:, :, robot.layout.columns(joint)]
        assert own.shape[2] == len(TERMS)
        np.testing.assert_array_equal(own[:, 1 - joint], 0.0)
        for column, term in zip(own[:, joint].T, TERMS, strict=True):
            told = {"position": q[:, joint]}
            if term.kind.follows_load:
                told["load"] = loads[term.kind][:, joint]
            expected = term.kind.of(qd[:, joint], qdd[:, joint], **told)
            np.testing.assert_allclose(column, expected, rtol=1e-12, atol=1e-12)


def test_the_energy_holds_what_the_table_says(robot):
    contained = EnergyRegressor(robot, np.arange(len(robot.all_parameter_names))).contained
    table = robot.layout.table(contained)
    assert table[:, :LINK_PARAMETERS].all()
    for column, term in zip(table.T[LINK_PARAMETERS:], TERMS, strict=True):
        assert (column == term.kind.stores_energy).all()


def test_parameters_are_named_and_counted_by_the_robot(robot):
    assert robot.layout.per_joint == LINK_PARAMETERS + len(TERMS)
    assert robot.standard_names == robot.all_parameter_names
    plain = replace(robot, joints=tuple(replace(j, terms=frozenset()) for j in robot.joints))
    assert plain.layout.per_joint == LINK_PARAMETERS + len(DEFAULT_TERMS)
    assert len(plain.standard_names) == 2 * LINK_PARAMETERS
    for joint in range(2):
        for column, term in zip(robot.layout.columns(joint), TERMS, strict=True):
            assert robot.all_parameter_names[column] == f"{term.name}{joint + 1}"


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.name)
def test_a_robot_file_says_whether_a_joint_has_a_term(term):
    for stated, there in (("true", True), ("false", False)):
        text = FILE.replace("TERMS", f"{term.key}: {stated}")
        joint = build(parse_document(text, "slide.yaml")).joints[0]
        assert (term.name in joint.terms) is there
        assert joint.terms - {term.name} == DEFAULT_TERMS - {term.name}


def test_units_and_conditions_are_those_of_the_table(robot):
    slide = replace(robot.joints[1], type=JointType.PRISMATIC)
    other = replace(robot, joints=(robot.joints[0], slide))
    for term in TERMS:
        assert tuple(other.unit_of(f"{term.name}{j}") for j in (1, 2)) == term.units
        own = [c for c in conditions(robot) if c.kind == term.label]
        assert len(own) == (0 if term.sign is SignCondition.ANY else 2)
        assert all(c.strict is (term.sign is SignCondition.POSITIVE) for c in own)


def test_no_number_of_parameters_of_a_joint_is_written_down():
    """Fourteen parameters a joint, four of them terms: the table says so, and it alone."""
    places = re.compile(r"(?<![-\w.])14 \* [a-z]|[a-z] \* 14\b|\[\s*1[0-4] ?:|: ?14\]")
    package = Path(robot_identification.__file__).parent
    found = [
        f"{path.relative_to(package)}:{number}: {line.strip()}"
        for path in sorted(package.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if places.search(line)
    ]
    assert not found
