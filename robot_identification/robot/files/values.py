"""Values of standard parameters: a prior, or the truth of a simulated robot, from a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from robot_identification.errors import RobotDescriptionError, UnknownRobotError
from robot_identification.robot.arrays import Array, read_only
from robot_identification.robot.files.document import Document, read_document
from robot_identification.robot.files.kinds import RESULT_KIND
from robot_identification.robot.files.link_frames import refuse_other_link_frames
from robot_identification.robot.files.schema import check, suggestion
from robot_identification.robot.files.urdf.prior import given_by_urdf, urdf_prior
from robot_identification.robot.files.urdf.xml_document import URDF_ENDINGS
from robot_identification.robot.model import RobotModel
from robot_identification.share import share_directory


def load_values(source: str | Path, robot: RobotModel, *, complete: bool = False) -> Array:
    """Load values of the standard parameters of a robot.

    Args:
        source: a YAML file {parameters: {name: value}}, with the key ``urdf`` where a URDF gives
            those that are not named; a URDF; or the name of a file in config/parameters, such as
            ``tx40_simulated``.
        robot: the robot that they belong to.
        complete: whether every parameter of the model must have a value; else those that are
            not given are 0.

    Returns:
        (len(robot.all_parameter_names),) values in that order, in SI units.

    Raises:
        UnknownRobotError: there is no such file.
        RobotDescriptionError: the file is wrong, names a parameter that the robot does not
            have, is about other link frames, or lacks a value although ``complete``; with file,
            line and field.
    """
    values, given = load_given(source, robot)
    model = set(robot.standard_names)
    everything = zip(robot.all_parameter_names, given, strict=True)
    missing = [name for name, known in everything if name in model and not known]
    if complete and missing:
        raise RobotDescriptionError(
            f"no value for {', '.join(missing)}: here every parameter of the model needs one; add "
            "them to a copy of the file, 0 where they have no effect",
            path=values_path(source),
            field="parameters",
        )
    return values


def values_of(document: Document, robot: RobotModel) -> Array:
    """Return the values that a checked document names itself; see :func:`load_values`."""
    owner = document.data.get("robot", robot.name)
    if owner != robot.name:
        raise document.error(
            f"these are values of {owner}, not of {robot.name}; remove the key if they fit", "robot"
        )
    refuse_other_link_frames(document, robot)
    given: dict[str, float] = document.data["parameters"]
    place = {name: i for i, name in enumerate(robot.all_parameter_names)}
    modelled = set(robot.standard_names)
    values = np.zeros(len(place))
    for name, value in given.items():
        if name not in place and "friction" in document.data:
            raise document.error(
                f"belongs to the friction law of this file (its section friction), and "
                f"{robot.name} has another one here; give the robot that law in its file, or take "
                "the section and what belongs to it out of a copy of this file",
                "parameters",
                name,
            )
        if name not in place:
            hint = suggestion(name, place)
            raise document.error(f"{robot.name} has no such parameter{hint}", "parameters", name)
        if value != 0 and name not in modelled:
            raise document.error(
                f"the robot file of {robot.name} leaves {name} out of the model", "parameters", name
            )
        values[place[name]] = value
    return read_only(values)


def load_given(source: str | Path, robot: RobotModel) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Load values of some standard parameters of a robot, and say of which.

    Args:
        source: as for :func:`load_values`.
        robot: the robot that they belong to.

    Returns:
        (len(robot.all_parameter_names),) values, 0 where there are none, and whether the file
        names the parameter or its URDF states it; see :func:`given_by_urdf`.

    Raises:
        UnknownRobotError, RobotDescriptionError: as :func:`load_values`.
    """
    path = values_path(source)
    if is_urdf(path):
        return _stated(path, robot)
    document = values_document(path)
    values = values_of(document, robot)
    named = np.isin(robot.all_parameter_names, list(document.data["parameters"]))
    if "urdf" not in document.data:
        return values, named
    stated, given = _stated(path.parent / document.data["urdf"], robot)
    return read_only(np.where(named, values, stated)), named | given


