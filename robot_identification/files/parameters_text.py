"""The text of a file of calibrated parameters, which any command reads back as a parameter file."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from robot_identification.calibration.calibrated import CalibratedParameters
from robot_identification.calibration.consistency.checks import check_consistency
from robot_identification.errors import InconsistentParametersError, OutputError
from robot_identification.files.export.text import Data, yaml_text
from robot_identification.identification.friction.law import FrictionLaw
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.document import parse_document
from robot_identification.robot.files.kinds import PARAMETERS_KIND
from robot_identification.robot.files.link_frames import geometry_entries
from robot_identification.robot.files.schema import check
from robot_identification.robot.files.values import values_of
from robot_identification.robot.model import RobotModel

SCHEMA_VERSION = 1


def parameters_file(path: str | Path, robot: RobotModel, calibrated: CalibratedParameters) -> bytes:
    """Return what a file of calibrated parameters holds.

    The text is read back and its values tested again before it is given out.

    Args:
        path: the target, for errors.
        robot: the robot.
        calibrated: its parameters.

    Raises:
        OutputError: the text would not give the values back.
        InconsistentParametersError: the values were consistent and those read back are not.
    """
    text = parameters_text(calibrated)
    document = parse_document(text, str(path))
    check(document, "parameters")
    values = values_of(document, robot)
    if not np.array_equal(values, calibrated.values):
        raise OutputError(path, "the values would not come back from the file")
    checks = check_consistency(robot, values)
    if calibrated.consistent and not checks.consistent:
        raise InconsistentParametersError(robot.name, "; ".join(checks.problems))
    return text.encode("utf-8")


def parameters_text(calibrated: CalibratedParameters) -> str:
    """Return the text of a parameter file: values, deviations, verdicts and provenance."""
    names = [calibrated.names[i] for i in calibrated.model]
    prior = calibrated.prior
    law = _law_entries(calibrated)
    document: dict[str, Data] = {
        "kind": PARAMETERS_KIND,
        "schema": SCHEMA_VERSION,
        "robot": calibrated.robot,
        "consistent": calibrated.consistent,
        "provenance": {
            "robot_sha256": calibrated.robot_digest,
            "geometry": {**geometry_entries(calibrated.description)},
            **({"effort_meaning": calibrated.efforts} if calibrated.efforts else {}),
            "recordings": [source.name for source in calibrated.sources],
            "recordings_sha256": [source.digest for source in calibrated.sources],
            "prior": prior.source,
            "prior_sha256": prior.digest,
            "space": calibrated.space,
            "step": calibrated.step.value,
            "essential": list(calibrated.essential),
            "active_links": list(calibrated.active_links),
            "active_drives": list(calibrated.active_drives),
            "processing": calibrated.processing.stated(),
        },
        "quality": _finite(
            {
                "relative_error": calibrated.error.total,
                "relative_error_identified": calibrated.error_identified.total,
                "error_increase": calibrated.error_increase,
                "error_increase_identified": calibrated.error_increase_identified,
                "distance_to_prior": calibrated.distance_to_prior,
            }
        ),
        **({"friction": law} if law else {}),
        **_range_entries(calibrated.description),
        "parameters": {
            name: float(calibrated.values[i])
            for name, i in zip(names, calibrated.model, strict=True)
        },
        "std": _deviations(calibrated, calibrated.std),
        "std_robust": _deviations(calibrated, calibrated.std_robust),
        "verdicts": {
            name: verdict.name.lower()
            for name, verdict in zip(names, calibrated.verdicts, strict=True)
        },
    }
    heading = [
        "Standard parameters in SI units, on the joint side, about the origins of the link frames.",
        "The frame of a link is that of its joint, z along the axis of motion, as",
        "provenance.geometry says; in a URDF the frame of the link may be turned.",
    ]
    return yaml_text(document, heading=heading)


def _law_entries(calibrated: CalibratedParameters) -> dict[str, Data]:
    """Return joint -> term -> shapes for a robot that has other terms than most, or than its file.

    Nothing for others.
    """
    robot = calibrated.description
    usual = all(term.default for joint in robot.joints for term in joint.joint_terms)
    if usual and not calibrated.own_law:
        return {}
    return {**FrictionLaw.of(robot).joint_entries(robot.joint_names)}


def _range_entries(robot: RobotModel) -> dict[str, Data]:
    """Return speeds and loads behind the friction law of a robot, where they are known."""
    if robot.measured is None:
        return {}
    told = {
        name: list(values) for name, values in robot.measured.entries(robot.joint_names).items()
    }
    return {"friction_range": told}


def _deviations(calibrated: CalibratedParameters, values: Array) -> dict[str, Data]:
    return _finite({calibrated.names[i]: float(f"{values[i]:.4g}") for i in calibrated.model})


def _finite(entries: dict[str, float]) -> dict[str, Data]:
    return {name: value for name, value in entries.items() if math.isfinite(value)}
