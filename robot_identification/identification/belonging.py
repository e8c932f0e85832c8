"""Comparison of results with a robot: grouping of its parameters, and meaning of its efforts."""

from __future__ import annotations

import numpy as np

from robot_identification.errors import ResultMismatchError
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.regrouping import Regrouping
from robot_identification.identification.result import IdentificationResult
from robot_identification.robot.files.link_frames import other_link_frames
from robot_identification.robot.model import RobotModel

EFFORT_MEANING = "effort_meaning"
"""Setting of results: what their recorded efforts were."""

_TOLERANCE = 1e-6  # of coefficients of the grouping over the largest; rounding is well below


def refuse_other_parameters(
    robot: RobotModel, result: IdentificationResult, base: BaseParameters
) -> None:
    """Refuse a result whose base parameters are not those of a robot, one by one.

    Args:
        robot: the robot, with the friction law of the result.
        result: the result.
        base: base parameters of the robot.

    Raises:
        ResultMismatchError: names or coefficients of the grouping are others.
    """
    if result.regrouping.names != base.names:
        raise _other(robot, result)
    refuse_other_geometry(robot, result, base)


def refuse_other_geometry(
    robot: RobotModel, result: IdentificationResult, base: BaseParameters
) -> None:
    """Refuse a result whose base parameters are not combinations of those of a robot.

    Limits, processing and all else that the grouping and the link frames do not depend on may have
    changed.  How the frame of a last link is turned about its axis only the frames tell.

    Args:
        robot: the robot, with the friction law of the result.
        result: the result.
        base: base parameters of the robot.

    Raises:
        ResultMismatchError: they are not, or are about other link frames.
    """
    own = result.regrouping
    if own.standard_names != base.standard_names or len(own.names) != base.rank:
        raise _other(robot, result)
    before, now = own.projection, Regrouping.of(base).projection
    expected = before[:, base.base] @ now
    different = np.abs(before - expected) > _TOLERANCE * np.abs(now).max()
    if different.any():
        row, column = np.argwhere(different)[0].tolist()
        raise ResultMismatchError(
            robot.name,
            f"its geometry is not that of the identification: {own.names[row]} holds "
            f"{expected[row, column]:.6g} {own.standard_names[column]} here, and "
            f"{before[row, column]:.6g} in the result; give the robot file that it was "
            "identified with, or identify again",
        )
    difference = other_link_frames(robot, result.geometry) if result.geometry else None
    if difference is not None:
        raise ResultMismatchError(
            robot.name,
            f"the result is about other link frames: {difference}; give the robot file that it was "
            "identified with, or identify again",
        )


def _other(robot: RobotModel, result: IdentificationResult) -> ResultMismatchError:
    return ResultMismatchError(
        robot.name,
        f"the base parameters of {result.robot} are others than its own; give the robot file that "
        "it was identified with",
    )


def effort_meaning_entry(robot: RobotModel) -> dict[str, dict[str, object]]:
    """Return what recorded efforts are as a setting with its reason; none where nobody has said."""
    if robot.effort_meaning is None:
        return {}
    return {
        EFFORT_MEANING: {"value": robot.effort_meaning.value, "reason": robot.effort_meaning_reason}
    }


def effort_meaning_of(result: IdentificationResult) -> str:
    """Return what the efforts of a result were; empty for results of earlier versions."""
    return str(result.settings.get(EFFORT_MEANING, {}).get("value", ""))


def different_efforts(robot: RobotModel, identified: str) -> dict[str, dict[str, object]]:
    """Return the meaning of efforts where parameters were identified with another.

    Args:
        robot: whose recordings are predicted.
        identified: of the recordings behind the parameters; empty where nobody knows.

    Returns:
        An entry as those of :func:`~.signals.processing.settings.different_settings`; else none.
    """
    own = effort_meaning_entry(robot).get(EFFORT_MEANING)
    if own is None or not identified or own["value"] == identified:
        return {}
    return {
        EFFORT_MEANING: {
            "identified": identified, "used": own["value"], "reason": own["reason"],
        }
    }  # fmt: skip
