"""From filtered signals to one triangular factor per joint, block by block.

Only a block of the regressor exists at any time: its structurally non-zero rows are computed,
decimated together with the effort (parallel decimation, Gautier et al. 2013, section II), thinned
by the velocity thresholds and folded into the factors, which do not grow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.friction import refuse_temperature
from robot_identification.dynamics.regressor import Regressor
from robot_identification.errors import CancelledError, SettingError
from robot_identification.identification.rows.bands import BandStream
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.rows.householder_kernels import fold_rows
from robot_identification.identification.rows.threads import alive, in_order
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.model import RobotModel
from robot_identification.signals.filtered import FilteredSegment
from robot_identification.signals.filters.decimation import Decimator, Window
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.rows import LEAST_SHARE, RowChoice, measured_shares

Cancelled = Callable[[], bool]

# Windows overlap by some 350 outputs: much shorter blocks would waste most of the work.
BLOCK_OUTPUTS = 1024
# Parts of the joints that can be folded at the same time.
SHARES = 2


def decimated_rows(
    regressor: Regressor,
    segment: FilteredSegment,
    window: Window,
    decimator: Decimator,
    memory: Array | None = None,
    measured: Array | None = None,
) -> Array:
    """Return regressor and effort of one window, decimated in parallel.

    Args:
        regressor: made with one spare row per joint, which takes the effort.
        segment: filtered signals at the full rate.
        window: from ``decimator``.
        decimator: the filter that all rows pass.
        memory: at least as many numbers as there are compact rows times samples of the window.
            They are overwritten, and hold the result where nothing is decimated; a new array by
            default.
        measured: for all rows of the segment, from
            :func:`~robot_identification.signals.rows.measured_shares`: samples that were lost have
            no equation, and the others make up for them.

    Returns:
        (compact rows, window outputs) in SI units, the filter's gain taken out; the effort of
        joint k is at ``joint_rows[k].rows.stop``.
    """
    part = window.inputs
    q, qd, qdd = (
        np.array(signal[:, part])  # writable: compiled code knows read-only arrays as another type
        for signal in (segment.position, segment.velocity, segment.acceleration)
    )
    shares = None if segment.shares is None else segment.shares[:, part]
    shape = (regressor.compact_rows, q.shape[1])
    out = None if memory is None else memory[: shape[0] * shape[1]].reshape(shape)
    if segment.temperature is None:
        refuse_temperature(regressor.robot, "what measures none (periods, DIDIM)")
    temperature = None if segment.temperature is None else segment.temperature[:, part]
    rows = regressor.compact(q, qd, qdd, out=out, shares=shares, temperature=temperature)
    for joint, effort in zip(regressor.joint_rows, segment.effort, strict=True):
        rows[joint.rows.stop] = effort[part]
    if segment.measured is not None:
        rows[:, ~segment.measured[part]] = 0.0
    if decimator.factor == 1:  # a window at an end can have a few samples more
        first = window.first_output - window.start
        return np.ascontiguousarray(rows[:, first : window.last_output - window.start])
    decimated: Array = decimator.decimate_window(rows, window)
    decimated /= decimator.gain  # in place: the array is this function's own
    if measured is not None:
        decimated /= np.maximum(measured[window.outputs], LEAST_SHARE)
    return decimated


@by_value
@dataclass(frozen=True)
class RowBlock:
    """Decimated rows of one window of a segment.

    Attributes:
        window: where they are.
        rows: (compact rows, window outputs) as from :func:`decimated_rows`.
        kept: (joints, window outputs) which count.
    """

    window: Window
    rows: Array
    kept: npt.NDArray[np.bool_]


def each_block(
    regressor: Regressor,
    segment: FilteredSegment,
    processing: Processing,
    uses: Sequence[Callable[[RowBlock], None]],
    *,
    cancelled: Cancelled | None = None,
    threads: int = 1,
) -> None:
    """Make the decimated rows of a segment block by block and hand them to every use.

    Args:
        regressor: made with one spare row per joint, which takes the effort.
        segment: filtered signals at the full rate.
        processing: settings of the signal processing.
        uses: each takes the blocks one at a time in their order, in any thread; different ones
            work at the same time.  The rows are overwritten when all uses have returned.
        cancelled: asked before every block whether to stop.
        threads: threads that are busy, the caller's among them; what uses are given is the same to
            the last bit, whatever their number.

    Raises:
        CancelledError: if ``cancelled`` says so.
    """
    decimator = processing.decimator(segment.period)
    choice = RowChoice(regressor.robot, processing)
    measured = measured_shares(segment, decimator)
    windows = list(decimator.blocks(segment.samples, BLOCK_OUTPUTS))
    longest = max(window.stop - window.start for window in windows)
    memories = [np.zeros(regressor.compact_rows * longest) for _ in range(alive(threads))]

    def block(numbered: tuple[int, Window]) -> RowBlock:
        if cancelled is not None and cancelled():
            raise CancelledError("identification was cancelled")
        number, window = numbered
        memory = memories[number % len(memories)]
        rows = decimated_rows(regressor, segment, window, decimator, memory, measured)
        return RowBlock(window, rows, choice.of_segment(segment, window.outputs, measured))

    in_order(block, list(enumerate(windows)), uses, threads)


def band_stream(robot: RobotModel, columns: npt.NDArray[np.intp]) -> BandStream:
    """Return an empty stream of bands for the rows of a robot.

    Args:
        robot: the robot.
        columns: columns of the full regressor that the base parameters belong to.
    """
    return BandStream([joint.columns for joint in Regressor(robot, columns).joint_rows])


class FactorStream:
    """Factors of the base regressor of a robot, growing with every block of rows folded in.

    Args:
        robot: the robot.
        columns: columns of the full regressor that the base parameters belong to.

    Raises:
        SettingError: shapes or loads of friction are open.
    """

    def __init__(self, robot: RobotModel, columns: npt.NDArray[np.intp]) -> None:
        _require_known(robot)
        self._robot = robot
        self._regressor = Regressor(robot, columns, spare=1)
        self._triangles = [
            np.zeros((len(joint.columns) + 1, len(joint.columns) + 1))
            for joint in self._regressor.joint_rows
        ]
        self._rows = [0] * len(robot.active_joints)
        self._shares = _shares([len(triangle) ** 2 for triangle in self._triangles])

    def add_share(self, share: int, rows: Array, kept: npt.NDArray[np.bool_]) -> None:
        """Fold decimated rows of some of the joints; different shares at the same time.

        Args:
            share: which joints, below :data:`SHARES`; each share takes about as long.
            rows: (compact rows, instants) regressor and effort of all joints.
            kept: (joints, instants) which rows of each joint count.
        """
        for k in self._shares[share]:
            self._fold_joint(k, rows, kept)

    def add(self, rows: Array, kept: npt.NDArray[np.bool_]) -> None:
        """Fold decimated rows, from :func:`decimated_rows` or decimated otherwise.

        Args:
            rows: (compact rows, instants) regressor and effort.
            kept: (joints, instants) which rows of each joint count.
        """
        for share in range(SHARES):
            self.add_share(share, rows, kept)

    def _fold_joint(self, k: int, rows: Array, kept: npt.NDArray[np.bool_]) -> None:
        joint = self._regressor.joint_rows[k]
        own = np.ascontiguousarray(rows[joint.first : joint.rows.stop + 1])
        fold_rows(self._triangles[k], own, np.ascontiguousarray(kept[k]))
        self._rows[k] += int(np.count_nonzero(kept[k]))

    def forget(self) -> None:
        """Begin again, as if nothing had been folded in."""
        for triangle in self._triangles:
            triangle[:] = 0.0
        self._rows = [0] * len(self._rows)

    def factors(self) -> tuple[JointFactor, ...]:
        """Return the factors of everything folded in so far."""
        return tuple(
            JointFactor(joint.name, rows.columns, triangle, count)
            for joint, rows, triangle, count in zip(
                self._robot.active_joints,
                self._regressor.joint_rows,
                self._triangles,
                self._rows,
                strict=True,
            )
        )


def _require_known(robot: RobotModel) -> None:
    """Refuse a robot whose joint terms wait for shapes or loads that only identify estimates.

    Raises:
        SettingError: there is such a term.
    """
    for joint in robot.joints:
        for term in joint.joint_terms:
            if term.kind.shapes and term.name not in joint.shapes:
                raise SettingError(
                    term.key,
                    joint.name,
                    "its shape is open; identify estimates it from whole recordings, with ols or "
                    "wls; else state it in the robot file",
                )
            if term.kind.follows_load and robot.loads is None:
                raise SettingError(
                    term.key,
                    joint.name,
                    "nobody has said which parameters load the joint; identify finds them from "
                    "whole recordings, with ols or wls",
                )


def _shares(costs: Sequence[int]) -> list[list[int]]:
    """Return the numbers of joints in parts that cost about as much each."""
    shares: list[list[int]] = [[] for _ in range(SHARES)]
    for k in np.argsort(costs)[::-1]:
        min(shares, key=lambda own: sum(costs[j] for j in own)).append(int(k))
    return shares
