"""Coulomb friction in the efforts of a robot: its columns, of every joint and of couplings.

All Coulomb terms with one velocity slide and stick together; that velocity is called a friction
motion here.  The *share* of a motion is what stands for the sign of its velocity: 1 or -1 in
sliding, and in sticking the part of the sliding force that friction takes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robot_identification.dynamics.kernels.terms import COULOMB
from robot_identification.dynamics.tree import Floats, Integers, coupling_terms_of
from robot_identification.robot.model import RobotModel, TermKind


class CoulombTerms(NamedTuple):
    """Contributions of Coulomb friction: effort[joint] += factor * value[column] * share[motion].

    Attributes:
        motions: (motions, joints) velocity of each friction motion is this row times the joint
            velocities; the first entry that is not zero is 1.
        joint: (terms,) joint whose effort it adds to.
        column: (terms,) column of the full regressor.
        motion: (terms,) row of ``motions``.
        factor: (terms,) factor of the contribution.
    """

    motions: Floats
    joint: Integers
    column: Integers
    motion: Integers
    factor: Floats


def coulomb_terms_of(robot: RobotModel) -> CoulombTerms:
    """Return the Coulomb friction of a robot, every joint's own and that of couplings."""
    joints = len(robot.joints)
    places: dict[tuple[float, ...], int] = {}
    rows: list[tuple[int, int, int, float]] = []

    def add(motion: Floats, joint: int, column: int, gain: float) -> None:
        leading = motion[np.flatnonzero(motion)[0]]
        place = places.setdefault(tuple(float(x) for x in motion / leading), len(places))
        rows.append((joint, column, place, gain * float(np.sign(leading))))

    for joint in range(joints):
        for column in robot.layout.columns(joint, TermKind.COULOMB):
            add(np.eye(joints)[joint], joint, column, 1.0)
    couplings = coupling_terms_of(robot)
    for i in np.flatnonzero(couplings.kind == COULOMB):
        if couplings.motion[i].any():
            add(
                couplings.motion[i],
                int(couplings.joint[i]),
                int(couplings.column[i]),
                float(couplings.gain[i]),
            )
    return CoulombTerms(
        motions=np.array(list(places), dtype=np.float64).reshape(len(places), joints),
        joint=np.array([row[0] for row in rows], dtype=np.int64),
        column=np.array([row[1] for row in rows], dtype=np.int64),
        motion=np.array([row[2] for row in rows], dtype=np.int64),
        factor=np.array([row[3] for row in rows], dtype=np.float64),
    )
