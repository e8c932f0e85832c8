"""Compiled closed-loop simulation at a fixed step with exact Coulomb friction.

Between two instants of the controller the torque is constant.  The smooth part of the motion is
integrated by the classical Runge-Kutta method of order 4.  Where joints stick and slip
(:mod:`.stick_slip`) is solved twice: for the velocity predicted by one Euler step, and for the one
that the Runge-Kutta step arrives at, so that sticking is exact.
"""

from __future__ import annotations

import numpy as np

from robot_identification.compiled import IN_ANY_ORDER, INLINED, compiled
from robot_identification.dynamics.kernels.control import follow, wanted_torque
from robot_identification.dynamics.kernels.direct import factor, solve
from robot_identification.dynamics.kernels.load import loaded_actions
from robot_identification.dynamics.kernels.plant import (
    element_velocities,
    headings,
    mass_and_bias,
    workspace,
)
from robot_identification.dynamics.kernels.stick_slip import responses, solve_slip

_OPTIONS = {"fastmath": IN_ANY_ORDER}


@compiled(**INLINED)
def _measure(law, history, k, period, q, qd, seen):
    """Store the state of control step k; fill seen (2, joints) with what the controller knows."""
    depth = history.shape[0]
    now, last = history[k % depth], history[(k - 1) % depth]
    old, earlier = history[(k - law.delay) % depth], history[(k - law.delay - 2) % depth]
    for j in range(q.size):
        rate = qd[j]
        if law.derivative_cutoff > 0.0:
            moved = law.derivative_cutoff * (q[j] - last[0, j])
            rate = (last[1, j] + moved) / (1.0 + law.derivative_cutoff * period)
        now[0, j] = q[j]
        now[1, j] = rate
        seen[0, j] = old[0, j]
        seen[1, j] = old[1, j]
        if law.differences:
            seen[1, j] = (old[0, j] - earlier[0, j]) / (2.0 * period)


@compiled(**_OPTIONS)
def controller_scratch(nominal):
    """Return what :func:`answer` works with."""
    elements, joints = nominal.motion.shape
    return (
        np.empty((3, joints)),
        np.empty(elements),
        np.empty((2, joints)),
        workspace(nominal),
        np.empty((joints, joints)),
        np.empty(joints),
    )


@compiled(**INLINED)
def answer(law, nominal, reference, k, period, state, extra, scratch, torque):
    """Fill the torque that the controller gives at control step k.

    Args:
        law: the control law.
        nominal: the robot as the controller knows it.
        reference: what to follow; its time is ``lead`` at control step ``origin``.
        k: control step.
        period: control period in s.
        state: (q, qd, integral, history); the last two are advanced, the history holds the last
            states, (delay + 3, 2, joints).
        extra: (joints,) efforts added to those of the controller.
        scratch: of :func:`controller_scratch`.
        torque: (joints,) result.
    """
    q, qd, integral, history = state
    target, heading, seen, work, mass, bias = scratch
    answered = k - law.delay  # reference and measurement of a torque are equally old
    follow(reference, (answered - reference.origin) * period + reference.lead, target)
    _measure(law, history, k, period, q, qd, seen)
    headings(nominal, target[1], heading)
    wanted_torque(
        law, nominal, seen[0], seen[1], integral, target, heading, torque, work, mass, bias
    )
    for j in range(q.size):
        wanted = torque[j] + extra[j]
        torque[j] = min(max(wanted, -law.limit[j]), law.limit[j])
        error = target[0, j] - seen[0, j]
        if torque[j] == wanted or (wanted > torque[j]) != (error > 0.0):
            integral[j] += period * error


@compiled(**INLINED)
def _free_acceleration(plant, q, qd, force, work, mass, bias, out):
    """Fill accelerations under given joint forces; leave the factors in ``mass``."""
    mass_and_bias(plant, q, qd, work, mass, bias)
    for j in range(q.size):
        out[j] = force[j] - bias[j]
    regular = factor(mass)
    solve(mass, out)
    return regular


@compiled(**_OPTIONS)
def _scratch(plant):
    elements, joints = plant.motion.shape
    return (
        workspace(plant),
        np.empty((joints, joints)),
        np.empty((8, joints)),
        np.empty((elements, joints)),
        np.empty((elements, elements)),
        np.empty((3, elements)),
        np.empty((elements, joints)),
    )


