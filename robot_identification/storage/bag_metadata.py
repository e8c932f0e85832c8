"""The metadata of a bag, looked at before another library builds data from them.

What that library makes of a few bytes is without bounds: an alias may stand for gigabytes, and deep
or long metadata take it minutes.  Those that rosbag2 writes have no aliases and are flat and short.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from robot_identification.errors import BagError

NAME = "metadata.yaml"
_MOST_BYTES = 1 << 20
_MOST_EVENTS = 80_000
_MOST_LEVELS = 50
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BEGIN = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
_END = (yaml.MappingEndEvent, yaml.SequenceEndEvent)


def check_metadata(path: Path) -> None:
    """Refuse metadata that are no YAML, or larger, deeper or trickier than those of any bag.

    Args:
        path: the file; nothing is done where there is none.

    Raises:
        BagError: the metadata are refused.
        OSError: they cannot be read.
    """
    if not path.is_file():
        return
    with path.open("rb") as file:
        raw = file.read(_MOST_BYTES + 1)
    if len(raw) > _MOST_BYTES:
        raise BagError(path, f"larger than {_MOST_BYTES} bytes; not read")
    try:
        text = raw.decode("utf-8")
        _check_events(path, text)
        _check_files(path, yaml.load(text, Loader=_LOADER))  # noqa: S506 (a safe loader)
    except UnicodeDecodeError as error:
        raise BagError(path, f"cannot be read: not UTF-8 text: {error.reason}") from error
    except yaml.YAMLError as error:
        raise BagError(path, f"cannot be read: not valid YAML: {error}") from error


def _check_events(path: Path, text: str) -> None:
    levels = 0
    for number, event in enumerate(yaml.parse(text, Loader=_LOADER)):
        levels += isinstance(event, _BEGIN) - isinstance(event, _END)
        if isinstance(event, yaml.AliasEvent):
            raise BagError(path, f"line {_line(event)}: aliases are not accepted")
        if levels > _MOST_LEVELS:
            raise BagError(path, f"line {_line(event)}: nested too deeply")
        if number > _MOST_EVENTS:
            raise BagError(path, f"more than {_MOST_EVENTS} entries; not read")


def _check_files(path: Path, metadata: Any) -> None:
    """Refuse a data file that is named twice: its messages would count twice."""
    about = metadata.get("rosbag2_bagfile_information") if isinstance(metadata, dict) else None
    names = about.get("relative_file_paths") if isinstance(about, dict) else None
    if isinstance(names, list) and len({str(name) for name in names}) < len(names):
        raise BagError(path, "names a data file twice")


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1
