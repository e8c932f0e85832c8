"""Result files: everything that later stages need of an identification, as YAML.

A file carries the SHA-256 of its own content, so that whatever was changed in it since is noticed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from robot_identification.errors import ResultFileError, RobotDescriptionError
from robot_identification.files.atomic import write_text_atomically
from robot_identification.files.result_documents import (
    MOST_ENTRIES,
    MOST_LEVELS,
    ResultDumper,
    result_of_document,
)
from robot_identification.identification import result as results
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.document import (
    DIGEST,
    Accepted,
    content_digest,
    parse_document,
)
from robot_identification.robot.files.kinds import RESULT_KIND, other_kind
from robot_identification.robot.model import RobotModel

LARGEST_FILE = 64 * 2**20
_ACCEPTED = Accepted(MOST_ENTRIES, MOST_LEVELS, by_people=False)


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
        **result.summary(),
        "robot_digest": result.robot_digest,
        **({"geometry": dict(result.geometry)} if result.geometry else {}),
        "joints": list(result.joint_names),
        **({"joint_numbers": list(result.joint_numbers)} if result.joint_numbers else {}),
        "standard": list(result.regrouping.standard_names),
        "leading": list(result.regrouping.leading),
        "regrouped": list(result.regrouping.regrouped),
        "beta": result.regrouping.beta.tolist(),
        "weights": estimate.weights.tolist(),
        "singular_values": estimate.singular_values.tolist(),
        "factors": _factor_entries(result.factors),
    }
    if result.measured_factors is not None:
        content["measured_factors"] = _factor_entries(result.measured_factors)
    first = {"kind": RESULT_KIND, "schema": results.SCHEMA_VERSION}
    digest = content_digest({**first, **content})
    return yaml.dump(
        {**first, DIGEST: digest, **content},
        Dumper=ResultDumper,
        sort_keys=False,
        default_flow_style=None,
        width=1000,
    )


def _factor_entries(factors: Sequence[JointFactor] | None) -> list[dict[str, object]]:
    return [
        {
            "joint": factor.joint,
            "rows": factor.rows,
            "columns": factor.columns.tolist(),
            "triangle": _upper(factor.triangle),
        }
        for factor in factors or ()
    ]


def _upper(triangle: Array) -> list[list[float]]:
    return [triangle[i, i:].tolist() for i in range(len(triangle))]


def read_result(path: str | Path) -> IdentificationResult:
    """Read a result file.

    A file without checksum is read as well; the result then carries a warning.

    Raises:
        ResultFileError: if it is not one, is damaged or was changed, or has another schema version.
    """
    document = _load(Path(path))
    if document.get("kind") != RESULT_KIND:
        found = other_kind(document)
        told = f"{found}, and " if found else ""
        raise ResultFileError(
            path, f"{told}not a result file of identify; give the file written with -o"
        )
    version = document.get("schema")
    if isinstance(version, bool) or version != results.SCHEMA_VERSION:
        raise ResultFileError(
            path,
            f"schema version {version}, this program reads "
            f"{results.SCHEMA_VERSION}; identify again with this version",
        )
    try:
        _check_digest(path, document)
        result = result_of_document(document)
    except (TypeError, ValueError, OverflowError) as error:
        raise ResultFileError(path, f"damaged: {error}") from error
    if DIGEST in document:
        return result
    warning = f"{path}: no checksum, so that damage cannot be noticed; identify again"
    return replace(result, warnings=(*result.warnings, warning))


def read_result_of(path: str | Path, robot: RobotModel) -> IdentificationResult:
    """Read the result file of a robot.

    Raises:
        ResultFileError: as of :func:`read_result`, or it is another robot's, whatever its
            parameters are called.
    """
    result = read_result(path)
    if result.robot != robot.name:
        raise ResultFileError(
            path,
            f"is a result of {result.robot}, and the robot is {robot.name}; give a result of this "
            "robot, or the robot file that it was identified with",
        )
    return result


def _check_digest(path: str | Path, document: Mapping[str, Any]) -> None:
    stated = document.get(DIGEST)
    if DIGEST in document and stated != content_digest(document):
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
        document = parse_document(text, str(path), accepted=_ACCEPTED).data
    except RobotDescriptionError as error:
        raise ResultFileError(path, error.told) from error
    if not isinstance(document, dict):
        raise ResultFileError(path, "not a result file of identify")
    return document
