"""Typed entries of plain data, read without conversion."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from robot_identification.robot.arrays import Array


def text(entries: Mapping[str, Any], name: str) -> str:
    """Return an entry that must be text.

    Raises:
        KeyError: there is no such entry.
        TypeError: it is not text.
    """
    value = entries[name]
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r:.40}, not text")
    return value


def texts(entries: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return an entry that must be a list of text; see :func:`text`."""
    value = entries[name]
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise TypeError(f"{name} is {value!r:.40}, not a list of text")
    return tuple(value)


def number(entries: Mapping[str, Any], name: str) -> float:
    """Return an entry that must be a number; it need not be finite.

    Raises:
        KeyError: there is no such entry.
        TypeError: it is not a number.
    """
    return _number(entries[name], name)


def count(entries: Mapping[str, Any], name: str) -> int:
    """Return an entry that must be a whole number of at least 0.

    Raises:
        KeyError: there is no such entry.
        TypeError: it is not a whole number.
        ValueError: it is negative.
    """
    value = entries[name]
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is {value!r:.40}, not a whole number")
    if value < 0:
        raise ValueError(f"{name} is {value}, which is negative")
    return value


def flag(entries: Mapping[str, Any], name: str) -> bool:
    """Return an entry that must be true or false.

    Raises:
        KeyError: there is no such entry.
        TypeError: it is neither.
    """
    value = entries[name]
    if not isinstance(value, bool):
        raise TypeError(f"{name} is {value!r:.40}, neither true nor false")
    return value


def mapping(entries: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an entry that must be a mapping with text keys.

    Raises:
        KeyError: there is no such entry.
        TypeError: it is not a mapping.
    """
    value = entries[name]
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise TypeError(f"{name} is {value!r:.40}, not a mapping")
    return value


def mappings(entries: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    """Return an entry that must be a list of mappings; see :func:`mapping`."""
    value = entries[name]
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise TypeError(f"{name} is {value!r:.40}, not a list of mappings")
    return value


def numbers(values: Any, name: str) -> Array:
    """Return a list of numbers, which need not be finite, as an array.

    Args:
        values: the list.
        name: what it is called in errors.

    Raises:
        TypeError: it is not a list of numbers.
    """
    if not isinstance(values, list):
        raise TypeError(f"{name} is {values!r:.40}, not a list")
    return np.array([_number(value, name) for value in values], dtype=np.float64)


def finite(values: Any, name: str, length: int | None = None) -> Array:
    """Return a list of finite numbers as an array.

    Args:
        values: the list.
        name: what it is called in errors.
        length: how many there must be; None: any number.

    Raises:
        TypeError: it is not a list of numbers.
        ValueError: one is not finite, or there are more or fewer.
    """
    if not isinstance(values, list):
        raise TypeError(f"{name} is {values!r:.40}, not a list")
    array = np.fromiter(_finite_numbers(values, name), dtype=np.float64, count=len(values))
    if length is not None and len(array) != length:
        raise ValueError(f"{name} has {len(array)} entries instead of {length}")
    return array


def _finite_numbers(values: list[Any], name: str) -> Iterator[float]:
    for value in values:
        found = _number(value, name)
        if not math.isfinite(found):
            raise ValueError(f"{name} holds a value that is not finite")
        yield found


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is {value!r:.40}, not a number")
    return float(value)
