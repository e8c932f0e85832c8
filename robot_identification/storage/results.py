"""Result files: everything that later stages need of an identification, as YAML."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robot_identification.errors import ResultFileError, RobotIdentificationError
from robot_identification.identification import result as results
from robot_identification.identification.essential import Elimination, Removal
from robot_identification.identification.factor import JointFactor
from robot_identification.identification.history import history_of
from robot_identification.identification.least_squares import Estimate, RelativeError
from robot_identification.identification.result import IdentificationResult, Regrouping, Source
from robot_identification.robot.model import Array
from robot_identification.storage.atomic import write_text_atomically

_LARGEST_FILE = 64 * 2**20
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
    document = {
        "kind": _KIND,
        "schema": results.SCHEMA_VERSION,
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
    dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return yaml.dump(document, Dumper=dumper, sort_keys=False, default_flow_style=None, width=1000)


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

    Raises:
        ResultFileError: if it is not one, is damaged, or has another schema version.
    """
    document = _load(Path(path))
    if document.get("kind") != _KIND:
        raise ResultFileError(path, "not a result file of identify; give the file written with -o")
    if document.get("schema") != results.SCHEMA_VERSION:
        raise ResultFileError(
            path,
            f"schema version {document.get('schema')}, this program reads "
            f"{results.SCHEMA_VERSION}; identify again with this version",
        )
    try:
        return _result(document)
    except KeyError as error:
        raise ResultFileError(path, f"entry {error} is missing; the file is damaged") from error
    except (TypeError, ValueError, IndexError, RobotIdentificationError) as error:
        raise ResultFileError(path, f"damaged: {error}") from error


def _load(path: Path) -> Mapping[str, Any]:
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise ResultFileError(path, "larger than any result file; not read")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ResultFileError(path, f"cannot be read: {error}") from error
    try:
        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        document = yaml.load(text, Loader=loader)  # noqa: S506 (a safe loader)
    except (yaml.YAMLError, ValueError) as error:
        raise ResultFileError(path, f"not valid YAML: {error}") from error
    if not isinstance(document, dict):
        raise ResultFileError(path, "not a result file of identify")
    return document


def _result(document: Mapping[str, Any]) -> IdentificationResult:
    joint_names = tuple(str(name) for name in document["joints"])
    parameters = document["parameters"]
    regrouping = Regrouping(
        standard_names=tuple(document["standard"]),
        names=tuple(entry["name"] for entry in parameters),
        leading=tuple(document["leading"]),
        regrouped=tuple(document["regrouped"]),
        beta=np.array(document["beta"], dtype=float).reshape(
            len(parameters), len(document["regrouped"])
        ),
    )
    held_out = document.get("held_out_error")
    estimate = _estimate(document, joint_names)
    return IdentificationResult(
        robot=str(document["robot"]),
        robot_digest=str(document["robot_digest"]),
        joint_names=joint_names,
        sources=tuple(Source(**source) for source in document["sources"]),
        method=str(document["method"]),
        settings=document["settings"],
        regrouping=regrouping,
        estimate=estimate,
        factors=tuple(_factor(entry, len(parameters)) for entry in document["factors"]),
        held_out=None if held_out is None else _error(held_out, joint_names),
        elimination=_elimination(document, estimate),
        iterations=int(document["iterations"]),
        converged=bool(document["converged"]),
        seconds=float(document["seconds"]),
        warnings=tuple(document["warnings"]),
        history=history_of(document, joint_names) if "history" in document else None,
    )


def _estimate(document: Mapping[str, Any], joint_names: tuple[str, ...]) -> Estimate:
    parameters = document["parameters"]
    return Estimate(
        values=_finite([entry["value"] for entry in parameters], "value"),
        std=_finite([entry["std"] for entry in parameters], "std"),
        weights=_finite(document["weights"], "weights"),
        residual_std=_finite([document["residual_std"][n] for n in joint_names], "residual_std"),
        condition_number=float(document["condition_number"]),
        scaled_condition_number=float(document["scaled_condition_number"]),
        singular_values=_finite(document["singular_values"], "singular_values"),
        relative_error=_error(document["relative_error"], joint_names),
        rows=tuple(int(document["rows_per_joint"][name]) for name in joint_names),
        std_robust=_std_robust(parameters),
    )


def _std_robust(parameters: Sequence[Mapping[str, Any]]) -> Array | None:
    """Return the robust standard deviations, None where a file does not have all of them."""
    found = [entry["std_robust"] for entry in parameters if entry.get("std_robust") is not None]
    return _finite(found, "std_robust") if len(found) == len(parameters) else None


def _elimination(document: Mapping[str, Any], estimate: Estimate) -> Elimination | None:
    entry = document.get("elimination")
    if entry is None:
        return None
    return Elimination(
        rule=str(entry["rule"]),
        threshold=float(entry["threshold"]),
        kept=np.array([parameter["essential"] for parameter in document["parameters"]], dtype=bool),
        removals=tuple(Removal(**removed) for removed in entry["removed"]),
        estimate=estimate,
    )


def _error(entries: Mapping[str, float], joint_names: tuple[str, ...]) -> RelativeError:
    return RelativeError(
        total=float(entries["total"]),
        joints=_finite([entries[name] for name in joint_names], "relative_error"),
    )


def _factor(entry: Mapping[str, Any], parameters: int) -> JointFactor:
    columns = np.array(entry["columns"], dtype=np.intp)
    if len(columns) and not (0 <= columns.min() and columns.max() < parameters):
        raise ValueError(f"factor of joint {entry['joint']} names columns that do not exist")
    size = len(columns) + 1
    triangle = np.zeros((size, size))
    for i, row in enumerate(entry["triangle"]):
        triangle[i, i:] = _finite(row, "triangle")
    return JointFactor(
        joint=str(entry["joint"]), columns=columns, triangle=triangle, rows=int(entry["rows"])
    )


def _finite(values: list[float], name: str) -> Array:
    array = np.array(values, dtype=float)
    if not all(map(math.isfinite, array.ravel())):
        raise ValueError(f"{name} holds a value that is not finite")
    return array
