"""Tables of settings: what every field of a settings class means, and which values it may have.

A settings class is a frozen dataclass that derives from :class:`Settings` and declares its fields
with :func:`setting`.  What stands there stands nowhere else: options of the command line,
parameters of nodes, fields of messages, JSON schemas, checks and plain data are made from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from robot_identification.errors import SettingError
from robot_identification.setting_kinds import Kind, Setting, as_plain

Own = TypeVar("Own", bound="Settings")
_KEY = "setting"

_OF_TYPES: Mapping[Any, Kind] = {
    float: Kind.NUMBER,
    int: Kind.WHOLE,
    bool: Kind.FLAG,
    str: Kind.TEXT,
    tuple[float, ...]: Kind.NUMBERS,
    tuple[str, ...]: Kind.TEXTS,
}


def setting(
    help: str,  # noqa: A002 (as argparse and click call it)
    default: Any = None,
    **about: Any,
) -> Any:
    """Declare a field of a settings class.

    Args:
        help: meaning, for people.
        default: what holds where nobody says.
        about: further attributes of :class:`Setting`.
    """
    return field(default=default, metadata={_KEY: {"help": help, **about}})


def same(kind: type[Settings], name: str, **changes: Any) -> Any:
    """Declare a field that means the same as a setting of another class.

    Args:
        kind: the other class.
        name: of its setting.
        changes: attributes that differ; in ``help``, ``{}`` stands for the description there.
    """
    entry = kind.table()[name]
    own = {"name", "kind", "option", "required"}
    about = {
        one.name: getattr(entry, one.name)
        for one in fields(Setting)
        if one.name not in own and getattr(entry, one.name) != one.default
    }
    if "{}" in changes.get("help", ""):
        changes |= {"help": changes["help"].format(entry.description), "unit": ""}
    return setting(**{**about, **changes})


def per_joint(name: str, values: Sequence[float], joints: int) -> tuple[float, ...]:
    """Return one value per joint of a setting that has one for all or one for each.

    Raises:
        SettingError: if the number of values is neither.
    """
    if len(values) not in (1, joints):
        problem = f"give one value, or one for each of {joints} joints"
        raise SettingError(name, list(values), problem)
    return tuple(values) * (joints if len(values) == 1 else 1)


@dataclass(frozen=True)
class Settings:
    """Base of the settings classes; their values are checked when one is made, and kept plain.

    Raises:
        SettingError: a setting has a value that it cannot have.
    """

    def __post_init__(self) -> None:
        for entry in self.table().values():
            value = getattr(self, entry.name)
            if value is not None or entry.default is not None or entry.required:
                object.__setattr__(self, entry.name, entry.kept(value))

    @classmethod
    def table(cls) -> Mapping[str, Setting]:
        """Return the settings of the class by name."""
        return _table(cls)  # type: ignore[arg-type]

    @classmethod
    def in_requests(cls) -> tuple[str, ...]:
        """Return the names of the settings that options and messages can say."""
        return tuple(name for name, entry in cls.table().items() if entry.in_requests)

    @classmethod
    def of(cls: type[Own], stated: Mapping[str, Any]) -> Own:  # noqa: PYI019 (Python 3.10)
        """Return the settings that plain data state; what they do not name is as by default.

        Args:
            stated: name -> value; other names are passed over.

        Raises:
            SettingError: a setting has a value that it cannot have.
        """
        table = cls.table()
        given = {name: value for name, value in stated.items() if value is not None}
        return cls(**{name: table[name].read(given[name]) for name in table if name in given})

    def stated(self) -> dict[str, Any]:
        """Return what is not open as plain data."""
        values = {name: getattr(self, name) for name in self.table()}
        return {name: as_plain(value) for name, value in values.items() if value is not None}

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON schema of plain data with these settings."""
        return {name: entry.schema() for name, entry in cls.table().items()}


@cache
def _table(cls: type[Settings]) -> Mapping[str, Setting]:
    hints = get_type_hints(cls)
    declared = [one for one in fields(cls) if _KEY in one.metadata]
    return MappingProxyType({one.name: _entry(one, hints[one.name]) for one in declared})


def _entry(declared: Any, hint: Any) -> Setting:
    kind, choices, is_open = _kind(hint)
    default = None if declared.default is MISSING else declared.default
    derived = {
        "default": default,
        "choices": choices,
        "option": f"--{declared.name.replace('_', '-')}",
        "required": default is None and not is_open,
    }
    return Setting(declared.name, kind, **{**derived, **declared.metadata[_KEY]})


def _kind(hint: Any) -> tuple[Kind, tuple[str, ...], bool]:
    """Return kind and choices of a type, and whether it may be None."""
    alternatives = tuple(_alternatives(hint))
    (only,) = (part for part in alternatives if part is not type(None))
    is_open = type(None) in alternatives
    if get_origin(only) is Literal:
        return Kind.TEXT, get_args(only), is_open
    return _OF_TYPES[only], (), is_open


def _alternatives(hint: Any) -> Iterable[Any]:
    single = get_origin(hint) in (None, tuple, Literal)
    return (hint,) if single else get_args(hint)
