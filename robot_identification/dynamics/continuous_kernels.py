"""Compiled closed-loop simulation with a continuous controller: adaptive steps, stick and slip.

The method of Dormand and Prince of order 5(4) integrates positions, velocities and, where the law
has one, the integral of the error.  Its own polynomial of order 4 gives the state inside a step.
Every Coulomb element slides in one direction or rests through a whole step; the changes are events:

- a sliding element whose velocity passes through zero;
- a resting element that would need more than its sliding force.

An event is located on the polynomial, the step is repeated so that it ends there, and what slides
and what rests from then on is solved for all elements at zero velocity together.  Steps also end
where the reference jumps, and where the friction that computed torque feeds forward does.
"""

from __future__ import annotations

import numpy as np

from robot_identification.compiled import compiled
from robot_identification.dynamics.closed_loop_kernels import (
    APART,
    actuate,
    copy,
    rates,
    rates_here,
    within,
)
from robot_identification.dynamics.compiler_options import OPTIONS, PART
from robot_identification.dynamics.control_kernels import COMPUTED_TORQUE, follow, headings
from robot_identification.dynamics.dormand_prince_kernels import (
    NODES,
    SAFETY,
    SMALLEST_FACTOR,
    STAGES,
    WEIGHTS,
    largest_error,
    next_step,
    prepare_inside,
    state_inside,
)
from robot_identification.dynamics.event_kernels import AFTER, find_event, until_heading_turns
from robot_identification.dynamics.settling_kernels import AT_REST, settle
from robot_identification.dynamics.stick_kernels import element_velocity

SHORTEST_STEP = 1e-11
MOST_EVENTS_AT_ONCE = 50

DONE, NOT_REGULAR, TOO_SHORT, TOO_MANY_EVENTS = 0, 1, 2, 3


@compiled(**OPTIONS)
def run(loop, span, settings, stops, y, times, out, slips, tally, scratch):
    """Run the closed loop.

    Args:
        loop: robot, nominal robot, law and reference.
        span: times of the reference at the start and at the end.
        settings: (tolerance, longest step).
        stops: (stops,) times at which a step must end, increasing; the end is one.
        y: state (2 or 3 times joints) at the start; the state at the end on return.
        times: (samples,) times of the samples, increasing, within the span.
        out: (samples, 3, joints): position, velocity, effort.
        slips: (samples, elements): shares of the friction elements.
        tally: (8,) elements that came to rest, were released, reversed; steps, rejected steps,
            evaluations; largest local error relative to 1 + the size of the state; shortest step.
        scratch: see :func:`scratch_of`.

    Returns:
        how it ended, and when.
    """
    tolerance, longest = settings
    time, end = span
    mode, resting, heading = scratch.mode, scratch.resting, scratch.heading
    _begin(loop.plant, y, mode[0], resting)
    row, stop, at_once, memory, step = 0, 0, 0, 1e-4, min(longest, 1e-3)
    fresh, ends_fresh, cut, taken = True, True, False, 0.0
    tally[7] = longest
    while time < end:
        stop = _next_stop(stops, stop, time)
        if not cut:
            taken, ends_fresh = _plan_step(
                loop, time, min(step, longest), stops[stop], fresh, heading, scratch.target
            )
        if fresh:
            start = within(time, time, taken)
            if not settle(loop, start, y, mode, resting, heading, scratch, tally):
                return NOT_REGULAR, time
            _first_stage(loop, start, y, mode, heading, scratch, tally)
            fresh = False
        _stages(loop, time, taken, y, mode, heading, scratch, tally)
        error = largest_error(taken, y, scratch)
        if not cut and not error <= tolerance:
            tally[4] += 1
            if taken <= SHORTEST_STEP:
                return (TOO_SHORT if _regular(scratch.excess) else NOT_REGULAR), time
            step = taken * max(SMALLEST_FACTOR, min(1.0, SAFETY * (tolerance / error) ** 0.2))
            continue
        prepare_inside(taken, y, scratch)
        if not cut:
            u = find_event(loop, time, taken, mode, heading, scratch, resting, tally)
            step, memory = next_step(step, taken, error / tolerance, memory)
            if u <= 1.0:
                at_once = at_once + 1 if u * taken < SHORTEST_STEP else 0
                cut, fresh, step = _meet_event(u, taken, step, at_once)
                if at_once > MOST_EVENTS_AT_ONCE:
                    return TOO_MANY_EVENTS, time
                if u < 1.0:
                    taken *= u if cut else 1.0
                    continue
                ends_fresh = True
        row = _sample_step(
            loop,
            time,
            taken,
            mode,
            heading,
            scratch,
            times,
            row,
            out,
            slips,
        )
        _accept(y, taken, error, scratch, tally)
        fresh, cut = cut or ends_fresh, False
        time += taken
        if stops[stop] - time < APART:
            time = stops[stop]
    return DONE, time


