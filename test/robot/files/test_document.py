"""Plain YAML becomes plain data with line numbers; everything else is refused where it stands."""

import math

import pytest
import yaml

from robot_identification.errors import RobotDescriptionError
from robot_identification.robot.files.document import (
    MAXIMUM_BYTES,
    WRITTEN,
    Accepted,
    parse_document,
    read_document,
)


def parsed(text):
    return parse_document(text, "robot.yaml")


def refused(text):
    with pytest.raises(RobotDescriptionError) as caught:
        parsed(text)
    assert caught.value.path == "robot.yaml"
    return caught.value


def test_every_entry_knows_its_line():
    document = parsed("a: 1\nb:\n  - x: {y: 2}\n  -\n    x: 3\n")
    assert document.data == {"a": 1, "b": [{"x": {"y": 2}}, {"x": 3}]}
    assert document.line(("b", 0, "x", "y")) == 3
    assert document.line(("b", 1, "x")) == 5
    assert document.line(("b", 1, "absent", "deeper")) == 5


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("-0.5", -0.5),
        ("1e-3", 1e-3),
        (".5", 0.5),
        ("true", True),
        ("null", None),
        ("~", None),
        ("no", "no"),
        ("on", "on"),
        ("1:30", "1:30"),
        ("2024-01-01", "2024-01-01"),
        ('"12"', "12"),
        ("-pi/2", "-pi/2"),
    ],
)
def test_scalars_mean_what_they_look_like(text, value):
    data = parsed(f"key: {text}").data["key"]
    assert data == value
    assert type(data) is type(value)


@pytest.mark.parametrize("text", [".nan", ".inf", "-.inf", "nan", "inf", "1e999", "9" * 400])
def test_a_number_that_is_not_finite_is_refused(text):
    error = refused(f"name: x\ngravity:\n  - {text}\n")
    assert (error.line, error.field) == (3, "gravity[0]")
    assert "not a finite number" in error.problem


def test_what_programs_write_may_hold_large_and_infinite_numbers_and_keeps_no_lines():
    text = "a: [.inf, -.inf, .nan, 1700000000000000001]\nb: &x [1]\n"
    document = parse_document(text, "written.yaml", accepted=WRITTEN)
    *ends, number, stamp = document.data["a"]
    assert ends == [math.inf, -math.inf]
    assert math.isnan(number)
    assert stamp == 1_700_000_000_000_000_001
    assert document.lines == {}
    with pytest.raises(RobotDescriptionError, match="more than 3 entries"):
        parse_document("[1, 2, 3]", "written.yaml", accepted=Accepted(entries=3))


@pytest.mark.parametrize(
    "value",
    [
        *("08", "1e5", ".5e3", "nan", "inf", "yes", "on", "null", "true", "0x1f", "1_0", "1:30"),
        *("", "=", "2026-01-01", "a: b", 0, -3, 2.5, 1e-300, 1e16, 10**18, math.inf),
        *(True, False, None),
    ],
)
def test_what_programs_write_comes_back(value):
    text = yaml.safe_dump({"key": [value]})
    (found,) = parse_document(text, "written.yaml", accepted=WRITTEN).data["key"]
    assert found == value
    assert type(found) is type(value)


def test_a_key_that_stands_twice_is_refused():
    error = refused("joints:\n  - name: a\n    type: revolute\n    name: b\n")
    assert (error.line, error.field) == (4, "joints[0].name")
    assert "first on line 2" in error.problem


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("a: &x [1]\nb: 2\n", 1, "anchors"),
        ("a: 1\nb: *x\n", 2, "alias"),
        ("a: !!python/object/apply:os.system [ls]\n", 1, "tag"),
        ("a: !degrees 90\n", 1, "!degrees is not accepted; write the value in rad"),
        ("a: 1\n---\nb: 2\n", 2, "second document"),
        ("a: 1\n? [b]\n: 2\n", 2, "key must be plain text"),
        ("[" * 100 + "]" * 100, 1, "nested too deeply"),
    ],
)
def test_more_of_yaml_than_a_robot_needs_is_refused(text, line, word):
    error = refused(text)
    assert error.line == line
    assert word in error.problem


@pytest.mark.parametrize(
    ("text", "line"), [("a: [1,\nb: 2", 3), ("a: 1\n b: 2\n", 2), ("a: '", 1), ("a:\n\t- 1", 2)]
)
def test_malformed_yaml_is_refused_with_its_line(text, line):
    error = refused(text)
    assert error.line == line
    assert "not valid YAML" in error.problem


def test_control_characters_are_refused():
    assert "not valid YAML" in refused("a: \x00").problem


def test_an_empty_file_is_refused():
    assert "empty" in refused("# nothing\n").problem


def test_a_billion_laughs_are_not_expanded():
    laughs = "a: &a [x, x, x]\n" + "".join(f"k{i}: &b{i} [*a, *a, *a]\n" for i in range(50))
    assert "not accepted" in refused(laughs).problem


def test_a_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "robot.yaml"
    path.write_bytes(b"name: x\ndescription: \xff\n")
    with pytest.raises(RobotDescriptionError, match="UTF-8") as caught:
        read_document(path)
    assert caught.value.line == 2


def test_a_huge_file_is_refused(write):
    with pytest.raises(RobotDescriptionError, match="larger than"):
        read_document(write("#" * (MAXIMUM_BYTES + 1)))


def test_a_folder_or_a_missing_file_is_refused(tmp_path):
    with pytest.raises(RobotDescriptionError, match="not a regular file"):
        read_document(tmp_path)
    with pytest.raises(RobotDescriptionError, match="No such file"):
        read_document(tmp_path / "absent.yaml")


def test_the_digest_is_that_of_the_file(write):
    one, two = read_document(write("a: 1")), read_document(write("a: 2", "other.yaml"))
    assert len(one.digest) == 64
    assert one.digest != two.digest
