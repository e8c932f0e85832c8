"""Errors of files that are read and written."""

from __future__ import annotations

from pathlib import Path

from robot_identification.errors.base import InputError


class FileError(InputError):
    """A file cannot be read or written.

    Attributes:
        path: the file.
        problem: what is wrong.
    """

    def __init__(self, path: str | Path, problem: str) -> None:
        self.path = str(path)
        self.problem = problem
        super().__init__(f"{self.path}: {problem}")


class ResultFileError(FileError):
    """A result or parameter file cannot be read, or belongs to something else."""


class ResultMismatchError(InputError):
    """A result or a prior belongs to a robot with other parameters.

    Attributes:
        robot: the robot that it was handed in with.
    """

    def __init__(self, robot: str, problem: str) -> None:
        self.robot = robot
        super().__init__(f"{robot}: {problem}")


class OutputError(FileError):
    """An output cannot be written; what was there before is untouched."""


class MessageError(InputError, ValueError):
    """A message holds what nobody sends who means well: wrong sizes, names or numbers.

    Attributes:
        kind: type of the message, such as ``IdentificationResult``.
        problem: what is wrong.
    """

    def __init__(self, kind: str, problem: str) -> None:
        self.kind = kind
        self.problem = problem
        super().__init__(f"the message is damaged: {kind}: {problem:.400}")
