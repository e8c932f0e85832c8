"""The friction law of a result: terms and shapes of every joint, loads, and what was tried.

A robot file may leave shapes to be estimated, and a choice adds terms that it does not state; then
what was identified belongs to the robot of the file with this law.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from robot_identification.errors import ResultMismatchError
from robot_identification.identification import entries as entry_of
from robot_identification.identification.friction.shapes import EstimatedShape
from robot_identification.identification.friction.trials import Tried
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.joint_terms import JointTerm, term_named
from robot_identification.robot.terms.measured_range import MeasuredRange, range_of_entries

Terms = Mapping[str, tuple[float, ...]]


@by_value
@dataclass(frozen=True)
class FrictionLaw:
    """Terms of the joints of a result that its robot file does not state alone.

    Attributes:
        joints: for each joint its terms by name, with their shape parameters.
        loads: (full columns,) parameters whose efforts load-dependent friction follows; None where
            no friction does.
        shapes: what was estimated of the shapes.
        tried: what was tried at the joints, where terms were chosen.
        errors: relative errors on blocks left out before and after the choice; empty without one.
        measured: speeds and loads of the recordings; None where nobody has said.
    """

    joints: tuple[Terms, ...]
    loads: Array | None = None
    shapes: tuple[EstimatedShape, ...] = ()
    tried: tuple[Tried, ...] = ()
    errors: tuple[float, ...] = ()
    measured: MeasuredRange | None = None

    @classmethod
    def of(cls, robot: RobotModel, **further: Any) -> FrictionLaw:
        """Return the law of a robot.

        Args:
            robot: the robot.
            further: other attributes.
        """
        joints = tuple({t.name: j.shape_of(t) for t in j.joint_terms} for j in robot.joints)
        return cls(joints, robot.loads, **{"measured": robot.measured, **further})

    @property
    def is_of_data(self) -> bool:
        """Whether recordings have chosen its terms, or may have told shapes or loads."""
        shaped = any(shape for terms in self.joints for shape in terms.values())
        return shaped or bool(self.errors) or self.loads is not None

    def applied(self, robot: RobotModel) -> RobotModel:
        """Return a robot with this law.

        Args:
            robot: the robot of the result, as its file describes it.

        Raises:
            ResultMismatchError: it has another number of joints or of parameters.
        """
        if len(self.joints) != len(robot.joints):
            raise ResultMismatchError(
                robot.name, "the friction law of the result is that of a robot with other joints"
            )
        joints = tuple(
            replace(
                joint,
                terms=frozenset(terms),
                shapes={name: shape for name, shape in terms.items() if shape},
            )
            for joint, terms in zip(robot.joints, self.joints, strict=True)
        )
        found = replace(robot, joints=joints, loads=None)
        if self.loads is not None and len(self.loads) != len(found.all_parameter_names):
            raise ResultMismatchError(
                robot.name, "the friction law of the result is that of a robot with other terms"
            )
        return replace(found, loads=self.loads, measured=self.measured)

    def joint_entries(self, joint_names: Sequence[str]) -> dict[str, dict[str, list[float]]]:
        """Return the plain data of the terms: joint -> term -> shapes."""
        return {
            name: {term: list(shape) for term, shape in terms.items()}
            for name, terms in zip(joint_names, self.joints, strict=True)
        }

    def robot_file_lines(self, robot: RobotModel) -> tuple[str, ...]:
        """Return what to write into the robot file, a line for each joint that has more than it.

        Args:
            robot: as its file describes it.
        """
        lines = []
        for joint, terms in zip(robot.joints, self.joints, strict=True):
            changed = {}
            for name in sorted({*terms, *joint.terms}):
                term = _term(name)
                if (name in terms) != (name in joint.terms) or (
                    name in terms and terms[name] and joint.shapes.get(name) != terms[name]
                ):
                    changed[term.key] = _stated(term, terms.get(name))
            if changed:
                told = ", ".join(f"{key}: {value}" for key, value in changed.items())
                lines.append(f"{{name: {joint.name}, {told}}}")
        return tuple(lines)


TRIED = ("joint", "term", "shape", "in place of", "gain", "std", "value over std", "")
"""Headings of :func:`tried_rows`; the gain is that of the joint's squared residual."""


