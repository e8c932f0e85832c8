"""Residual of the bare robot in free motion: errors of the model, and the noise that they leave.

Rows of free motion, without payload and contact, tell the errors of parameters and friction, and
what they leave tells the noise.  Before any row the errors of the calibrated parameters have the
deviations of the calibration.  Errors of friction, of which nobody knows anything, are at most
three times the residual's root mean square; so are, of parameters without known deviations, the
efforts that their errors make.  Friction under load, and how late efforts are then, stay as unknown
as they are.

Whether the deviations are right is tried out (:mod:`.trials`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_identification.calibration.running_payload.body import prior_deviations
from robot_identification.calibration.running_payload.knowledge import Knowledge
from robot_identification.calibration.running_payload.noise import (
    ResidualNoise,
    learned_noise,
    white_noise,
)
from robot_identification.calibration.running_payload.rows import Segment
from robot_identification.calibration.running_payload.settings import RunningPayloadSettings
from robot_identification.calibration.running_payload.trials import (
    halves_of,
    told_by,
    tried_changes,
    tried_payloads,
)
from robot_identification.calibration.running_payload.unknowns import Unknowns
from robot_identification.errors import EffortSignError, NoEffortError, RecordingError
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.parameters import LINK_PARAMETERS

_ERRORS = 3.0  # of the residual's root mean square
_WARMING = 600.0  # s in which friction may change by as much as it may be off
_LEAST_DEVIATION = 1e-9  # of friction under load and delays: no unknown is known exactly
_PASSES = 3
_SILENT = 1e-6  # of the efforts of the model: nobody has measured these
_ALIKE, _REVERSED = 0.7, 1.5  # correlation of residual and model, and their ratio: 2 if reversed


@by_value
@dataclass(frozen=True)
class FreeMotion:
    """What free motion has told.

    Attributes:
        known: of the errors of the model; of the payload nothing.
        noise: of the residual.
        deviation: (joints,) root mean square of the residual before its errors were known.
        excess: by how much payloads that were estimated on trial were farther from zero than
            their deviations say; the noise has been enlarged by it.
        tail: factor on the thresholds of changes.
        surprise: root mean square of the errors of the parameters, in deviations of the
            calibration; much more than 1 says that these do not hold here.
        stamp: of the newest row, in ns; errors of friction are those of that time.
    """

    known: Knowledge
    noise: ResidualNoise
    deviation: Array
    excess: float
    tail: float
    surprise: float
    stamp: int


class FreeMotionLearning:
    """Collects the rows of free motion and learns from them.

    Args:
        names: of the joints.
        unknowns: order of the unknowns.
        settings: deviations before anything is known, and how friction is followed.
        calibrated: whether errors of parameters are in deviations of the calibration.
    """

    def __init__(
        self,
        names: Sequence[str],
        unknowns: Unknowns,
        settings: RunningPayloadSettings,
        *,
        calibrated: bool,
    ) -> None:
        self._names, self._unknowns = names, unknowns
        self._settings, self._calibrated = settings, calibrated
        self.restart()

    def restart(self) -> None:
        """Forget what has come."""
        self._segments: list[Segment] = []
        self._numbers: list[Array] = []  # of their rows, those at rest counted
        self._passed = 0
        self._gap = False
        self.rows = 0

    def add(self, segment: Segment) -> None:
        """Take in rows of free motion; ``rows`` counts those in which a joint moves.

        Of a robot that rests nothing is kept: it may do so for hours before it moves.
        """
        first, self._passed = self._passed, self._passed + len(segment.rows)
        if not segment.counting:
            self._gap = True
            return
        self._segments.append(segment.behind_gap() if self._gap else segment)
        self._numbers.append(np.arange(first, self._passed, dtype=np.float64))
        self._gap = False
        self.rows += int(np.count_nonzero(segment.kept.any(axis=1)))

    def learned(self, row_period: float) -> FreeMotion:
        """Return what the rows tell.

        Args:
            row_period: time between two rows in s.

        Raises:
            RecordingError: nothing has moved.
            NoEffortError: the efforts of joints that move are zero throughout.
            EffortSignError: the residual of joints is about twice what the model says of them.
        """
        if not self.rows:
            raise RecordingError("no joint moves in the free motion: record one in which all do")
        whole = Segment.joined(self._segments)
        self._check_efforts(whole)
        since_end = row_period * (np.concatenate(self._numbers) + 0.5 - self._passed)
        whole = replace(whole, rows=self._unknowns.warmed(whole.rows, since_end))
        rows, kept = whole.rows, whole.kept
        noise = white_noise(rows[:, :, -1], kept)
        level = noise.std
        prior = self._prior(whole, level)
        for k in range(_PASSES):
            known = told_by(Knowledge.before(prior), noise, whole)
            if k == _PASSES - 1:
                break
            left = rows[:, :, -1] - rows[:, :, :-1] @ _without_payload(known.values)
            noise = learned_noise(left, kept, whole.begins)
        errors = known.values[self._unknowns.of_parameters]
        surprise = float(np.sqrt(np.mean(errors**2))) if self._calibrated and len(errors) else 1.0
        if surprise > 1.0:
            prior[self._unknowns.of_parameters] *= surprise
        drift = self._unknowns.drift(noise.std, row_period, self._settings.friction_memory)
        before = Knowledge.before(prior)
        halves = halves_of(whole, before, noise)
        excess = tried_payloads(halves, noise, drift, row_period)
        tail = tried_changes(halves, noise, self._unknowns, excess)
        noise = noise.scaled(excess)
        known = told_by(before, noise, whole)
        stamp = int(whole.stamps[-1])
        return FreeMotion(known, noise, level, excess, tail, surprise, stamp)

    def _prior(self, whole: Segment, level: Array) -> Array:
        """Return (unknowns,) deviations before any row."""
        settings = self._settings
        prior = np.ones(self._unknowns.count)
        prior[self._unknowns.payload] = prior_deviations(settings)
        prior[self._unknowns.of_loads] = max(settings.load_friction, _LEAST_DEVIATION)
        prior[self._unknowns.of_delays] = max(settings.effort_delay, _LEAST_DEVIATION)
        for joint, deviation in enumerate(level):
            prior[self._unknowns.of_friction(joint)] = _ERRORS * deviation
            prior[self._unknowns.rates_of(joint)] = _ERRORS * deviation / _WARMING
        if not self._calibrated:
            counts = np.maximum(whole.kept.sum(axis=0), 1)
            own = whole.rows[:, :, self._unknowns.of_parameters] * whole.kept[:, :, None]
            sizes = np.sqrt((own**2).sum(axis=0) / counts[:, None])  # (joints, errors)
            share = (sizes / level[:, None]).max(axis=0)
            prior[self._unknowns.of_parameters] = _ERRORS / np.where(share > 0.0, share, np.inf)
            prior[prior == 0.0] = 1.0
        return prior

    def _check_efforts(self, whole: Segment) -> None:
        residual = whole.rows[:, :, -1] * whole.kept
        measured = np.abs(whole.rows[:, :, -1] + whole.modelled) * whole.kept
        size = np.abs(whole.modelled * whole.kept).max(axis=0)
        silent = (measured.max(axis=0) <= _SILENT * size) & (size > 0.0)
        if silent.any():
            raise NoEffortError([self._names[int(j)] for j in np.flatnonzero(silent)])
        modelled = whole.modelled * whole.kept
        common, squares = (residual * modelled).sum(axis=0), (modelled**2).sum(axis=0)
        alike = np.abs(common) > _ALIKE * np.sqrt((residual**2).sum(axis=0) * squares)
        wrong = alike & (-common > _REVERSED * squares)
        if wrong.any():
            raise EffortSignError([self._names[int(j)] for j in np.flatnonzero(wrong)])


def _without_payload(values: Array) -> Array:
    found = np.array(values)
    found[:LINK_PARAMETERS] = 0.0
    return found
