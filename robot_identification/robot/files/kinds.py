"""Kinds of files that this package writes, as their key ``kind`` names them."""

from __future__ import annotations

from typing import Any

RESULT_KIND = "robot_identification/result"
"""Of the files of results, which hold base parameters."""
PARAMETERS_KIND = "robot_identification/parameters"
PAYLOAD_KIND = "robot_identification/payload"
GAINS_KIND = "robot_identification/drive_gains"

_TITLES = {
    RESULT_KIND: "a result of identify",
    PARAMETERS_KIND: "parameters of calibrate",
    PAYLOAD_KIND: "a payload of payload",
    GAINS_KIND: "the gains of drive-gains",
}


def other_kind(data: Any, wanted: str = "") -> str:
    """Return what the content of a file says it is where that is another kind; else nothing.

    Args:
        data: content of a file.
        wanted: the kind that would be right; empty where files of that sort name none.
    """
    kind = data.get("kind") if isinstance(data, dict) else None
    return _TITLES.get(kind, "") if isinstance(kind, str) and kind != wanted else ""
