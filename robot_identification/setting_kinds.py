"""One setting: the kind of its values, which of them it may have, texts and schemas of them."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from numbers import Integral, Real
from typing import Any

import numpy as np

from robot_identification.errors import SettingError


class Kind(Enum):
    """Kind of the values of a setting; each says what a wrong one must be."""

    NUMBER = "a finite number"
    WHOLE = "a whole number"
    FLAG = "true or false"
    TEXT = "text"
    NUMBERS = "a list of finite numbers"
    TEXTS = "a list of text"

    @property
    def is_list(self) -> bool:
        """Whether values have entries."""
        return self in (Kind.NUMBERS, Kind.TEXTS)


@dataclass(frozen=True)
class Setting:
    """One entry of a table.

    Attributes:
        name: of the field.
        kind: what values it has.
        help: meaning, for people.
        unit: of its numbers; empty: none.
        default: what holds where nobody says; None: what the docstring of the class says.
        choices: the values that it may have, where they are few.
        above: what a number must be larger than.
        minimum: smallest number.
        maximum: largest number.
        multiple: what a whole number must be a multiple of.
        off: word for an empty list, where that switches something off.
        option: option of the command line.
        metavar: what the option's help calls a value.
        usual: what an open setting is where nothing else is said or derived; None: nothing.
        reason: why that is usual.
        in_requests: whether options and messages can say it; else files alone.
        path: whether a text names a file or folder, where ``~`` stands for the home folder.
        required: whether somebody has to say it; a text must not be empty then.
        live: whether a parameter of a node may change while the node runs.
        asks: whether the node is asked before it does.
        fixed: whether it never changes, even where a node is configured anew: who starts the node
            decides.
    """

    name: str
    kind: Kind
    help: str
    unit: str = ""
    default: Any = None
    choices: tuple[str, ...] = ()
    above: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    multiple: int = 1
    off: str = ""
    option: str = ""
    metavar: str = ""
    usual: Any = None
    reason: str = ""
    in_requests: bool = True
    path: bool = False
    required: bool = False
    live: bool = False
    asks: bool = False
    fixed: bool = False

    @property
    def description(self) -> str:
        """Meaning, with the unit behind its first part."""
        if not self.unit:
            return self.help
        meaning, mark, more = self.help.partition(";")
        return f"{meaning}, {self.unit}{mark}{more}"

    def problem(self, value: object) -> str:
        """Return what is wrong with a value, or an empty text."""
        if self.required and (value is None or (isinstance(value, str) and not value)):
            return "must be given"
        if self.kind.is_list:
            entries = value if isinstance(value, list | tuple) else None
        else:
            entries = [value]
        if entries is None or not all(_is(self.kind, entry) for entry in entries):
            return f"must be {self.kind.value}"
        return next(filter(None, map(self._problem, entries)), "")

    def _problem(self, entry: Any) -> str:
        """Return what is wrong with an entry of the right kind, or an empty text."""
        if self.choices:
            fine = entry in self.choices
            return "" if fine else f"must be one of {', '.join(self.choices)}"
        if isinstance(entry, Real) and not self._in_range(entry):
            return f"must be {_range(self)}"
        return ""

    def _in_range(self, number: Any) -> bool:
        above, least, most = self.above, self.minimum, self.maximum
        return bool(
            (above is None or number > above)
            and (least is None or number >= least)
            and (most is None or number <= most)
            and (self.multiple == 1 or number % self.multiple == 0)
        )

    def check(self, value: object) -> None:
        """Refuse a value that the setting cannot have.

        Raises:
            SettingError: with the name of the setting, and what it must be.
        """
        if problem := self.problem(value):
            raise SettingError(self.name, as_plain(value), problem)

    def kept(self, value: object) -> Any:
        """Return a value as it is kept, checked: plain numbers, lists and arrays as tuples."""
        value = value.tolist() if isinstance(value, np.ndarray) else value
        self.check(value)
        convert: Callable[[Any], Any] = _CONVERSIONS.get(self.kind, lambda entry: entry)
        return tuple(map(convert, value)) if isinstance(value, list | tuple) else convert(value)

    def read(self, value: object) -> Any:
        """Return a value from plain data: a list as a tuple, one number for a list of one.

        A path that begins with ``~`` is below the home folder.

        Raises:
            SettingError: the setting cannot have it.
        """
        if self.off and isinstance(value, str) and value == self.off:
            return ()
        if self.kind is Kind.NUMBERS and _is(Kind.NUMBER, value):
            value = [value]
        if self.path and isinstance(value, str):
            value = os.path.expanduser(value)  # noqa: PTH111 (an empty text stays one)
        if self.kind is Kind.WHOLE and isinstance(value, float) and value.is_integer():
            value = int(value)
        return self.kept(value)

    def parse(self, text: str) -> Any:
        """Return the value that a text means, such as one of the command line.

        Raises:
            SettingError: the setting cannot have it, or it means none.
        """
        try:
            return self.read(_PARSERS[self.kind](text) if text != self.off else text)
        except ValueError:
            raise SettingError(self.option, text, f"must be {self.kind.value}") from None

    def is_said(self, value: Any) -> bool:
        """Tell whether a field of a message, which always has a value, says something.

        An empty text or list says nothing, nor does 0 where 0 is no value of the setting, else a
        negative number.
        """
        if self.kind is Kind.FLAG:
            return True
        if self.kind.is_list or self.kind is Kind.TEXT:
            return len(value) > 0
        return bool(not value < 0 if self._in_range(0) else value != 0)

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of its values."""
        entry: dict[str, Any] = {"type": _SCHEMA_TYPES[self.kind]}
        if self.choices:
            entry = {"enum": list(self.choices)}
        for key, bound in (
            ("exclusiveMinimum", self.above),
            ("minimum", self.minimum),
            ("maximum", self.maximum),
            ("multipleOf", self.multiple if self.multiple > 1 else None),
        ):
            if bound is not None:
                entry[key] = bound
        if not self.kind.is_list:
            return {"description": self.description, **entry}
        words = {"pattern": f"^{self.off}$"} if self.off else {}
        types = ["number", "array", *(["string"] if self.off else [])]
        said = f"a number, one per joint, or {self.off}: " if self.off else ""
        return {
            "description": f"{said}{self.description}",
            **entry,
            "type": types if self.kind is Kind.NUMBERS else "array",
            **words,
            "items": entry,
        }


