"""Result files that were changed after they were written."""

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from made_up_results import made_up_result, with_everything
from robot_identification.errors import ResultFileError
from robot_identification.files import results
from robot_identification.files.results import dump, read_result
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values


@pytest.fixture(scope="module")
def text():
    robot = load_robot("three_dof")
    values = load_values("three_dof", robot)
    return dump(made_up_result(robot, values, np.random.default_rng(0), noise=0.01))


def read(tmp_path, text):
    path = tmp_path / "result.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_result(path)


def changed(text, change):
    """Return a result file without checksum in which something was changed."""
    document = yaml.safe_load(text)
    del document["sha256"]
    change(document)
    return yaml.safe_dump(document, sort_keys=False)


def test_what_was_written_is_read_and_written_alike(tmp_path, text):
    result = read(tmp_path, text)
    assert dump(result) == text
    assert result.warnings == ()


def test_layout_and_comments_do_not_count(tmp_path, text):
    again = "# moved by hand\n" + yaml.safe_dump(yaml.safe_load(text), width=80)
    assert dump(read(tmp_path, again)) == text


@pytest.mark.parametrize("key", ["robot", "seconds", "sha256", "beta"])
def test_another_value_is_noticed(tmp_path, text, key):
    document = yaml.safe_load(text)
    document[key] = "changed"
    with pytest.raises(ResultFileError, match="checksum mismatch"):
        read(tmp_path, yaml.safe_dump(document))


def test_without_checksum_it_is_read_with_a_warning(tmp_path, text):
    result = read(tmp_path, changed(text, lambda document: None))
    assert "no checksum, so that damage cannot be noticed" in result.warnings[-1]


@settings(max_examples=60, deadline=None)
@given(place=st.integers(0, 10**6), bit=st.integers(0, 7))
def test_a_flipped_bit_changes_no_number(tmp_path_factory, text, place, bit):
    raw = bytearray(text.encode())
    raw[place % len(raw)] ^= 1 << bit
    try:
        result = read(tmp_path_factory.getbasetemp(), bytes(raw))
    except ResultFileError:
        return
    if not result.warnings:  # else it was the key of the checksum
        assert dump(result) == text


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda d: d.update(converged="no"), "converged is 'no', neither true nor false"),
        (lambda d: d.update(iterations=1.5), "iterations is 1.5, not a whole number"),
        (lambda d: d.update(iterations=-1), "iterations is -1, which is negative"),
        (lambda d: d.update(warnings="one"), "warnings is 'one', not a list of text"),
        (lambda d: d.update(robot=None), "robot is None, not text"),
        (lambda d: d.update(settings=[]), r"settings is \[\], not a mapping"),
        (lambda d: d["sources"][0].update(samples=True), "samples is True, not a whole number"),
        (lambda d: d["weights"].append(1.0), "weights has 4 entries instead of 3"),
        (lambda d: d["parameters"][0].update(value="1.0"), "value is '1.0', not a number"),
        (lambda d: d["parameters"][0].update(value=float("nan")), "value that is not finite"),
        (lambda d: d["beta"].pop(), "one per base parameter"),
        (lambda d: d["leading"].__setitem__(0, d["leading"][1]), "is named twice"),
        (lambda d: d["leading"].__setitem__(0, "XX9"), "XX9 is not among the standard"),
        (lambda d: d["factors"][0]["triangle"].pop(), "factor of joint joint_1 needs"),
        (lambda d: d["factors"][0]["columns"].__setitem__(0, 0.5), "columns that do not exist"),
        (lambda d: d["factors"][0]["columns"].__setitem__(0, 10**400), "damaged"),
        (lambda d: d.pop("factors"), "'factors' is missing"),
        (lambda d: d.update({"parameters": 3}), "parameters is 3, not a list of mappings"),
    ],
)
def test_entries_of_another_kind_are_refused(tmp_path, text, change, problem):
    with pytest.raises(ResultFileError, match=problem):
        read(tmp_path, changed(text, change))


def test_a_file_with_more_entries_than_any_result_is_refused(tmp_path, text, monkeypatch):
    monkeypatch.setattr(results, "_ACCEPTED", results._ACCEPTED._replace(entries=3000))
    with pytest.raises(ResultFileError, match="more than 3000 entries"):
        read(tmp_path, text + "a: [" + "1," * 3000 + "]\n")


