"""Arguments of the public functions: robots, recordings and parameters, or the files of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from robot_identification.calibration.calibrated import CalibratedParameters
from robot_identification.calibration.prior import Prior
from robot_identification.errors import (
    RecordingError,
    ResultMismatchError,
    SettingError,
    ShapeError,
)
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.plan import Plan
from robot_identification.excitation.simulated_recording import SimulatedRecording
from robot_identification.files.bags.joint_states.reading import JOINT_STATES
from robot_identification.files.bags.recordings import read_recordings
from robot_identification.files.base_values import BaseValues, read_base_values
from robot_identification.files.cancelling import Cancelled
from robot_identification.files.parameters import read_prior, with_law_of
from robot_identification.files.plans.trajectories import read_trajectory
from robot_identification.files.provenance import robot_file_warnings, stated_provenance
from robot_identification.files.results import read_result, read_result_of
from robot_identification.files.tables.columns import Columns
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.belonging import refuse_other_parameters
from robot_identification.identification.friction.law import FrictionLaw
from robot_identification.identification.result import IdentificationResult
from robot_identification.robot.arrays import Array, numbers, read_only_view
from robot_identification.robot.files.link_frames import geometry_entries, other_link_frames
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import is_result, load_values
from robot_identification.robot.files.versions import CALIBRATION, changed_robot_warnings
from robot_identification.robot.loops import refuse_loops
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.share import share_directory
from robot_identification.signals.efforts.separate import EffortSource
from robot_identification.signals.joint_columns import refuse_other_joints
from robot_identification.signals.recording import Recording, Segment

RobotSource: TypeAlias = RobotModel | str | Path
"""A robot, or its file, or the name of a shipped one."""

Run: TypeAlias = Recording | SimulatedRecording | str | Path
"""A recording, or the bag or table that holds it."""

ResultSource: TypeAlias = IdentificationResult | str | Path
"""A result, or its file."""

ParameterSource: TypeAlias = (
    IdentificationResult | CalibratedParameters | BaseValues | npt.ArrayLike | str | Path
)
"""Parameters to predict with: a result, calibrated ones, (base,) values, or a file of the two."""


FullSource: TypeAlias = CalibratedParameters | npt.ArrayLike | str | Path
"""Standard parameters: calibrated ones, (full,) values, a file, or the name of a shipped one."""


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


def load_result(path: str | Path) -> IdentificationResult:
    """Load a result of identify from its file.

    Raises:
        ResultFileError: it is not one, is damaged or was changed, or has another schema version.
    """
    return read_result(path)


def robot_of(source: RobotSource, *, closed_loops: bool = False) -> RobotModel:
    """Return a robot, loaded where it is named.

    Args:
        source: the robot, its file, or the name of a shipped one.
        closed_loops: whether the caller can deal with joints that follow others.
    """
    if not isinstance(source, RobotModel):
        return load_robot(source, closed_loops=closed_loops)
    if not closed_loops:
        refuse_loops(source, "this function")
    return source


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


def result_of(source: ResultSource, robot: RobotModel | None = None) -> IdentificationResult:
    """Return a result, read where its file is named.

    Args:
        source: the result.
        robot: whose it is; None: anybody's.

    Raises:
        ResultMismatchError: it is another robot's.
        ResultFileError: its file is none, or is damaged, or is another robot's.
    """
    if not isinstance(source, IdentificationResult):
        return read_result(source) if robot is None else read_result_of(source, robot)
    if robot is not None:
        _refuse_other(robot, source.robot)
    return source


def base_values_of(robot: RobotModel, source: ParameterSource) -> BaseValues:
    """Return values of base parameters, and how recordings behind them were processed."""
    if isinstance(source, BaseValues):
        return source
    if isinstance(source, str | Path):
        return read_base_values(source, robot)
    base = base_parameters(robot)
    if isinstance(source, IdentificationResult):
        refuse_other_parameters(robot, result_of(source, robot), base)
        return BaseValues.of(source, robot)
    if isinstance(source, CalibratedParameters):
        _refuse_others(robot, source)
        return BaseValues(
            base.values(source.values[base.columns]),
            source.processing,
            source.efforts,
            changed_robot_remarks(robot, source),
        )
    return BaseValues(_numbers(source, base.names))


def with_law(robot: RobotModel, source: ParameterSource) -> tuple[RobotModel, ParameterSource]:
    """Return a robot with the friction law of parameters, and a result read where it is a file.

    Args:
        robot: as its file describes it.
        source: a result, calibrated parameters or their file; values have no law of their own.

    Raises:
        ResultMismatchError: they are another robot's.
    """
    if isinstance(source, str | Path):
        if not is_result(source):
            return with_law_of(source, robot), source
        source = read_result_of(source, robot)
    if isinstance(source, IdentificationResult):
        return result_of(source, robot).model_of(robot), source
    if isinstance(source, CalibratedParameters):
        _refuse_other(robot, source.robot)
        return FrictionLaw.of(source.description).applied(robot), source
    return robot, source


def full_values_of(robot: RobotModel, source: FullSource) -> Array:
    """Return the (full,) standard parameters, in the order of ``robot.all_parameter_names``."""
    if isinstance(source, str | Path):
        return load_values(source, robot)
    if isinstance(source, CalibratedParameters):
        _refuse_others(robot, source)
        return source.values
    return _numbers(source, robot.all_parameter_names)


def prior_of(robot: RobotModel, source: Prior | str | Path | None) -> Prior:
    """Return what is known of a robot's parameters, read where a file is named.

    Raises:
        SettingError: it is neither a prior nor a file.
    """
    if isinstance(source, Prior):
        return source
    if source is None or isinstance(source, str | Path):
        return read_prior(source, robot)
    raise SettingError("prior", type(source).__name__, "give a Prior, a file, or none")


def _numbers(source: npt.ArrayLike, names: Sequence[str]) -> Array:
    """Return values of parameters from an array.

    Raises:
        SettingError: an entry is no number, or not finite, or names stand in another order.
        ShapeError: there is not one for each.
    """
    problem = "give a result, calibrated parameters, their file, or an array of numbers"
    values = numbers("parameters", source, names, problem)
    if values.shape != (len(names),):
        raise ShapeError("values", values.shape, f"({len(names)},)")
    for name, value in zip(names, values.tolist(), strict=True):
        if not math.isfinite(value):
            raise SettingError(name, value, "must be a finite number")
    return read_only_view(values)


def changed_robot_remarks(robot: RobotModel, source: FullSource) -> tuple[str, ...]:
    """Return a line where parameters were calibrated with another version of a robot's file."""
    if isinstance(source, CalibratedParameters):
        return changed_robot_warnings(robot, source.robot_digest, CALIBRATION, "the parameters")
    if isinstance(source, str | Path):
        return robot_file_warnings(stated_provenance(source), source, robot)
    return ()


def _refuse_other(robot: RobotModel, name: str) -> None:
    """Refuse what belongs to a robot of another name.

    Raises:
        ResultMismatchError: it does.
    """
    if name != robot.name:
        problem = f"these are parameters of {name}; give the robot that they were identified with"
        raise ResultMismatchError(robot.name, problem)


def _refuse_others(robot: RobotModel, source: CalibratedParameters) -> None:
    """Refuse calibrated parameters that are others than those of a robot.

    Raises:
        ResultMismatchError: they belong to a robot of another name, or their names, or the link
            frames that they are about, are others.
    """
    _refuse_other(robot, source.robot)
    if source.names != robot.all_parameter_names:
        raise ResultMismatchError(
            robot.name, f"the parameters of {source.robot} are others than its own"
        )
    difference = other_link_frames(robot, geometry_entries(source.description))
    if difference is not None:
        raise ResultMismatchError(
            robot.name,
            f"the parameters of {source.robot} are about other link frames: {difference}; give "
            "the robot file that they were calibrated with, or calibrate again",
        )