_CONVERSIONS: Mapping[Kind, Callable[[Any], Any]] = {
    Kind.NUMBER: float, Kind.NUMBERS: float, Kind.WHOLE: int,
}  # fmt: skip
_PARSERS: Mapping[Kind, Callable[[str], Any]] = {
    Kind.NUMBER: float,
    Kind.WHOLE: int,
    Kind.TEXT: str,
    Kind.NUMBERS: lambda text: [float(part) for part in text.split(",")],
    Kind.TEXTS: lambda text: [part for part in text.split(",") if part],
}
_SCHEMA_TYPES = {
    Kind.NUMBER: "number",
    Kind.WHOLE: "integer",
    Kind.FLAG: "boolean",
    Kind.TEXT: "string",
    Kind.NUMBERS: "number",
    Kind.TEXTS: "string",
}


def _is(kind: Kind, value: Any) -> bool:
    """Tell whether a value, or an entry of a list, is of a kind."""
    if kind is Kind.FLAG:
        return isinstance(value, bool)
    if kind in (Kind.TEXT, Kind.TEXTS):
        return isinstance(value, str)
    if isinstance(value, bool):
        return False
    if kind is Kind.WHOLE:
        return isinstance(value, Integral)
    number = float(value) if isinstance(value, np.floating) else value  # of 32 bits, too
    size: Any = abs(number) if isinstance(number, Real) else math.inf
    return bool(size <= sys.float_info.max)


def _range(setting: Setting) -> str:
    """Return which numbers a setting may be, for people."""
    above, least, most = setting.above, setting.minimum, setting.maximum
    parts = [f"above {above:g}"] if above is not None else []
    parts += [f"at least {least:g}"] if least is not None else []
    parts += [f"at most {most:g}"] if most is not None else []
    if setting.multiple > 1:
        parts = [f"a multiple of {setting.multiple}", *parts]
    if above == 0.0 and len(parts) == 1:
        return "positive"
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def as_plain(value: object) -> object:
    """Return a value as plain data hold it."""
    return list(value) if isinstance(value, tuple) else value
