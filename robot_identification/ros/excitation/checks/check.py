"""The result of a check before a motion."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from robot_identification.errors import RobotIdentificationError


class Verdict(Enum):
    """What a check says."""

    PASSED = "passed"
    WARNING = "warning"
    REFUSED = "refused"


@dataclass(frozen=True)
class Check:
    """The result of one check.

    Attributes:
        name: what was looked at.
        value: what was found, for people.
        advice: what to do about it, for people; empty: nothing.
        refusal: why no motion may begin; None: it may.
    """

    name: str
    value: str
    advice: str = ""
    refusal: RobotIdentificationError | None = None

    @property
    def verdict(self) -> Verdict:
        """The verdict."""
        if self.refusal is not None:
            return Verdict.REFUSED
        return Verdict.WARNING if self.advice else Verdict.PASSED

    def __str__(self) -> str:
        """Return it in one line."""
        return f"{self.name}: {self.value}" + (f"; WARNING: {self.advice}" if self.advice else "")
