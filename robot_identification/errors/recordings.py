"""Errors of recordings: bags, topics, and the samples in them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from robot_identification.errors.base import InputError
from robot_identification.errors.files import FileError


class BagError(FileError):
    """A bag cannot be read."""


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

    Args:
        recording: as above.
        known: as above.
        begun: whether the recording has begun, and nothing of it has come.
        fate: what became of its samples, where it has none and somebody knows.
    """

    def __init__(
        self, recording: str, known: Sequence[str], *, begun: bool = False, fate: str = ""
    ) -> None:
        self.recording = recording
        self.known = tuple(known)
        whose = f"no recording {recording}" if recording else "no recording yet"
        have = f"in memory are {', '.join(self.known)}" if self.known else "none is in memory"
        remedy = "start one with ~/start of the acquisition node"
        if begun or recording in self.known:
            whose, have = f"recording {recording}", f"no sample has arrived{fate and f', {fate}'}"
            remedy = "/diagnostics of the acquisition node and the log of this node tell why"
        super().__init__(f"{whose}: {have}; {remedy}")


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


class NoEffortError(RecordingError):
    """The efforts of joints that move are zero throughout: they were not measured.

    Attributes:
        joints: names of the joints.
        source: the recording; empty for all of them together.
        every: whether it is so for every joint that moves.
    """

    def __init__(self, joints: Sequence[str], source: str = "", *, every: bool = False) -> None:
        self.joints = tuple(joints)
        self.source = source
        self.every = every
        where = f"{source}: " if source else ""
        whose = "every joint" if every else ", ".join(self.joints)
        super().__init__(
            f"{where}the efforts of {whose} are zero throughout: mock hardware and drivers that do "
            "not measure them publish zeros; record a robot whose driver reports efforts"
        )


class EffortSignError(RecordingError):
    """Efforts contradict the model by twice what it says: their sign is wrong.

    Attributes:
        joints: names of the joints.
    """

    def __init__(self, joints: Sequence[str]) -> None:
        self.joints = tuple(joints)
        super().__init__(
            f"the efforts of {', '.join(self.joints)} differ from the model by about twice what it "
            "says of gravity and friction: their sign is wrong; correct it in the driver or in the "
            "robot file"
        )


class MeasuredVelocityError(RecordingError):
    """Measured velocities are wanted, and were not recorded or contradict the positions.

    Attributes:
        source: the recording.
        joint: name of the joint; empty where every joint lacks them.
        slope: of its velocities over those that follow from its positions; None where there are
            none.
    """

    def __init__(self, source: str, joint: str = "", slope: float | None = None) -> None:
        self.source = source
        self.joint = joint
        self.slope = slope
        where = f"{source}: " if source else ""
        if slope is None:
            whose = f"joint {joint} has no" if joint else "it has no"
            problem = (
                f"{whose} measured velocities; record a driver that fills in the velocities of "
                "every joint and sample"
            )
        else:
            problem = (
                f"the measured velocities of joint {joint} contradict its positions: they are "
                f"{slope:.3g} of what these tell; correct their sign, unit, gear ratio, or the "
                "order of the joints"
            )
        super().__init__(f"{where}{problem}, or take those of the positions (velocities: derived)")


class JointNameError(InputError):
    """The joints of a recording and of a robot do not match.

    Attributes:
        missing: joints of the robot that the recording lacks, or has in another order.
        available: joints that the recording has.
        source: the bag or topic.
    """

    def __init__(self, missing: Sequence[str], available: Sequence[str], source: str) -> None:
        self.missing = tuple(missing)
        self.available = tuple(available)
        self.source = source
        absent = [name for name in self.missing if name not in self.available]
        problem = (
            f"joint {', '.join(absent)} of the robot is not among the recorded "
            f"joints ({', '.join(self.available) or 'none'}); name the joints of the robot file "
            "as the recording does"
        )
        if not absent:
            problem = (
                f"it was read for the joints {', '.join(self.available)}, and the robot has "
                f"{', '.join(self.missing)}; read it for this robot"
            )
        super().__init__(f"{source}: {problem}")


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


class AbsurdSamplesError(InputError):
    """Samples are finite, and yet so large that what is computed from them is not.

    Attributes:
        joints: names of the joints whose rows they spoil.
        source: the recording; empty for all of them together.
    """

    def __init__(self, joints: Sequence[str], source: str = "") -> None:
        self.joints = tuple(joints)
        self.source = source
        where = f"{source}: " if source else ""
        super().__init__(
            f"{where}positions or efforts of {', '.join(self.joints)}, or of joints that move with "
            "them, are so large that sums of their squares are no numbers; some drivers write the "
            "largest number where they know none: mend the driver, or leave these samples out"
        )


class LoopMismatchError(RecordingError):
    """A measured joint is not where the relation of its loop puts it.

    Attributes:
        joint: the joint that should follow others.
        deviation: root mean square of its distance from the relation, in rad or m.
        mean: mean of its distance.
        source: the recording.
    """

    def __init__(self, joint: str, deviation: float, mean: float, source: str = "") -> None:
        self.joint = joint
        self.deviation = deviation
        self.mean = mean
        self.source = source
        where = f"{source}: " if source else ""
        super().__init__(
            f"{where}{joint} does not follow as loops of the robot file says: it is off by "
            f"{deviation:.3g} (root mean square, mean {mean:.3g}); mend equals or offset of its "
            "loop, or the signs and units of the recorded positions"
        )


class NotPeriodicError(RecordingError):
    """A recording does not hold two whole periods that are alike.

    Attributes:
        source: the recording.
        period: period that was stated, in s.
        repeats: period with which the motion does repeat, in s; None where there is none.
    """

    def __init__(self, source: str, period: float, repeats: float | None, problem: str) -> None:
        self.source = source
        self.period = period
        self.repeats = repeats
        advice = (
            "record at least two whole periods without interruption"
            if repeats is None
            else f"the motion repeats every {repeats:.5g} s: give that period"
        )
        super().__init__(f"{source}: with a period of {period:.6g} s, {problem}; {advice}")
