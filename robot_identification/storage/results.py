"""Result files: everything that later stages need of an identification, as YAML.

A file carries the SHA-256 of its own content, so that whatever was changed in it since is noticed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robot_identification.errors import ResultFileError, ShapeError
from robot_identification.identification import plain_data as entry_of
from robot_identification.identification import result as results
from robot_identification.identification.cross_validation import cross_validation_of, fold_of
from robot_identification.identification.essential import Elimination, Removal
from robot_identification.identification.factor import JointFactor
from robot_identification.identification.history import history_of
from robot_identification.identification.huber import robustness_of
from robot_identification.identification.least_squares import Estimate, RelativeError
from robot_identification.identification.result import IdentificationResult, Regrouping, Source
from robot_identification.robot import content_digest
from robot_identification.robot.model import Array
from robot_identification.storage.atomic import write_text_atomically
from robot_identification.storage.result_entries import ResultDumper, ResultLoader

LARGEST_FILE = 64 * 2**20
_KIND = "robot_identification/result"


def write_result(path: str | Path, result: IdentificationResult) -> None:
    """Write a result file; it appears whole or not at all.

    Raises:
        OutputError: if the target cannot be written.
    """
    write_text_atomically(path, dump(result))


def dump(result: IdentificationResult) -> str:
    """Return the text of a result file; floating-point numbers survive the round trip exactly."""
    estimate = result.estimate
    content = {
        **results.summary(result),
        "robot_digest": result.robot_digest,
        "joints": list(result.joint_names),
        "standard": list(result.regrouping.standard_names),
        "leading": list(result.regrouping.leading),
        "regrouped": list(result.regrouping.regrouped),
        "beta": result.regrouping.beta.tolist(),
        "weights": estimate.weights.tolist(),
        "singular_values": estimate.singular_values.tolist(),
        "factors": [
            {
                "joint": factor.joint,
                "rows": factor.rows,
                "columns": factor.columns.tolist(),
                "triangle": _upper(factor.triangle),
            }
            for factor in result.factors
        ],
    }
    first = {"kind": _KIND, "schema": results.SCHEMA_VERSION}
    digest = content_digest.content_digest({**first, **content})
    return yaml.dump(
        {**first, content_digest.KEY: digest, **content},
        Dumper=ResultDumper,
        sort_keys=False,
        default_flow_style=None,
        width=1000,
    )


def _upper(triangle: Array) -> list[list[float]]:
    return [triangle[i, i:].tolist() for i in range(len(triangle))]


def is_result(path: str | Path) -> bool:
    """Tell whether a file says of itself that it is a result file."""
    try:
        with Path(path).open(encoding="utf-8") as file:
            return _KIND in file.read(200)
    except (OSError, UnicodeDecodeError):
        return False


def read_result(path: str | Path) -> IdentificationResult:
    """Read a result file.

    A file without checksum is read as well; the result then carries a warning.

    Raises:
        ResultFileError: if it is not one, is damaged or was changed, or has another schema version.
    """
    document = _load(Path(path))
    if document.get("kind") != _KIND:
        raise ResultFileError(path, "not a result file of identify; give the file written with -o")
    version = document.get("schema")
    if isinstance(version, bool) or version != results.SCHEMA_VERSION:
        raise ResultFileError(
            path,
            f"schema version {version}, this program reads "
            f"{results.SCHEMA_VERSION}; identify again with this version",
        )
    try:
        _check_digest(path, document)
        result = _result(document)
    except KeyError as error:
        raise ResultFileError(path, f"entry {error} is missing; the file is damaged") from error
    except (TypeError, ValueError, OverflowError, IndexError, AttributeError) as error:
        raise ResultFileError(path, f"damaged: {error}") from error
    except ShapeError as error:
        raise ResultFileError(path, f"damaged: {error}") from error
    if content_digest.KEY in document:
        return result
    warning = f"{path}: no checksum, so that damage cannot be noticed; identify again"
    return replace(result, warnings=(*result.warnings, warning))


def _check_digest(path: str | Path, document: Mapping[str, Any]) -> None:
    stated = document.get(content_digest.KEY)
    if content_digest.KEY in document and stated != content_digest.content_digest(document):
        raise ResultFileError(
            path, "checksum mismatch: its content is not what identify wrote; identify again"
        )


def _load(path: Path) -> Mapping[str, Any]:
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST_FILE + 1)
        if len(raw) > LARGEST_FILE:
            raise ResultFileError(path, "larger than any result file; not read")
        text = raw.decode("utf-8")
    except FileNotFoundError as error:
        raise ResultFileError(
            path, "no such file; give a result file, as identify writes it with -o"
        ) from error
    except OSError as error:
        raise ResultFileError(path, f"cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ResultFileError(path, f"cannot be read: {error}") from error
    try:
        document = yaml.load(text, Loader=ResultLoader)  # noqa: S506 (a safe loader)
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise ResultFileError(path, f"not valid YAML: {error}") from error
    if not isinstance(document, dict):
        raise ResultFileError(path, "not a result file of identify")
    return document


def _result(document: Mapping[str, Any]) -> IdentificationResult:
    joint_names = entry_of.texts(document, "joints")
    parameters = entry_of.mappings(document, "parameters")
    estimate = _estimate(document, joint_names)
    held_out = document.get("held_out_error")
    factors = entry_of.mappings(document, "factors")
    settings = entry_of.mapping(document, "settings")
    return IdentificationResult(
        robot=entry_of.text(document, "robot"),
        robot_digest=entry_of.text(document, "robot_digest"),
        joint_names=joint_names,
        sources=tuple(_source(source) for source in entry_of.mappings(document, "sources")),
        method=entry_of.text(document, "method"),
        settings={name: entry_of.mapping(settings, name) for name in settings},
        regrouping=_regrouping(document, parameters),
        estimate=estimate,
        factors=tuple(_factor(entry, len(parameters)) for entry in factors),
        held_out=None if held_out is None else _error(document, "held_out_error", joint_names),
        **_beyond_the_fit(document, joint_names),
        elimination=_elimination(document, estimate),
        iterations=entry_of.count(document, "iterations"),
        converged=entry_of.flag(document, "converged"),
        seconds=entry_of.number(document, "seconds"),
        warnings=entry_of.texts(document, "warnings"),
        history=history_of(document, joint_names) if "history" in document else None,
    )


def _beyond_the_fit(document: Mapping[str, Any], joint_names: tuple[str, ...]) -> Mapping[str, Any]:
    """Return errors on data left out and what limiting outliers did, where a file has them."""
    found: dict[str, Any] = {}
    if "held_out_bags" in document:
        folds = entry_of.mappings(document, "held_out_bags")
        found["held_out_bags"] = tuple(fold_of(fold, joint_names) for fold in folds)
    if "cross_validation" in document:
        entries = entry_of.mapping(document, "cross_validation")
        found["cross_validation"] = cross_validation_of(entries, joint_names)
    if "robust" in document:
        found["robustness"] = robustness_of(entry_of.mapping(document, "robust"))
    return found


def _regrouping(document: Mapping[str, Any], parameters: Sequence[Mapping[str, Any]]) -> Regrouping:
    regrouped = entry_of.texts(document, "regrouped")
    standard = entry_of.texts(document, "standard")
    leading = entry_of.texts(document, "leading")
    rows = document["beta"]
    if not isinstance(rows, list) or not len(rows) == len(leading) == len(parameters):
        raise ValueError(f"beta and leading need {len(parameters)} rows, one per base parameter")
    for names in ((*leading, *regrouped), standard):
        if len(set(names)) != len(names):
            raise ValueError("a standard parameter is named twice")
    unknown = {*leading, *regrouped} - set(standard)
    if unknown:
        raise ValueError(f"{min(unknown)} is not among the standard parameters")
    return Regrouping(
        standard_names=standard,
        names=tuple(entry_of.text(entry, "name") for entry in parameters),
        leading=leading,
        regrouped=regrouped,
        beta=np.array([entry_of.finite(row, "beta", len(regrouped)) for row in rows]).reshape(
            len(rows), len(regrouped)
        ),
    )


def _source(entry: Mapping[str, Any]) -> Source:
    return Source(
        name=entry_of.text(entry, "name"),
        digest=entry_of.text(entry, "digest"),
        samples=entry_of.count(entry, "samples"),
        duration=entry_of.number(entry, "duration"),
    )


def _estimate(document: Mapping[str, Any], joint_names: tuple[str, ...]) -> Estimate:
    parameters, joints = entry_of.mappings(document, "parameters"), len(joint_names)
    residuals = entry_of.mapping(document, "residual_std")
    rows = entry_of.mapping(document, "rows_per_joint")
    return Estimate(
        values=entry_of.finite([entry["value"] for entry in parameters], "value"),
        std=entry_of.finite([entry["std"] for entry in parameters], "std"),
        weights=entry_of.finite(document["weights"], "weights", joints),
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


def _factor(entry: Mapping[str, Any], parameters: int) -> JointFactor:
    joint, rows = entry_of.text(entry, "joint"), entry["triangle"]
    columns = entry_of.finite(entry["columns"], "columns")
    if not (np.isin(columns, np.arange(parameters)).all() and (np.diff(columns) > 0).all()):
        raise ValueError(f"factor of joint {joint} names columns that do not exist, or twice")
    size = len(columns) + 1
    if not isinstance(rows, list) or len(rows) != size:
        raise ValueError(f"factor of joint {joint} needs {size} rows")
    triangle = np.zeros((size, size))
    for i, row in enumerate(rows):
        triangle[i, i:] = entry_of.finite(row, "triangle", size - i)
    return JointFactor(
        joint=joint,
        columns=columns.astype(np.intp),
        triangle=triangle,
        rows=entry_of.count(entry, "rows"),
    )
