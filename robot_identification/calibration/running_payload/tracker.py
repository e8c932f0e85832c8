"""The payload as segments of rows come: estimate, changes, contacts.

Segments are believed when they have been seen for some time: what is known without the newest ones
judges them.  Where a likelihood ratio of a change exceeds its threshold, the payload is forgotten,
the errors of the model are not, and the estimate begins anew behind the change.  What has changed
may also be a contact.  For the length of the window both are possible, and longer where the payload
goes on changing; a contact it was if no payload explains the rows.  Then nothing is believed until
they agree again with the payload from before, or, as long as the window is, with another one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robot_identification.calibration.running_payload.body import ConditionedBody, conditioned_body
from robot_identification.calibration.running_payload.innovations import mean_square, threshold
from robot_identification.calibration.running_payload.judge import FEWEST, Belief, Judge
from robot_identification.calibration.running_payload.knowledge import Knowledge
from robot_identification.calibration.running_payload.learning import FreeMotion
from robot_identification.calibration.running_payload.rows import Segment
from robot_identification.calibration.running_payload.settings import RunningPayloadSettings
from robot_identification.calibration.running_payload.state import PayloadState, PayloadStatus
from robot_identification.calibration.running_payload.unknowns import Unknowns
from robot_identification.calibration.running_payload.window import (
    NO_LOAD,
    SEGMENT,
    WINDOW,
    RowWindow,
    doubted,
)
from robot_identification.robot.parameters import LINK_PARAMETERS

_AGREEING = 3  # segments that agree with what was before, so that a contact is over
_MISFIT_MEMORY = 10.0  # s
_WORST = 100.0  # mean square up to which it may be the model that lacks something
_LONGEST_CHANGE = 5.0  # s of motion
_DRIFTS_EACH = 4  # segments between two times that friction drifts
_FADES_EACH = 40  # segments between two times that errors of the model fade
_LONGEST = 600.0  # s of rest; afterwards friction is as unknown as it will be
_RATE_MEMORY = 300.0  # s in which the rate at which friction changes may become another one


@dataclass
class _Squares:
    """Squares of innovations, and their number, fading."""

    squares: float = 0.0
    rows: float = 0.0

    def add(self, square: float, rows: int, weight: float) -> None:
        """Take in the square of so many rows, by which time what came before has faded."""
        self.squares = weight * self.squares + square
        self.rows = weight * self.rows + rows

    def level(self, square: float = 0.0, rows: int = 0) -> float:
        """Return the mean square, with some more; 1 where noise explains it, and of too few."""
        total = self.rows + rows - LINK_PARAMETERS
        return mean_square(self.squares + square, total) if total >= FEWEST else 1.0


class PayloadTracker:
    """Follows the payload of a robot that moves, segment by segment.

    Args:
        free: what free motion has told.
        settings: memory, false changes, what is usual of bodies.
        unknowns: order of the unknowns.
        row_period: time between two rows, in s.
    """

    def __init__(
        self,
        free: FreeMotion,
        settings: RunningPayloadSettings,
        unknowns: Unknowns,
        row_period: float,
    ) -> None:
        self._settings, self._unknowns, self._row_period = settings, unknowns, row_period
        self._period = SEGMENT * row_period
        changes = unknowns.drift(free.noise.std, row_period, settings.friction_memory)
        of_rates = np.diag(free.known.prior / np.sqrt(_RATE_MEMORY))[:, unknowns.of_rates]
        self._drift = np.concatenate([changes, of_rates], axis=1)
        self._window = RowWindow(free.noise, unknowns, row_period)
        self._judge = Judge(self._window, settings)
        self._belief = Belief(free.known, NO_LOAD)
        decisions = 3600.0 / self._period * WINDOW
        self._limit = free.tail * threshold(settings.false_changes / decisions)
        self._before: Belief | None = None  # of a change that may turn out to be a contact
        self._judged = 0  # segments since then
        self._contact = False
        self._misfit = _Squares()  # of rows with the noise of free motion alone
        self._left = _Squares()  # of rows with the doubts that they are estimated with
        self._level = 1.0  # mean square of what was left of the rows before the last change
        self._believed = 0
        self._segments = 0
        self._gap = True
        self._changes = 0
        self._changed = 0
        self._newest = free.stamp
        self._state = PayloadState(0, PayloadStatus.UNDETERMINED)

    def interrupted(self) -> None:
        """Take in that samples are missing before the next segment."""
        self._gap = True

    def forget(self) -> None:
        """Forget the payload, but not what has been told of the errors of the model."""
        self._window.restart()
        self._before, self._contact, self._gap, self._level = None, False, True, 1.0
        self._begin_anew()
        self._state = PayloadState(
            self._state.stamp,
            PayloadStatus.UNDETERMINED,
            change_stamp=self._changed,
            changes=self._changes,
        )

    def push(self, segment: Segment) -> PayloadState:
        """Take in the newest segment and return the payload."""
        if not segment.counting:  # nothing moves
            self._gap = True
            self._state = replace(self._state, stamp=int(segment.stamps[-1]))
            return self._state
        if self._gap:
            self._rested((int(segment.stamps[0]) - self._newest) * 1e-9)
            segment, self._gap = segment.behind_gap(), False
        self._newest = int(segment.stamps[-1])
        self._window.add(segment)
        ratio, limit = 0.0, np.inf
        if self._contact:
            self._while_contact()
        elif self._before is not None:
            self._judge_change(self._before)
        else:
            if len(self._window.segments) > WINDOW:
                self._believe()
            ratio, limit = self._look_for_change()
        self._state = self._told(int(segment.stamps[-1]), ratio, limit)
        return self._state

    def _rested(self, seconds: float) -> None:
        """Take in that friction may have changed while the robot has told nothing."""
        if seconds > _DRIFTS_EACH * self._period:
            changes = np.sqrt(min(seconds, _LONGEST)) * self._drift
            self._belief = replace(self._belief, known=self._belief.known.drifted(changes))

    def _believe(self) -> None:
        """Add the oldest segment to what is known."""
        settings, period = self._settings, self._period
        load = self._belief.load
        rows = self._window.oldest(load)
        self._believed += 1
        faded = self._belief.known.faded(float(np.exp(-period / settings.memory)))
        if self._believed % _DRIFTS_EACH == 0:
            faded = faded.drifted(np.sqrt(_DRIFTS_EACH * period) * self._drift)
        if self._believed % _FADES_EACH == 0:
            others = float(np.exp(-_FADES_EACH * period / settings.parameter_memory))
            faded = faded.faded(1.0, others)
        known = faded.told(doubted(rows, load, settings.unevenness))
        plain = faded.told(rows) if load.any() else known
        weight = float(np.exp(-period / _MISFIT_MEMORY))
        self._misfit.add(plain.square - faded.square, len(rows), weight)
        self._left.add(known.square - faded.square, len(rows), weight)
        self._belief = replace(self._belief, known=self._later(known, 1))
        self._segments += 1

    def _look_for_change(self) -> tuple[float, float]:
        """Return the largest likelihood ratio of a change, and its limit.

        The misfit is that of the last look, rows that were not believed yet included: soon after
        another change, of a heavy payload say, with which errors of the model grow, only these
        tell it.
        """
        onset, ratio = self._judge.likeliest_change(self._belief)
        self._level = min(self._state.misfit**2, _WORST)
        limit = self._limit * self._level
        if ratio > limit:
            self._change(onset)
        return ratio, limit

    def _change(self, onset: int) -> None:
        """Forget the payload, and what lies about the segment in which it has changed."""
        self._changes += 1
        self._changed = int(self._window.segments[onset].stamps[0])
        for _ in range(onset - 1):
            self._believe()
        # It may lie in the segment before or in this one, and the filter looks a row ahead.
        self._skip(min(onset, 1) + 1, skipped=1)
        self._before, self._judged = self._belief, 0
        self._begin_anew()

    def _later(self, known: Knowledge, segments: int) -> Knowledge:
        """Return what is known when friction has warmed up for the time of some segments."""
        unknowns = self._unknowns
        return known.passed(unknowns.of_rates, unknowns.warming, segments * self._period)

    def _skip(self, segments: int, skipped: int = 0) -> None:
        """Forget the oldest segments of the window without believing them; see its `keep_from`."""
        self._window.keep_from(segments, skipped)
        self._belief = replace(self._belief, known=self._later(self._belief.known, segments))

    def _begin_anew(self) -> None:
        self._belief = self._belief.anew()
        self._misfit, self._left, self._segments = _Squares(), _Squares(), 0

    def _judge_change(self, before: Belief) -> None:
        """Decide whether a change is one of the payload, as soon as that can be told."""
        self._judged += 1
        after = self._judge.with_window(before.anew())
        explained = self._judge.is_payload(before, after, self._level)
        whole = len(self._window.segments) >= WINDOW
        time_left = self._judged * self._period < _LONGEST_CHANGE
        onset = 0
        # The rows with which a change was told may say little of when it was.
        if (explained and whole and time_left) or (not explained and self._judged == 1):
            onset = self._judge.last_change(before, after, self._limit * self._level)
        if onset:
            self._skip(onset + 1, skipped=1)
            self._before = replace(before, known=self._later(before.known, onset + 1))
        elif not explained:
            self._contact, self._before = True, None
            self._belief = before
            self._skip(len(self._window.segments) - 1)
        elif whole:
            self._before = None

    def _while_contact(self) -> None:
        """See whether a contact is over, or has turned into a payload."""
        segments = self._window.segments
        if len(segments) > WINDOW:
            self._skip(1)
        if len(segments) < _AGREEING:
            return
        newest = RowWindow(self._window.noise, self._unknowns, self._row_period)
        for segment in list(self._window.segments)[-_AGREEING:]:
            newest.add(segment)
        known = self._later(self._belief.known, len(segments) - _AGREEING)
        if Judge(newest, self._settings).agrees(replace(self._belief, known=known), self._level):
            self._contact = False
            self._skip(len(self._window.segments) - _AGREEING)
        elif len(self._window.segments) >= WINDOW and self._settled(self._belief):
            self._contact = False
            self._changed = int(self._window.segments[0].stamps[0])
            self._begin_anew()

    def _settled(self, before: Belief) -> bool:
        """Tell whether all rows of the window are those of one other payload than before."""
        after = self._judge.with_window(before.anew())
        is_payload = self._judge.is_payload(before, after, self._level)
        limit = self._limit * self._level
        return is_payload and not self._judge.last_change(before, after, limit)

    def _told(self, stamp: int, ratio: float, limit: float) -> PayloadState:
        """Return the payload by all rows, those that are not believed yet included."""
        count = len(self._window.segments)
        if self._contact or not count:
            known, misfit, left = self._belief.known, self._misfit.level(), self._left.level()
        else:
            believed, told = self._belief.known, self._judge.with_window(self._belief)
            known, self._belief = told.known, replace(self._belief, load=told.load)
            carries, counting = told.load.any(), self._window.counting
            plain = believed.told(self._window.white(told.load)) if carries else known
            misfit = self._misfit.level(plain.square - believed.square, counting)
            left = self._left.level(known.square - believed.square, counting)
        body = conditioned_body(known.payload_factor(), self._settings, float(np.sqrt(left)))
        return PayloadState(
            stamp=stamp,
            status=self._status(body),
            body=body,
            seconds=(self._segments + (0 if self._contact else count)) * self._period,
            change_stamp=self._changed,
            changes=self._changes,
            ratio=ratio,
            limit=limit,
            misfit=float(np.sqrt(misfit)),
        )

    def _status(self, body: ConditionedBody) -> PayloadStatus:
        if self._contact:
            return PayloadStatus.CONTACT
        if self._before is not None:
            return PayloadStatus.CHANGING
        mass, deviation = body.mass
        if np.isnan(body.estimate.values[0]):
            return PayloadStatus.UNDETERMINED
        if body.certain:
            return PayloadStatus.CARRIED
        none = mass + 2.0 * deviation < self._settings.least_mass
        return PayloadStatus.NONE if none else PayloadStatus.UNDETERMINED
