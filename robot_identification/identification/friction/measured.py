"""Speeds and loads of the motion that a friction law is identified from."""

from __future__ import annotations

import numpy as np

from robot_identification.dynamics.regressor import Regressor
from robot_identification.identification.friction.candidates import largest_speeds
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.kinds import TermKind
from robot_identification.robot.terms.measured_range import MeasuredRange

_INSTANTS = 4000
"""Instants of a segment at most: mean and deviation need no more."""


def measured_range(source: WholeRows) -> MeasuredRange | None:
    """Return speeds and loads of rows whose robot carries its loads; None with loops.

    Args:
        source: the rows.
    """
    robot = source.base.robot
    if robot.loops:
        return None
    return MeasuredRange(largest_speeds(source), _loads(robot, source))


def _loads(robot: RobotModel, source: WholeRows) -> Array:
    """Return (joints, 2) mean and deviation of the size of the effort that friction follows."""
    found = np.zeros((len(robot.joints), 2))
    joints = range(len(robot.joints))
    following = (TermKind.LOAD, TermKind.GRAVITY_LOAD)
    columns = {k: own for k in joints if (own := robot.layout.columns(k, *following))}
    wanted = [c for own in columns.values() for c in own if c in robot.standard_indices]
    if not wanted:
        return found
    regressor = Regressor(robot, np.array(sorted(wanted), dtype=np.intp))
    sizes: list[list[Array]] = [[] for _ in joints]
    for segment in source.segments:
        every = max(1, segment.velocity.shape[1] // _INSTANTS)
        motion = (segment.position, segment.velocity, segment.acceleration)
        rows = regressor.compact(*(signal[:, ::every] for signal in motion))
        for k, joint in enumerate(regressor.joint_rows):
            sizes[k].append(np.abs(rows[joint.rows]).max(axis=0, initial=0.0))
    for k in joints:
        size = np.concatenate(sizes[k])
        found[k] = size.mean(), size.std()
    return found
