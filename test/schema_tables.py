"""Write the parts of the schemas in config/schema that tables of this package say: ``make schema``.

These are the joint terms and the kinds of couplings
(:mod:`robot_identification.robot.terms.joint_terms`), and the settings of the signal processing;
all else in the files is written by hand.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from robot_identification.robot.files.schema import schema_file
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.robot.terms.joint_terms import COUPLING_KINDS, TERMS, JointTerm

SCHEMAS = ("robot", "parameters")
"""Names of the schemas that have such parts."""

_OF_TERMS = "from robot_identification/robot/terms/joint_terms.py"


def completed(name: str) -> str:
    """Return the text of a schema with its parts from tables as these are now.

    Args:
        name: one of :data:`SCHEMAS`.
    """
    schema = json.loads(schema_file(name).read_text(encoding="utf-8"))
    if name == "robot":
        parts = schema["$defs"]
        for owner in (parts["joint_defaults"], parts["joint"]):
            owner["properties"] = _with_terms(owner["properties"])
        parts["coupling"]["properties"]["kind"]["enum"] = list(COUPLING_KINDS)
        processing = parts["processing"]
    else:
        processing = schema["properties"]["provenance"]["properties"]["processing"]
    processing["properties"] = ProcessingSettings.schema()
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _with_terms(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of a joint with the terms of the table, and no others."""
    by_hand = {k: v for k, v in properties.items() if v.get("$comment") != _OF_TERMS}
    return by_hand | {
        term.key: {
            "$comment": _OF_TERMS,
            "description": f"whether {term.name} ({term.meaning}) belongs to the model"
            + _shaped(term),
            **_values(term),
        }
        for term in TERMS
    }


def _shaped(term: JointTerm) -> str:
    return "; true: its shape is estimated" if term.kind.shapes else ""


def _values(term: JointTerm) -> dict[str, Any]:
    """Return what a robot file may say of a term: whether it is there, or the shape that it has."""
    if not term.kind.shapes:
        return {"type": "boolean"}
    numbers = {
        shape.name: {
            "description": f"{shape.symbol} of {term.kind.formula}"
            + (f", in {' or '.join(shape.units)}" if any(shape.units) else ""),
            "type": "number",
            "exclusiveMinimum": 0,
        }
        for shape in term.kind.shapes
    }
    first = term.kind.shapes[0].name
    given = {
        "type": "object",
        "additionalProperties": False,
        "required": [first],
        "properties": numbers,
    }
    return {"oneOf": [{"type": "boolean"}, given]}


def main() -> None:
    """Write the schemas."""
    for name in SCHEMAS:
        schema_file(name).write_text(completed(name), encoding="utf-8")


if __name__ == "__main__":
    main()
