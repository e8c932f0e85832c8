"""Check a document against a JSON schema and say where and how it departs from it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from robot_identification.errors import RobotDescriptionError
from robot_identification.robot.files.document import Document
from robot_identification.robot.files.kinds import PARAMETERS_KIND, other_kind
from robot_identification.share import share_directory

_MOST_DEPARTURES = 100
_KINDS = {"parameters": PARAMETERS_KIND}
_WANTED = {"parameters": "parameters are", "robot": "a robot file is", "cell": "a cell is"}
_TYPES = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "empty",
}


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return the sentence that proposes what may have been meant, or nothing."""
    close = get_close_matches(name, list(known), n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(close)}?" if close else ""


def schema_file(name: str) -> Path:
    """Return the file of a schema in config/schema."""
    return share_directory() / "config" / "schema" / f"{name}.schema.json"


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(schema_file(name).read_text(encoding="utf-8")))


def check(document: Document, schema: str, *part: str | int) -> None:
    """Refuse a document that does not follow a schema in config/schema.

    Args:
        document: what was read.
        schema: name of the schema, such as ``robot``.
        part: path of the part of the document that is meant; none: the whole.

    Raises:
        RobotDescriptionError: with file, line and field of the first departure; that the file is
            of another kind comes before unknown keys, and these before all others, because a
            missing key is often a misspelt one.
    """
    data = document.data
    if not part and (other := other_kind(data, _KINDS.get(schema, ""))):
        raise document.error(f"{other}, and {_WANTED[schema]} wanted here", "kind")
    for step in part:
        data = data[step]
    found = islice(_validator(schema).iter_errors(data), _MOST_DEPARTURES)
    departures = [_describe(document, error, part) for error in found]
    if departures:
        raise min(departures, key=lambda found: (found[0], found[1].line or 0))[1]


def _describe(
    document: Document, error: ValidationError, part: tuple[str | int, ...]
) -> tuple[int, RobotDescriptionError]:
    path = (*part, *error.absolute_path)
    if error.validator == "additionalProperties":
        known = list(error.schema.get("properties", ()))
        key = next(key for key in error.instance if key not in known)
        hint = suggestion(key, known) or f"; known keys are {', '.join(known)}"
        return 0, document.error(f"unknown key{hint}", *path, key)
    if error.validator == "required":
        key = next(key for key in error.validator_value if key not in error.instance)
        purpose = error.schema.get("properties", {}).get(key, {}).get("description", "")
        return 1, document.error(
            f"the key {key} is missing" + (f": {purpose}" if purpose else ""), *path
        )
    if error.validator == "oneOf" and (meant := _form_meant(error)):
        found = [_describe(document, inner, part) for inner in meant]
        return min(found, key=lambda one: one[0])
    return 1, document.error(_problem(error), *path)


def _form_meant(error: ValidationError) -> list[ValidationError]:
    """Return how a value departs from that of several forms which it is meant to have.

    Forms of another kind are none that is meant, and one whose keys are right goes before others.
    Empty where that leaves none or several.
    """
    forms: dict[object, list[ValidationError]] = {}
    for inner in error.context:
        forms.setdefault(inner.relative_schema_path[0], []).append(inner)
    own = len(error.absolute_path)
    near = [
        departures
        for departures in forms.values()
        if not any(
            len(inner.absolute_path) == own and inner.validator in ("type", "enum")
            for inner in departures
        )
    ]
    known = [form for form in near if all(len(inner.absolute_path) > own for inner in form)]
    meant = known or near
    return meant[0] if len(meant) == 1 else []


def _problem(error: ValidationError) -> str:
    value: Any = error.validator_value
    given = json.dumps(error.instance, default=str)
    given = given if len(given) <= 40 else given[:37] + "..."
    if error.validator == "type":
        names = [value] if isinstance(value, str) else value
        return f"{given} is not {' or '.join(_TYPES[name] for name in names)}"
    if error.validator == "enum":
        choices = ", ".join(str(choice) for choice in value)
        hint = suggestion(str(error.instance), [str(choice) for choice in value])
        return f"{given} is not one of {choices}{hint}"
    if error.validator == "pattern":
        return f"{given} is not {error.schema.get('description', f'of the form {value}')}"
    bounds = {
        "minimum": "must be at least",
        "exclusiveMinimum": "must be greater than",
        "maximum": "must be at most",
        "minItems": "needs at least this many entries:",
        "maxItems": "may have at most this many entries:",
        "minProperties": "needs at least this many entries:",
        "minLength": "needs at least this many characters:",
    }
    if error.validator == "oneOf" and "description" in error.schema:
        return f"{given} is none of what may stand here: {error.schema['description']}"
    if str(error.validator) in bounds:
        return f"{given} {bounds[str(error.validator)]} {value}"
    return str(error.message)
