"""Compiled rates of a closed loop with a continuous controller.

The state holds positions, velocities and, where the law has one, the integral of the error.  Every
Coulomb element slides in one direction or rests.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robot_identification.compiled import compiled
from robot_identification.dynamics.compiler_options import INLINED, OPTIONS
from robot_identification.dynamics.control_kernels import follow, wanted_torque
from robot_identification.dynamics.direct import Plant
from robot_identification.dynamics.direct_kernels import factor, solve
from robot_identification.dynamics.dormand_prince_kernels import STAGES
from robot_identification.dynamics.mass_kernels import mass_and_bias
from robot_identification.dynamics.stick_kernels import hold

APART = 1e-12
# Above its limit the torque stops the integral of the error; it fades over this share of the limit.
FADING = 0.01


class Loop(NamedTuple):
    """What stays the same in a run: see :class:`.continuous.ContinuousLoop`."""

    plant: object
    nominal: object
    law: object
    reference: object


class Scratch(NamedTuple):
    """Arrays that a step works with; rows of ``slopes`` belong to its stages."""

    work: object
    nominal_work: object
    mass: object
    bias: object
    torque: object
    target: object
    rest: object
    slopes: object
    trial: object
    spare: object
    inside: object
    excess: object
    shares: object
    give: object
    response: object
    lines: object
    quartic: object
    before: object
    mode: object
    resting: object
    heading: object


def scratch_of(plant: Plant, nominal: Plant, size: int) -> Scratch:
    """Return the arrays that a run works with.

    Args:
        plant: the robot.
        nominal: the robot as the controller knows it.
        size: number of states.
    """
    elements, joints = plant.motion.shape
    return Scratch(
        work=plant.lanes.copy(),
        nominal_work=nominal.lanes.copy(),
        mass=np.empty((joints, joints)),
        bias=np.empty(joints),
        torque=np.empty(joints),
        target=np.empty((3, joints)),
        rest=np.zeros(joints),
        slopes=np.empty((STAGES + 1, size)),
        trial=np.empty(size),
        spare=np.empty(size),
        inside=np.empty((5, size)),
        excess=np.empty(STAGES),
        shares=np.zeros((STAGES + 1, elements)),
        give=np.empty((elements, joints)),
        response=np.empty((elements, elements)),
        lines=np.empty((3, elements)),
        quartic=np.empty(5),
        before=np.empty(elements),
        mode=(np.zeros(elements), np.zeros(elements, np.int64), np.zeros(2, np.int64)),
        resting=np.zeros(elements, np.bool_),
        heading=np.zeros(len(nominal.motion)),
    )


@compiled(**INLINED)
def copy(source, target):
    """Copy an array into another."""
    for i in range(target.size):
        target[i] = source[i]


@compiled(**INLINED)
def actuate(loop, time, y, heading, scratch, slope):
    """Fill the torque at a state; put the rate of the integral, where there is one, into slope."""
    law, torque, target = loop.law, scratch.torque, scratch.target
    joints = torque.size
    q, qd = y[:joints], y[joints : 2 * joints]
    integrating = y.size > 2 * joints
    integral = y[2 * joints :] if integrating else scratch.rest
    follow(loop.reference, time, target)
    wanted_torque(
        law, loop.nominal, q, qd, integral, target, heading, torque,
        scratch.nominal_work, scratch.mass, scratch.bias,
    )  # fmt: skip
    for j in range(joints):
        wanted = torque[j]
        torque[j] = min(max(wanted, -law.limit[j]), law.limit[j])
        if integrating:
            error = target[0, j] - q[j]
            rate = error
            if torque[j] != wanted and (wanted > 0.0) == (error > 0.0):
                beyond = abs(wanted) / law.limit[j] - 1.0
                rate *= max(0.0, 1.0 - beyond / FADING)
            slope[2 * joints + j] = rate


@compiled(**INLINED)
def rates_here(loop, time, y, mode, heading, scratch, slope, share):
    """Fill the rates of a state and the shares of the friction elements.

    Part of the caller: for the one place that takes nearly all evaluations, where a call, which
    copies what describes a hundred arrays, would take a quarter of the time.

    Args:
        loop: robot, nominal robot, law and reference.
        time: time of the reference.
        y: state.
        mode: (directions, order, counts) of the friction elements, see :func:`settle`.
        heading: signs of the friction that computed torque feeds forward.
        scratch: arrays to work with.
        slope: result.
        share: (elements,) result; a first guess on entry.

    Returns:
        by how much the largest share of a resting element exceeds 1; NaN where the mass matrix is
        not positive definite.
    """
    direction, order, counts = mode
    actuate(loop, time, y, heading, scratch, slope)
    joints = scratch.torque.size
    q, qd = y[:joints], y[joints : 2 * joints]
    mass_and_bias(loop.plant, q, qd, scratch.work, scratch.mass, scratch.bias)
    acceleration = slope[joints : 2 * joints]
    for j in range(joints):
        slope[j] = qd[j]
        acceleration[j] = scratch.torque[j] - scratch.bias[j]
    for e in range(direction.size):
        if direction[e] != 0.0:
            share[e] = direction[e]
            for j in range(joints):
                acceleration[j] -= loop.plant.action[e, j] * direction[e]
    if not factor(scratch.mass):
        return np.nan
    solve(scratch.mass, acceleration)
    if counts[1] == 0:
        return -1.0
    return hold(
        loop.plant, scratch.mass, order, counts, share, acceleration,
        scratch.give, scratch.response, scratch.lines,
    )  # fmt: skip


@compiled(**OPTIONS)
def rates(loop, time, y, mode, heading, scratch, slope, share):
    """Fill rates and shares as :func:`rates_here` does, by a call."""
    return rates_here(loop, time, y, mode, heading, scratch, slope, share)


@compiled(**INLINED)
def within(time, start, step):
    """Return a time of a step, kept clear of its ends, where the reference may jump."""
    clear = min(APART, 1e-3 * step)
    return min(max(time, start + clear), start + step - clear)
