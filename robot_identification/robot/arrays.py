"""Arrays inside immutable values, read-only and compared element by element; finite arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from robot_identification.errors import SampleError, SettingError, ShapeError

Array = npt.NDArray[np.float64]

Kind = TypeVar("Kind", bound=type)
Element = TypeVar("Element", bound=np.generic)


@overload
def read_only(values: npt.ArrayLike) -> Array: ...


@overload
def read_only(values: npt.ArrayLike, kind: type[Element]) -> npt.NDArray[Element]: ...


def read_only(values: npt.ArrayLike, kind: type[Any] = np.float64) -> npt.NDArray[Any]:
    """Return ``values`` as a contiguous array of its own that cannot be written to.

    Args:
        values: stay as they are; who owns them may go on writing.
        kind: of the elements.
    """
    array = np.array(values, dtype=kind, order="C")
    array.setflags(write=False)
    return array


def checked_vector(name: str, values: npt.ArrayLike, length: int) -> Array:
    """Return values as a vector of a given length.

    Args:
        name: of it, for messages.
        values: one for each of what they stand for, such as the parameters of a robot.
        length: how many there have to be.

    Raises:
        ShapeError: there is another number of them, or they are no vector.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (length,):
        raise ShapeError(name, array.shape, f"({length},)")
    return array


def numbers(
    name: str, values: npt.ArrayLike, order: Sequence[str] = (), problem: str = "give numbers"
) -> Array:
    """Return what a program hands in as an array of its own.

    Args:
        name: of it, for messages.
        values: an array, lists, or a table or series of pandas or polars.
        order: names that its columns, or entries, stand for; those of a table must not contradict.
        problem: what to do where these are no numbers.

    Raises:
        SettingError: they are no real numbers, some are masked, or a table has the names in another
            order.
    """
    told = _labels(values)
    if told != list(order) and sorted(told) == sorted(order):
        advice = f"are in another order than needed; give {', '.join(order)}"
        raise SettingError(name, ", ".join(told), advice)
    if np.ma.is_masked(values):
        raise SettingError(name, "masked values", "leave out the samples that do not count")
    try:
        found = np.array(values)
        if not np.iscomplexobj(found):
            return found.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise SettingError(name, f"{values!r:.60}", problem) from error
    raise SettingError(name, "complex numbers", "give real ones")


def _labels(values: object) -> list[str]:
    """Return the names of a table's columns, or of a series' entries; none of arrays and lists."""
    columns = getattr(values, "columns", None)
    found = getattr(values, "index", ()) if columns is None else columns
    return [] if callable(found) else [str(label) for label in found]


def read_only_view(array: npt.NDArray[Element]) -> npt.NDArray[Element]:
    """Return an array with the same memory that cannot be written to; nothing is copied.

    The array itself stays as it is: who owns it may go on writing.
    """
    if not array.flags.writeable:
        return array
    view = array.view()
    view.setflags(write=False)
    return view


def cover(owner: object, *names: str) -> None:
    """Have arrays be read-only through their owner; nothing is copied, and the caller's stay.

    Args:
        owner: a frozen dataclass, while it is made.
        names: of its arrays; None stays.
    """
    for name in names:
        array = getattr(owner, name)
        if array is not None:
            object.__setattr__(owner, name, read_only_view(array))


def check_finite(signal: str, values: Array, names: Sequence[str], first: int = 0) -> None:
    """Refuse values that are not finite.

    Args:
        signal: what they are.
        values: (samples, joints, ...).
        names: names of the joints.
        first: number of the first sample.

    Raises:
        SampleError: a value is NaN or infinite.
    """
    error = first_not_finite(signal, values, names, first)
    if error is not None:
        raise error


def first_not_finite(
    signal: str, values: Array, names: Sequence[str], first: int = 0
) -> SampleError | None:
    """Return what is wrong with the first value that is not finite, None where all are.

    Args:
        signal: what they are.
        values: (samples, joints, ...).
        names: names of the joints.
        first: number of the first sample.
    """
    bad = ~np.isfinite(values)
    if not bad.any():
        return None
    place = tuple(np.argwhere(bad)[0].tolist())
    return SampleError(signal, names[place[1]], first + place[0], float(values[place]))


def by_value(kind: Kind) -> Kind:
    """Have two instances of a dataclass be equal where their fields are, arrays included.

    The comparison that dataclasses bring asks an array whether it is true, which raises.  Arrays
    are equal in shape and in every element; a number that is none (NaN) equals another such, so
    that whatever holds it equals its copy.  Instances that hold arrays have no hash, as before.

    Args:
        kind: the dataclass.
    """
    own: Any = kind
    names = [field.name for field in fields(own) if field.compare]

    def equals(self: object, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return all(_same(getattr(self, name), getattr(other, name)) for name in names)

    own.__eq__ = equals
    return kind


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return _same_arrays(np.asarray(one), np.asarray(other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and type(one) is type(other):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    return bool(one == other)


def _same_arrays(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    inexact = all(np.issubdtype(array.dtype, np.inexact) for array in (one, other))
    return np.array_equal(one, other, equal_nan=inexact)
