"""Standard parameters, priors and friction laws out of parameter files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robot_identification.calibration.consistency.checks import Consistency, check_consistency
from robot_identification.calibration.prior import Prior
from robot_identification.errors import UnknownRobotError
from robot_identification.files.results import read_result
from robot_identification.identification.friction.law import FrictionLaw, terms_of_entries
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.files.document import read_bytes, read_document
from robot_identification.robot.files.urdf.xml_document import MAXIMUM_BYTES
from robot_identification.robot.files.values import (
    is_result,
    is_urdf,
    load_given,
    values_document,
    values_of,
    values_path,
)
from robot_identification.robot.model import RobotModel
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
