"""The schemas lie there complete: an editor that reads nothing else knows every key."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import schema_tables
from robot_identification.errors import RobotDescriptionError
from robot_identification.robot.files.document import parse_document, read_document
from robot_identification.robot.files.schema import check, schema_file
from robot_identification.robot.terms.joint_terms import COUPLING_KINDS, TERMS

ROBOTS = sorted((Path(__file__).parents[3] / "config" / "robots").glob("*.yaml"))


@pytest.mark.parametrize("name", schema_tables.SCHEMAS)
def test_files_say_what_the_tables_say(name):
    written = schema_file(name).read_text(encoding="utf-8")
    assert written == schema_tables.completed(name), "run make schema"
    assert "make schema" in json.loads(written)["$comment"]


@pytest.mark.parametrize("path", ROBOTS, ids=lambda path: path.name)
def test_the_file_alone_accepts_the_shipped_robots(path):
    Draft202012Validator(json.loads(schema_file("robot").read_text())).validate(
        read_document(path).data
    )


@pytest.mark.parametrize("owner", ["joint", "joint_defaults"])
def test_the_file_alone_knows_every_joint_term_and_no_other(owner):
    parts = json.loads(schema_file("robot").read_text())["$defs"]
    check = Draft202012Validator({"$ref": f"#/$defs/{owner}", "$defs": parts})
    joint = {"name": "one"} if owner == "joint" else {}
    for term in TERMS:
        assert check.is_valid({**joint, term.key: True})
        assert not check.is_valid({**joint, term.key: 1})
    assert not check.is_valid({**joint, "viscous_fricton": True})
    assert parts["coupling"]["properties"]["kind"]["enum"] == list(COUPLING_KINDS)


def test_a_term_that_comes_or_goes_changes_what_is_written(monkeypatch):
    new = replace(TERMS[1], key="square_friction", name="Fq")
    monkeypatch.setattr(schema_tables, "TERMS", (new, *TERMS[1:]))
    joint = json.loads(schema_tables.completed("robot"))["$defs"]["joint"]["properties"]
    assert "square_friction" in joint
    assert TERMS[0].key not in joint
    assert {"name", "limits", "drive_gain"} <= set(joint)


@pytest.mark.parametrize(
    ("kind", "schema", "told"),
    [
        ("drive_gains", "parameters", "the gains of drive-gains, and parameters are wanted here"),
        ("payload", "parameters", "a payload of payload, and parameters are wanted here"),
        ("result", "robot", "a result of identify, and a robot file is wanted here"),
        ("parameters", "robot", "parameters of calibrate, and a robot file is wanted here"),
        ("parameters", "cell", "parameters of calibrate, and a cell is wanted here"),
    ],
)
def test_a_file_of_another_kind_is_told_as_what_it_is(kind, schema, told):
    text = f"kind: robot_identification/{kind}\nschema: 1\nsha256: 0\n"
    with pytest.raises(RobotDescriptionError, match=told) as refusal:
        check(parse_document(text, "x.yaml"), schema)
    assert refusal.value.line == 1


@pytest.mark.parametrize(
    ("mounting", "told"),
    [
        ("cieling", r'cell:1: mounting: "cieling" is none of .*: floor, ceiling, none, {wall: DIR'),
        ("{pedestl: 0.6}", r"mounting: .* is none of what may stand here: .* {pedestal: HEIGHT}"),
        ("{pedestal: -0.6}", r"mounting.pedestal: -0.6 must be greater than 0"),
        ("{wall: z}", r'mounting.wall: "z" is not one of x, -x, y, -y'),
    ],
)
def test_of_several_forms_the_one_that_is_meant_is_told_or_all(mounting, told):
    with pytest.raises(RobotDescriptionError, match=told):
        check(parse_document(f"mounting: {mounting}", "cell"), "cell")


def test_a_misspelt_key_of_the_only_mapping_that_may_stand_there_is_told():
    text = "name: arm\neffort_meaning: current\njoints: [{name: a, stribeck_friction: {sped: 1}}]"
    with pytest.raises(RobotDescriptionError, match=r"sped: unknown key; did you mean speed\?"):
        check(parse_document(text, "robot"), "robot")
