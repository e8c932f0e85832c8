"""Terms of users that a robot file asks for, from the packages that are installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robot_identification.errors import SettingError
from robot_identification.robot.files.document import Document
from robot_identification.robot.files.schema import suggestion
from robot_identification.robot.terms.user_terms import GROUP, UserTerm


def user_terms(
    document: Document, names: Sequence[str], *path: str | int
) -> Mapping[str, UserTerm]:
    """Return the terms of users with given names.

    Args:
        document: content of the robot file.
        names: of entry points.
        path: where they stand.

    Raises:
        RobotDescriptionError: no installed package has such a term, several have, or what a package
            gives is none.
    """
    return {name: _loaded(document, name, *path) for name in names}


def _loaded(document: Document, name: str, *path: str | int) -> UserTerm:
    from importlib.metadata import entry_points

    every = entry_points(group=GROUP)
    found = {point.value: point for point in every if point.name == name}
    if not found:
        known = sorted({point.name for point in every})
        hint = suggestion(name, known) or (
            f"; there are {', '.join(known)}" if known else "; none has any"
        )
        raise document.error(f"no installed package has a joint term {name}{hint}", *path)
    if len(found) > 1:
        places = ", ".join(sorted(found))
        raise document.error(f"several packages have a joint term {name}: {places}", *path)
    (point,) = found.values()
    try:
        term = point.load()
    except (ImportError, AttributeError, SettingError) as error:
        raise document.error(
            f"the joint term {name} cannot be imported from {point.value}: {error}", *path
        ) from error
    if not isinstance(term, UserTerm):
        raise document.error(
            f"the joint term {name} at {point.value} is no UserTerm but {type(term).__name__}",
            *path,
        )
    return term
