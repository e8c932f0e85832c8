"""Friction that a robot is identified with: as stated, Coulomb and viscous, or chosen by the data.

Stated friction is that of the robot file; shapes that it leaves open are estimated.  A choice
(:mod:`.selection`) begins with it and adds terms joint by joint.  It is made on all rows where the
velocity thresholds follow from the data, because laws differ most at low speed; a joint whose law
covers low speeds keeps all of its rows then, and the others keep their thresholds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from robot_identification.errors import SettingError
from robot_identification.identification.base.loads import untold_loads
from robot_identification.identification.base.parameters import BaseParameters, base_parameters
from robot_identification.identification.estimators.choice import ESTIMATORS, fit
from robot_identification.identification.estimators.estimator import Choice, Fit
from robot_identification.identification.friction.candidates import (
    CandidateRows,
    at_speed,
    every_candidate,
    grid_of,
    inverse_roots,
)
from robot_identification.identification.friction.folds import Folds
from robot_identification.identification.friction.law import FrictionLaw
from robot_identification.identification.friction.measured import measured_range
from robot_identification.identification.friction.options import AUTO, law_beside, open_shapes_of
from robot_identification.identification.friction.selection import Selection, select
from robot_identification.identification.friction.shapes import Settled, Unknown, settle, with_robot
from robot_identification.identification.friction.trials import Tried
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.kinds import TermKind

UNSEEN = "its speed is not told by the rows"
"""Why a smooth sign is not chosen in place of a sharp one."""

_SEEN = 0.5
"""Share of a smooth sign's rise that may lie below the threshold of the speed."""

_LOW_SPEED = (TermKind.ROOT, TermKind.SMOOTH, TermKind.STRIBECK)


@dataclass(frozen=True)
class Friction:
    """The friction that a fit is made with.

    Attributes:
        source: rows of the robot with it.
        law: what the robot file does not state alone; None where there is no such thing.
        settled: its shapes and loads.
        selection: how terms were chosen; None where they were not.
    """

    source: WholeRows
    law: FrictionLaw | None = None
    settled: Settled | None = None
    selection: Selection | None = None
    warnings: tuple[str, ...] = field(default=())

    @property
    def base(self) -> BaseParameters:
        """Base parameters of the robot with this friction."""
        return self.source.base

    def completed(self, found: Fit) -> Fit:
        """Return a fit with deviations that know of the shapes, and with warnings."""
        found = replace(found, warnings=(*found.warnings, *self.warnings))
        if self.settled is None or self.settled.std is None or found.elimination is not None:
            return found
        estimate = replace(
            found.estimate,
            std=np.maximum(found.estimate.std, self.settled.std),
            std_robust=None
            if found.estimate.std_robust is None or self.settled.std_robust is None
            else np.maximum(found.estimate.std_robust, self.settled.std_robust),
        )
        return replace(found, estimate=estimate)


def friction_of(friction: str, source: WholeRows, choice: Choice, stated: RobotModel) -> Friction:
    """Return rows with the friction that is asked for.

    Args:
        friction: one of :data:`~.options.CHOICES`.
        source: rows of :func:`~.options.starting_robot`.
        choice: the estimator.
        stated: the robot as its file describes it.

    Raises:
        SettingError: the estimator cannot estimate shapes or loads that are open.
        NotExcitedError: the rows do not determine every parameter.
        CancelledError: the caller of the source wants to stop.
    """
    selection = None
    open_shapes = open_shapes_of(source.base.robot)
    if open_shapes and ESTIMATORS[choice.method].stacked:
        source = _begun(source, open_shapes)
    if friction == AUTO:
        settled, selection = _chosen(source, choice, open_shapes)
    elif not open_shapes and not source.base.robot.follows_load:
        return Friction(source, law_beside(stated, source.base.robot))
    elif not ESTIMATORS[choice.method].stacked:
        raise SettingError(
            "method", choice.method, "cannot estimate shapes and loads of friction; take wls"
        )
    else:
        settled = _settled(source, open_shapes, choice)
    robot = settled.source.base.robot
    law = FrictionLaw.of(
        robot,
        shapes=settled.shapes,
        tried=() if selection is None else selection.tried,
        errors=() if selection is None else (selection.plain_error, selection.error),
        measured=measured_range(settled.source),
    )
    return Friction(settled.source, law, settled, selection, _warnings(settled, open_shapes, robot))


def _warnings(settled: Settled, unknowns: Sequence[Unknown], robot: RobotModel) -> tuple[str, ...]:
    lines = []
    stated = [unknown for unknown in settled.held if unknown in unknowns]
    if stated:
        told = ", ".join(f"{u.name} ({robot.joint_names[u.joint]})" for u in stated)
        lines.append(
            f"the data do not tell these shapes of friction, which stay where the search began: "
            f"{told}"
        )
    if not settled.converged:
        lines.append(
            "shapes or loads of friction still move after all iterations; state them in the robot "
            "file, or leave their terms out"
        )
    return tuple(lines)


def _begun(source: WholeRows, unknowns: Sequence[Unknown]) -> WholeRows:
    """Return rows of the robot whose open shapes are the best of the grid, one after the other."""
    robot = source.base.robot
    for joint, term in dict.fromkeys((u.joint, u.term) for u in unknowns):
        grid = tuple(replace(one, replaces=term.name) for one in grid_of(term))
        rows = CandidateRows.of(source, grid, robot.loads)
        folds = Folds(rows, np.tile(inverse_roots(rows.effort_squares), 2))
        gone = rows.own(joint, term.name)
        model = np.array([i for i in range(rows.base.rank) if i != gone], dtype=np.intp)
        errors = [
            float(folds.squares(np.append(model, rows.column(joint, i)))[0].sum())
            for i in range(len(grid))
        ]
        shape = rows.shape(joint, int(np.argmin(errors)))
        joints = list(robot.joints)
        joints[joint] = replace(joints[joint], shapes={**joints[joint].shapes, term.name: shape})
        robot = replace(robot, joints=tuple(joints))
        source = with_robot(source, robot)
    return source


