"""Friction that follows the load, where base parameters do not tell the load.

The load T of a joint is its effort without its own friction, offset and spring.  It is a
combination of base parameters unless one of these is grouped with what the joint hands on: on a
slide that feels gravity the offset acts as a mass does, whose inertia the drive takes back.  Then
no data tell T.  Where gravity acts on a joint with the same effort everywhere, friction that
follows the weight is Coulomb friction, and how much of it depends on that effort.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from robot_identification.dynamics.loads import carried_columns
from robot_identification.errors import SettingError
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.joint_terms import TERMS, JointTerm
from robot_identification.robot.terms.kinds import TermKind

if TYPE_CHECKING:
    from robot_identification.identification.base.parameters import BaseParameters


def refuse_unknown_loads(base: BaseParameters) -> None:
    """Refuse friction that follows a load which no data tell, or that is Coulomb friction.

    Raises:
        SettingError: a joint has such friction.
    """
    robot, names = base.robot, base.robot.all_parameter_names
    if not robot.follows_load:
        return
    hidden = {joint: (term, other) for joint, term, other in _hidden(base)}
    for k, joint in enumerate(robot.joints):
        for term in (t for t in joint.joint_terms if t.kind.follows_load):
            own = _column(robot, k, term)
            alike = [other for pair in _pairs(base) if own in pair for other in pair - {own}]
            if alike:
                raise SettingError(
                    term.key,
                    joint.name,
                    f"{names[own]} acts as {names[alike[0]]} does, as its load is the same "
                    "everywhere: it is Coulomb friction there; leave it out",
                )
            if k in hidden:
                mixed, other = hidden[k]
                raise SettingError(
                    term.key,
                    joint.name,
                    f"no data tell the load that it follows, as {names[_column(robot, k, mixed)]} "
                    f"acts as {names[other]} does: state {mixed.key}: false for this joint, or "
                    "leave the friction out",
                )


def untold_loads(base: BaseParameters) -> frozenset[tuple[int, str]]:
    """Return places of joints whose load no data tell, with every term that would follow it."""
    following = [term.name for term in TERMS if term.kind.follows_load]
    return frozenset((joint, name) for joint, _, _ in _hidden(base) for name in following)


def _hidden(base: BaseParameters) -> Iterator[tuple[int, JointTerm, int]]:
    """Give out joints with a term that stays in the joint, and the column that acts as it does."""
    robot = base.robot
    carried = set(carried_columns(robot).tolist())
    for k, joint in enumerate(robot.joints):
        for term in joint.joint_terms:
            if term.kind is TermKind.INERTIA:
                continue
            own = _column(robot, k, term)
            for pair in _pairs(base):
                others = (pair - {own}) & carried if own in pair else set()
                if others:
                    yield k, term, min(others)
                    break


def _pairs(base: BaseParameters) -> list[set[int]]:
    """Return pairs of columns of the full regressor, one of which is grouped into the other."""
    return [
        {int(base.base_columns[row]), int(base.columns[base.regrouped[place]])}
        for row, place in zip(*np.nonzero(base.beta), strict=True)
    ]


def _column(robot: RobotModel, joint: int, term: JointTerm) -> int:
    """Return the column of a joint's term."""
    return int(robot.layout.columns(joint, term.kind)[0])
