"""Versions of a robot's file: whether what rests on one of them is used with another."""

from __future__ import annotations

from robot_identification.robot.model import RobotModel

IDENTIFICATION, CALIBRATION = "identification", "calibration"
_AGAIN = {IDENTIFICATION: "identify", CALIBRATION: "calibrate"}


def changed_robot_warnings(
    robot: RobotModel, digest: str, work: str, what: str = ""
) -> tuple[str, ...]:
    """Return a line where the file of a robot has changed since an identification or calibration.

    Args:
        robot: the robot as its file describes it now.
        digest: SHA-256 of the file as it was; empty where nobody knows.
        work: ``identification`` or ``calibration``.
        what: names what came of it; empty where that is known.
    """
    if not digest or not robot.digest or digest == robot.digest:
        return ()
    told = f"{what}: " if what else ""
    line = f"{told}the file of {robot.name} has changed since the {work}"
    return (f"{line}; if more than processing or limits changed, {_AGAIN[work]} again",)
