"""Rows of bare and loaded runs, folded once, for whatever unknowns are asked of them.

The columns kept are those of the base parameters and the ten inertial parameters of the link that
carries the payload.  What is unknown in which run is a matter of substitution
(:mod:`.rows.substitution`), not of the samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.regressor import Regressor
from robot_identification.errors import RecordingError, SettingError
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.rows.bands import BandGrams, BandStream
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.rows.householder_kernels import fold_rows
from robot_identification.identification.rows.whole import RowBlock
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.identification.source import Source, refuse_double, share_samples
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.model import RobotModel
from robot_identification.robot.mounting import Mounting
from robot_identification.signals.recording import Recording

EXCHANGED = "are bare and loaded runs exchanged"
"""Question in warnings of results that runs in each other's place have."""


@dataclass(frozen=True, kw_only=True)
class ComparedRuns:
    """Provenance of a result from runs without and with a payload.

    Attributes:
        robot: name of the robot.
        robot_digest: SHA-256 of the robot file.
        joint_names: names of the joints, which are those of their motors.
        mounting: the frame that the payload is described in.
        bare: recordings without the payload.
        loaded: recordings with it.
        settings: every processing setting with its value and where it came from.
        base_names: names of the base parameters of the robot.
        seconds: time that it took.
        warnings: what a user should know before trusting the result.
    """

    robot: str
    robot_digest: str
    joint_names: tuple[str, ...]
    mounting: Mounting
    bare: tuple[Source, ...]
    loaded: tuple[Source, ...]
    settings: Mapping[str, Mapping[str, object]]
    base_names: tuple[str, ...]
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))


Progress = Callable[[str, float], None]
Cancelled = Callable[[], bool]


@dataclass(frozen=True)
class Run:
    """Everything that is kept of recordings with the same load.

    Attributes:
        factors: one per joint or motor; their columns are places among those of :class:`Columns`.
        grams: Gram matrices of the same rows, band by band.
    """

    factors: tuple[JointFactor, ...]
    grams: BandGrams


@by_value
@dataclass(frozen=True)
class Columns:
    """Columns of the full regressor that bare and loaded runs need.

    Attributes:
        base: the base parameters.
        mounting: where the payload is.
        further: columns whose parameters the load may change, such as friction.
    """

    base: BaseParameters
    mounting: Mounting
    further: npt.NDArray[np.intp]

    @cached_property
    def all(self) -> npt.NDArray[np.intp]:
        """Places among the columns of the full regressor, rising."""
        return np.unique([*self.base.base_columns, *self.mounting.columns, *self.further])

    @cached_property
    def of_base(self) -> Array:
        """(columns, base) substitution of the base parameters."""
        return self.of(self.base.base_columns)

    @cached_property
    def of_payload(self) -> Array:
        """(columns, 10) substitution of the payload's parameters in the frame of the mounting."""
        return read_only(self.of(self.mounting.columns) @ self.mounting.to_link)

    @cached_property
    def bare(self) -> Array:
        """(columns, unknowns) substitution of runs without the payload.

        Unknowns are the base parameters, changes of the further columns' parameters under load, and
        the payload's ten.
        """
        none = np.zeros_like(self.of(self.further)), np.zeros_like(self.of_payload)
        return read_only(np.hstack([self.of_base, *none]))

    @cached_property
    def loaded(self) -> Array:
        """(columns, unknowns) substitution of runs with the payload."""
        return read_only(np.hstack([self.of_base, self.of(self.further), self.of_payload]))

    def of(self, wanted: npt.ArrayLike) -> Array:
        """Return the (columns, wanted) substitution that picks columns of the full regressor."""
        return read_only(self.all[:, None] == np.asarray(wanted)[None, :])


def fold(columns: Columns, source: WholeRows, *, motors: Array | None = None) -> Run:
    """Fold the rows of recordings with the same load.

    Args:
        columns: columns to keep.
        source: the recordings.
        motors: (joints, joints) K with the rows of motor i = sum of K_ij times those of joint j;
            None: the rows of the joints.

    Raises:
        CancelledError: the caller wants to stop.
    """
    stream = _RowStream(columns, motors)
    source.each_block([stream.take], stream.regressor)
    return stream.run()


class _RowStream:
    """Factors and bands of rows of joints, or of motors, growing with every block."""

    def __init__(self, columns: Columns, motors: Array | None) -> None:
        self._robot = columns.base.robot
        self.regressor = Regressor(self._robot, columns.all, spare=1)
        joints = len(self._robot.joints)
        self._mix = np.eye(joints) if motors is None else motors
        own = [joint.columns for joint in self.regressor.joint_rows]
        self._columns = [
            np.unique(np.concatenate([own[j] for j in np.flatnonzero(row)])) for row in self._mix
        ]
        self._triangles = [np.zeros((len(own) + 1, len(own) + 1)) for own in self._columns]
        self._rows = [0] * joints
        self._bands = BandStream(self._columns)

    def take(self, _segment: int, block: RowBlock) -> None:
        """Fold a block of rows; that of a motor counts where those of all its joints do."""
        rows = [self._mixed(block.rows, i) for i in range(len(self._mix))]
        flags = np.array([block.kept[own].all(axis=0) for own in self._mix != 0.0])
        for i, own in enumerate(rows):
            fold_rows(self._triangles[i], own, flags[i])
            self._rows[i] += int(np.count_nonzero(flags[i]))
        self._bands.add(np.vstack(rows), flags)

    def _mixed(self, compact: Array, motor: int) -> Array:
        """Return the (own columns and effort, instants) rows of one joint or motor."""
        own = self._columns[motor]
        result = np.zeros((len(own) + 1, compact.shape[1]))
        for j in np.flatnonzero(self._mix[motor]):
            joint = self.regressor.joint_rows[j]
            factor = self._mix[motor, j]
            result[np.searchsorted(own, joint.columns)] += factor * compact[joint.rows]
            result[-1] += factor * compact[joint.rows.stop]
        return result

    def run(self) -> Run:
        """Return everything folded so far."""
        factors = tuple(
            JointFactor(joint.name, columns, triangle, rows)
            for joint, columns, triangle, rows in zip(
                self._robot.joints, self._columns, self._triangles, self._rows, strict=True
            )
        )
        return Run(factors, self._bands.grams())


def check_runs(
    bare: Sequence[Recording], loaded: Sequence[Recording], *, bare_needed: bool
) -> None:
    """Refuse runs that cannot be compared.

    Raises:
        RecordingError: there is no loaded run, or no bare one although needed.
        SettingError: samples are both bare and loaded, or would count twice.  The beginning of a
            recording may be bare, and its end loaded.
    """
    if not loaded:
        raise RecordingError("no loaded run: record one with the payload")
    if bare_needed and not bare:
        raise RecordingError("no bare run: record one without the payload, or give a result of one")
    for recording in loaded:
        for without in bare:
            if share_samples(recording, without):
                raise SettingError(
                    "loaded",
                    recording.source,
                    f"is the same recording as {without.source}, given as bare",
                )
    for runs in (bare, loaded):
        refuse_double(runs)


def friction_columns(robot: RobotModel) -> npt.NDArray[np.intp]:
    """Return the columns of friction and offsets that belong to the model of a robot."""
    names = tuple(term.name for term in robot.layout.terms if not term.kind.stores_energy)
    return np.array(
        [
            i
            for i in robot.standard_indices
            if (name := robot.all_parameter_names[i]).rstrip("0123456789").startswith(names)
            and name not in robot.added_parameters
        ],
        dtype=np.intp,
    )
