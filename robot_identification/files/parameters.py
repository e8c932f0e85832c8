"""Calibrated parameters as a YAML file that any command reads back as a parameter file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robot_identification.calibration.calibrated import CalibratedParameters
from robot_identification.calibration.checks import Consistency, check_consistency
from robot_identification.calibration.prior import Prior
from robot_identification.errors import (
    InconsistentParametersError,
    OutputError,
    ResultFileError,
    UnknownRobotError,
)
from robot_identification.files.export.text import Data, yaml_text
from robot_identification.files.provenance import robot_file_warnings, stated_provenance
from robot_identification.files.results import read_result, read_result_of
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.belonging import (
    effort_meaning_of,
    refuse_other_geometry,
)
from robot_identification.identification.friction.law import FrictionLaw, terms_of_entries
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.result_settings import settings_of
from robot_identification.robot.arrays import by_value
from robot_identification.robot.files.document import parse_document, read_bytes, read_document
from robot_identification.robot.files.elements.xml_document import MAXIMUM_BYTES
from robot_identification.robot.files.kinds import PARAMETERS_KIND
from robot_identification.robot.files.schema import check
from robot_identification.robot.files.values import (
    is_result,
    is_urdf,
    load_given,
    load_values,
    values_document,
    values_of,
    values_path,
)
from robot_identification.robot.model import Array, RobotModel, read_only
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.robot.terms.measured_range import range_of_entries
from robot_identification.share import share_directory

NONE = "none"


def read_prior(source: str | Path | None, robot: RobotModel) -> Prior:
    """Read what is known of the standard parameters of a robot.

    Args:
        source: a parameter file, which may name a URDF, a URDF, the name of a file in
            config/priors or config/parameters, or None or ``none`` for a prior that knows
            nothing.  Parameters that a parameter file does not name, and inertials, damping and
            friction that a URDF does not state, are not known.
        robot: the robot.

    Raises:
        UnknownRobotError: there is no such file.
        RobotDescriptionError: the file is wrong or belongs to another robot.
    """
    names = robot.standard_names
    if source is None or str(source) == NONE:
        return Prior.none(names)
    path = Path(source) if is_urdf(source) else _find(source)
    values, given = load_given(path, robot)
    _, digest = read_bytes(path, MAXIMUM_BYTES)
    model = robot.standard_indices
    return Prior.given(names, values[model], given[model], str(source), digest)


def _find(source: str | Path) -> Path:
    """Return the parameter file of that name, priors first.

    Raises:
        UnknownRobotError: there is no such file.
    """
    shipped = share_directory() / "config" / "priors" / f"{source}.yaml"
    return shipped if not Path(source).exists() and shipped.is_file() else values_path(source)


def parameter_files(source: str | Path) -> tuple[Path, ...]:
    """Return the files that parameters come from: with a parameter file, the URDF that it names.

    Args:
        source: as for :func:`read_prior`, or a result.

    Returns:
        The files, none where there is no such file.

    Raises:
        RobotDescriptionError: a parameter file is no YAML.
    """
    path = Path(source)
    if not path.exists():
        try:
            path = _find(source)
        except UnknownRobotError:
            return ()
    if is_urdf(path) or is_result(path):
        return (path,)
    data = read_document(path).data
    named = data.get("urdf") if isinstance(data, dict) else None
    return (path, path.parent / named) if isinstance(named, str) else (path,)


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


def with_law_of(path: str | Path, robot: RobotModel) -> RobotModel:
    """Return a robot with the friction law of a result or parameter file, where that has one.

    Friction that follows the load follows that of the parameters in the file.

    Args:
        path: result file of identify, file of standard parameters, or the name of one of the
            parameter files and priors of this package.
        robot: as its file describes it.

    Raises:
        UnknownRobotError: there is no such file.
        RobotDescriptionError: a parameter file is wrong or belongs to another robot.
        ResultFileError, ResultMismatchError: the law of a result is damaged or another robot's.
    """
    if is_result(path):
        return read_result(path).model_of(robot)
    if is_urdf(path):
        return robot
    document = values_document(_find(path))
    if "friction" not in document.data:
        return robot
    given = document.data["friction"]
    if set(given) != set(robot.joint_names):
        raise document.error(f"these are not the joints of {robot.name}", "friction")
    try:
        joints = tuple(terms_of_entries(given[name]) for name in robot.joint_names)
        spread = document.data.get("friction_range")
        measured = None if spread is None else range_of_entries(spread, robot.joint_names)
    except (KeyError, TypeError, ValueError) as error:
        raise document.error(str(error), "friction") from error
    found = FrictionLaw(joints, measured=measured).applied(robot)
    return found.loaded_by(values_of(document, found)) if found.follows_load else found


def _deviations(calibrated: CalibratedParameters, values: Array) -> dict[str, Data]:
    return _finite({calibrated.names[i]: float(f"{values[i]:.4g}") for i in calibrated.model})


def _finite(entries: dict[str, float]) -> dict[str, Data]:
    return {name: value for name, value in entries.items() if math.isfinite(value)}


@by_value
@dataclass(frozen=True)
class StandardParameters:
    """Standard parameters as a file holds them.

    Attributes:
        path: the file.
        digest: its SHA-256.
        names: (parameters,) names of the standard parameters of the model.
        values: (parameters,) their values, 0 where not given.
        given: (parameters,) whether the file names them.
        std: name -> standard deviation, the larger where there are two.
        verdicts: name -> what the value rests on.
        provenance: what the values rest on; empty for files made by hand.
        checks: whether every link and drive is physically consistent.
    """

    path: str
    digest: str
    names: tuple[str, ...]
    values: Array
    given: npt.NDArray[np.bool_]
    std: Mapping[str, float]
    verdicts: Mapping[str, str]
    provenance: Mapping[str, Any]
    checks: Consistency


def read_parameters(path: str | Path, robot: RobotModel) -> StandardParameters:
    """Read standard parameters with all that their file says of them.

    Args:
        path: file that calibrate wrote, or one made by hand.
        robot: the robot.

    Raises:
        UnknownRobotError: there is no such file.
        RobotDescriptionError: the file is wrong or belongs to another robot.
    """
    document = values_document(values_path(path))
    values, given = load_given(path, robot)
    deviations = [document.data.get(key, {}) for key in ("std", "std_robust")]
    model = robot.standard_indices
    return StandardParameters(
        path=str(path),
        digest=document.digest,
        names=robot.standard_names,
        values=read_only(values[model]),
        given=given[model],
        std={
            name: max(float(own[name]) for own in deviations if name in own)
            for name in dict.fromkeys(name for own in deviations for name in own)
        },
        verdicts={name: str(v) for name, v in document.data.get("verdicts", {}).items()},
        provenance=document.data.get("provenance", {}),
        checks=check_consistency(robot, values, given=given),
    )


@by_value
@dataclass(frozen=True)
class BaseValues:
    """Values of a robot's base parameters.

    Attributes:
        values: (base,) in the order of ``base_parameters(robot).names``.
        processing: how the recordings were processed that they were identified from; open where
            nobody says so.
        efforts: what the efforts of these recordings were; empty where nobody says so.
        warnings: what a user should know before predicting with them, one line each.
    """

    values: Array
    processing: ProcessingSettings = field(default_factory=ProcessingSettings)
    efforts: str = ""
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, result: IdentificationResult, robot: RobotModel) -> BaseValues:
        """Return those of a result, for a robot whose file may have changed since."""
        return cls(
            result.estimate.values,
            settings_of(result),
            effort_meaning_of(result),
            result.remarks_on(robot),
        )


def read_base_values(path: str | Path, robot: RobotModel) -> BaseValues:
    """Return the values of a robot's base parameters from a result or a parameter file.

    Args:
        path: result file of identify, file of standard parameters, or the name of one of the
            parameter files of this package.
        robot: the robot to predict for.

    Raises:
        ResultFileError: if a result file is damaged or belongs to another robot.
        ResultMismatchError: if it belongs to one with another geometry.
        UnknownRobotError: if there is no such file.
        RobotDescriptionError: if a parameter file is wrong or belongs to another robot.
    """
    base = base_parameters(robot)
    if not is_result(path):
        values = base.values(load_values(path, robot)[base.columns])
        stated = stated_provenance(path)
        return BaseValues(
            values,
            ProcessingSettings.of(stated.get("processing", {})),
            str(stated.get("effort_meaning", "")),
            robot_file_warnings(stated, path, robot),
        )
    result = read_result_of(path, robot)
    if result.regrouping.names != base.names:
        raise ResultFileError(
            path,
            f"holds base parameters of {result.robot} that differ from those of {robot.name}; "
            "give the robot file that it was identified with",
        )
    refuse_other_geometry(robot, result, base)
    return BaseValues.of(result, robot)
