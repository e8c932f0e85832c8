"""Recordings from bags and tables: read, brought to the joint side, put on one clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from robot_identification.errors import SettingError
from robot_identification.files.bags.cdr.dynamic_states import interfaces_of
from robot_identification.files.bags.joint_states import (
    JOINT_STATES,
    BagJointStates,
    read_joint_states,
)
from robot_identification.files.bags.other_joints import other_joint_warnings
from robot_identification.files.bags.separate_efforts import with_efforts_of
from robot_identification.files.bags.table_states import table_states
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
    recordings = []
    interfaces = interfaces_of({} if columns is None else columns.names)
    for path in paths:
        if is_table(path):
            bag = table_states(path, robot, topic, efforts, columns)
        else:
            bag = read_joint_states(
                path,
                robot.active_names,
                topic=topic,
                reference_topic=reference_topic,
                efforts_needed=efforts is None,
                positions_needed=positions_needed,
                interfaces=interfaces,
                cancelled=cancelled,
            )
            if bag.has_interfaces and columns is not None:
                _refuse_units(columns)
            elif columns is not None and columns_needed and not any(map(is_table, paths)):
                _refuse_unused(columns, path, topic)
        samples, warnings = bag.samples, list(bag.warnings)
        if efforts is not None:
            needed = not delay_estimated
            samples, merged = with_efforts_of(path, robot, samples, efforts, needed, cancelled)
            warnings += merged
        recording = prepared_recording(
            samples,
            robot,
            source=str(path),
            digest=bag.digest,
            effort_topic="" if efforts is None else efforts.topic,
            effort_delay=0.0 if efforts is None else efforts.delay,
            delay_estimated=delay_estimated,
            processing=processing,
            begin=begin,
            end=end,
            positions_needed=positions_needed,
            warnings=warnings,
            temperatures=_temperatures(path, robot, bag, topic, interfaces, cancelled),
            refused=bag.refused,
            cancelled=cancelled,
        )
        if not is_table(path):
            told = other_joint_warnings(
                path,
                robot,
                bag.samples if positions_needed else None,
                recording,
                topic=topic,
                interfaces=interfaces,
                cancelled=cancelled,
            )
            recording = replace(recording, warnings=(*recording.warnings, *told))
        recordings.append(replace(recording, without_velocity=bag.without_velocity))
    return tuple(recordings)


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


def _temperatures(
    path: str | Path,
    robot: RobotModel,
    bag: BagJointStates,
    topic: str,
    interfaces: Mapping[str, str],
    cancelled: Cancelled | None,
) -> Mapping[str, StampedTemperatures]:
    """Return the temperatures that the friction of a robot depends on, by joint.

    A topic that the robot file names goes before interfaces of the joints.
    """
    names, beside = robot.active_names, dict[str, StampedTemperatures]()
    if bag.temperatures is not None:
        own = of_samples(names, bag.samples.stamps, bag.temperatures)
        beside = {name: thinned(one) for name, one in own.items()}
    if is_table(path):
        return beside
    if not beside:
        beside = read_dynamic_temperatures(path, robot, topic, interfaces, cancelled)
    return {**beside, **read_temperatures(path, robot, cancelled)}
