"""Values that hold arrays: whose the arrays are, and when two of them are equal."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pytest

from robot_identification.robot.arrays import Array, by_value, read_only, read_only_view
from robot_identification.signals.recording import RawSamples, Segment
from robot_identification.signals.samples import FilteredSegment
from robot_identification.signals.separate_efforts import EffortSamples

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
