"""The roots of the tree of exceptions, and errors that any part of the package may raise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_LONGEST = 200  # characters of a value in a message


class RobotIdentificationError(Exception):
    """Base of every error that this package raises on purpose.

    It can be sent to another process, and arrives with its data.

    Attributes:
        findings: what a diagnosis of the recordings behind it has found, as lines for people.
    """

    findings: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return _sent, (type(self), self.args, self.__dict__)


def _sent(
    kind: type[RobotIdentificationError], arguments: tuple[object, ...], data: dict[str, Any]
) -> RobotIdentificationError:
    """Return an error as it was, past its ``__init__``, which makes the message from the data."""
    error = kind.__new__(kind, *arguments)
    error.args = arguments
    error.__dict__.update(data)
    return error


class InputError(RobotIdentificationError):
    """Something that was handed in is wrong; the message says what, where and what to do."""


class ResultRefusedError(RobotIdentificationError):
    """The input is valid, but the result cannot be trusted and is therefore not given."""


class CancelledError(RobotIdentificationError):
    """A long computation was cancelled by its caller."""


class SettingError(InputError):
    """A setting has a value that it cannot have.

    Attributes:
        name: the setting.
        value: the value that was given.
        problem: what is wrong with it.
    """

    def __init__(self, name: str, value: object, problem: str) -> None:
        self.name = name
        self.value = value
        self.problem = problem
        text = str(value)
        shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
        super().__init__(f"{name} = {shown}: {problem}")


class ShapeError(InputError):
    """An array has a shape that does not fit.

    Attributes:
        name: the array.
        shape: the shape that was given.
        expected: the shape that was expected, as text such as ``(samples, 6)``.
    """

    def __init__(self, name: str, shape: Sequence[int], expected: str) -> None:
        self.name = name
        self.shape = tuple(shape)
        self.expected = expected
        super().__init__(f"{name} has shape {self.shape}, expected {expected}")


class SolverMissingError(InputError):
    """The solver of semidefinite programs is not installed.

    Attributes:
        package: its name on PyPI.
    """

    def __init__(self, package: str) -> None:
        self.package = package
        super().__init__(
            f"physical consistency needs the solver {package}, which rosdep does not know; "
            f"pip install {package}"
        )


class MissingPackageError(InputError):
    """An optional package is asked for and is not installed.

    Attributes:
        package: its name on PyPI.
        extra: extra of this package that brings it; empty where none does.
        otherwise: another way to do without; empty where there is none.
    """

    def __init__(self, package: str, extra: str, purpose: str, otherwise: str = "") -> None:
        self.package = package
        self.extra = extra
        advice = f"pip install 'robot_identification[{extra}]', or " if extra else ""
        other = f", {otherwise}" if otherwise else ""
        super().__init__(
            f"{purpose} needs {package}, which is not installed; {advice}pip install {package}"
            f"{other}"
        )
