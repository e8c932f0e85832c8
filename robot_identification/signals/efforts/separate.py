"""Efforts that come on a topic of their own: put beside the motion by their stamps.

An effort is taken between its two neighbours in time, by linear interpolation; never before the
first one, after the last one, or across a gap.  Where a stamp is met exactly, the effort passes
unchanged, bit by bit.  Between efforts that are h apart, a torque of f Hz is off by at most
(2 pi f h)^2 / 8 of its amplitude.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from robot_identification.errors import RecordingError, SettingError, ShapeError
from robot_identification.robot.arrays import Array, by_value, read_only_view
from robot_identification.signals.clock.stamps import Clock, Stamps, in_order, newest_at
from robot_identification.signals.joint_columns import JointColumns
from robot_identification.signals.raw_samples import RawSamples

NANOSECONDS = 1e9
LARGEST_DELAY = 1.0
"""Delay in s beyond which efforts and motion are not of one clock."""


@dataclass(frozen=True)
class EffortSource:
    """Source of efforts that do not come with the joint states.

    Attributes:
        topic: their topic.
        delay: time in s by which their stamps lie behind those of the motion that they belong to;
            for efforts without stamps behind the time at which they were sent or recorded.
        joint_names: joints of an array without names, in its order; empty: those of the robot.

    Raises:
        SettingError: the delay is beyond a second, or not a number.
    """

    topic: str
    delay: float = 0.0
    joint_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not abs(self.delay) <= LARGEST_DELAY:
            raise SettingError("effort_delay", self.delay, "must lie within a second")

    def columns(self, robot_joints: Sequence[str]) -> npt.NDArray[np.intp]:
        """Return the places of a robot's joints in an array without names.

        Raises:
            JointNameError: a joint of the robot is not among ``joint_names``.
            RecordingError: one is there twice.
        """
        return JointColumns(robot_joints, self.topic).of(self.joint_names or robot_joints)

    def require_delay(self) -> None:
        """Refuse efforts without stamps of which nobody has said how late they are.

        Raises:
            SettingError: if the delay is 0.
        """
        if self.delay == 0.0:
            raise SettingError(
                "effort_delay",
                self.delay,
                f"efforts on {self.topic} carry no stamps: say how long before they are sent they "
                "were measured, in s, such as half a period of the driver",
            )


@by_value
@dataclass(frozen=True)
class EffortSamples:
    """Efforts as they came, mapped to the robot's joints.

    Attributes:
        stamps: (efforts,) stamps in ns.
        effort: (efforts, joints), on the side where they were measured.
    """

    stamps: Stamps
    effort: Array

    def __post_init__(self) -> None:
        if self.effort.ndim != 2 or len(self.effort) != len(self.stamps):
            raise ShapeError("effort", self.effort.shape, f"({len(self.stamps)}, joints)")
        object.__setattr__(self, "stamps", read_only_view(self.stamps))
        object.__setattr__(self, "effort", read_only_view(self.effort))


@dataclass(frozen=True)
class MergeCounts:
    """Efforts matched with the motion: counts of those kept and lost.

    Attributes:
        efforts: efforts received.
        duplicates: of these, dropped because an earlier one had the same stamp.
        out_of_order: of these, older than one before them; they were sorted in.
        gaps: places where efforts are missing.
        without_effort: samples of the motion left out because no effort is there for them.
    """

    efforts: int = 0
    duplicates: int = 0
    out_of_order: int = 0
    gaps: int = 0
    without_effort: int = 0


def efforts_at(
    instants: Stamps, efforts: EffortSamples, clock: Clock
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Return efforts at given instants, and for which of these there are any.

    Args:
        instants: (instants,) in ns.
        efforts: in the order of their stamps, without duplicates, at least one.
        clock: theirs; it says which steps are gaps.

    Returns:
        (instants, joints) efforts, of no meaning where there are none; (instants,) where there are.
    """
    stamps, last = efforts.stamps, len(efforts.stamps) - 1
    before = newest_at(stamps, instants)
    there = before >= 0
    before = np.maximum(before, 0)
    after = np.minimum(before + 1, last)
    step = stamps[after] - stamps[before]
    since = instants - stamps[before]
    there &= (since == 0) | ((before < last) & ~clock.is_gap(step))
    share = np.where(there, since, 0) / np.maximum(step, 1)
    first = efforts.effort[before]
    return first + share[:, None] * (efforts.effort[after] - first), there


def merge_efforts(
    motion: RawSamples, efforts: EffortSamples, delay: float, *, source: str = ""
) -> tuple[RawSamples, MergeCounts]:
    """Return samples of the motion with the efforts of another topic.

    Samples for which there is no effort are left out, which makes a gap in the recording.

    Args:
        motion: samples whose effort is of no account, in order of arrival.
        efforts: in order of arrival.
        delay: time in s by which the stamps of the efforts lie behind those of the motion that
            they belong to; the effort of a sample is the one stamped that much later.
        source: where they came from; error messages name it.

    Raises:
        RecordingError: there are fewer than two efforts, or none at the time of the motion.
    """
    order = in_order(efforts.stamps)
    ordered = EffortSamples(efforts.stamps[order.places], efforts.effort[order.places])
    if len(ordered.stamps) < 2:
        raise RecordingError(
            f"{source}: {len(ordered.stamps)} separate efforts are too few to merge"
        )
    clock = Clock.of(ordered.stamps)
    values, there = efforts_at(motion.stamps + delay_ns(delay), ordered, clock)
    if not there.any():
        apart = (int(ordered.stamps[0]) - int(motion.stamps[0])) / NANOSECONDS
        raise RecordingError(
            f"{source}: no effort is there at the time of any joint state; the first effort is "
            f"stamped {apart:.3f} s after the first state: both need the same clock"
        )
    counts = MergeCounts(
        efforts=len(efforts.stamps),
        duplicates=order.duplicates,
        out_of_order=order.late,
        gaps=len(clock.gaps(ordered.stamps)),
        without_effort=int(np.count_nonzero(~there)),
    )
    return with_efforts(motion, values, there), counts


def with_efforts(motion: RawSamples, effort: Array, there: npt.NDArray[np.bool_]) -> RawSamples:
    """Return the samples of the motion for which there are efforts, with these.

    Args:
        motion: (samples,).
        effort: (samples, joints).
        there: (samples,) which samples stay.
    """
    return replace(motion.at(there), effort=effort[there])


def delay_ns(delay: float) -> int:
    """Return a delay in whole ns."""
    return round(delay * NANOSECONDS)
