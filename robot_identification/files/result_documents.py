"""A result as plain data, checked entry by entry before anything is made of it.

Result files and messages hold the same entries and are read here, both of them.  Whoever sends them
may be wrong or hostile: sizes are compared before arrays are made, names and columns must be there
once, numbers finite, and every joint has its factor.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import yaml

from robot_identification.errors import ShapeError
from robot_identification.identification import entries as entry_of
from robot_identification.identification.delays.effort_delay import EFFORT_DELAY
from robot_identification.identification.diagnosis.finding import finding_of
from robot_identification.identification.estimators.choice import method_of
from robot_identification.identification.estimators.essential import Elimination, Removal
from robot_identification.identification.estimators.huber import robustness_of
from robot_identification.identification.estimators.least_squares import Estimate, RelativeError
from robot_identification.identification.friction.law import law_of
from robot_identification.identification.history import history_of
from robot_identification.identification.periodic.recordings import periodic_of
from robot_identification.identification.regrouping import Regrouping
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.source import Source
from robot_identification.identification.statistics.cross_validation import (
    cross_validation_of,
    error_of,
    fold_of,
)
from robot_identification.robot.arrays import Array


class ResultDumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """The safe dumper of YAML, which writes out what stands in several places."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 (as in the class above)
        """Return that no alias is ever written."""
        return True


MOST_ENTRIES = 1_000_000
MOST_LEVELS = 20
MOST_TEXT = 16 * 2**20
"""Limits of a result file: entries in all, levels of lists and mappings, characters in all."""

_LARGEST = 1e30


