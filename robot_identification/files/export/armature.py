"""Drive inertias and friction by joint name, which Pinocchio does not read from a URDF."""

from __future__ import annotations

from robot_identification.files.export.mechanism import Mechanism
from robot_identification.files.export.yaml_text import Data, yaml_text


def armature_yaml(mechanism: Mechanism) -> str:
    """Return a table of joint terms by joint name, in joint order; ``armature`` is Pinocchio's."""
    joints, terms = mechanism.joints, mechanism.robot.layout.terms
    names: Data = [joint.joint for joint in joints]
    values: dict[str, Data] = {
        term.short: {joint.joint: joint.terms[term.name] for joint in joints} for term in terms
    }
    heading = [f"{term.short}: {term.meaning}, {' or '.join(term.units)}." for term in terms]
    return yaml_text({"joints": names, **values}, heading=heading)
