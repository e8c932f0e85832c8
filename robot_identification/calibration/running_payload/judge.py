"""Judgement of the newest rows: changes of the payload, and contacts.

A payload explains rows as well as noise lets them be explained, or for the most part, and is a body
as bodies are.  Anything else is a contact.  Where an arm carries something, models of its drives
and gears are off by some share of what that asks of them: there rows are less certain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.special

from robot_identification.calibration.running_payload.body import conditioned_body
from robot_identification.calibration.running_payload.knowledge import Knowledge
from robot_identification.calibration.running_payload.settings import RunningPayloadSettings
from robot_identification.calibration.running_payload.window import NO_LOAD, WINDOW, RowWindow
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.parameters import LINK_PARAMETERS

FEWEST = 60
"""Rows that say how large innovations are, and whether a payload is as bodies are."""
_CERTAIN = 1e-5  # probability below which noise is no explanation
_SHARE = 0.1  # of what a payload leaves of a change, below which it explains it for the most part
_STRANGE = 40.0  # square that what is usual of bodies may cost: six values, each off by 2.6


@by_value
@dataclass(frozen=True)
class Belief:
    """What is known, and the (10,) payload by it that friction follows; zeros where none is."""

    known: Knowledge
    load: Array

    def anew(self) -> Belief:
        """Return what is believed when there is another payload, of which nothing is known."""
        return Belief(self.known.with_new_payload(), NO_LOAD)


class Judge:
    """Judges rows that are not believed yet by what is.

    Args:
        window: the rows.
        settings: what is usual of bodies, and doubts about efforts of payloads.
    """

    def __init__(self, window: RowWindow, settings: RunningPayloadSettings) -> None:
        self._window, self._settings = window, settings

    def with_window(self, belief: Belief) -> Belief:
        """Return what is known with the rows that are not believed yet.

        Friction follows a payload that the rows must tell first where there was none before.
        """
        unevenness = self._settings.unevenness
        told = belief.known.told(self._window.white(belief.load, unevenness))
        load = self._load_by(told)
        if load.any() and not belief.load.any():
            told = belief.known.told(self._window.white(load, unevenness))
            load = self._load_by(told)
        return Belief(told, load)

    def _load_by(self, known: Knowledge) -> Array:
        body = conditioned_body(known.payload_factor(), self._settings)
        return body.standard if body.certain else NO_LOAD

    def agrees(self, belief: Belief, level: float) -> bool:
        """Tell whether what is believed explains the rows.

        Args:
            belief: what is believed.
            level: mean square of what is left of rows where it does.
        """
        rows = self._window.white(belief.load, self._settings.doubt)
        left = belief.known.told(rows).square - belief.known.square
        return left <= level * _largest(len(rows))

    def is_payload(self, before: Belief, after: Belief, level: float) -> bool:
        """Tell whether the rows can be those of another payload than before.

        Args:
            before: what was believed before them.
            after: what they tell where there is another payload, by :meth:`with_window`.
            level: mean square of what is left of rows where something explains them.
        """
        freedoms = self._window.counting - LINK_PARAMETERS
        if freedoms < LINK_PARAMETERS:
            return True
        anew = before.known.with_new_payload()
        told = anew.told(self._window.white(after.load, self._settings.doubt))
        left = told.square - anew.square
        if left > level * _largest(freedoms):
            # Shares are of rows without doubts, which differ with what is carried.
            former = before.known.told(self._window.white(before.load))
            other = anew.told(self._window.white(after.load))
            if other.square - anew.square > _SHARE * (former.square - before.known.square):
                return False
        if self._window.counting < FEWEST and len(self._window.segments) < WINDOW:
            return True  # few rows may hold what the change itself has left
        inflation = float(np.sqrt(max(left / freedoms, 1.0)))
        body = conditioned_body(told.payload_factor(), self._settings, inflation)
        mass, deviation = body.mass
        lightest = -self._settings.least_mass - 3.0 * deviation
        return mass > lightest and body.misfit < _STRANGE

    def likeliest_change(self, belief: Belief) -> tuple[int, float]:
        """Return the segment of the window with which a payload is likeliest to have changed.

        Returns:
            Its number, and the likelihood ratio.
        """
        doubt = self._settings.doubt
        ratios = self._window.innovations(belief.known, belief.load, doubt=doubt).ratios()
        onset = int(np.argmax(ratios))
        return onset, float(ratios[onset])

    def last_change(self, before: Belief, after: Belief, limit: float) -> int:
        """Return the segment with which a new payload changes once more; 0 where it does not.

        Bodies are lifted from a table within some tenths of a second, and rows with a part of their
        weight are those of no payload.

        Args:
            before: what was believed before the rows.
            after: what they tell where there is another payload.
            limit: likelihood ratio that says that there is a change.
        """
        anew = Belief(before.known.with_new_payload(), after.load)
        onset, ratio = self.likeliest_change(anew)
        return onset if ratio > limit else 0


def _largest(rows: int) -> float:
    """Return the largest sum of squares of so many innovations that noise explains."""
    return float(scipy.special.chdtri(rows, _CERTAIN))