@compiled(**PART)
def _plan_step(loop, time, step, stop, fresh, heading, target):
    """Return the step to try, and whether something jumps at its end."""
    ends_at_stop = time + 1.01 * step >= stop
    if ends_at_stop:
        step = stop - time
    if loop.law.kind != COMPUTED_TORQUE:
        return step, ends_at_stop
    if fresh:
        follow(loop.reference, time + AFTER, target)
        headings(loop.nominal, target[1], heading)
    until = until_heading_turns(loop, time, step, heading, target)
    return until, ends_at_stop or until < step


@compiled(**PART)
def _next_stop(stops, stop, time):
    """Return the number of the first stop that is still ahead."""
    while stop < stops.size - 1 and stops[stop] <= time + 2.0 * APART:
        stop += 1
    return stop


@compiled(**PART)
def _begin(plant, y, direction, resting):
    """Fill directions and rest of the friction elements at the start."""
    joints = plant.offset.size
    for e in range(direction.size):
        velocity = element_velocity(plant, e, y[joints : 2 * joints])
        resting[e] = abs(velocity) <= AT_REST
        direction[e] = 0.0 if resting[e] else np.sign(velocity)


@compiled(**PART)
def _first_stage(loop, time, y, mode, heading, scratch, tally):
    """Fill the first stage of the step that follows a start or an event."""
    tally[5] += 3
    copy(scratch.shares[STAGES], scratch.shares[0])
    scratch.excess[0] = rates(
        loop,
        time,
        y,
        mode,
        heading,
        scratch,
        scratch.slopes[0],
        scratch.shares[0],
    )


@compiled(**PART)
def _stages(loop, time, step, y, mode, heading, scratch, tally):
    """Fill all stages of a step but the first; the trial state is the one at its end."""
    tally[5] += STAGES - 1
    slopes, trial = scratch.slopes, scratch.trial
    for s in range(1, STAGES):
        copy(y, trial)
        for p in range(s):
            weight = step * WEIGHTS[s, p]
            for i in range(y.size):
                trial[i] += weight * slopes[p, i]
        copy(scratch.shares[s - 1], scratch.shares[s])
        at = within(time + NODES[s] * step, time, step)
        scratch.excess[s] = rates_here(
            loop,
            at,
            trial,
            mode,
            heading,
            scratch,
            slopes[s],
            scratch.shares[s],
        )


@compiled(**OPTIONS)
def _regular(excess):
    """Tell whether the mass matrix was positive definite at all later stages of a step."""
    regular = True
    for s in range(1, STAGES):
        regular &= not np.isnan(excess[s])
    return regular


@compiled(**PART)
def _meet_event(u, taken, step, at_once):
    """Return whether the step is to be cut at an event, or begun anew, and the step after it."""
    if at_once > 0:
        return False, True, 0.25 * taken
    return u < 1.0, False, step


@compiled(**PART)
def _accept(y, taken, error, scratch, tally):
    """Take the end of a step as the start of the next one."""
    tally[3] += 1
    tally[6] = max(tally[6], error)
    tally[7] = min(tally[7], taken)
    copy(scratch.trial, y)
    copy(scratch.slopes[STAGES - 1], scratch.slopes[0])
    copy(scratch.shares[STAGES - 1], scratch.shares[0])
    scratch.excess[0] = scratch.excess[STAGES - 1]


@compiled(**PART)
def _sample_step(loop, time, step, mode, heading, scratch, times, row, out, slips):
    """Fill the samples inside a step; return the row of the next one."""
    while row < times.size and times[row] <= time + step + APART:
        at = within(times[row], time, step)
        u = min((times[row] - time) / step, 1.0)
        _sample(loop, at, u, mode, heading, scratch, out[row], slips[row])
        row += 1
    return row


@compiled(**PART)
def _sample(loop, time, u, mode, heading, scratch, out, slips):
    """Fill position, velocity, torque and shares inside the present step."""
    joints = scratch.torque.size
    state, slope, share = scratch.spare, scratch.slopes[STAGES], scratch.shares[STAGES]
    state_inside(scratch.inside, u, state)
    if mode[2][1] > 0:
        copy(scratch.shares[0], share)
        rates(loop, time, state, mode, heading, scratch, slope, share)
        for e in range(slips.size):
            slips[e] = min(max(share[e], -1.0), 1.0)
    else:
        actuate(loop, time, state, heading, scratch, slope)
        copy(mode[0], slips)
    for j in range(joints):
        out[0, j] = state[j]
        out[1, j] = state[joints + j]
        out[2, j] = scratch.torque[j]
