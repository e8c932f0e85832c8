"""Joints of a robot file: its kinematics or those of a URDF, limits, joint terms and drives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np

from robot_identification.robot.files.document import Document
from robot_identification.robot.files.robot_yaml import sections as yaml_sections
from robot_identification.robot.files.schema import suggestion
from robot_identification.robot.files.urdf.elements import RESERVED, RESERVED_NAME
from robot_identification.robot.geometry import nominal_angle, placement
from robot_identification.robot.joint import GeometricParameters, Joint, JointLimits, JointType
from robot_identification.robot.limits import DEFAULTS, OWN, tighter, with_limits
from robot_identification.robot.terms.joint_terms import TERMS
from robot_identification.robot.terms.temperature import TemperatureDependence

_ANGLES = ("alpha", "theta", "gamma")
_RANGE = {"lower", "upper"}
_MOST_TURNED = 4.0 * np.pi  # rad; what is meant in degrees is mostly more
_KINEMATIC_KEYS = ("link", "type", "antecedent", "geometry")


def described_joints(document: Document, base_link: str) -> tuple[Joint, ...]:
    """Return the joints of a robot whose kinematics stand in the file itself."""
    entries = document.data["joints"]
    _check_names(document, [entry["name"] for entry in entries], "name", base_link)
    links = [entry.get("link", f"link_{i + 1}") for i, entry in enumerate(entries)]
    _check_names(document, links, "link", base_link)
    antecedents = _antecedents(document, base_link)
    joints = []
    for i, entry in enumerate(entries):
        if "geometry" not in entry:
            raise document.error("the key geometry is missing", "joints", i)
        geometry = _geometry(document, i)
        rotation, translation = placement(geometry)
        kind = entry.get("type", document.data.get("joint_defaults", {}).get("type"))
        if kind is None:
            raise document.error("the key type is missing: revolute or prismatic", "joints", i)
        joint = Joint(
            name=entry["name"],
            link=links[i],
            type=JointType(kind),
            antecedent=antecedents[i],
            rotation=rotation,
            translation=translation,
            geometry=geometry,
        )
        joints.append(_with_drive(document, joint, i))
    return tuple(joints)


def overlaid_joints(document: Document, joints: tuple[Joint, ...]) -> tuple[Joint, ...]:
    """Return the joints of a URDF with what the file adds to them."""
    if "base_link" in document.data:
        raise document.error("the URDF says this already; remove the key", "base_link")
    if "type" in document.data.get("joint_defaults", {}):
        raise document.error("the URDF says this already; remove the key", "joint_defaults", "type")
    entries = document.data.get("joints", [])
    names = [entry["name"] for entry in entries]
    _check_names(document, names, "name", "")
    known = [joint.name for joint in joints]
    for i, entry in enumerate(entries):
        if entry["name"] not in known:
            hint = suggestion(entry["name"], known) or f"; it has {', '.join(known)}"
            raise document.error(
                f"the URDF has no moving joint {entry['name']}{hint}", "joints", i, "name"
            )
        for key in _KINEMATIC_KEYS:
            if key in entry:
                raise document.error("the URDF says this already; remove the key", "joints", i, key)
    return tuple(
        _with_drive(document, joint, names.index(joint.name) if joint.name in names else None)
        for joint in joints
    )


def _check_names(document: Document, names: list[str], key: str, base_link: str) -> None:
    for i, name in enumerate(names):
        if name in names[:i]:
            first = document.line(("joints", names.index(name)))
            what = "joint" if key == "name" else "link"
            raise document.error(
                f"a second {what} named {name}; the first is on line {first}", "joints", i, key
            )
        if key == "name" and name == RESERVED_NAME:
            raise document.error(RESERVED, "joints", i, key)
        if name == base_link:
            raise document.error(f"{name} is the name of the base link", "joints", i, key)


def _antecedents(document: Document, base_link: str) -> list[int]:
    """Return the index of every joint's antecedent, -1 for the base."""
    entries = document.data["joints"]
    place = {entry["name"]: i for i, entry in enumerate(entries)} | {base_link: -1}
    result = []
    for i, entry in enumerate(entries):
        name = entry.get("antecedent")
        if name is not None and name not in place:
            hint = suggestion(name, place) or f"; name a joint, or {base_link} for the base"
            raise document.error(f"no joint is named {name}{hint}", "joints", i, "antecedent")
        result.append(i - 1 if name is None else place[name])
    for i, entry in enumerate(entries):
        name = entry.get("antecedent")
        if result[i] < i:
            continue
        way = [entries[k]["name"] for k in _cycle(result, i)]
        problem = (
            f"the antecedents go round in a circle: {' <- '.join(way)}"
            if way
            else f"{entry['name']} stands before its antecedent {name}; "
            "write every joint after the joint that carries it"
        )
        raise document.error(problem, "joints", i, "antecedent")
    return result