@compiled(**INLINED)
def _runge_kutta(plant, q, qd, step, scratch):
    """Advance q and qd by one step; rows[0] holds the first acceleration, rows[5] the forces."""
    work, mass, rows = scratch[0], scratch[1], scratch[2]
    first, slope, place, rate = rows[0], rows[1], rows[2], rows[3]
    bias, force, move, gain = rows[4], rows[5], rows[6], rows[7]
    regular = True
    for j in range(q.size):
        slope[j] = first[j]
        move[j] = qd[j]
        gain[j] = first[j]
        rate[j] = qd[j]
    for stage in range(3):
        part = 1.0 if stage == 2 else 0.5
        weight = 1.0 if stage == 2 else 2.0
        for j in range(q.size):
            place[j] = q[j] + part * step * rate[j]
            rate[j] = qd[j] + part * step * slope[j]
            move[j] += weight * rate[j]
        regular &= _free_acceleration(plant, place, rate, force, work, mass, bias, slope)
        for j in range(q.size):
            gain[j] += weight * slope[j]
    for j in range(q.size):
        q[j] += step / 6.0 * move[j]
        qd[j] += step / 6.0 * gain[j]
    return regular


@compiled(**INLINED)
def integrate(plant, q, qd, torque, step, slip, scratch):
    """Advance q and qd by one step under a constant torque; tell whether that was possible."""
    work, mass, rows, give, response, rates, action = scratch
    first, bias, force = rows[0], rows[4], rows[5]
    start, end, before = rates[0], rates[1], rates[2]
    if slip.size > 0:
        loaded_actions(plant, q, qd, torque, slip, work, mass, rows[1:4], action)
    regular = _free_acceleration(plant, q, qd, torque, work, mass, bias, first)
    if slip.size > 0:
        responses(plant, action, mass, step, give, response)
        element_velocities(plant, qd, start)
        element_velocities(plant, first, end)
        for e in range(slip.size):
            end[e] = start[e] + step * end[e]
        solve_slip(start, end, response, slip)
    for j in range(q.size):
        force[j] = torque[j]
        for e in range(slip.size):
            force[j] -= action[e, j] * slip[e]
            first[j] -= give[e, j] * slip[e] / step
    regular &= _runge_kutta(plant, q, qd, step, scratch)
    if slip.size > 0:
        element_velocities(plant, qd, end)
        for e in range(slip.size):
            before[e] = slip[e]
            for f in range(slip.size):
                end[e] += response[e, f] * slip[f]
        solve_slip(start, end, response, slip)
        for e in range(slip.size):
            for j in range(q.size):
                taken = give[e, j] * (slip[e] - before[e])
                qd[j] -= taken
                q[j] -= 0.5 * step * taken
    return regular


@compiled(**_OPTIONS)
def advance(plant, nominal, law, reference, clock, state, extra, out, slips):
    """Run the closed loop for a number of control periods.

    Args:
        plant: the robot.
        nominal: the robot as the controller knows it.
        law: the control law.
        reference: what to follow; its time is ``lead`` at control step ``origin``.
        clock: (period, substeps, every, first, steps): control period in s, integration steps in
            it, control periods per sample, first control step, number of steps.
        state: (q, qd, integral, torque, slip, history), advanced in place; the history holds the
            last states, (delay + 3, 2, joints).
        extra: (joints,) efforts added to those of the controller.
        out: (samples, 3, joints): position, velocity and effort at every control step that is a
            multiple of ``every``; the effort is the mean of those before and after the instant, or
            the latter for a law whose recorded efforts are ``held``.
        slips: (samples, elements): share of the sliding force that each friction element takes,
            likewise.

    Returns:
        the number of control periods done: fewer than ``steps`` where the motion broke down.
    """
    period, substeps, every, first, steps = clock
    q, qd, integral, torque, slip, history = state
    joints = q.size
    scratch = _scratch(plant)
    own = controller_scratch(nominal)
    known = (q, qd, integral, history)
    new = np.empty(joints)
    row = -1
    for k in range(first, first + steps):
        sampled = k % every == 0
        answer(law, nominal, reference, k, period, known, extra, own, new)
        from_now_on = law.held or bool(np.isnan(torque[0]))
        if sampled:
            row += 1
            for j in range(joints):
                before = new[j] if from_now_on else torque[j]
                out[row, 0, j] = q[j]
                out[row, 1, j] = qd[j]
                out[row, 2, j] = 0.5 * (before + new[j])
            slips[row] = slip
        torque[:] = new
        sound = True
        for i in range(substeps):
            sound &= integrate(plant, q, qd, new, period / substeps, slip, scratch)
            if i == 0 and sampled:
                for e in range(slip.size):
                    before = slip[e] if from_now_on else slips[row, e]
                    slips[row, e] = 0.5 * (before + slip[e])
        for j in range(joints):
            sound &= bool(np.isfinite(q[j]) and abs(qd[j]) < 1e9)
        if not sound:
            return k - first
    return steps