def _settled(source: WholeRows, open_shapes: Sequence[Unknown], choice: Choice) -> Settled:
    """Return rows whose shapes and loads stand."""
    if source.base.robot.follows_load and source.base.robot.loads is None:
        source = with_robot(source, source.base.robot.loaded_by(_first_loads(source, choice)))
    return settle(source, open_shapes, choice)


def _chosen(
    source: WholeRows, choice: Choice, open_shapes: Sequence[Unknown]
) -> tuple[Settled, Selection]:
    """Return rows with the terms that the data ask for, and how these were chosen.

    A smooth sign whose speed no row shows is refused, and the choice is made anew without it.
    """
    whole = at_every_speed(source)
    loads = _first_loads(at_speed(whole), choice)  # what is near standstill would pull at them
    refused: dict[tuple[int, str], Tried] = {}
    untold = untold_loads(source.base)
    while True:
        selection, rows = select(whole, every_candidate(), loads, untold | refused.keys())
        found, unknowns = _with_terms(source, selection, rows)
        settled = _settled(found, [*open_shapes, *unknowns], choice)
        lost = {(u.joint, u.term.name) for u in unknowns if unseen(settled, u)}
        if not lost:
            return settled, replace(selection, tried=(*selection.tried, *refused.values()))
        refused |= {
            (one.joint, one.term): replace(one, chosen=False, reason=UNSEEN)
            for one in selection.tried
            if one.chosen and (one.joint, one.term) in lost
        }


def unseen(settled: Settled, unknown: Unknown) -> bool:
    """Tell whether the larger part of the rise of a smooth sign is in no row.

    Where rows below a threshold are left out, those at speed still have a share of what happens
    there, by the filters: a joint that sticks has the signs of its noise, which a smooth sign
    suppresses.  Along a reference there is no noise, and friction would be missing.

    Args:
        settled: rows with the smooth sign, and its speed as estimated.
        unknown: the shape that was chosen with a joint's term.
    """
    if unknown.term.kind is not TermKind.SMOOTH:
        return False
    threshold = settled.source.processing.velocity_threshold[unknown.joint]
    joint = settled.source.base.robot.joints[unknown.joint]
    speed = joint.shape_of(unknown.term)[0]
    return threshold > 0.0 and (unknown in settled.held or np.tanh(threshold / speed) > _SEEN)


def _with_terms(
    source: WholeRows, selection: Selection, rows: CandidateRows
) -> tuple[WholeRows, list[Unknown]]:
    """Return rows of the robot with the terms that were chosen, and their open shapes."""
    joints, unknowns = [], []
    for k, (joint, own) in enumerate(zip(source.base.robot.joints, selection.chosen, strict=True)):
        terms, shapes = set(joint.terms), dict(joint.shapes)
        for i in own:
            candidate = rows.candidates[i]
            terms.add(candidate.term.name)
            terms.discard(candidate.replaces)
            if candidate.term.kind.shapes:
                shapes[candidate.term.name] = rows.shape(k, i)
                unknowns.append(Unknown(k, candidate.term, 0))
        joints.append(replace(joint, terms=frozenset(terms), shapes=shapes))
    robot = replace(source.base.robot, joints=tuple(joints), loads=None)
    covered = [any(t.kind in _LOW_SPEED for t in joint.joint_terms) for joint in joints]
    found = _without_thresholds(replace(source, base=base_parameters(robot)), covered)
    return found, unknowns


def at_every_speed(source: WholeRows) -> WholeRows:
    """Return a source without velocity thresholds that follow from the data."""
    return _without_thresholds(source, [True] * len(source.base.robot.joints))


def _without_thresholds(source: WholeRows, covered: Sequence[bool]) -> WholeRows:
    """Return a source without the velocity thresholds of some joints that follow from the data.

    Args:
        source: the rows.
        covered: joint by joint, whether its friction law covers low speeds.
    """
    processing = source.processing
    reason = processing.reasons.get("velocity_threshold", "")
    if not reason.startswith("derived"):
        return source
    if not any(covered):
        return source
    thresholds = tuple(
        0.0 if own else threshold
        for own, threshold in zip(covered, processing.velocity_threshold, strict=True)
    )
    told = {"velocity_threshold": f"{reason}; 0 where the friction law covers low speeds"}
    return replace(
        source,
        processing=replace(
            processing, velocity_threshold=thresholds, reasons={**processing.reasons, **told}
        ),
    )


def _first_loads(source: WholeRows, choice: Choice) -> Array:
    """Return (full columns,) parameters of a fit without friction that follows the load."""
    robot = source.base.robot
    joints = tuple(
        replace(
            joint,
            terms=frozenset(t.name for t in joint.joint_terms if not t.kind.follows_load),
        )
        for joint in robot.joints
    )
    plain = replace(robot, joints=joints, loads=None)
    base = base_parameters(plain) if robot.follows_load else source.base
    found = fit(Choice(choice.method), replace(source, base=base))
    names = dict(zip(base.leading_names, found.estimate.values, strict=True))
    return np.array([names.get(name, 0.0) for name in robot.all_parameter_names])
