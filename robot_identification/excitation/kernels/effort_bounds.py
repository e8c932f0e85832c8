"""Compiled bounds of efforts over cells of a motion and of braking from it."""

from __future__ import annotations

import numpy as np

from robot_identification.compiled import compiled
from robot_identification.dynamics.kernels.ranges.affine import FORM, LANES
from robot_identification.dynamics.kernels.ranges.efforts import efforts_of, workspace_size
from robot_identification.dynamics.kernels.ranges.terms import ACTING, QD, QDD, STATE, Q
from robot_identification.excitation.kernels.tube_states import states_of


@compiled()
def _bounds(effort, held, t, joint, cell, upper, lower):
    """Fill the bounds of the effort of a joint in one cell."""
    first = abs(effort[LANES + t]) + abs(effort[2 * LANES + t]) + abs(effort[3 * LANES + t])
    left = abs(effort[4 * LANES + t]) + effort[5 * LANES + t]
    most = abs(effort[t]) + first + held
    upper[cell, joint] = most + left
    lower[cell, joint] = most - left


@compiled()
def _add_widths(states, t, scales, releasing, part):
    """Add the widths that the ranges of a cell make of positions, velocities, accelerations."""
    for d in range(3):
        for j in range(states.shape[0]):
            x = states[j]
            part[d] += abs(x[(Q * FORM + 1 + d) * LANES + t]) * scales[0, j]
            part[d] += abs(x[(QD * FORM + 1 + d) * LANES + t]) * scales[1, j]
            if releasing:
                part[d] += abs(x[(QDD * FORM + 1 + d) * LANES + t]) * scales[2, j]


@compiled()
def bound_efforts(cells, motion, law, robot, scales, upper, lower, parts):
    """Fill bounds of the largest efforts, of either sign, of every joint in every cell.

    Args:
        cells: (cells, 7) as for :func:`~robot_identification.excitation.kernels.tube_states
            .states_of`.
        motion: the same.
        law: the same.
        robot: kinematic tree, coupling terms, springs between links, and (full columns,) standard
            parameters.
        scales: (3, joints) what widths of positions, velocities and accelerations are worth.
        upper: (cells, joints) no effort is larger, in N m or N.
        lower: (cells, joints) some effort is at least as large.
        parts: (cells, 3) what the ranges of time, speed and way to rest make of the widths.
    """
    joints = motion[0].shape[1]
    states, still = np.zeros((2, joints, STATE * FORM * LANES))
    links = np.zeros((joints + 1, workspace_size()))
    work, held = np.empty((2, 6)), np.empty((joints, LANES))
    efforts = np.zeros((joints, ACTING * FORM * LANES))
    parts[:] = 0.0
    for start in range(0, len(cells), LANES):
        count = min(LANES, len(cells) - start)
        for t in range(count):
            states_of(cells[start + t], motion, law, work, states, t, parts[start + t])
        efforts_of(robot, states, still, links, efforts, held)
        for t in range(count):
            for j in range(joints):
                _bounds(efforts[j], held[j, t], t, j, start + t, upper, lower)
            _add_widths(states, t, scales, cells[start + t, 6] <= 0.0, parts[start + t])
