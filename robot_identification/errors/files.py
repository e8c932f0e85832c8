"""Errors of files that are read and written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from robot_identification.errors.base import InputError, RobotIdentificationError


class RobotDescriptionError(InputError):
    """A robot file (YAML or URDF) is wrong.

    Attributes:
        path: file that was read, or a name such as ``<string>``.
        line: line of the offending entry, counted from 1; None where it cannot be known.
        field: dotted path of the entry, such as ``joints[2].alpha``; empty for the whole file.
        problem: what is wrong and what to do about it.
    """

    def __init__(
        self, problem: str, *, path: str | Path, line: int | None = None, field: str = ""
    ) -> None:
        self.path = str(path)
        self.line = line
        self.field = field
        self.problem = problem
        place = self.path if line is None else f"{self.path}:{line}"
        super().__init__(f"{place}: {field}: {problem}" if field else f"{place}: {problem}")

    @property
    def told(self) -> str:
        """Fault and its line, for errors that name the file themselves."""
        return self.problem if self.line is None else f"line {self.line}: {self.problem}"


class MissingMeshError(RobotDescriptionError):
    """A mesh that a URDF names is not on this machine.

    Attributes:
        mesh: what the URDF calls it.
    """

    def __init__(self, mesh: str, *, path: str | Path, line: int | None, field: str) -> None:
        self.mesh = mesh
        super().__init__(
            f"{mesh} is not found beside the URDF, nor in the packages of ROS; source the "
            "workspace that has it, or set ROS_PACKAGE_PATH",
            path=path,
            line=line,
            field=field,
        )


class UnknownRobotError(InputError):
    """No robot file of that name exists.

    Attributes:
        name: what was asked for.
        known: names of the robots that ship with the package.
    """

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.name = name
        self.known = tuple(known)
        super().__init__(
            f"{name}: neither a file nor a robot of this package; "
            f"give a YAML file, a URDF, or one of {', '.join(self.known)}"
        )


class MissingLimitError(InputError):
    """A robot lacks limits that are needed to plan, to simulate or to feed a model forward.

    Attributes:
        joint: name of the first joint without one.
        limit: ``position``, ``velocity``, ``acceleration``, ``jerk`` or ``effort``.
        joints: names of all joints that are known to lack it.
        missing: every limit that is missing -> names of the joints that lack it.
    """

    def __init__(
        self,
        joint: str,
        limit: str,
        *more: str,
        others: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.joint = joint
        self.limit = limit
        self.joints = (joint, *more)
        self.missing: dict[str, tuple[str, ...]] = {limit: self.joints}
        self.missing |= {kind: tuple(joints) for kind, joints in (others or {}).items()}
        lacking = ", ".join(
            f"{'' if i else 'joint '}{', '.join(joints)} "
            f"{'have' if len(joints) > 1 else 'has'} no {kind} limit"
            for i, (kind, joints) in enumerate(self.missing.items())
        )
        keys = ", ".join("lower, upper" if kind == "position" else kind for kind in self.missing)
        one = "one is" if len(self.missing) == 1 else "they are"
        them = "it" if len(self.missing) == 1 else "them"
        turning = ""
        if "position" in self.missing:
            turning = (
                "; continuous joints of a URDF have no position limits, and exporters write 0 for "
                "both where they know none: choose how far to move, for each of these joints itself"
            )
        super().__init__(
            f"{lacking}, and {one} needed here; "
            f"give {them} in the robot file (joints: limits: {keys}; or for all joints under "
            f"joint_defaults){turning}"
        )


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


class DownloadError(RobotIdentificationError):
    """A published file cannot be had: no network, or what came is another.

    Attributes:
        address: where it is published.
        problem: what is wrong.
    """

    def __init__(self, address: str, problem: str) -> None:
        self.address = address
        self.problem = problem
        super().__init__(f"{address}: {problem}")


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
