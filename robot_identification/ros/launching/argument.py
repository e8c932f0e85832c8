"""Argument of a launch file: what it sets, and which values its text may have."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from robot_identification.errors import SettingError

Value = str | bool | float | list[float]

BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


@dataclass(frozen=True)
class Argument:
    """An argument of a launch file; an empty value leaves everything as the parameter files say.

    Attributes:
        name: its name.
        description: what it means, for ``ros2 launch --show-args``.
        default: its value where none is given.
        choices: the values allowed, where they are few.
        parameter: parameter that it sets; empty: none.
        topic: topic that it names anew; empty: none.
        nodes: nodes in which it does so; empty: all.
        needs: argument or parameter without which it has no effect; empty: none.
        convert: turns its text into the value of the parameter; raises ValueError.
    """

    name: str
    description: str
    default: str = ""
    choices: tuple[str, ...] = ()
    parameter: str = ""
    topic: str = ""
    nodes: tuple[str, ...] = ()
    needs: str = ""
    convert: Callable[[str], Value] = str

    def concerns(self, node: str) -> bool:
        """Tell whether a node has the parameter or topic."""
        return not self.nodes or node in self.nodes

    def value(self, text: str) -> Value:
        """Return the value of the parameter.

        Raises:
            SettingError: the text is none.
        """
        if self.choices and text not in self.choices:
            raise SettingError(
                self.name, text, f"choose one of {', '.join(filter(None, self.choices))}"
            )
        try:
            return self.convert(text)
        except ValueError as error:
            raise SettingError(self.name, text, f"{error}; {self.description}") from error


def boolean(text: str) -> bool:
    """Return whether a text says yes.

    Raises:
        ValueError: it says neither yes nor no.
    """
    try:
        return BOOLEANS[text.lower()]
    except KeyError:
        raise ValueError("neither true nor false") from None


def number(text: str) -> float:
    """Return a finite number.

    Raises:
        ValueError: it is none.
    """
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("must be finite")
    return value


def numbers(text: str) -> list[float]:
    """Return finite numbers that stand between commas, in brackets or not.

    Raises:
        ValueError: one is none.
    """
    return [number(part) for part in text.strip("[] ").split(",")]


def is_given(given: Mapping[str, str], name: str) -> bool:
    """Tell whether an argument is given and says yes.

    Raises:
        SettingError: it says neither yes nor no.
    """
    text = given.get(name, "")
    if not text:
        return False
    try:
        return boolean(text)
    except ValueError as error:
        raise SettingError(name, text, str(error)) from error
