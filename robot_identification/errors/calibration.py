"""Errors of calibration: parameters that are not physically consistent."""

from __future__ import annotations

from collections.abc import Sequence

from robot_identification.errors.base import ResultRefusedError


class InconsistentParametersError(ResultRefusedError):
    """Parameters that no body or no joint can have, so that nothing may be written from them.

    Attributes:
        owner: name of the link or joint.
        problem: what is impossible about it.
    """

    def __init__(self, owner: str, problem: str) -> None:
        self.owner = owner
        self.problem = problem
        super().__init__(f"{owner}: {problem}; calibrate to consistent parameters first")


class CalibrationError(ResultRefusedError):
    """No physically consistent parameters were found.

    Attributes:
        problems: what is wrong with the best that was found, one line per link or drive.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(
            f"no physically consistent parameters were found ({'; '.join(self.problems)}); check "
            "the prior's units and the relative errors of the identification"
        )
