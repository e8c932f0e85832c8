"""Wrenches at the flange that are found in recordings, beside the forces that acted."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pushes.arms import Bench
from robot_identification.dynamics.external_efforts.levels import JudgedEfforts
from robot_identification.dynamics.external_efforts.wrench import (
    FrameWrenches,
    WrenchEstimator,
    WrenchSettings,
)
from robot_identification.robot.geometry import forward_kinematics

KINDS = ("whole", "force_only")
EVERY = 10  # samples, of which one is looked at
Floats = np.ndarray[Any, np.dtype[np.float64]]


class WrenchError(NamedTuple):
    """What is off during a push, by the kind of wrench.

    Attributes:
        told: share of the samples in which all three forces are told.
        mean: (3,) mean error of the forces in those, in N; NaN where there are none.
        covered: share of forces that are told, and less than two deviations off.
    """

    told: tuple[float, ...]
    mean: tuple[Floats, ...]
    covered: tuple[float, ...]


class Wrenches:
    """Estimates the wrench at the flange of an arm."""

    def __init__(self, bench: Bench) -> None:
        self._robot, self._flange = bench.robot, bench.flange
        self._estimators = [
            WrenchEstimator(bench.robot, bench.flange, WrenchSettings(force_only=alone))
            for alone in (False, True)
        ]

    def error(
        self, judged: JudgedEfforts, position: Floats, inside: np.ndarray, force: Floats
    ) -> WrenchError:
        """Return what is off while a force, along the axes of the base, acts at the flange."""
        some = np.flatnonzero(inside)[::EVERY]
        q = position[some]
        frames = forward_kinematics(self._robot, q)[:, self._flange.joint, :3, :3]
        true = np.einsum("sij,i->sj", frames @ self._flange.rotation, force)
        found = [
            own.estimate(judged.stamps[some], q, judged.effort[some], judged.deviation[some])
            for own in self._estimators
        ]
        return WrenchError(*zip(*(_error(one, true) for one in found), strict=True))


def _error(found: FrameWrenches, true: Floats) -> tuple[float, Floats, float]:
    told = found.told[:, :3]
    every = told.all(axis=1)
    off = found.wrench[:, :3] - true
    mean = off[every].mean(axis=0) if every.any() else np.full(3, np.nan)
    fine = np.abs(off[told]) <= 2.0 * found.deviation[:, :3][told]
    return float(every.mean()), mean, float(fine.mean()) if told.any() else np.nan


def wrench_summary(errors: list[WrenchError]) -> dict[str, Any]:
    """Return the figures, by the kind of wrench."""
    summary = {}
    for place, kind in enumerate(KINDS):
        means = np.array([error.mean[place] for error in errors])
        known = means[np.isfinite(means).all(axis=1)]
        sizes, covered = np.linalg.norm(known, axis=1), [error.covered[place] for error in errors]
        summary[kind] = {"forces_told": round(float(np.mean([e.told[place] for e in errors])), 3)}
        if len(sizes):
            summary[kind] |= {
                "force_error_rms_n": round(float(np.sqrt((sizes**2).mean())), 2),
                "force_error_median_n": round(float(np.median(sizes)), 2),
                "within_two_deviations": round(float(np.nanmean(covered)), 3),
            }
    return summary
