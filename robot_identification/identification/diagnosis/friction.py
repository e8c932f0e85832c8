"""Friction laws that joints lack, as the choice of ``--friction auto`` finds them.

It is the same search over the same candidates, on all rows and not on those that other changes are
tried on, because laws differ most at low speed; of long recordings parts are searched.  Shapes stay
those of the grid: moving them, a pass over the samples for each step, is left to the choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robot_identification.identification.base.loads import untold_loads
from robot_identification.identification.diagnosis.causes import CAUSES, FRICTION_LAW
from robot_identification.identification.diagnosis.finding import Finding
from robot_identification.identification.diagnosis.naming import told_shares
from robot_identification.identification.diagnosis.refits.motion import parts_of
from robot_identification.identification.friction.candidates import every_candidate
from robot_identification.identification.friction.choice import at_every_speed
from robot_identification.identification.friction.selection import select
from robot_identification.identification.friction.trials import Tried
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.robot.arrays import Array
from robot_identification.robot.terms.joint_terms import term_named

_MATTERS = 0.05
"""Fall of the error of a joint on blocks left out, as a part of it, that is told.  As much must its
own terms take of its squared residual, because laws of other joints lower its error too."""

_LEAVE_OUT = "; or leave out slow rows (--velocity-threshold) where it is of low speeds"


def law_findings(source: WholeRows, values: Array) -> tuple[Finding, ...]:
    """Return the joints whose friction follows another law.

    Args:
        source: the rows of the fit.
        values: (base,) its parameters, whose loads friction may follow.

    Raises:
        CancelledError: the caller of the source wants to stop.
    """
    parts = parts_of(source.segments, source.processing)
    rows = replace(at_every_speed(source), segments=parts, progress=None)
    loads, untold = source.base.full(values), untold_loads(source.base)
    selection, _ = select(rows, every_candidate(), loads, untold, refines=False)
    found = []
    for joint, name in enumerate(source.base.robot.joint_names):
        laws = [one for one in selection.tried if one.joint == joint and one.chosen]
        before, after = (
            float(errors[joint])
            for errors in (selection.plain_joint_errors, selection.joint_errors)
        )
        own = sum(one.gain for one in laws)
        if own >= _MATTERS and after <= (1.0 - _MATTERS) * before:
            thresholds = (at.processing.velocity_threshold[joint] > 0.0 for at in (source, rows))
            found.append(_finding(name, laws, (before, after), *thresholds))
    return tuple(found)


def _finding(
    joint: str,
    laws: Sequence[Tried],
    errors: tuple[float, float],
    fit_omits_slow: bool,
    search_omits_slow: bool,
) -> Finding:
    """Return the finding on a joint.

    Args:
        joint: its name.
        laws: what the search has added.
        errors: on blocks left out, without and with it.
        fit_omits_slow: whether the fit, to which tables and other findings belong, leaves out the
            joint's rows near standstill.
        search_omits_slow: whether the search does so too.
    """
    before, after = errors
    cause = CAUSES[FRICTION_LAW]
    change = cause.change.format(detail="; ".join(map(_told, laws)))
    gain = 2.0 * float(np.log2(before / after))
    return Finding(
        cause.severity,
        FRICTION_LAW,
        (joint,),
        f"with {change} the error on blocks left out"
        + ("" if search_omits_slow else ", over all rows, those near standstill too,")
        + f" is {told_shares('its efforts', before, after)}"
        + ("; the fit leaves slow rows out" if fit_omits_slow else ""),
        cause.advice + ("" if fit_omits_slow else _LEAVE_OUT),
        {"gain": gain, "left_before": before, "left_after": after},
        weight=10.0 + gain,
    )


def _told(law: Tried) -> str:
    """Return a term with its function and shapes, for people."""
    term = term_named(law.term)
    if term is None:  # those that are tried are of the table
        raise ValueError(law.term)
    number = law.joint + 1
    words = [f"{law.term}{number}"]
    if law.replaces:
        words[0] += f" in place of {law.replaces}{number}"
    words.append(term.kind.formula)
    if law.shape:
        words.append(f"{term.kind.shapes[0].symbol} about {law.shape[0]:.2g}")
    return ", ".join(words)
