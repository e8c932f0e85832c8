"""Recordings from bags and tables: read, brought to the joint side, put on one clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from robot_identification.errors import SettingError
from robot_identification.files.bags.cdr.dynamic_states import interfaces_of
from robot_identification.files.bags.joint_states.other_joints import other_joint_warnings
from robot_identification.files.bags.joint_states.reading import (
    JOINT_STATES,
    BagJointStates,
    read_joint_states,
)
from robot_identification.files.bags.joint_states.tables import table_states
from robot_identification.files.bags.separate_efforts import with_efforts_of
from robot_identification.files.bags.temperatures import (
    read_dynamic_temperatures,
    read_temperatures,
)
from robot_identification.files.cancelling import Cancelled
from robot_identification.files.tables.columns import TEMPERATURE, Columns
from robot_identification.files.tables.reading import is_table
from robot_identification.identification.prepared_recording import prepared_recording
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.efforts.separate import EffortSource
from robot_identification.signals.recording import Recording
from robot_identification.signals.temperature import StampedTemperatures, of_samples, thinned


def read_recordings(
    paths: Sequence[str | Path],
    robot: RobotModel,
    *,
    topic: str = JOINT_STATES,
    reference_topic: str | None = None,
    efforts: EffortSource | None = None,
    delay_estimated: bool = False,
    processing: ProcessingSettings | None = None,
    begin: float = 0.0,
    end: float = 1.0,
    positions_needed: bool = True,
    columns: Columns | None = None,
    columns_needed: bool = True,
    cancelled: Cancelled | None = None,
) -> tuple[Recording, ...]:
    """Read the joint states of a robot from bags; see :func:`.files.prepared_recording`.

    Args:
        paths: folders of rosbag2, bare .db3 or .mcap files, or tables (.csv, .tsv, .txt).
        robot: says which joints and what positions and efforts mean.
        topic: topic of the joint states.
        reference_topic: topic of commanded positions; None, absent or not of joint states: no
            reference.
        efforts: where efforts come from that have a topic of their own; None: they come with the
            joint states.  Joint states for which there are none are left out.
        delay_estimated: whether efforts are moved by the estimate of their delay; otherwise
            efforts without stamps need a delay, and what it seems to be beyond that is told.
        processing: settings of the signal processing that the caller states, for that estimate.
        begin: where to begin, as a fraction of each bag, or as ``Seconds``.
        end: where to end, likewise.
        positions_needed: whether positions must be there and finite; without, those of a bag in
            which some are not are all NaN.
        columns: which columns of tables hold what, and which interfaces of the joints of a
            DynamicJointState; None: by their usual names.
        columns_needed: whether columns that none of the paths has a use for are refused.
        cancelled: asked now and then whether to give up.

    Returns:
        One recording per bag, with what its reader had to say in ``warnings``.

    Raises:
        BagError: if a bag cannot be read or lacks the topic.
        SettingError: if columns are named, and nothing but plain joint states is read.
        InputError: if its samples are of no use, or separate efforts have neither stamps nor a
            delay.
        CancelledError: if ``cancelled`` says so.
    """
    reader = _Reader(
        robot=robot,
        topic=topic,
        reference_topic=reference_topic,
        efforts=efforts,
        delay_estimated=delay_estimated,
        processing=processing,
        begin=begin,
        end=end,
        positions_needed=positions_needed,
        columns=columns,
        columns_used=columns_needed and not any(map(is_table, paths)),
        cancelled=cancelled,
    )
    return tuple(map(reader.recording, paths))


@dataclass(frozen=True)
class _Reader:
    """Reads one bag or table after the other; the attributes are those of :func:`read_recordings`.

    Attributes:
        columns_used: whether columns of which a bag makes no use are refused.
    """

    robot: RobotModel
    topic: str
    reference_topic: str | None
    efforts: EffortSource | None
    delay_estimated: bool
    processing: ProcessingSettings | None
    begin: float
    end: float
    positions_needed: bool
    columns: Columns | None
    columns_used: bool
    cancelled: Cancelled | None

    @cached_property
    def interfaces(self) -> Mapping[str, str]:
        """Names of the interfaces of a DynamicJointState, by signal."""
        return interfaces_of({} if self.columns is None else self.columns.names)

    def recording(self, path: str | Path) -> Recording:
        """Return what a bag or table holds, on one clock and on the joint side."""
        bag = self._states(path)
        samples, warnings = bag.samples, list(bag.warnings)
        efforts = self.efforts
        if efforts is not None:
            needed = not self.delay_estimated
            samples, merged = with_efforts_of(
                path, self.robot, samples, efforts, needed, self.cancelled
            )
            warnings += merged
        recording = prepared_recording(
            samples,
            self.robot,
            source=str(path),
            digest=bag.digest,
            effort_topic="" if efforts is None else efforts.topic,
            effort_delay=0.0 if efforts is None else efforts.delay,
            delay_estimated=self.delay_estimated,
            processing=self.processing,
            begin=self.begin,
            end=self.end,
            positions_needed=self.positions_needed,
            warnings=warnings,
            temperatures=self._temperatures(path, bag),
            refused=bag.refused,
            cancelled=self.cancelled,
        )
        told = [*recording.warnings, *self._about_other_joints(path, bag, recording)]
        return replace(recording, warnings=tuple(told), without_velocity=bag.without_velocity)

    def _states(self, path: str | Path) -> BagJointStates:
        """Return the joint states of a bag or table as they were recorded."""
        if is_table(path):
            return table_states(path, self.robot, self.topic, self.efforts, self.columns)
        bag = read_joint_states(
            path,
            self.robot.active_names,
            topic=self.topic,
            reference_topic=self.reference_topic,
            efforts_needed=self.efforts is None,
            positions_needed=self.positions_needed,
            interfaces=self.interfaces,
            cancelled=self.cancelled,
        )
        if bag.has_interfaces and self.columns is not None:
            _refuse_units(self.columns)
        elif self.columns is not None and self.columns_used:
            _refuse_unused(self.columns, path, self.topic)
        return bag

    def _about_other_joints(
        self, path: str | Path, bag: BagJointStates, recording: Recording
    ) -> Sequence[str]:
        """Return what is to be told of joints of a bag that the robot does not have."""
        if is_table(path):
            return ()
        return other_joint_warnings(
            path,
            self.robot,
            bag.samples if self.positions_needed else None,
            recording,
            topic=self.topic,
            interfaces=self.interfaces,
            cancelled=self.cancelled,
        )

    def _temperatures(
        self, path: str | Path, bag: BagJointStates
    ) -> Mapping[str, StampedTemperatures]:
        """Return the temperatures that the friction of a robot depends on, by joint.

        A topic that the robot file names goes before interfaces of the joints.
        """
        names, beside = self.robot.active_names, dict[str, StampedTemperatures]()
        if bag.temperatures is not None:
            own = of_samples(names, bag.samples.stamps, bag.temperatures)
            beside = {name: thinned(one) for name, one in own.items()}
        if is_table(path):
            return beside
        if not beside:
            beside = read_dynamic_temperatures(
                path, self.robot, self.topic, self.interfaces, self.cancelled
            )
        return {**beside, **read_temperatures(path, self.robot, self.cancelled)}


def _refuse_units(columns: Columns) -> None:
    """Refuse units of interfaces, which have those of ROS.

    Raises:
        SettingError: there is one.
    """
    for signal, units in columns.units.items():
        problem = "interfaces of joints are in SI units, A or degrees Celsius; leave the unit away"
        raise SettingError("columns", f"{signal}[{','.join(units)}]", problem)


def _refuse_unused(columns: Columns, path: str | Path, topic: str) -> None:
    """Refuse columns of plain joint states, which have none and would pass them over.

    Raises:
        SettingError: there are others than temperatures, which may be on a topic beside.
    """
    unused = [signal for signal in columns.names if signal != TEMPERATURE]
    if unused:
        problem = (
            "columns are of tables, and interfaces of DynamicJointState; "
            f"{topic} of {path} has JointState: name another topic, or leave them away"
        )
        raise SettingError("columns", ", ".join(unused), problem)
