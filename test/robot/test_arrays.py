"""Values that hold arrays: whose the arrays are, and when two of them are equal."""

import dataclasses
import importlib
import inspect
import pkgutil
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pytest

import robot_identification
from robot_identification.collision.bodies.shapes import Hull
from robot_identification.collision.scene import Scene
from robot_identification.errors import SettingError
from robot_identification.files.results import read_result, write_result
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.identify import identify
from robot_identification.robot.arrays import Array, by_value, numbers, read_only, read_only_view
from robot_identification.robot.files.loading import load_robot
from robot_identification.signals.conditioning import joint_side_recording
from robot_identification.signals.efforts.separate import EffortSamples
from robot_identification.signals.filtered import FilteredSegment
from robot_identification.signals.raw_samples import RawSamples
from robot_identification.signals.recording import Recording, Segment
from swinging_scara import swinging_scara

SIGNALS = ("position", "velocity", "effort", "reference")


def arrays(*names, shape=(5, 2)):
    return {name: np.random.default_rng(0).normal(size=shape) for name in names}


def segment(position):
    return Segment(np.arange(5.0), position, None, np.ones((5, 2)))


@pytest.mark.parametrize(
    ("kind", "given", "more"),
    [
        (Segment, arrays("position", "velocity", "effort", "reference"), {"time": np.arange(5.0)}),
        (
            RawSamples,
            arrays("position", "velocity", "effort", "reference"),
            {"stamps": np.arange(5)},
        ),
        (EffortSamples, arrays("effort"), {"stamps": np.arange(5)}),
        (
            FilteredSegment,
            arrays("position", "velocity", "acceleration", "effort", "shares", shape=(2, 5)),
            {"time": np.arange(5.0)},
        ),
    ],
)
def test_arrays_are_read_only_through_their_owner_and_stay_their_callers(kind, given, more):
    rest = {"period": 0.1} if kind is FilteredSegment else {}
    value = kind(**given, **more, **rest)
    for name, array in {**given, **more}.items():
        held = getattr(value, name)
        assert array.flags.writeable
        assert np.shares_memory(held, array)
        with pytest.raises(ValueError, match="read-only"):
            held[0] = 0
        array[0] = 0


def test_frozen_arrays_are_copies_and_those_of_the_caller_stay_writable():
    faces, pairs, kept = np.zeros((4, 3), np.int64), np.array([[0, 1]]), np.array([True])
    hull, scene = Hull(np.zeros((4, 3)), faces), Scene((), pairs)
    frozen = read_only(kept, np.bool_)
    for given, held in ((faces, hull.faces), (pairs, scene.pairs), (kept, frozen)):
        assert given.flags.writeable
        assert not held.flags.writeable
        assert not np.shares_memory(given, held)


def test_a_view_of_what_is_read_only_is_that_itself():
    array = read_only([1.0, 2.0])
    assert read_only_view(array) is array


@by_value
@dataclass(frozen=True)
class Held:
    values: Array
    named: Mapping[str, Array] = field(default_factory=dict)
    parts: tuple[Array, ...] = ()
    number: float = 0.0
    remark: str = field(default="", compare=False)


def held(**changes):
    one = np.array([1.0, np.nan, 3.0])
    usual = {"values": one, "named": {"a": one}, "parts": (one, one[:2]), "number": float("nan")}
    return Held(**{**{k: _copy(v) for k, v in usual.items()}, **changes})


def _copy(value):
    if isinstance(value, dict):
        return {k: v.copy() for k, v in value.items()}
    return tuple(v.copy() for v in value) if isinstance(value, tuple) else np.copy(value)[()]


def test_values_are_equal_where_all_their_elements_are():
    assert held() == held(remark="of no account")
    assert not held() != held()  # noqa: SIM202
    assert held() == held(values=np.array([1, np.nan, 3], dtype=np.float32))
    for changes in (
        {"values": np.array([1.0, np.nan, 3.5])},
        {"values": np.array([1.0, 2.0, 3.0])},
        {"values": np.array([1.0, np.nan])},
        {"values": np.array([[1.0, np.nan, 3.0]])},
        {"values": None},
        {"named": {"b": np.array([1.0, np.nan, 3.0])}},
        {"named": {"a": np.zeros(3)}},
        {"parts": ()},
        {"number": 1.0},
    ):
        assert held() != held(**changes), changes
    assert held() != "something else"
    with pytest.raises(TypeError, match="unhashable"):
        hash(held())


