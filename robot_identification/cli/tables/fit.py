"""Tables on data left out, weights between bags, outliers and sensitivity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from robot_identification.cli.tables.printing import fraction, print_table
from robot_identification.identification.estimators.huber import Robustness
from robot_identification.identification.estimators.least_squares import RelativeError
from robot_identification.identification.periodic.drift import DRIFTING
from robot_identification.identification.periodic.recordings import PeriodicRecording
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.statistics.cross_validation import CrossValidation, Fold
from robot_identification.identification.statistics.sensitivity import CutoffChange, describe_change

# Settings that have a table of their own.
TABLED = ("bag_noise",)
# More bags than these would fill screens; all are in the result file and in --json.
_MOST = 20


def print_fit(out: Console, result: IdentificationResult) -> None:
    """Print what there is of errors on data left out, weights and outliers."""
    names = result.joint_names
    if result.cross_validation is not None:
        _print_validation(out, result.cross_validation, names)
    if result.held_out_bags:
        title = "held out, not fitted: unexplained effort, as a fraction"
        _print_folds(out, title, "bag", result.held_out_bags, names)
    if "bag_noise" in result.settings:
        levels: Any = result.settings["bag_noise"]["value"]
        rows = [
            (source.name, *(f"{level:.3g}" for level in own))
            for source, own in zip(result.sources, levels, strict=True)
        ]
        title = "noise of bag and joint, over that of the joint in all bags"
        print_table(out, title, ("bag", *names), rows[:_MOST])
        out.print()
    if result.robustness is not None:
        _print_outliers(out, result.robustness)
    for recording in result.periodic:
        _print_periods(out, recording, names)


def _print_validation(out: Console, found: CrossValidation, names: Sequence[str]) -> None:
    bags = found.scheme == "bags"
    kind = "bag" if bags else "block"
    how = (
        "each bag predicted from the others"
        if bags
        else "each block of the only bag predicted from the others; give a second bag for more"
    )
    title = f"cross-validation: {how}: unexplained effort, as a fraction"
    _print_folds(out, title, kind, found.folds, names, found.error)


def _print_folds(
    out: Console,
    title: str,
    kind: str,
    folds: Sequence[Fold],
    names: Sequence[str],
    error: RelativeError | None = None,
) -> None:
    fitted = any(fold.fitted is not None for fold in folds)
    rows = [
        (
            fold.name,
            *(([f"{fold.fitted.total:.6f}"] if fold.fitted else ["-"]) if fitted else []),
            *_errors(fold.error, len(names)),
        )
        for fold in folds[:_MOST]
    ]
    if error is not None:
        rows.append(("all", *([""] if fitted else []), *_errors(error, len(names))))
    columns = (kind, *(("in the fit",) if fitted else ()), "left out", *names)
    print_table(out, title, columns, rows)
    if len(folds) > _MOST:
        out.print(f"and {len(folds) - _MOST} more, in the result file and in --json")
    out.print()


def _errors(error: RelativeError | None, joints: int) -> tuple[str, ...]:
    if error is None:
        return ("-",) * (joints + 1)
    return (f"{error.total:.6f}", *(fraction(value, 4) for value in error.joints.tolist()))


def _print_outliers(out: Console, found: Robustness) -> None:
    rows = [
        (
            entry.bag,
            entry.joint,
            str(entry.rows),
            str(entry.limited),
            str(entry.outlying),
            str(entry.spikes),
            f"{entry.scale:.4g}",
            ", ".join(f"{time:.2f} s: {residual:.3g}" for time, residual in entry.worst),
        )
        for entry in found.outliers
    ]
    title = (
        f"outliers: residuals limited to {found.threshold:g} robust standard deviations, "
        f"{found.iterations} passes"
    )
    columns = ("bag", "joint", "rows", "limited", "beyond 4 std", "spikes", "robust std", "largest")
    print_table(out, title, columns, rows[: _MOST * 6])
    out.print()


def _print_periods(out: Console, found: PeriodicRecording, names: Sequence[str]) -> None:
    """Print what the periods of a recording tell of noise and drift."""
    drift = {joint.joint: joint for joint in found.drift}
    rows = []
    for place, name in enumerate(names):
        joint = drift.get(name)
        changes = ["-"] * (len(DRIFTING) + 1)
        if joint is not None:
            pairs = zip(joint.change, joint.std, strict=True)
            changes = [f"{change:.3g} ± {std:.2g}" for change, std in pairs]
            changes.append(f"{joint.probability:.2g}" + (" drifts" if joint.drifts else ""))
        rows.append(
            (
                name,
                str(found.harmonics[place]),
                f"{found.position_noise[place]:.3g}",
                f"{found.effort_noise[place]:.3g}",
                f"{found.misfit[place]:.2f}",
                *changes,
            )
        )
    dropped = f", {found.dropped} before them left out" if found.dropped else ""
    title = (
        f"{found.source}: {found.periods} periods of {found.period:.6g} s from {found.begin:.2f} s "
        f"on{dropped}; change of the friction from the first to the last"
    )
    columns = (
        "joint",
        "harmonics",
        "position noise",
        "effort noise",
        "residual / noise",
        *(term.name for term in DRIFTING),
        "p of no drift",
    )
    print_table(out, title, columns, rows)
    out.print()


def print_sensitivity(out: Console, changes: Sequence[CutoffChange], names: Sequence[str]) -> None:
    """Print how the parameters change with the cut-off, in standard deviations."""
    rows = [(f"{change.cutoff_hz:.4g} Hz", *describe_change(change, names)) for change in changes]
    columns = ("cut-off", "error of the fit", "left out", "median change", "largest changes")
    print_table(out, "sensitivity: changes of the parameters, in std robust", columns, rows)
    if any(change.kept_ends_cut for change in changes):
        out.print(
            "ends are kept for the cut-off of the result only; they are cut here, and in what is "
            "compared"
        )
