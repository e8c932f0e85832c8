"""Causes that a fit can show: what is said of each of them, and what to do.

Their order is that of simplicity: of two that explain about as much, the earlier one is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from robot_identification.identification.diagnosis.finding import Severity


class Cause(NamedTuple):
    """What is said of a cause.

    Attributes:
        change: what was changed in the trial, to stand behind "with"; ``{amount}``, ``{detail}``
            and ``{other}``, the second joint, are filled in.
        advice: what to do.
        severity: of the finding.
    """

    change: str
    advice: str
    severity: Severity = Severity.MISTAKE


FRICTION_LAW = "friction law"

CAUSES: Mapping[str, Cause] = {
    "effort sign": Cause(
        "its efforts negated",
        "correct the sign of its efforts, or of its transmission in the robot file",
    ),
    "axis reversed": Cause(
        "the signs of its positions and efforts reversed",
        "turn its axis round in the robot file, or the signs in the driver",
    ),
    "position sign": Cause(
        "its positions negated",
        "correct the sign of its positions, or the direction of its axis in the robot file",
    ),
    "position unit": Cause(
        "its positions times {amount}",
        "publish rad and m, as sensor_msgs/JointState wants; of a table, state the unit",
    ),
    "time shift": Cause(
        "its efforts taken {amount} ms later",
        "correct the stamps, or let --effort-delay estimated do it",
    ),
    "efforts swapped": Cause(
        "its efforts exchanged with those of {other}",
        "correct the order of the efforts in the driver",
    ),
    "joints swapped": Cause(
        "{other} in its place", "correct the names of both joints in the driver or the robot file"
    ),
    "positions swapped": Cause(
        "its positions exchanged with those of {other}",
        "correct the order of the positions in the driver",
    ),
    "gravity direction": Cause(
        "gravity along {detail} m/s^2 in the base frame",
        "correct gravity in the robot file: how does the base stand?",
    ),
    "no gravity": Cause(
        "no gravity in its efforts",
        "record efforts that hold the weight too: some drivers subtract it",
    ),
    "effort factor": Cause(
        "its efforts times {amount}",
        "check gear ratio, drive gain and unit of its efforts",
    ),
    "position factor": Cause(
        "its positions times {amount}",
        "check gear ratio and unit of its positions",
    ),
    "position offset": Cause(
        "{amount} rad added to its positions",
        "check the zero of its encoder against that of the robot file",
    ),
    "lengths swapped": Cause(
        "the translations of its frame and that of {other} exchanged",
        "correct the geometry in the robot file",
    ),
    "link length": Cause(
        "the translation of its frame times {amount}",
        "correct the geometry in the robot file: lengths are in m",
    ),
    "clock": Cause(
        "the time between samples times {amount}", "correct the unit or the rate of the stamps"
    ),
    "missing term": Cause(
        "the term {detail} in its model", "let the robot file give it this joint term"
    ),
    "torque of position": Cause(
        "a torque that depends on its position ({detail})",
        "look for a spring, a balancer or cables; a robot file describes balancers under springs",
    ),
    FRICTION_LAW: Cause(
        "another friction law ({detail})",
        "let the data choose it (--friction auto), or state it in the robot file",
        Severity.DOUBT,
    ),
    "missing coupling": Cause(
        "{detail}", "declare the coupling of both drives in the robot file (couplings)"
    ),
}
"""Causes by their names, the simplest first."""

RANK = {name: place for place, name in enumerate(CAUSES)}