def tried_rows(law: FrictionLaw, joint_names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return what was tried, for people: of every joint and term what won or gained most."""
    best: dict[tuple[int, str], Tried] = {}
    for one in law.tried:
        known = best.setdefault((one.joint, one.term), one)
        if (one.chosen, one.gain) > (known.chosen, known.gain):
            best[one.joint, one.term] = one
    return [
        (
            joint_names[one.joint],
            one.term,
            " ".join(f"{value:.3g}" for value in one.shape),
            one.replaces,
            f"{one.gain:.3f}",
            f"{one.gain_std:.3f}",
            f"{one.value_over_std:.1f}",
            _told(one),
        )
        for one in best.values()
    ]


def _told(one: Tried) -> str:
    """Return what became of a term, for people."""
    if not one.chosen:
        return one.reason
    return f"chosen in step {one.step}{', with other joints' if one.together else ''}"


def _stated(term: JointTerm, shape: tuple[float, ...] | None) -> str:
    """Return what a robot file says of a term; None: that it is not there."""
    if shape is None:
        return "false"
    pairs = zip(term.kind.shapes, shape, strict=True)
    inner = ", ".join(f"{known.name}: {value:.4g}" for known, value in pairs)
    return f"{{{inner}}}" if shape else "true"


def _term(name: str) -> JointTerm:
    term = term_named(name)
    if term is None:
        raise ValueError(f"there is no joint term {name!r:.40}")
    return term


LAW_ENTRIES = ("friction", "friction_choice")
"""Entries of plain data in which a law stands."""


def law_entries(law: FrictionLaw, joint_names: tuple[str, ...]) -> dict[str, object]:
    """Return the plain data of a law: ``friction``, and ``friction_choice`` where there was one."""
    friction: dict[str, object] = {
        "joints": law.joint_entries(joint_names),
        "shapes": [vars(shape) for shape in law.shapes],
    }
    if law.loads is not None:
        friction["loads"] = law.loads.tolist()
    if law.measured is not None:
        friction["range"] = law.measured.entries(joint_names)
    found: dict[str, object] = {"friction": friction}
    if law.errors:
        found["friction_choice"] = {
            "error_before": law.errors[0],
            "error_after": law.errors[1],
            "tried": [
                {**vars(one), "joint": joint_names[one.joint], "shape": list(one.shape)}
                for one in law.tried
            ],
        }
    return found


def law_of(document: Mapping[str, Any], joint_names: tuple[str, ...]) -> FrictionLaw | None:
    """Return the law that plain data describe, None where they have none.

    Raises:
        KeyError, TypeError, ValueError: they describe nothing of the kind.
    """
    if "friction" not in document:
        return None
    friction = entry_of.mapping(document, "friction")
    joints = entry_of.mapping(friction, "joints")
    loads = friction.get("loads")
    errors: tuple[float, ...] = ()
    tried: tuple[Tried, ...] = ()
    if "friction_choice" in document:
        choice = entry_of.mapping(document, "friction_choice")
        errors = tuple(entry_of.number(choice, key) for key in ("error_before", "error_after"))
        tried = tuple(_tried(one, joint_names) for one in entry_of.mappings(choice, "tried"))
    return FrictionLaw(
        tuple(terms_of_entries(entry_of.mapping(joints, name)) for name in joint_names),
        None if loads is None else read_only(entry_of.finite(loads, "loads")),
        tuple(
            EstimatedShape(
                entry_of.text(one, "name"),
                *(entry_of.number(one, key) for key in ("value", "std", "correlation")),
            )
            for one in entry_of.mappings(friction, "shapes")
        ),
        tried,
        errors,
        range_of_entries(entry_of.mapping(friction, "range"), joint_names)
        if "range" in friction
        else None,
    )


def terms_of_entries(given: Mapping[str, Any]) -> dict[str, tuple[float, ...]]:
    """Return the terms of a joint with their shapes, as plain data have them.

    Raises:
        TypeError, ValueError: there is no such term, or its shapes are others.
    """
    found = {}
    for name, shape in given.items():
        term = _term(name)
        values = tuple(entry_of.finite(shape, name, len(term.kind.shapes)))
        if not all(value > 0.0 for value in values):
            raise ValueError(f"the shape of {name} is not positive")
        found[name] = tuple(float(value) for value in values)
    return found


def _tried(one: Mapping[str, Any], joint_names: tuple[str, ...]) -> Tried:
    shape = one["shape"]
    numbers = ("gain", "gain_std", "value_over_std")
    return Tried(
        joint=joint_names.index(entry_of.text(one, "joint")),
        term=_term(entry_of.text(one, "term")).name,
        shape=tuple(entry_of.finite(shape, "shape")),
        replaces=entry_of.text(one, "replaces"),
        **{name: entry_of.number(one, name) for name in numbers},
        step=entry_of.count(one, "step"),
        chosen=entry_of.flag(one, "chosen"),
        reason=entry_of.text(one, "reason"),
        together="together" in one and entry_of.flag(one, "together"),
    )