def _cycle(antecedents: list[int], start: int) -> list[int]:
    """Return the way from ``start`` back to itself, empty where it leads to the base."""
    way = [start]
    while (k := antecedents[way[-1]]) >= 0 and k not in way:
        way.append(k)
    return [*way[way.index(k) :], k] if k >= 0 else []


def _geometry(document: Document, i: int) -> GeometricParameters:
    given = document.data["joints"][i]["geometry"]
    path = ("joints", i, "geometry")
    values = {key: yaml_sections.angle(document, *path, key) for key in given}
    for key in _ANGLES:
        if abs(values.get(key, 0.0)) > _MOST_TURNED:
            raise document.error(
                f"{given[key]} rad is more than two turns; angles are in rad, and 90 degrees pi/2",
                *path,
                key,
            )
    angles = {key: nominal_angle(values[key]) for key in _ANGLES if key in values}
    return GeometricParameters(**{**values, **angles})


def _with_drive(document: Document, joint: Joint, i: int | None) -> Joint:
    """Return a joint with the limits, model terms and drive that the file states for it."""
    defaults = document.data.get("joint_defaults", {})
    entry: dict[str, Any] = {} if i is None else document.data["joints"][i]
    stated = {**defaults, **entry}
    terms = [term for term in TERMS if stated.get(term.key, term.name in joint.terms)]
    if "limits" in defaults:
        limits = tighter(joint.limits, _limits(document, JointLimits(), "joint_defaults"))
        lower, upper = limits.lower, limits.upper
        left = lower is None or upper is None or lower < upper
        narrowed = _RANGE & set(defaults["limits"]) and not set(entry.get("limits", ())) >= _RANGE
        if narrowed and not left:
            raise document.error(
                f"leaves {joint.name} no range inside that of the URDF, "
                f"{joint.limits.lower} to {joint.limits.upper}",
                "joint_defaults",
                "limits",
            )
        joint = with_limits(joint, limits, DEFAULTS)
    if i is not None:
        if "limits" in entry:
            limits = _limits(document, joint.limits, "joints", i)
            joint = with_limits(joint, limits, OWN, entry["limits"])
        if entry.get("drive_gain") == 0:
            raise document.error("a drive gain cannot be 0", "joints", i, "drive_gain")
    transmission = entry.get("transmission", {})
    if not isinstance(transmission, dict):
        transmission = {joint.name: float(transmission)}
    gain = entry.get("drive_gain")
    owner: tuple[str | int, ...] = ("joint_defaults",)
    if i is not None and "user_terms" in entry:
        owner = ("joints", i)
    return replace(
        joint,
        transmission=transmission,
        drive_gain=None if gain is None else float(gain),
        terms=frozenset(term.name for term in terms),
        temperature=_temperature(entry),
        user_terms=yaml_sections.user_terms(
            document, stated.get("user_terms", ()), *owner, "user_terms"
        ),
        shapes={
            term.name: tuple(
                float(given.get(shape.name, shape.nominal)) for shape in term.kind.shapes
            )
            for term in terms
            if isinstance(given := stated.get(term.key), dict)
        },
    )


def _temperature(entry: Mapping[str, Any]) -> TemperatureDependence | None:
    given = entry.get("temperature")
    if given is None:
        return None
    return TemperatureDependence(float(given["reference"]), given.get("topic", ""))


def _limits(document: Document, limits: JointLimits, *owner: str | int) -> JointLimits:
    given: Any = document.data
    for step in (*owner, "limits"):
        given = given[step]
    values = {f.name: getattr(limits, f.name) for f in fields(limits)}
    values.update({k: yaml_sections.angle(document, *owner, "limits", k) for k in given})
    lower, upper = values["lower"], values["upper"]
    if not _RANGE & set(given):
        return JointLimits(**values)  # a URDF's 0 and 0, which are no range, are for who needs one
    if (lower is None) != (upper is None):
        raise document.error("give both lower and upper, or neither", *owner, "limits")
    if lower is not None and not lower < upper:
        raise document.error(f"lower ({lower}) is not below upper ({upper})", *owner, "limits")
    return JointLimits(**values)
