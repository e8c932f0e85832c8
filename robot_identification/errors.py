"""One tree of exceptions; each carries the data that a caller needs to act on it.

Two branches matter to a program that calls this package: :class:`InputError`, when something
that was handed in is wrong, and :class:`ResultRefusedError`, when the input was fine but no
result can be stood behind.  The command line answers them with exit codes 2 and 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any


class RobotIdentificationError(Exception):
    """Base of every error that this package raises on purpose."""


class InputError(RobotIdentificationError):
    """Something that was handed in is wrong; the message says what, where and what to do."""


class ResultRefusedError(RobotIdentificationError):
    """The input is valid, but the result cannot be trusted and is therefore not given."""


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


class SettingError(InputError):
    """A setting has a value that it cannot have.

    Attributes:
        name: the setting.
        value: the value that was given.
    """

    def __init__(self, name: str, value: object, problem: str) -> None:
        self.name = name
        self.value = value
        super().__init__(f"{name} = {value}: {problem}")


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


class SampleError(InputError):
    """A sample holds a value that no solver may see.

    Attributes:
        signal: ``position``, ``velocity``, ``effort`` or another signal.
        joint: name of the joint.
        index: number of the sample, counted from 0.
        value: the value found.
    """

    def __init__(self, signal: str, joint: str, index: int, value: float) -> None:
        self.signal = signal
        self.joint = joint
        self.index = index
        self.value = value
        super().__init__(
            f"{signal} of joint {joint} is {value} at sample {index}; "
            "remove such samples or repair the driver that publishes them"
        )


class MissingSignalError(InputError):
    """A signal that identification cannot do without is absent.

    Attributes:
        signal: the missing signal, such as ``effort``.
        joint: name of the joint, empty where every joint lacks it.
        source: the bag or topic.
    """

    def __init__(self, signal: str, source: str, joint: str = "") -> None:
        self.signal = signal
        self.joint = joint
        self.source = source
        whose = f"joint {joint}" if joint else "every joint"
        super().__init__(
            f"{source}: no {signal} for {whose}; identification needs {signal}: "
            "record a topic that carries it"
        )


class JointNameError(InputError):
    """The joints of a recording and of a robot do not match.

    Attributes:
        missing: joints of the robot that the recording lacks.
        available: joints that the recording has.
        source: the bag or topic.
    """

    def __init__(self, missing: Sequence[str], available: Sequence[str], source: str) -> None:
        self.missing = tuple(missing)
        self.available = tuple(available)
        self.source = source
        super().__init__(
            f"{source}: joint {', '.join(self.missing)} of the robot is not among the recorded "
            f"joints ({', '.join(self.available) or 'none'}); name the joints of the robot file "
            "as the recording does"
        )


class BagError(InputError):
    """A bag cannot be read.

    Attributes:
        path: the bag.
        problem: what is wrong.
    """

    def __init__(self, path: str | Path, problem: str) -> None:
        self.path = str(path)
        self.problem = problem
        super().__init__(f"{self.path}: {problem}")


class TopicError(BagError):
    """A bag lacks a topic, or the topic has another type.

    Attributes:
        topic: the topic asked for.
        available: topics in the bag.
    """

    def __init__(
        self, path: str | Path, topic: str, available: Sequence[str], problem: str = ""
    ) -> None:
        self.topic = topic
        self.available = tuple(available)
        super().__init__(
            path,
            problem
            or f"no messages on topic {topic}; the bag has "
            f"{', '.join(self.available) or 'no topics'}; name the topic with an option",
        )


class RecordingError(InputError):
    """A recording is readable but of no use, for example because it is too short."""


class UnknownRecordingError(InputError):
    """No live recording of that identifier is in memory, or there is no sample in it.

    Attributes:
        recording: identifier that was asked for; empty for the current recording.
        known: identifiers of the recordings in memory.
    """

    def __init__(self, recording: str, known: Sequence[str]) -> None:
        self.recording = recording
        self.known = tuple(known)
        whose = f"no recording {recording}" if recording else "no recording yet"
        have = f"in memory are {', '.join(self.known)}" if self.known else "none is in memory"
        if recording in self.known:
            whose, have = f"recording {recording}", "no sample has arrived"
        super().__init__(f"{whose}: {have}; start one with ~/start of the acquisition node")


class ResultFileError(InputError):
    """A result or parameter file cannot be read, or belongs to something else.

    Attributes:
        path: the file.
        problem: what is wrong.
    """

    def __init__(self, path: str | Path, problem: str) -> None:
        self.path = str(path)
        self.problem = problem
        super().__init__(f"{self.path}: {problem}")


class OutputError(InputError):
    """An output cannot be written; what was there before is untouched.

    Attributes:
        path: the target.
        problem: what is wrong.
    """

    def __init__(self, path: str | Path, problem: str) -> None:
        self.path = str(path)
        self.problem = problem
        super().__init__(f"{self.path}: {problem}")


class MassMatrixError(InputError):
    """Parameters make the mass matrix of a robot not positive definite, so it cannot be moved.

    Attributes:
        robot: the robot.
        index: number of the sample, counted from 0, where it was found.
    """

    def __init__(self, robot: str, index: int) -> None:
        self.robot = robot
        self.index = index
        super().__init__(
            f"{robot}: the mass matrix at sample {index} is not positive definite; "
            "no such robot can exist: check masses, inertias and drive inertias"
        )


class TrajectoryError(InputError):
    """A trajectory cannot be followed: names, times or values are wrong."""


class SimulationError(ResultRefusedError):
    """A simulation left the numbers: positions, velocities or efforts became infinite.

    Attributes:
        time: simulated time of the last sound sample, in s.
    """

    def __init__(self, time: float, problem: str) -> None:
        self.time = time
        super().__init__(f"simulation stopped at {time:.6g} s: {problem}")


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
    """

    def __init__(self, parameters: Sequence[str], condition_number: float) -> None:
        self.parameters = tuple(parameters)
        self.condition_number = condition_number
        super().__init__(
            f"the motion does not determine {', '.join(self.parameters)} "
            f"(condition number {condition_number:.3g}): record a motion that moves these joints, "
            "or leave their friction terms out of the robot file"
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
            problem = f"nothing tells the drive gain of {', '.join(self.joints)}"
        super().__init__(
            f"{problem}; the payload must act on these joints, or on joints coupled to them by "
            "inertia: record motions that accelerate them with the payload far from their axes, "
            "take a heavier payload, or take their gains as known (--trust)"
        )


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


class CancelledError(RobotIdentificationError):
    """A long computation was cancelled by its caller."""


class MissingLimitError(InputError):
    """A robot lacks a limit that is needed to plan or to simulate a motion.

    Attributes:
        joint: name of the joint.
        limit: ``position``, ``velocity``, ``acceleration``, ``jerk`` or ``effort``.
    """

    def __init__(self, joint: str, limit: str) -> None:
        self.joint = joint
        self.limit = limit
        super().__init__(
            f"joint {joint} has no {limit} limit, and one is needed here; state it in the robot "
            f"file (joints: limits: {'lower, upper' if limit == 'position' else limit})"
        )


class NotCertifiedError(ResultRefusedError):
    """A trajectory does not pass a check of its certificate, or none that passes was found.

    Attributes:
        check: name of the check, such as ``position``.
    """

    def __init__(self, check: str, problem: str) -> None:
        self.check = check
        super().__init__(f"not certified ({check}): {problem}")


class StaleStateError(InputError):
    """The joint states are too old, or the robot moves or is elsewhere: no motion may begin."""


class NoPlanError(InputError):
    """There is no certified plan, or not the one that is meant; the message says what to do."""


class NothingInterruptedError(InputError):
    """There is no experiment to go on from; the message says why and what to do."""


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


class ResultMismatchError(InputError):
    """A result or a prior belongs to a robot with other parameters.

    Attributes:
        robot: the robot that it was handed in with.
    """

    def __init__(self, robot: str, problem: str) -> None:
        self.robot = robot
        super().__init__(f"{robot}: {problem}")


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
        extra: extra of this package that brings it.
    """

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        self.package = package
        self.extra = extra
        super().__init__(
            f"{purpose} needs {package}, which is not installed; "
            f"pip install 'robot_identification[{extra}]', or pip install {package}"
        )
