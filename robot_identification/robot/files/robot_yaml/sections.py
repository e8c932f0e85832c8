"""Sections of a robot file beside its joints: couplings, loops, controller, users' terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robot_identification.errors import SettingError
from robot_identification.robot.couplings import Coupling, CouplingTerm, LoopRelation
from robot_identification.robot.experiment import (
    FILTERED_DERIVATIVE,
    Controller,
    SimulatedExperiment,
    Workspace,
)
from robot_identification.robot.files.document import Document
from robot_identification.robot.files.schema import suggestion
from robot_identification.robot.geometry import parse_angle
from robot_identification.robot.joint import Joint
from robot_identification.robot.parameters import INERTIAL
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.robot.terms.joint_terms import TERMS, term_named
from robot_identification.robot.terms.kinds import TermKind
from robot_identification.robot.terms.user_terms import GROUP, UserTerm

_REQUIRED_GAINS = {
    "cascade": ("kp", "kv"),
    "pid": ("kp", "kd"),
    "computed_torque": ("kp", "kd"),
}
_CUTOFF = "velocity_cutoff_hz"
_OPTIONAL_GAINS = {"pid": ("ki", "velocity_feedforward", "acceleration_feedforward")}


def angle(document: Document, *path: str | int) -> float:
    """Return the angle or number at ``path`` of a document."""
    value: Any = document.data
    for step in path:
        value = value[step]
    try:
        return parse_angle(value)
    except ValueError as error:
        raise document.error(str(error), *path) from error


def couplings(document: Document, joints: tuple[Joint, ...]) -> tuple[Coupling, ...]:
    """Read the section ``couplings``.

    Raises:
        RobotDescriptionError: an unknown joint, or a parameter that cannot be shared.
    """
    result: list[Coupling] = []
    for i, entry in enumerate(document.data.get("couplings", ())):
        path = ("couplings", i)
        for k, term in enumerate(entry["terms"]):
            for side in ("on", "of"):
                known_joints(document, term[side], joints, *path, "terms", k, side)
        terms = tuple(CouplingTerm(on=term["on"], of=term["of"]) for term in entry["terms"])
        coupling = Coupling(entry["parameter"], TermKind(entry["kind"]), terms)
        if any(coupling.parameter == other.parameter for other in result):
            raise document.error(
                f"{coupling.parameter} stands here again; put all its terms into one entry",
                *path,
                "parameter",
            )
        _check_parameter(document, coupling, joints, *path, "parameter")
        result.append(coupling)
    return tuple(result)


def known_joints(
    document: Document, names: dict[str, float], joints: tuple[Joint, ...], *path: str | int
) -> None:
    """Refuse names that no joint of the robot has."""
    known = [joint.name for joint in joints]
    for name in names:
        if name not in known:
            hint = suggestion(name, known) or f"; the joints are {', '.join(known)}"
            raise document.error(f"no joint is named {name}{hint}", *path, name)


def _check_parameter(
    document: Document, coupling: Coupling, joints: tuple[Joint, ...], *path: str | int
) -> None:
    kind = coupling.parameter.rstrip("0123456789")
    number = int(coupling.parameter[len(kind) :])
    if not 1 <= number <= len(joints):
        raise document.error(f"there is no joint number {number}", *path)
    term = term_named(kind)
    if term is None and kind not in INERTIAL:
        return
    if term is None or not term.couples or term.kind is not coupling.kind:
        kinds = (f"{t.name} is {_a(t.kind.value)} term" for t in TERMS if t.couples)
        raise document.error(
            f"{coupling.parameter} is a standard parameter of joint {number} and cannot be of kind "
            f"{coupling.kind.value}; {', '.join(kinds)}",
            *path,
        )
    joint = joints[number - 1]
    if term.name not in joint.terms:
        raise document.error(
            f"{coupling.parameter} does not belong to the model: joint {joint.name} leaves it out",
            *path,
        )


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def loops(document: Document, joints: tuple[Joint, ...]) -> tuple[LoopRelation, ...]:
    """Read the section ``loops``.

    Raises:
        RobotDescriptionError: an unknown joint, or a joint that follows twice or follows a joint
            that itself follows.
    """
    entries = document.data.get("loops", ())
    followers = [entry["joint"] for entry in entries]
    result = []
    for i, entry in enumerate(entries):
        name = entry["joint"]
        if name not in [joint.name for joint in joints]:
            known_joints(document, {name: 1.0}, joints, "loops", i, "joint")
        known_joints(document, entry["equals"], joints, "loops", i, "equals")
        if name in followers[:i]:
            raise document.error(f"{name} follows twice", "loops", i, "joint")
        for other in entry["equals"]:
            if other in followers:
                raise document.error(
                    f"{other} follows other joints itself; write the relation with joints that "
                    "are driven",
                    *("loops", i, "equals", other),
                )
        offset = angle(document, "loops", i, "offset") if "offset" in entry else 0.0
        result.append(LoopRelation(name, entry["equals"], offset))
    return tuple(result)


def processing(document: Document, joints: int) -> ProcessingSettings:
    """Read the section ``processing``.

    Raises:
        RobotDescriptionError: the velocity thresholds do not fit the number of joints.
    """
    section = document.data.get("processing", {})
    threshold = section.get("velocity_threshold", "off")
    if threshold != "off":
        _per_joint(document, threshold, joints, "processing", "velocity_threshold")
    return ProcessingSettings.of(section)


def controller(document: Document, joints: int) -> Controller | None:
    """Read the section ``controller``; None where there is none.

    Raises:
        RobotDescriptionError: a gain is missing, negative, unknown to the law, or does not fit
            the number of joints.
    """
    section = document.data.get("controller")
    if section is None:
        return None
    law, given = section["law"], section["gains"]
    estimate, cutoff = section.get("velocity_estimate", "measured"), section.get(_CUTOFF)
    if (estimate == FILTERED_DERIVATIVE) != (cutoff is not None):
        raise document.error(
            f"{_CUTOFF} belongs to velocity_estimate: {FILTERED_DERIVATIVE}; give both or neither",
            "controller",
        )
    required, optional = _REQUIRED_GAINS[law], _OPTIONAL_GAINS.get(law, ())
    for name in required:
        if name not in given:
            raise document.error(f"the law {law} needs the gain {name}", "controller", "gains")
    gains = dict.fromkeys(optional, (0.0,) * joints)
    for name, value in given.items():
        path = ("controller", "gains", name)
        if name not in required + optional:
            raise document.error(f"the law {law} has no gain {name}", *path)
        values = _per_joint(document, value, joints, *path)
        if min(values) < 0:
            raise document.error(f"{min(values)} must be at least 0", *path)
        gains[name] = values if len(values) == joints else values * joints
    return Controller(
        law=law,
        rate_hz=float(section["rate_hz"]),
        gains=gains,
        delay_samples=section.get("delay_samples", 0),
        velocity_estimate=estimate,
        velocity_cutoff_hz=None if cutoff is None else float(cutoff),
        recorded_effort=section.get("recorded_effort", "mean"),
    )


def experiment(document: Document, joints: int) -> SimulatedExperiment | None:
    """Read the section ``experiment``; None where there is none.

    Raises:
        RobotDescriptionError: a noise, a natural frequency or a damping does not fit the number of
            joints.
    """
    section = document.data.get("experiment")
    if section is None:
        return None

    def values(name: str) -> tuple[float, ...]:
        found = _per_joint(document, section[name], joints, "experiment", name)
        if min(found) < 0:
            raise document.error(f"{min(found)} must be at least 0", "experiment", name)
        return found if len(found) == joints else found * joints

    return SimulatedExperiment(
        trajectory=section["trajectory"],
        rate_hz=float(section["rate_hz"]),
        position_noise=values("position_noise"),
        effort_noise=values("effort_noise"),
        seeds=tuple(section["seeds"]),
        natural_frequency=values("natural_frequency"),
        damping=values("damping"),
    )


def _per_joint(
    document: Document, value: float | list[float], joints: int, *path: str | int
) -> tuple[float, ...]:
    values = tuple(map(float, value)) if isinstance(value, list) else (float(value),)
    if len(values) not in (1, joints):
        raise document.error(
            f"{len(values)} numbers for {joints} joints; give one for each or one for all", *path
        )
    return values


def workspace(document: Document) -> Workspace | None:
    """Return the box of the tool point, None where the file has none."""
    entry = document.data.get("workspace")
    if entry is None:
        return None
    for i, (low, high) in enumerate(zip(entry["lower"], entry["upper"], strict=True)):
        if not low < high:
            raise document.error("must be below the entry of upper", "workspace", "lower", i)
    lower, upper, tool = (
        (float(x), float(y), float(z))
        for x, y, z in (entry["lower"], entry["upper"], entry.get("tool", (0.0, 0.0, 0.0)))
    )
    return Workspace(lower, upper, tool)


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
    return {name: _user_term(document, name, *path) for name in names}


def _user_term(document: Document, name: str, *path: str | int) -> UserTerm:
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
