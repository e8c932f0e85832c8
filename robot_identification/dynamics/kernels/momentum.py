"""Compiled momentum observer: momentum balance of every sample, and the filters behind it.

The equations stand in :mod:`.external_efforts.momentum_observer`.
"""

from __future__ import annotations

import numpy as np

from robot_identification.compiled import IN_ANY_ORDER, INLINED, compiled
from robot_identification.dynamics.kernels.load import loaded_actions
from robot_identification.dynamics.kernels.plant import element_velocities, mass_and_bias, workspace


@compiled(fastmath=IN_ANY_ORDER)
def observe(plant, q, qd, effort, standing, begins, interval, rise, mass, signals, filtered, out):
    """Fill out (samples, 2, 3, joints) with signals behind one filter and behind both.

    The three signals are external efforts, measured efforts, velocities.  What is known of the
    sample before the first is replaced by what is known of the last one.

    Args:
        plant: the robot.
        q: (samples, joints) positions.
        qd: (samples, joints) velocities.
        effort: (samples, joints) measured efforts.
        standing: (elements,) speeds below which the elements of friction count as standing.
        begins: (samples,) where the filters begin anew, without external efforts.
        interval: (samples,) in s; not looked at where they begin anew.
        rise: (samples,) share of the way to its input that each filter goes.
        mass: (joints, joints) mass matrix of the sample before.
        signals: (3, joints) what its momentum balance lacks, its measured efforts, velocities.
        filtered: (2, 3, joints) its signals behind one filter and behind both.
        out: result.
    """
    samples, joints = q.shape
    work = workspace(plant)
    bias, room = np.empty(joints), np.empty((3, joints))
    action, slip = np.empty_like(plant.action), np.empty(standing.size)
    own_mass, own = np.empty((joints, joints)), np.empty((3, joints))
    average = np.empty((3, joints))
    for t in range(samples):
        element_velocities(plant, qd[t], slip)
        for e in range(slip.size):
            slip[e] = min(max(slip[e] / standing[e], -1.0), 1.0)
        loaded_actions(plant, q[t], qd[t], effort[t], slip, work, own_mass, room, action)
        mass_and_bias(plant, q[t], qd[t], work, own_mass, bias)
        for j in range(joints):
            own[0, j], own[1, j], own[2, j] = bias[j] - effort[t, j], effort[t, j], qd[t, j]
            for e in range(slip.size):
                own[0, j] += action[e, j] * slip[e]
        if begins[t]:
            filtered[:, 0], filtered[:, 1:] = 0.0, own[1:]
        else:
            for s in range(3):
                for j in range(joints):
                    average[s, j] = 0.5 * (own[s, j] + signals[s, j])
            add_impulses(own_mass, mass, own[2], signals[2], interval[t], average[0])
            for s in range(3):
                for j in range(joints):
                    filtered[0, s, j] += rise[t] * (average[s, j] - filtered[0, s, j])
                    filtered[1, s, j] += rise[t] * (filtered[0, s, j] - filtered[1, s, j])
        mass[:], signals[:], out[t] = own_mass, own, filtered


@compiled(**INLINED)
def add_impulses(mass, mass_before, qd, qd_before, interval, average):
    """Add to average (joints,) the change of momentum by that of the velocities, a second."""
    for j in range(qd.size):
        impulse = 0.0
        for k in range(qd.size):
            impulse += 0.5 * (mass[j, k] + mass_before[j, k]) * (qd[k] - qd_before[k])
        average[j] += impulse / interval