def result_of_document(document: Mapping[str, Any]) -> IdentificationResult:
    """Return the result that plain data describe.

    Args:
        document: entries as a result file has them; not more, nor nested deeper, than the
            constants of this module say.

    Raises:
        ValueError: they describe none; says which entry is wrong, and why.
    """
    try:
        return _result(document)
    except KeyError as error:
        raise ValueError(f"entry {error} is missing") from error
    except (TypeError, OverflowError, IndexError, AttributeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    except ShapeError as error:
        raise ValueError(str(error)) from error


def _numbers(document: Mapping[str, Any], joint_names: tuple[str, ...]) -> tuple[int, ...]:
    """Return the numbers of the joints of a robot with loops; none where they are 1, 2 and so on.

    Raises:
        ValueError: there is not one for each, or one stands twice.
    """
    if "joint_numbers" not in document:
        return ()
    values = entry_of.finite(document["joint_numbers"], "joint_numbers", len(joint_names))
    numbers = tuple(int(value) for value in values)
    if len(set(numbers)) != len(numbers) or min(numbers) < 1 or tuple(values) != numbers:
        raise ValueError("joint_numbers: give each joint a number of its own, 1 or more")
    return numbers


def _geometry(document: Mapping[str, Any]) -> Mapping[str, Mapping[str, str | float]]:
    """Return the link frames of the robot, nothing of a file of an earlier version."""
    if "geometry" not in document:
        return {}
    frames = entry_of.mapping(document, "geometry")
    return {name: entry_of.mapping(frames, name) for name in frames}


def _result(document: Mapping[str, Any]) -> IdentificationResult:
    joint_names = _once(entry_of.texts(document, "joints"), "joint")
    parameters = entry_of.mappings(document, "parameters")
    if not joint_names or not parameters:
        raise ValueError("a result has joints and base parameters, and this one has not")
    estimate = _estimate(document, joint_names)
    settings = entry_of.mapping(document, "settings")
    return IdentificationResult(
        robot=entry_of.text(document, "robot"),
        robot_digest=entry_of.text(document, "robot_digest"),
        joint_names=joint_names,
        joint_numbers=_numbers(document, joint_names),
        sources=_sources(document, settings),
        method=entry_of.text(document, "method"),
        settings={name: entry_of.mapping(settings, name) for name in settings},
        regrouping=_regrouping(document, parameters),
        estimate=estimate,
        factors=_factors(document, joint_names, len(parameters)),
        measured_factors=(
            _named_factors(document, "measured_factors", joint_names, len(parameters))
            if "measured_factors" in document
            else None
        ),
        held_out=error_of(document.get("held_out_error"), joint_names),
        **_beyond_the_fit(document, joint_names),
        elimination=_elimination(document, estimate),
        iterations=entry_of.count(document, "iterations"),
        converged=entry_of.flag(document, "converged"),
        seconds=entry_of.number(document, "seconds"),
        warnings=entry_of.texts(document, "warnings"),
        geometry=_geometry(document),
        history=history_of(document, joint_names) if "history" in document else None,
    )


def _beyond_the_fit(document: Mapping[str, Any], joint_names: tuple[str, ...]) -> Mapping[str, Any]:
    """Return errors on data left out, outliers and periods, where a file has them."""
    found: dict[str, Any] = {}
    if "held_out_bags" in document:
        folds = entry_of.mappings(document, "held_out_bags")
        found["held_out_bags"] = tuple(fold_of(fold, joint_names) for fold in folds)
    if "cross_validation" in document:
        entries = entry_of.mapping(document, "cross_validation")
        found["cross_validation"] = cross_validation_of(entries, joint_names)
    if "robust" in document:
        found["robustness"] = robustness_of(entry_of.mapping(document, "robust"))
    if "findings" in document:
        told = entry_of.mappings(document, "findings")
        found["findings"] = tuple(finding_of(entry) for entry in told)
    found["friction"] = law_of(document, joint_names)
    if "periodic" in document:
        found["periodic"] = periodic_of(entry_of.mapping(document, "periodic"), joint_names)
    return found


def _regrouping(document: Mapping[str, Any], parameters: Sequence[Mapping[str, Any]]) -> Regrouping:
    regrouped = entry_of.texts(document, "regrouped")
    standard = entry_of.texts(document, "standard")
    leading = entry_of.texts(document, "leading")
    rows = document["beta"]
    if not isinstance(rows, list) or not len(rows) == len(leading) == len(parameters):
        raise ValueError(f"beta and leading need {len(parameters)} rows, one per base parameter")
    for names in ((*leading, *regrouped), standard):
        _once(names, "standard parameter")
    unknown = {*leading, *regrouped} - set(standard)
    if unknown:
        raise ValueError(f"{min(unknown)} is not among the standard parameters")
    return Regrouping(
        standard_names=standard,
        names=_once([entry_of.text(entry, "name") for entry in parameters], "parameter"),
        leading=leading,
        regrouped=regrouped,
        beta=_moderate(
            np.array([entry_of.finite(row, "beta", len(regrouped)) for row in rows]), "beta"
        ).reshape(len(rows), len(regrouped)),
    )


def _once(names: Sequence[str], what: str) -> tuple[str, ...]:
    """Return names of which each stands once."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"a {what} is named twice: {name!r:.40}")
        seen.add(name)
    return tuple(names)


def _moderate(values: Array, name: str) -> Array:
    """Return numbers whose squares and products do not overflow."""
    if values.size and np.abs(values).max() > _LARGEST:
        raise ValueError(f"{name} holds a value beyond {_LARGEST:g}")
    return values


def _sources(document: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[Source, ...]:
    """Return the recordings; delays and warnings of earlier versions stand beside them."""
    entries = entry_of.mappings(document, "sources")
    delays = entry_of.mapping(settings, EFFORT_DELAY)["value"] if EFFORT_DELAY in settings else []
    if not isinstance(delays, list):
        raise TypeError(f"{EFFORT_DELAY} is {delays!r:.40}, not a list")
    if len(delays) != len(entries):  # merged results of earlier versions have those of the first
        delays = [0.0] * len(entries)
    known = entry_of.finite(delays, EFFORT_DELAY)
    lines = entry_of.texts(document, "warnings")
    return tuple(_source(e, float(delay), lines) for e, delay in zip(entries, known, strict=True))


def _source(entry: Mapping[str, Any], delay: float, warnings: Sequence[str]) -> Source:
    name = entry_of.text(entry, "name")
    about = re.compile(f"(recording )?{re.escape(name.rstrip('/'))}[:/]")
    return Source(
        name=name,
        digest=entry_of.text(entry, "digest"),
        samples=entry_of.count(entry, "samples"),
        duration=entry_of.number(entry, "duration"),
        effort_topic=entry_of.text(entry, "effort_topic") if "effort_topic" in entry else "",
        effort_delay=delay,
        warnings=(
            entry_of.texts(entry, "warnings")
            if "warnings" in entry
            else tuple(line for line in warnings if about.match(line))
        ),
        bridged=entry_of.count(entry, "bridged") if "bridged" in entry else 0,
        rows_missed=entry_of.count(entry, "rows_missed") if "rows_missed" in entry else 0,
    )


def _estimate(document: Mapping[str, Any], joint_names: tuple[str, ...]) -> Estimate:
    parameters, joints = entry_of.mappings(document, "parameters"), len(joint_names)
    residuals = entry_of.mapping(document, "residual_std")
    rows = entry_of.mapping(document, "rows_per_joint")
    return Estimate(
        values=_moderate(
            entry_of.finite([entry["value"] for entry in parameters], "value"), "value"
        ),
        std=entry_of.finite([entry["std"] for entry in parameters], "std"),
        weights=_moderate(entry_of.finite(document["weights"], "weights", joints), "weights"),
        residual_std=entry_of.finite([residuals[name] for name in joint_names], "residual_std"),
        condition_number=entry_of.number(document, "condition_number"),
        scaled_condition_number=entry_of.number(document, "scaled_condition_number"),
        singular_values=entry_of.finite(document["singular_values"], "singular_values"),
        relative_error=_error(document, "relative_error", joint_names),
        rows=tuple(entry_of.count(rows, name) for name in joint_names),
        std_robust=_std_robust(parameters),
    )


def _std_robust(parameters: Sequence[Mapping[str, Any]]) -> Array | None:
    """Return the robust standard deviations, None where a file does not have all of them."""
    found = [entry["std_robust"] for entry in parameters if entry.get("std_robust") is not None]
    return entry_of.finite(found, "std_robust") if len(found) == len(parameters) else None


def _elimination(document: Mapping[str, Any], estimate: Estimate) -> Elimination | None:
    if document.get("elimination") is None:
        return None
    entry = entry_of.mapping(document, "elimination")
    parameters = entry_of.mappings(document, "parameters")
    return Elimination(
        rule=entry_of.text(entry, "rule"),
        threshold=entry_of.number(entry, "threshold"),
        kept=np.array([entry_of.flag(parameter, "essential") for parameter in parameters]),
        removals=tuple(_removal(removed) for removed in entry_of.mappings(entry, "removed")),
        estimate=estimate,
    )


def _removal(entry: Mapping[str, Any]) -> Removal:
    return Removal(
        name=entry_of.text(entry, "name"),
        std=entry_of.number(entry, "std"),
        relative_std_percent=entry_of.number(entry, "relative_std_percent"),
        ratio=entry_of.number(entry, "ratio"),
        error_growth=entry_of.number(entry, "error_growth"),
    )


def _error(document: Mapping[str, Any], name: str, joint_names: tuple[str, ...]) -> RelativeError:
    entries = entry_of.mapping(document, name)
    return RelativeError(
        total=entry_of.number(entries, "total"),
        joints=entry_of.finite([entries[joint] for joint in joint_names], name),
    )


def _factors(
    document: Mapping[str, Any], joint_names: tuple[str, ...], parameters: int
) -> tuple[JointFactor, ...] | None:
    """Return the factor of every joint; without all of them nothing can be made of the rest.

    There are none where the method keeps none.
    """
    if not document["factors"] and not method_of(entry_of.text(document, "method")).keeps_factors:
        return None
    return _named_factors(document, "factors", joint_names, parameters)


def _named_factors(
    document: Mapping[str, Any], key: str, joint_names: tuple[str, ...], parameters: int
) -> tuple[JointFactor, ...]:
    entries = entry_of.mappings(document, key)
    named = tuple(entry_of.text(entry, "joint") for entry in entries)
    if named != joint_names:
        raise ValueError(
            f"{key}: there are factors of {', '.join(named) or 'no joint':.200}, and of each of "
            f"{', '.join(joint_names):.200} there must be one, in this order"
        )
    return tuple(_factor(entry, parameters) for entry in entries)


def _factor(entry: Mapping[str, Any], parameters: int) -> JointFactor:
    joint, rows = entry_of.text(entry, "joint"), entry["triangle"]
    if len(entry["columns"]) > parameters:
        raise ValueError(f"factor of joint {joint} has more columns than there are parameters")
    columns = entry_of.finite(entry["columns"], "columns")
    if not (np.isin(columns, np.arange(parameters)).all() and (np.diff(columns) > 0).all()):
        raise ValueError(f"factor of joint {joint} names columns that do not exist, or twice")
    size = len(columns) + 1
    if not isinstance(rows, list) or len(rows) != size:
        raise ValueError(f"factor of joint {joint} needs {size} rows")
    triangle = np.zeros((size, size))
    for i, row in enumerate(rows):
        triangle[i, i:] = _moderate(entry_of.finite(row, "triangle", size - i), "triangle")
    return JointFactor(
        joint=joint,
        columns=columns.astype(np.intp),
        triangle=triangle,
        rows=entry_of.count(entry, "rows"),
    )