@pytest.fixture(scope="module")
def whole_text():
    """The text of a result with everything that a result may hold."""
    robot = load_robot("emps")
    values = load_values("emps", robot)
    return dump(with_everything(made_up_result(robot, values, np.random.default_rng(0))))


def test_everything_that_a_result_may_hold_comes_back(tmp_path, whole_text):
    assert dump(read(tmp_path, whole_text)) == whole_text


@pytest.mark.parametrize(
    ("places", "value"),
    [
        (("robust", "converged"), "false"),
        (("robust", "method"), "other"),
        (("robust", "iterations"), 4.5),
        (("robust", "outliers", 0, "scale"), "0.3"),
        (("robust", "outliers", 0, "worst"), [[1.0]]),
        (("cross_validation", "folds", 0, "name"), 7),
        (("held_out_bags", 0, "rows", "slide"), 99.5),
        (("history", 0, "step"), True),
        (("verdict",), 1),
        (("elimination", "removed", 0, "name"), None),
    ],
)
def test_entries_of_another_type_are_refused(tmp_path, whole_text, places, value):
    def change(document):
        entry = document
        for place in places[:-1]:
            entry = entry[place]
        assert places[-1] in entry
        entry[places[-1]] = value

    with pytest.raises(ResultFileError, match="damaged"):
        read(tmp_path, changed(whole_text, change))


@pytest.mark.parametrize(("value", "std"), [(0.0, 0.0), (0.0, 1.0), (1e-320, 1e9), (1.0, 1e308)])
def test_deviations_far_beyond_their_values_are_infinite(tmp_path, text, value, std):
    result = read(
        tmp_path,
        changed(text, lambda document: document["parameters"][0].update(value=value, std=std)),
    )
    assert result.estimate.relative_std_percent[0] == np.inf
    assert "relative_std_percent: .inf" in dump(result)


@pytest.mark.parametrize(
    ("extra", "problem"),
    [
        ("a: &a [1]\nb: *a\n", "aliases are not accepted"),
        ("robot: other\n", "the key stands here again"),
        ("a: !!python/name:os.system ''\n", "the tag .* is not accepted"),
        ("a: 2026-13-45\n", "checksum mismatch"),
        ("a: " + "[" * 5000 + "\n", "nested too deeply"),
        ("a: " + "{b: " * 500_000 + "\n", "nested too deeply"),
        ("a: \x00\n", "not valid YAML"),
    ],
)
def test_yaml_that_nobody_writes_is_refused(tmp_path, text, extra, problem):
    with pytest.raises(ResultFileError, match=problem):
        read(tmp_path, text + extra)


def test_a_result_of_an_earlier_version_is_read(tmp_path):
    robot = load_robot("three_dof")
    values = load_values("three_dof", robot)
    made = with_everything(made_up_result(robot, values, np.random.default_rng(0), noise=0.01))

    def as_before(document):
        validation = document["cross_validation"]
        for fold in (*document["held_out_bags"], *validation["folds"]):
            del fold["effort_rms"]

    result = read(tmp_path, changed(dump(made), as_before))
    assert len(result.cross_validation.folds) == len(made.cross_validation.folds)
    for fold in (*result.held_out_bags, *result.cross_validation.folds):
        assert fold.effort_rms == ()
        assert fold.rows == made.held_out_bags[0].rows
    assert "effort_rms" not in dump(result)
    for key in ("held_out_bags", "cross_validation", "robust", "elimination", "history"):
        shorter = changed(dump(made), lambda document, key=key: document.pop(key))
        assert read(tmp_path, shorter).estimate.values.tolist() == made.estimate.values.tolist()


def test_a_file_that_is_not_there_is_named_plainly(tmp_path):
    with pytest.raises(ResultFileError, match=r"none\.yaml: no such file; give a result") as caught:
        read_result(tmp_path / "none.yaml")
    assert "Errno" not in str(caught.value)
    with pytest.raises(ResultFileError, match=r"cannot be read: Is a directory$"):
        read_result(tmp_path)


def test_a_file_larger_than_any_result_is_not_read(tmp_path):
    path = tmp_path / "result.yaml"
    with path.open("wb") as file:
        file.truncate(64 * 2**20 + 1)
    with pytest.raises(ResultFileError, match="larger than any result file"):
        read_result(path)