def test_recordings_and_robots_are_compared():
    def recording(place):
        return Recording(("hip", "knee"), 0.1, (segment(np.full((5, 2), place)),))

    assert recording(1.0) == recording(1.0)
    assert recording(1.0) != recording(2.0)
    assert load_robot("tx40") == load_robot("tx40")
    assert load_robot("tx40") != load_robot("scara")


def values_of_the_package():
    """Yield all frozen dataclasses of the package that say that they hold an array."""
    for module in pkgutil.walk_packages(robot_identification.__path__, "robot_identification."):
        if module.name.split(".")[1] in ("msg", "srv", "action"):
            continue
        try:
            found = vars(importlib.import_module(module.name)).values()
        except ImportError:  # of what is not installed everywhere: launch, MuJoCo, Dask
            continue
        for kind in found:
            if (
                inspect.isclass(kind)
                and kind.__module__ == module.name
                and dataclasses.is_dataclass(kind)
                and kind.__dataclass_params__.frozen
                and kind.__dataclass_params__.eq
                and any(_is_array(str(one.type)) for one in dataclasses.fields(kind))
            ):
                yield kind


ARRAYS = (
    "Array", "Booleans", "Bytes", "Complex", "Flags", "Floats", "Indices", "Integers", "Motors",
    "Places", "Stamps", "Table",
)  # fmt: skip


def _is_array(annotation):
    return any(re.search(rf"{name}\b", annotation) for name in ARRAYS)


def test_every_value_of_the_package_that_holds_arrays_is_compared_by_them():
    kinds = list(values_of_the_package())
    assert len(kinds) > 90
    raising = [k for k in kinds if not k.__eq__.__qualname__.startswith("by_value.")]
    assert not raising, "put @by_value above @dataclass"


def test_a_result_equals_what_its_file_gives_back(tmp_path):
    robot = load_robot("scara")
    recording = joint_side_recording(swinging_scara(), robot, source="run")
    result = identify(robot, [recording], essential=EliminationRule())
    path = tmp_path / "result.yaml"
    write_result(path, result)
    assert read_result(path) == result
    assert read_result(path) != dataclasses.replace(result, method="ols")
    other = identify(robot, [recording.between(0.0, 0.9)], essential=EliminationRule())
    assert other.estimate != result.estimate


class Table:
    """A table as pandas and polars have them: an array whose columns have names."""

    def __init__(self, columns, values):
        self.columns, self._values = columns, values

    def __array__(self, dtype=None, copy=None):
        return np.array(self._values, dtype)


def test_what_a_program_hands_in_becomes_numbers():
    wanted = np.array([[1.0, 2.0], [3.0, 4.0]])
    wide = np.zeros((4, 4))
    wide[::2, ::2] = wanted
    for given in (
        wanted.tolist(),
        wanted.astype(np.float32),
        wide[::2, ::2],
        Table(["a", "b"], wanted),
        Table(["x", "y"], wanted),
        np.ma.masked_array(wanted, mask=False),
    ):
        np.testing.assert_array_equal(numbers("position", given, ("a", "b")), wanted)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (Table(["b", "a"], np.eye(2)), "position = b, a: are in another order .*; give a, b"),
        (np.ma.masked_array(np.eye(2), mask=np.eye(2)), "masked values: leave out the samples"),
        (np.eye(2) * 1j, "complex numbers: give real ones"),
        ([[1.0], [1.0, 2.0]], "give numbers"),
        ([["a", "b"]], "give numbers"),
        ({"a": 1.0}, "give numbers"),
    ],
)
def test_what_is_no_array_of_numbers_is_refused(given, problem):
    with pytest.raises(SettingError, match=problem):
        numbers("position", given, ("a", "b"))