def load_effort_prior(source: str | Path, robot: RobotModel) -> tuple[Array, tuple[str, ...]]:
    """Load values of standard parameters to check efforts with, and say what these lack then.

    Args:
        source: as for :func:`load_values`.
        robot: the robot.

    Returns:
        (full columns,) values, 0 where there are none; and what efforts are without because the
        file does not state it, for people, nothing where it states all.

    Raises:
        UnknownRobotError: there is no such file.
        RobotDescriptionError: the file is wrong, or states the body of no link: without weight and
            inertia every motion would keep the limits of the efforts.
    """
    values, given = load_given(source, robot)
    stated = [bool(given[robot.layout.link(k)].any()) for k in range(len(robot.joints))]
    if not any(stated):
        raise RobotDescriptionError(
            "states no mass, centre of mass or inertia of any link that moves, so that efforts "
            "would be nothing; name a file that does, or check no efforts",
            path=values_path(source),
        )
    lacking = []
    if not all(stated):
        links = [j.link for j, known in zip(robot.joints, stated, strict=True) if not known]
        lacking.append(f"bodies of {', '.join(links)}")
    modelled = np.isin(robot.all_parameter_names, robot.standard_names)
    table = robot.layout.table(modelled & ~given)
    for place, term in robot.layout.places:
        names = [robot.joint_names[k] for k in np.flatnonzero(table[:, place])]
        if names:
            whose = "every joint" if len(names) == len(robot.joints) else ", ".join(names)
            lacking.append(f"{term.label} of {whose}")
    changing = {own.parameter.name for own in robot.temperature_terms}
    others = robot.all_parameter_names[robot.layout.first(len(robot.joints)) :]
    told = dict(zip(robot.all_parameter_names, given, strict=True))
    lacking += [name for name in others if not told[name] and name not in changing]
    if not lacking:
        return values, ()
    lack = "; ".join(lacking)
    return values, (f"efforts are checked without what the prior does not state: {lack}",)


def values_document(path: Path) -> Document:
    """Return the checked document of a file of values, not yet compared with a robot.

    Raises:
        RobotDescriptionError: it is no such file; with file, line and field.
    """
    if is_result(path):
        raise RobotDescriptionError(
            "a result of identify, and parameters are wanted here; calibrate it first",
            path=path,
            field="kind",
        )
    document = read_document(path)
    check(document, "parameters")
    return document


def is_result(path: str | Path) -> bool:
    """Tell whether a file says of itself that it is a result file."""
    try:
        with Path(path).open(encoding="utf-8") as file:
            return RESULT_KIND in file.read(200)
    except (OSError, UnicodeDecodeError):
        return False


def is_urdf(path: str | Path) -> bool:
    """Tell whether a file is a URDF, by its name."""
    return Path(path).suffix.lower() in URDF_ENDINGS


def _stated(path: Path, robot: RobotModel) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Return what a URDF states of the parameters that the model has, and of which."""
    modelled = np.isin(robot.all_parameter_names, robot.standard_names)
    values = np.where(modelled, urdf_prior(path, robot), 0.0)
    return read_only(values), given_by_urdf(path, robot) & modelled


def known_values() -> tuple[str, ...]:
    """Return the names of the files in config/parameters."""
    return tuple(sorted(path.stem for path in _directory().glob("*.yaml")))


def values_named_as(robot: str) -> str | None:
    """Return the name of the values in config/parameters that belong to a robot, if there are any.

    Args:
        robot: its name; values may be named as it, or ROBOT_simulated.
    """
    named = (name for name in (robot, f"{robot}_simulated") if name in known_values())
    return next(named, None)


def _directory() -> Path:
    return share_directory() / "config" / "parameters"


def values_path(source: str | Path) -> Path:
    """Return the file that holds values; see :func:`load_values` for ``source``.

    Raises:
        UnknownRobotError: there is no such file.
    """
    path = Path(source)
    if not path.exists() and str(source) in known_values():
        return _directory() / f"{source}.yaml"
    if not path.exists():
        raise UnknownRobotError(str(source), known_values())
    return path
