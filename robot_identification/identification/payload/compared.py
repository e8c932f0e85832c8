"""Statistics that every result from bare and loaded runs has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from robot_identification.identification.result import Source
from robot_identification.robot.mounting import Mounting


@dataclass(frozen=True, kw_only=True)
class ComparedRuns:
    """Where a result from runs without and with a payload comes from.

    Attributes:
        robot: name of the robot.
        robot_digest: SHA-256 of the robot file.
        joint_names: names of the joints, which are those of their motors.
        mounting: the frame that the payload is described in.
        bare: recordings without the payload.
        loaded: recordings with it.
        settings: every processing setting with its value and where it came from.
        base_names: names of the base parameters of the robot.
        seconds: time that it took.
        warnings: what a user should know before trusting the result.
    """

    robot: str
    robot_digest: str
    joint_names: tuple[str, ...]
    mounting: Mounting
    bare: tuple[Source, ...]
    loaded: tuple[Source, ...]
    settings: Mapping[str, Mapping[str, object]]
    base_names: tuple[str, ...]
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))
