"""Drift of offsets and friction in the course of recordings, and efforts that act for a while only.

Everything else that is looked for acts all the time.  A slow change is told by smooth functions of
time, whose coefficients from every other block of time foretell the blocks between them; what acts
for a while only, by a residual that is many times larger there than elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_identification.identification.diagnosis.finding import Finding, Severity
from robot_identification.identification.diagnosis.naming import least_gain, told_shares
from robot_identification.identification.diagnosis.refits.columns import OwnFit
from robot_identification.identification.diagnosis.refits.motion import Motion
from robot_identification.identification.diagnosis.refits.refit import (
    FLOOR,
    JointRows,
    Refit,
)
from robot_identification.robot.arrays import Array

_BLOCKS = 16
_WINDOWS = 20
_SHORTEST = 1.0
"""Length of a part of time in s: in shorter ones one reversal, whose friction no law describes, is
all that there is."""
_FEWEST = 16
"""Parts of time, of a second or more, from which on a motion tells what is usual: a fit follows
shorter ones, so that any reversal that it does not follow stands out."""
_FEWEST_ROWS = 5
_STANDS_OUT = 5.0
"""A window stands out by so many times the residual that is usual, and by three times over what the
model says of its efforts: a residual grows with the motion too."""
_STANDS_OUT_OF_EFFORT = 3.0
_MATTERS = 0.1
"""Residual of a window, over the joint's effort, from which on it is told."""


class _Drift(NamedTuple):
    """A slow change of a joint's efforts.

    Attributes:
        gain: what it explains, in halvings of the variance of the joint's own rows.
        words: what changes, for people.
        left: residual over effort before and after.
    """

    gain: float
    words: str
    left: tuple[float, float]


def drift_findings(motion: Motion, rows: tuple[JointRows, ...]) -> Iterator[Finding]:
    """Give out the joints whose offset or friction drifts.

    Args:
        motion: what was measured.
        rows: of every joint.
    """
    blocks = _parts(motion, _BLOCKS)
    for joint, own in enumerate(rows if blocks else ()):
        found = _drift(motion, joint, own, blocks)
        if found is None:
            continue
        yield Finding(
            Severity.DOUBT, "drift", (motion.robot.joint_names[joint],),
            f"with {found.words} that changes slowly in the course of the recording its own rows "
            f"leave {told_shares('its efforts', *found.left)}",
            "let sensors, drives and gears warm up before recording, look whether the load has "
            "changed meanwhile, or identify a shorter part (--begin, --end)",
            {"gain": found.gain, "left_before": found.left[0], "left_after": found.left[1]},
            weight=25.0 + found.gain,
        )  # fmt: skip


def brief_findings(motion: Motion, rows: tuple[JointRows, ...], fit: Refit) -> Iterator[Finding]:
    """Give out the joints of which a fit leaves much more for a while than it does elsewhere.

    Args:
        motion: what was measured.
        rows: of every joint.
        fit: to these rows.
    """
    windows = _parts(motion, _WINDOWS)
    if not windows:
        return
    window = _numbers(motion, windows)
    ratios = np.array(
        [_ratios(own, fit.residuals[k], window[motion.kept[k]]) for k, own in enumerate(rows)]
    )
    told = np.zeros(len(rows), dtype=np.bool_)
    names = motion.robot.joint_names
    for joint in np.argsort(-ratios.max(axis=1)):
        if told[joint] or not ratios[joint].any():
            continue
        span = _span(ratios[joint])
        alike = ratios[:, span].any(axis=1) & ~told
        told |= alike
        others = [names[k] for k in np.flatnonzero(alike) if k != joint]
        most = float(ratios[joint].max())
        yield Finding(
            Severity.DOUBT, "acts for a while", (names[joint], *others),
            f"{_when(motion, window, span)} the fit leaves {most:.2g} times as much of the efforts "
            f"of {names[joint]} as elsewhere{'; of the others likewise' if others else ''}",
            "look at what acted there: a contact, a brake, another load; leave it out (--begin, "
            "--end), or limit its pull (--robust huber)",
            {"ratio": most}, weight=24.0 + min(most, 100.0) / 10.0,
        )  # fmt: skip


