"""Errors of identification: rank, excitation, drive gains, convergence, wrong models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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


class RankError(ResultRefusedError):
    """The rank of a matrix cannot be decided, or two methods decide it differently.

    Attributes:
        singular_values: singular values of the matrix, largest first.
    """

    def __init__(self, problem: str, singular_values: Sequence[float]) -> None:
        self.singular_values = tuple(float(value) for value in singular_values)
        super().__init__(problem)


class NotExcitedError(ResultRefusedError):
    """The motion leaves parameters without effect on the effort, or too little to tell.

    Attributes:
        parameters: names of the base parameters that the data do not determine.
        condition_number: condition number of the column-scaled system.
        joints: names of the joints whose efforts should tell them, where the method has parameters
            of its own, which no table of results names; empty elsewhere.
    """

    def __init__(
        self, parameters: Sequence[str], condition_number: float, joints: Sequence[str] = ()
    ) -> None:
        self.parameters = tuple(parameters)
        self.condition_number = condition_number
        self.joints = tuple(joints)
        what = ", ".join(self.joints or self.parameters)
        super().__init__(
            f"the motion does not determine {'the parameters of ' if joints else ''}{what} "
            f"(condition number {condition_number:.3g}): record a motion that moves these joints, "
            "or leave their friction terms out of the robot file"
        )


class NotPredictiveError(ResultRefusedError):
    """Parts of the recording that were left out of the fit are predicted worse than by zero.

    Attributes:
        error: relative error on the parts that were left out, 1 where zero would do as well.
        blocks: of these, those that zero would predict better, with their errors.
    """

    def __init__(self, error: float, blocks: Mapping[str, float]) -> None:
        self.error = error
        self.blocks = dict(blocks)
        worst = "; ".join(f"{name}: {one:.3g}" for name, one in self.blocks.items())
        super().__init__(
            "parts of the recording that were left out of the fit are predicted worse than by "
            f"zero: relative error {error:.3g}" + (f" ({worst})" if worst else "") + ": the motion "
            "that is left says too little of so many parameters; record longer, and look for what "
            "interrupts the recording or leaves out its rows"
        )


class DriveGainError(ResultRefusedError):
    """Runs with a known payload say nothing of drive gains, or too little to give them.

    Attributes:
        joints: names of the joints whose drives they are.
        relative_std: their relative standard deviations; empty where nothing at all is said.
    """

    def __init__(self, joints: Sequence[str], relative_std: Sequence[float] = ()) -> None:
        self.joints = tuple(joints)
        self.relative_std = tuple(float(value) for value in relative_std)
        if self.relative_std:
            told = ", ".join(
                f"{name} ({100.0 * value:.3g} %)"
                for name, value in zip(self.joints, self.relative_std, strict=True)
            )
            problem = f"drive gains known too poorly, by their relative standard deviations: {told}"
        else:
            problem = f"not identifiable: the drive gain of {', '.join(self.joints)}"
        super().__init__(
            f"{problem}; the payload must act on these joints, or on joints coupled to them by "
            "inertia: record motions that accelerate them with the payload far from their axes, "
            "take a heavier payload, or take their gains as known (--trust)"
        )


class NotConvergedError(ResultRefusedError):
    """The iterations of a method did not meet their tolerances.

    Attributes:
        result: what was reached, with its history; None where not even the first simulation ran.
    """

    def __init__(self, problem: str, result: Any = None) -> None:
        self.result = result
        super().__init__(f"not converged: {problem}")


class ModelMismatchError(ResultRefusedError):
    """The iterations of a method converged, but the model does not explain the efforts.

    Attributes:
        result: what was reached, with its history.
    """

    def __init__(self, problem: str, result: Any) -> None:
        self.result = result
        super().__init__(f"model mismatch: {problem}")
