"""Judgement after the fit: what the model of a joint lacks, by which nothing is mistaken."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from robot_identification.identification.diagnosis.causes import CAUSES, FRICTION_LAW, RANK
from robot_identification.identification.diagnosis.finding import Finding
from robot_identification.identification.diagnosis.naming import (
    ALIKE,
    LEAST,
    least_gain,
    told_shares,
)
from robot_identification.identification.diagnosis.refits.columns import (
    Explained,
    explained,
    hidden_torque,
)
from robot_identification.identification.diagnosis.refits.trials import Trials


def lacking_findings(
    trials: Trials, columns: npt.NDArray[np.intp], otherwise: float, drifts: Sequence[Finding]
) -> list[Finding]:
    """Return what the model lacks: terms, couplings, torques of position.

    Args:
        trials: of the fit.
        columns: of the full regressor.
        otherwise: what the best change of another kind explains.
        drifts: what changes in the course of the recordings; where it explains more of a joint, it
            is what the joint's own rows lack.
    """
    hidden = _hidden(trials, otherwise)
    told = {(one.cause, one.joints) for one in hidden}
    drifting = {one.joints[0]: one.figures["gain"] for one in drifts}
    own = [
        one
        for one in _of_own_rows(trials, columns)
        if (one.cause, one.joints) not in told
        and one.figures["gain"] >= drifting.get(one.joints[0], 0.0)
    ]
    return hidden + own


def _of_own_rows(trials: Trials, columns: npt.NDArray[np.intp]) -> list[Finding]:
    """Return what each joint's own rows show that its model lacks.

    Where friction explains most, the choice of friction laws has the word (:mod:`.friction`).

    Args:
        trials: of the fit.
        columns: of the full regressor.
    """
    found = []
    names = trials.robot.joint_names
    own = [explained(trials.motion, k, rows, columns) for k, rows in enumerate(trials.grams.rows)]
    for joint in trials.joints:
        every = [one for one in own[joint] if _is_lacking(one, own)]
        if not every:
            continue
        missing = [one for one in every if one.addition.cause == "missing term"]
        alike = missing or [one for one in every if one.gain >= ALIKE * every[0].gain]
        best = min(alike, key=lambda one: RANK[one.addition.cause])
        if best.addition.cause == FRICTION_LAW:
            continue
        cause = CAUSES[best.addition.cause]
        change = cause.change.format(detail=best.addition.detail)
        found.append(
            Finding(
                cause.severity, best.addition.cause,
                tuple(names[i] for i in best.addition.joints),
                f"with {change} its own rows leave {100 * best.left[1]:.2g} % of its efforts in "
                f"place of {100 * best.left[0]:.2g} %",
                cause.advice,
                {"gain": best.gain, "left_before": best.left[0], "left_after": best.left[1]},
                weight=10.0 + best.gain,
            )
        )  # fmt: skip
    return found


def _hidden(trials: Trials, otherwise: float) -> list[Finding]:
    """Return the torque of position that a joint's own rows hide, but those of all joints show.

    Args:
        trials: of the fit.
        otherwise: what the best change of another kind explains; being simpler, it is preferred
            where that is about as much.
    """
    rows = trials.grams.rows
    if len(rows) < 2:
        return []
    found, fitted = hidden_torque(trials.motion, rows, trials.grams.columns)
    needed = least_gain(len(rows), found.addition.matrix.shape[1], found.independent)
    if found.gain < needed or ALIKE * fitted <= otherwise:
        return []
    names = trials.robot.joint_names
    cause = CAUSES[found.addition.cause]
    return [
        Finding(
            cause.severity, found.addition.cause,
            tuple(names[i] for i in found.addition.joints),
            f"with {cause.change.format(detail=found.addition.detail)} the fit leaves "
            + told_shares(f"the efforts of {names[found.shown]}", *found.left),
            cause.advice,
            {"gain": found.gain, "left_before": found.left[0], "left_after": found.left[1]},
            weight=10.0 + found.gain,
        )
    ]  # fmt: skip


def _is_lacking(found: Explained, own: Sequence[Sequence[Explained]]) -> bool:
    """Tell whether what an addition explains is beyond chance, and of a coupling, on both sides.

    Args:
        found: the addition.
        own: of every joint what was tried.
    """
    tried, freed = len(own) * len(own[found.addition.joints[0]]), found.addition.matrix.shape[1]
    if found.gain < least_gain(tried, freed, found.independent):
        return False
    if found.addition.cause != "missing coupling":
        return True
    joint, other = found.addition.joints
    back = [one.gain for one in own[other] if one.addition.joints == (other, joint)]
    return bool(back) and back[0] > LEAST  # a drive that moves two joints is felt by both