def _drift(motion: Motion, joint: int, rows: JointRows, blocks: int) -> _Drift | None:
    kept = motion.kept[joint]
    course = np.linspace(-1.0, 1.0, motion.instants)[kept]
    block = _numbers(motion, blocks)[kept]
    odd = block % 2 == 1
    if not rows.enough or not odd.any() or odd.all():
        return None
    own = OwnFit(rows)
    speed = motion.velocity[joint][kept]
    slow = np.column_stack([course, course**2])
    offset, friction = slow, np.hstack([slow * np.sign(speed)[:, None], slow * speed[:, None]])
    found = []
    for words, extra in (("an offset", offset), ("friction", friction)):
        gain, left, independent = own.gained(extra, odd)
        if gain >= least_gain(2 * len(motion.kept), extra.shape[1], independent):
            found.append(_Drift(gain, words, left))
    return max(found, key=lambda one: one.gain, default=None)


def _ratios(rows: JointRows, residual: Array, window: npt.NDArray[np.intp]) -> Array:
    """Return (windows,) by how many times a residual is larger; zero where it does not stand out.

    Args:
        rows: of a joint.
        residual: (rows,) that a fit leaves of them.
        window: (rows,) numbers of their windows of time.
    """
    known = np.bincount(window, minlength=_WINDOWS) >= _FEWEST_ROWS
    found = np.zeros(_WINDOWS)
    if np.count_nonzero(known) < _FEWEST:
        return found
    left = _rms_in(window, residual)[known]
    said = np.maximum(_rms_in(window, rows.effort - residual)[known], FLOOR * rows.size)
    usual = max(float(np.median(left)), FLOOR * rows.size)
    stands_out = (
        (left > _STANDS_OUT * usual)
        & (left / said > _STANDS_OUT_OF_EFFORT * np.median(left / said))
        & (left > _MATTERS * rows.size)
    )
    found[known] = np.where(stands_out, left / usual, 0.0)
    return found


def _parts(motion: Motion, most: int) -> int:
    """Return into how many parts of time a motion is divided; 0 where it is too short for any."""
    steps = np.diff(motion.time)
    between = steps[steps > 0.0]
    seconds = motion.instants * float(np.median(between)) if len(between) else 0.0
    count = min(most, int(seconds / _SHORTEST))
    return count if count >= _FEWEST else 0


def _numbers(motion: Motion, parts: int) -> npt.NDArray[np.intp]:
    """Return the (instants,) number of the part of time that each lies in."""
    found: npt.NDArray[np.intp] = np.arange(motion.instants) * parts // motion.instants
    return found


def _rms_in(window: npt.NDArray[np.intp], values: Array) -> Array:
    counts = np.maximum(np.bincount(window, minlength=_WINDOWS), 1)
    squares = np.bincount(window, values**2, minlength=_WINDOWS)
    found: Array = np.sqrt(squares / counts)
    return found


def _span(ratios: Array) -> slice:
    """Return the windows around the largest ratio that stand out without a break."""
    begin = end = int(np.argmax(ratios))
    while begin > 0 and ratios[begin - 1]:
        begin -= 1
    while end + 1 < len(ratios) and ratios[end + 1]:
        end += 1
    return slice(begin, end + 1)


def _when(motion: Motion, window: npt.NDArray[np.intp], span: slice) -> str:
    """Return the time of windows, for people; the times of each recording begin anew."""
    inside = np.flatnonzero((window >= span.start) & (window < span.stop))
    begins = np.flatnonzero(np.diff(motion.time) < 0.0) + 1
    first, last = inside[0], inside[-1]
    number = int(np.searchsorted(begins, last, side="right"))
    if len(begins) and number:
        first = max(first, begins[number - 1])
    where = f" of recording {number + 1}" if len(begins) else ""
    return f"from {motion.time[first]:.3g} to {motion.time[last]:.3g} s{where}"
