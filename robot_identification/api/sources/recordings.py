"""Recordings and trajectories as arguments of the public functions, or the files of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from robot_identification.api.sources.robots import RobotSource, robot_of
from robot_identification.errors import (
    RecordingError,
    SettingError,
)
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.plan import Plan
from robot_identification.excitation.simulated_recording import SimulatedRecording
from robot_identification.files.bags.joint_states.reading import JOINT_STATES
from robot_identification.files.bags.recordings import read_recordings
from robot_identification.files.cancelling import Cancelled
from robot_identification.files.plans.trajectories import read_trajectory
from robot_identification.files.tables.columns import Columns
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.share import share_directory
from robot_identification.signals.efforts.separate import EffortSource
from robot_identification.signals.joint_columns import refuse_other_joints
from robot_identification.signals.recording import Recording, Segment

Run: TypeAlias = Recording | SimulatedRecording | str | Path
"""A recording, or the bag or table that holds it."""


TrajectorySource: TypeAlias = Trajectory | Plan | str | Path
"""A trajectory, a plan, the file of either, or the name of a shipped trajectory."""


def read_bags(
    robot: RobotSource,
    bags: str | Path | Sequence[str | Path],
    *,
    topic: str = JOINT_STATES,
    reference_topic: str | None = None,
    efforts: EffortSource | None = None,
    delay_estimated: bool = False,
    processing: ProcessingSettings | None = None,
    begin: float = 0.0,
    end: float = 1.0,
    positions_needed: bool = True,
    columns: Mapping[str, str] | None = None,
    cancelled: Cancelled | None = None,
) -> list[Recording]:
    """Read the joint states of a robot from bags, or from tables of text.

    Where efforts have a topic of their own, or it is asked for, their delay is estimated and told.

    Args:
        robot: says which joints and what positions and efforts mean.
        bags: folders of rosbag2, bare .db3 or .mcap files, or tables (.csv, .tsv, .txt).
        topic: topic of the joint states.
        reference_topic: topic of commanded positions; None: no reference is read.
        efforts: where efforts are that have a topic of their own.
        delay_estimated: whether the efforts are moved by their estimated delay.
        processing: settings of the signal processing, for that estimate; what it leaves open is
            derived from the data.
        begin: where to begin, as a fraction of each bag, 0 to 1, or as ``Seconds``.
        end: where to end, likewise.
        positions_needed: whether positions must be there and finite; DIDIM does without.
        columns: of tables, signal -> its columns, or of bags of DynamicJointState, signal -> its
            interface, such as ``{"time[ms]": "t", "position": "q{n}",
            "effort": "tau1,tau2"}``; by default by their usual names.
        cancelled: asked now and then whether to stop.

    Returns:
        One recording per bag.

    Raises:
        BagError: a bag cannot be read or lacks a topic.
        SettingError: ``begin`` or ``end`` is no such place.
        InputError: its samples are of no use, or nobody has said what effort means.
        CancelledError: ``cancelled`` says so.
    """
    robot = robot_of(robot, closed_loops=True)
    paths = [bags] if isinstance(bags, str | Path) else bags
    recordings = read_recordings(
        paths,
        robot,
        topic=topic,
        reference_topic=reference_topic,
        efforts=efforts,
        delay_estimated=delay_estimated,
        processing=processing,
        begin=begin,
        end=end,
        positions_needed=positions_needed,
        columns=None if columns is None else Columns.of(columns),
        cancelled=cancelled,
    )
    return list(recordings)


def recordings_of(
    robot: RobotModel,
    runs: Run | Sequence[Run],
    *,
    reference_topic: str | None = None,
    positions_needed: bool = True,
) -> list[Recording]:
    """Return recordings; bags are read with the defaults of :func:`read_bags`.

    Raises:
        SettingError: one is neither a recording nor the name of one.
        JointNameError: one has the columns of other joints, or in another order.
        InputError: a bag cannot be read, or its samples are of no use.
    """
    found: list[Recording] = []
    for run in [runs] if isinstance(runs, Recording | SimulatedRecording | str | Path) else runs:
        if isinstance(run, Recording):
            found.append(run)
        elif isinstance(run, SimulatedRecording):
            found.append(run.recording())
        else:
            found += read_bags(
                robot,
                _path(run),
                reference_topic=reference_topic,
                positions_needed=positions_needed,
            )
    refuse_other_joints(robot, found)
    return found


def some_recordings_of(robot: RobotModel, runs: Run | Sequence[Run]) -> list[Recording]:
    """Return recordings, of which there must be one; see :func:`recordings_of`.

    Raises:
        RecordingError: there is none.
    """
    found = recordings_of(robot, runs)
    if not found:
        raise RecordingError("no recording was given")
    return found


def _path(run: object) -> str | Path:
    """Return the path of a bag or table.

    Raises:
        SettingError: it is none.
    """
    if isinstance(run, str | Path):
        return run
    told = "give recordings, such as Recording.from_arrays makes, bags or tables"
    raise SettingError("recordings", type(run).__name__, told)


def measured_of(
    recording: Recording, segment: Segment
) -> tuple[npt.NDArray[np.int64], Array, Array | None, Array]:
    """Return the samples of a segment that were measured, as a node receives them.

    Args:
        recording: that the segment is part of.
        segment: a run of its samples, of which some may have been bridged.

    Returns:
        (samples,) stamps in ns; (samples, joints) positions, velocities where there are any, and
        efforts, on the joint side.
    """
    kept = slice(None) if segment.measured is None else segment.measured
    stamps = recording.start_stamp + np.rint(1e9 * segment.time[kept]).astype(np.int64)
    velocity = None if segment.velocity is None else segment.velocity[kept]
    return stamps, segment.position[kept], velocity, segment.effort[kept]


def trajectory_of(source: TrajectorySource) -> Trajectory:
    """Return a trajectory, read where its file or a shipped one is named."""
    if isinstance(source, Trajectory):
        return source
    if isinstance(source, Plan):
        return source.trajectory
    shipped = share_directory() / "config" / "trajectories" / f"{source}.yaml"
    return read_trajectory(shipped if not Path(source).exists() and shipped.exists() else source)
