"""Compiled control laws, and the reference that they follow."""

from __future__ import annotations

from robot_identification.compiled import INLINED, compiled
from robot_identification.dynamics.kernels.plant import mass_and_bias

CASCADE = 0
PID = 1
COMPUTED_TORQUE = 2


@compiled(**INLINED)
def follow(reference, time, target):
    """Fill target (3, joints) with position, velocity and acceleration of a reference."""
    knots = reference.knots
    pieces = knots.size - 1
    low, high = 0, pieces - 1
    while low < high:
        middle = (low + high + 1) // 2
        if knots[middle] <= time:
            low = middle
        else:
            high = middle - 1
    moving = knots[0] <= time < knots[pieces]
    u = min(max(time, knots[0]), knots[pieces]) - knots[low]
    for j in range(target.shape[1]):
        c = reference.coefficients[low, j]
        target[0, j] = c[0] + u * (c[1] + u * (c[2] + u * (c[3] + u * (c[4] + u * c[5]))))
        target[1, j] = 0.0
        target[2, j] = 0.0
        if moving:
            target[1, j] = c[1] + u * (
                2.0 * c[2] + u * (3.0 * c[3] + u * (4.0 * c[4] + u * 5.0 * c[5]))
            )
            target[2, j] = 2.0 * c[2] + u * (6.0 * c[3] + u * (12.0 * c[4] + u * 20.0 * c[5]))


@compiled(**INLINED)
def _computed_torque(nominal, q, qd, heading, torque, work, mass, bias):
    """Replace wanted accelerations in ``torque`` by the efforts that the nominal model needs."""
    mass_and_bias(nominal, q, qd, work, mass, bias)
    for i in range(q.size):
        for k in range(q.size):
            bias[i] += mass[i, k] * torque[k]
    for e in range(heading.size):
        for j in range(q.size):
            bias[j] += nominal.action[e, j] * heading[e]
    for i in range(q.size):
        torque[i] = bias[i]


@compiled(**INLINED)
def wanted_torque(law, nominal, q, qd, integral, target, heading, torque, work, mass, bias):
    """Fill the torque (joints,) that a law asks for, before any limit.

    Args:
        law: the control law.
        nominal: the robot as ``computed_torque`` knows it.
        q: (joints,) positions that the controller sees.
        qd: (joints,) velocities that it sees.
        integral: (joints,) integral of the position error.
        target: (3, joints) position, velocity and acceleration of the reference.
        heading: (elements,) signs of the friction elements' velocities along the reference.
        torque: (joints,) result.
        work: scratch.
        mass: scratch.
        bias: scratch.
    """
    for j in range(q.size):
        error = target[0, j] - q[j]
        rate = target[1, j] - qd[j]
        if law.kind == CASCADE:
            torque[j] = law.kv[j] * (law.kp[j] * error - qd[j])
        else:
            torque[j] = law.kp[j] * error + law.kd[j] * rate + law.ki[j] * integral[j]
        torque[j] += law.velocity[j] * target[1, j] + law.acceleration[j] * target[2, j]
    if law.kind == COMPUTED_TORQUE:
        for j in range(q.size):
            torque[j] += target[2, j]
        _computed_torque(nominal, q, qd, heading, torque, work, mass, bias)
