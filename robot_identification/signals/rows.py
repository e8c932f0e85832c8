"""Decimated rows that take part in the estimation: at speed, and of samples that were measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import scipy

from robot_identification.robot.arrays import Array
from robot_identification.robot.loops import loop_matrix
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ThresholdScope
from robot_identification.robot.terms.kinds import TermKind
from robot_identification.signals.filtered import FilteredSegment
from robot_identification.signals.filters.decimation import Decimator
from robot_identification.signals.processing.complete import Processing

Flags = npt.NDArray[np.bool_]

LEAST_SHARE = 0.3
"""Share of the decimation filter's weight that measured samples must have for a row to count.

A row of fewer would be more than twice as noisy as the others (white noise, any factor and
pattern of loss), and weights are those of rows that are alike."""


def measured_shares(segment: FilteredSegment, decimator: Decimator) -> Array | None:
    """Return by which share of the filter's weight decimated rows lean on measured samples.

    A row is a sum of equations, one per sample, with the weights of the decimation filter; where
    samples are missing, the others make it up, divided by their share of the weights (normalised
    convolution, Knutsson and Westin 1993).

    Args:
        segment: filtered samples.
        decimator: the filter that rows pass.

    Returns:
        (outputs,) shares, 1 where all samples were measured; None where no sample is missing.
    """
    if segment.measured is None:
        return None
    return decimator.decimate(segment.measured.astype(np.float64)) / decimator.gain


class LeastSpeeds:
    """Speeds that must be large enough for the rows of a joint to count.

    Friction has their signs, which are not reliable near rest.

    Args:
        robot: its couplings say which speeds enter which rows.
        thresholds: (active,) least speeds of the joints, in rad/s or m/s.
        scope: whether a speed that is too low costs the rows that it enters, or all of its instant.
    """

    def __init__(self, robot: RobotModel, thresholds: npt.ArrayLike, scope: ThresholdScope) -> None:
        self._whole = scope == "sample"
        self._limits = [
            [
                (motion, least)
                for motion in _friction_motions(robot, joint)
                if (least := float(np.linalg.norm(motion * np.asarray(thresholds)))) > 0.0
            ]
            for joint in range(len(robot.active_joints))
        ]

    def reached(self, rows: int, speed: Callable[[Array], Array]) -> Flags:
        """Tell, (joints, rows), where the speeds that enter a joint's row are large enough.

        Args:
            rows: number of rows.
            speed: returns (rows,) the speed of an (active,) combination of joint velocities.
        """
        reached = np.ones((len(self._limits), rows), dtype=np.bool_)
        for own, limits in zip(reached, self._limits, strict=True):
            for motion, least in limits:
                own &= speed(motion) >= least
        if self._whole:
            reached[:] = reached.all(axis=0)
        return reached


class RowChoice:
    """Which decimated rows take part in the estimation; see :func:`kept_rows`.

    Made once for a robot and settings, asked for as many rows at a time as there is room for.

    Args:
        robot: its couplings say which speeds enter which rows.
        processing: thresholds, their window and scope, and how ends are treated.
    """

    def __init__(self, robot: RobotModel, processing: Processing) -> None:
        self._processing = processing
        self._speeds = LeastSpeeds(
            robot, processing.velocity_threshold, processing.velocity_threshold_scope
        )

    def moving(self, velocity: Array, places: npt.NDArray[np.intp], factor: int) -> Flags:
        """Tell at which samples the signs of the speeds that enter a joint's row are reliable.

        Args:
            velocity: (joints, samples) in rad/s or m/s.
            places: (outputs,) samples that decimation keeps.
            factor: of the decimation.

        Returns:
            (joints, outputs) true where they are.
        """
        reach = int(self._processing.velocity_threshold_window * factor)

        def slowest(motion: Array) -> Array:
            speed = np.abs(motion @ velocity)
            lowest: Array = scipy.ndimage.minimum_filter1d(speed, 2 * reach + 1)[places]
            return lowest

        return self._speeds.reached(len(places), slowest)

    def of_segment(
        self,
        segment: FilteredSegment,
        outputs: slice = slice(None),
        measured: Array | None = None,
    ) -> Flags:
        """Tell which decimated rows of a segment take part.

        Args:
            segment: from :func:`~.filtered.filter_recording`, with the same settings.
            outputs: which of its decimated rows to tell of; by default all.
            measured: for all of them, from :func:`measured_shares`.

        Returns:
            (joints, outputs) true for rows that stay.
        """
        processing = self._processing
        decimator = processing.decimator(segment.period)
        factor, count = decimator.factor, decimator.output_count(segment.samples)
        numbers = np.arange(*outputs.indices(count), dtype=np.intp)
        places = decimator.kept(segment.samples)[outputs]
        # Speeds within reach of the outputs: those beyond do not matter.
        reach = int(processing.velocity_threshold_window * factor)
        first, last = max(int(places[0]) - reach, 0), int(places[-1]) + reach + 1
        moving = self.moving(segment.velocity[:, first:last], places - first, factor)
        cut = processing.cut_outputs(segment.period)
        moving[:, (numbers < cut) | (numbers >= count - cut)] = False
        if measured is not None:
            moving[:, measured[outputs] < LEAST_SHARE] = False
        return moving


def kept_rows(robot: RobotModel, segment: FilteredSegment, processing: Processing) -> Flags:
    """Tell which decimated rows of a segment take part in the estimation.

    A row is left out where the sign of a speed that enters it is not reliable: the speed of its
    own joint, or that of a Coulomb coupling that acts on it, falls below its threshold within the
    window around the instant that decimation keeps.  The threshold of a coupling's speed is the
    root of the sum of squares of its joints' thresholds.  With scope ``sample`` the rows of all
    joints go together.  With ``ends`` set to ``cut``, the rows that the decimation filter's end
    effects reach go too, and those that lean on less than :data:`LEAST_SHARE` of measured samples.

    Args:
        robot: its couplings say which speeds enter which rows.
        segment: from :func:`~.filtered.filter_recording`.
        processing: the settings that it was made with.

    Returns:
        (joints, outputs) true for rows that stay.
    """
    measured = measured_shares(segment, processing.decimator(segment.period))
    return RowChoice(robot, processing).of_segment(segment, measured=measured)


def rows_missed(
    robot: RobotModel, segments: Sequence[FilteredSegment], processing: Processing
) -> int:
    """Return how many rows would take part but for the samples that were lost.

    Args:
        robot: its couplings say which speeds enter which rows.
        segments: from :func:`~.filtered.filter_recording`.
        processing: the settings that they were made with.
    """
    choice, missed = RowChoice(robot, processing), 0
    for segment in segments:
        measured = measured_shares(segment, processing.decimator(segment.period))
        if measured is not None:
            moving = choice.of_segment(segment)
            missed += int(np.count_nonzero(moving[:, measured < LEAST_SHARE]))
    return missed


def _friction_motions(robot: RobotModel, joint: int) -> list[Array]:
    """Return the (active,) combinations of joint velocities whose signs enter a joint's rows.

    Those of joints that follow enter the rows of the joints that move them.
    """
    names, follow = robot.joint_names, loop_matrix(robot)
    moved = [name for name, rate in zip(names, follow[:, joint], strict=True) if rate]
    motions = [np.eye(follow.shape[1])[joint]]
    motions.extend(
        follow[names.index(loop.joint)]
        for loop in robot.loops
        if loop.joint in moved and _rubs(robot, loop.joint)
    )
    for coupling in robot.couplings:
        if coupling.kind is TermKind.COULOMB:
            motions.extend(
                np.array([term.of.get(name, 0.0) for name in names]) @ follow
                for term in coupling.terms
                if any(term.on.get(name, 0.0) for name in moved)
            )
    return motions


def _rubs(robot: RobotModel, name: str) -> bool:
    return robot.joints[robot.joint_names.index(name)].has(TermKind.COULOMB)
