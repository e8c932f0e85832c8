"""Files of identified payloads and drive gains, and payloads that people state, as YAML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robot_identification.calibration.payload_body import ConsistentPayload
from robot_identification.errors import ResultFileError, SettingError
from robot_identification.files.atomic import write_text_atomically
from robot_identification.files.result_documents import ResultDumper
from robot_identification.identification.payload.body import QUANTITIES, STANDARD
from robot_identification.identification.payload.calibrate_drives import DriveGainResult
from robot_identification.identification.payload.identify import PayloadResult
from robot_identification.identification.payload.known import KnownPayload
from robot_identification.identification.payload.runs import ComparedRuns
from robot_identification.identification.source import source_entries
from robot_identification.robot.files.document import (
    DIGEST,
    WRITTEN,
    Document,
    content_digest,
    read_document,
)
from robot_identification.robot.files.kinds import GAINS_KIND, PAYLOAD_KIND, other_kind
from robot_identification.robot.files.link_frames import SAME_PLACE
from robot_identification.robot.model import RobotModel
from robot_identification.robot.mounting import Mounting, mounting_from

SCHEMA_VERSION = 1
_INERTIA = QUANTITIES[4:]
_HUGE = 1e150  # what is larger has no square


def write_payload(
    path: str | Path, result: PayloadResult, consistent: ConsistentPayload | None
) -> None:
    """Write an identified payload; the file appears whole or not at all.

    Raises:
        OutputError: the target cannot be written.
    """
    write_text_atomically(path, payload_text(result, consistent))


def payload_text(result: PayloadResult, consistent: ConsistentPayload | None) -> str:
    """Return the file of an identified payload."""
    return _text(PAYLOAD_KIND, payload_summary(result, consistent))


def write_drive_gains(path: str | Path, result: DriveGainResult) -> None:
    """Write identified drive gains; the file appears whole or not at all.

    Raises:
        OutputError: the target cannot be written.
    """
    write_text_atomically(path, gains_text(result))


def gains_text(result: DriveGainResult) -> str:
    """Return the file of identified drive gains."""
    return _text(GAINS_KIND, gains_summary(result))


def _text(kind: str, content: Mapping[str, object]) -> str:
    document = {"kind": kind, "schema": SCHEMA_VERSION, **content}
    digest = content_digest(document)
    first = {"kind": kind, "schema": SCHEMA_VERSION, DIGEST: digest}
    return yaml.dump(
        {**first, **content},
        Dumper=ResultDumper,
        sort_keys=False,
        default_flow_style=None,
        width=1000,
    )


def payload_summary(
    result: PayloadResult, consistent: ConsistentPayload | None
) -> dict[str, object]:
    """Return the plain data of a payload that ``--json`` prints; the keys are stable."""
    estimate = result.estimate
    body = estimate.body
    quantities = zip(QUANTITIES, body.values, body.std, body.lower, body.upper, strict=True)
    return {
        "robot": result.robot,
        "robot_digest": result.robot_digest,
        "frame": _frame(result.mounting, result.joint_names),
        "body": {
            name: None
            if np.isnan(value)
            else {"value": float(value), "std": float(std), "interval_95": [float(a), float(b)]}
            for name, value, std, a, b in quantities
        },
        "consistent": None if consistent is None else _consistent(consistent),
        "standard": [
            {"name": name, "value": float(value), "std": float(std), "told": bool(told)}
            for name, value, std, told in zip(
                STANDARD, estimate.values, estimate.std, estimate.told, strict=True
            )
        ],
        "covariance": estimate.covariance.tolist(),
        "rank": estimate.rank,
        "singular_values": estimate.singular_values.tolist(),
        "condition_number": estimate.condition_number,
        "residual_std": _by_joint(result.joint_names, estimate.residual_std),
        "relative_error": {
            "bare": _by_joint(result.joint_names, estimate.error_bare),
            "loaded": _by_joint(result.joint_names, estimate.error_loaded),
            "loaded_without_payload": _by_joint(result.joint_names, estimate.error_without),
        },
        "rows": {"bare": estimate.rows[0], "loaded": estimate.rows[1]},
        "friction": result.friction,
        **_provenance(result),
    }


def gains_summary(result: DriveGainResult) -> dict[str, object]:
    """Return the plain data of drive gains that ``--json`` prints; the keys are stable."""
    estimate = result.estimate
    lower, upper = result.interval
    gains = [
        {
            "joint": name,
            "factor": float(estimate.factors[j]),
            "std": float(estimate.std[j]),
            "interval_95": [float(lower[j]), float(upper[j])],
            "trusted": name in result.trusted,
            "believed": None if np.isnan(result.believed[j]) else float(result.believed[j]),
            "drive_gain": None if np.isnan(result.gains[j]) else float(result.gains[j]),
        }
        for j, name in enumerate(result.joint_names)
    ]
    payload = result.payload
    return {
        "robot": result.robot,
        "robot_digest": result.robot_digest,
        "frame": _frame(result.mounting, result.joint_names),
        "payload": {
            "mass": payload.mass,
            "centre": None if payload.centre is None else payload.centre.tolist(),
            "inertia": None
            if payload.inertia is None
            else payload.inertia[np.triu_indices(3)].tolist(),
        },
        "method": result.method,
        "gains": gains,
        "parameters": [
            {"name": name, "value": float(value), "std": float(std)}
            for name, value, std in zip(
                result.base_names, estimate.parameters, estimate.parameter_std, strict=True
            )
        ],
        "condition_number": estimate.condition_number,
        "residual_std": _by_joint(result.joint_names, estimate.residual_std),
        "relative_error": _by_joint(result.joint_names, estimate.relative_error),
        "rows": estimate.rows,
        "iterations": estimate.iterations,
        **_provenance(result),
    }


def _provenance(result: ComparedRuns) -> dict[str, object]:
    return {
        "bare": [source_entries(source) for source in result.bare],
        "loaded": [source_entries(source) for source in result.loaded],
        "settings": {name: dict(entry) for name, entry in result.settings.items()},
        "seconds": result.seconds,
        "warnings": list(result.warnings),
    }


def _frame(mounting: Mounting, joints: tuple[str, ...]) -> dict[str, object]:
    return {
        "name": mounting.frame,
        "joint": joints[mounting.joint],
        "rotation": mounting.rotation.tolist(),
        "translation": mounting.translation.tolist(),
    }


def _consistent(found: ConsistentPayload) -> dict[str, object]:
    body = found.body
    return {
        "mass": body.mass,
        "centre": body.centre.tolist(),
        "inertia": body.inertia[np.triu_indices(3)].tolist(),
        "changed": found.changed,
        "distance": found.distance,
        "least_eigenvalue": found.least_eigenvalue,
    }


def _by_joint(joints: tuple[str, ...], values: Any) -> dict[str, float]:
    return {name: float(value) for name, value in zip(joints, values, strict=True)}


def read_payload(path: str | Path) -> KnownPayload:
    """Read a payload that is known: one that people state, or one that was identified.

    A stated one has the keys ``mass``, and where known ``centre`` [x, y, z] and ``inertia``
    [ixx, ixy, ixz, iyy, iyz, izz] about the centre of mass.  Of an identified one the consistent
    payload counts.

    Raises:
        RobotDescriptionError: the file cannot be read, or an entry is wrong.
        ResultFileError: an identified payload was changed since, or has no consistent body.
        SettingError: no payload can have the values.
    """
    document = read_document(Path(path))
    data = document.data
    written = _identified(path)
    if written is not None:
        data = _consistent_of(path, written)
        document = replace(document, data=data)
    if found := other_kind(data):
        raise document.error(f"{found}, and a payload is wanted here", "kind")
    if not isinstance(data, dict):
        raise document.error("a payload has the keys mass, centre and inertia")
    for key in data:
        if key not in ("mass", "centre", "inertia", "changed", "distance", "least_eigenvalue"):
            raise document.error("a payload has the keys mass, centre and inertia", key)
    if "mass" not in data:
        raise document.error("a payload needs at least its mass, in kg")
    (mass,) = _numbers(document, [data["mass"]], 1, "mass")
    centre = _numbers(document, data["centre"], 3, "centre") if "centre" in data else None
    inertia = _numbers(document, data["inertia"], 6, "inertia") if "inertia" in data else None
    return known_payload(mass, centre, inertia)


def known_payload(
    mass: float, centre: list[float] | None, inertia: list[float] | None
) -> KnownPayload:
    """Return a payload from numbers as they are written.

    Args:
        mass: in kg.
        centre: centre of mass, in m; None where unknown.
        inertia: ixx, ixy, ixz, iyy, iyz, izz about the centre of mass; None where unknown.

    Raises:
        SettingError: no payload can have the values.
    """
    matrix = None
    if inertia is not None:
        matrix = np.zeros((3, 3))
        matrix[np.triu_indices(3)] = inertia
        matrix = matrix + np.triu(matrix, 1).T
    return KnownPayload(mass, None if centre is None else np.array(centre), matrix)


def payload_mounting(
    path: str | Path | None,
    source: str | Path | None,
    robot: RobotModel,
    frame: str | None = None,
    placement: Sequence[float] | None = None,
) -> Mounting:
    """Return where a known payload is mounted: where people say, else in the frame of its file.

    Args:
        path: its file; None: it has none.
        source: the robot file, URDF or name that the robot was loaded from; None: from none.
        robot: the robot.
        frame: link or joint of the robot, or link of its URDF; None: not said.
        placement: x y z in m, roll pitch yaw in rad of the payload's frame in that frame; None:
            not said.

    Raises:
        RobotDescriptionError: the file cannot be read.
        ResultFileError: an identified payload was changed since.
        SettingError: there is no such frame, or nobody says it, and that of an identified payload
            is not known to be at the same place of this robot.
    """
    unsaid = frame is None and placement is None
    written = _identified(path) if path is not None and unsaid else None
    if written is None:
        return mounting_from(source, robot, frame, placement)
    told = written["frame"]
    rotation, translation = np.array(told["rotation"]), np.array(told["translation"])
    if robot.digest and written.get("robot_digest") == robot.digest:
        joint = robot.joint_names.index(told["joint"])
        return Mounting(told["name"], joint, robot.layout.first(joint), rotation, translation)
    try:
        found = mounting_from(source, robot, told["name"])
    except SettingError:
        found = None
    if (
        found is None
        or robot.joint_names[found.joint] != told["joint"]
        or np.abs(found.rotation - rotation).max() > SAME_PLACE
        or np.abs(found.translation - translation).max() > SAME_PLACE
    ):
        raise SettingError(
            "frame",
            None,
            f"{path} was identified in a frame at {told['name']} of another robot file, which is "
            f"not known to be that of {robot.name} here; state the frame of its values, and its "
            "placement where there is one",
        )
    return found


def _identified(path: str | Path) -> dict[str, Any] | None:
    """Return the content of a file that payload wrote; None for other files.

    Raises:
        RobotDescriptionError: the file cannot be read.
        ResultFileError: it was changed since.
    """
    data = read_document(Path(path)).data
    if not isinstance(data, dict) or data.get("kind") != PAYLOAD_KIND:
        return None
    written: dict[str, Any] = read_document(Path(path), WRITTEN).data
    if written.get(DIGEST) != content_digest(written):
        raise ResultFileError(path, "checksum mismatch: not what payload wrote; identify again")
    return written


def _consistent_of(path: str | Path, written: Mapping[str, Any]) -> dict[str, Any]:
    """Return the consistent payload of the content of a file that payload wrote."""
    consistent = written.get("consistent")
    if not isinstance(consistent, dict):
        raise ResultFileError(path, "the whole payload was not identifiable from the motion")
    return consistent


def _numbers(document: Document, values: Any, count: int, key: str) -> list[float]:
    fine = isinstance(values, list) and len(values) == count
    if not fine or not all(type(value) in (int, float) and abs(value) < _HUGE for value in values):
        wanted = "a number" if count == 1 else f"{count} numbers"
        raise document.error(f"give {wanted}", key)
    return [float(value) for value in values]
