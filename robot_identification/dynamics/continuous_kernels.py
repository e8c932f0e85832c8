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

from typing import NamedTuple

import numba
import numpy as np

from robot_identification.dynamics.control_kernels import (
    COMPUTED_TORQUE,
    follow,
    headings,
    wanted_torque,
)
from robot_identification.dynamics.direct_kernels import factor, mass_and_bias, solve, workspace
from robot_identification.dynamics.stick_kernels import (
    arrange,
    balance,
    element_velocity,
    hold,
    respond,
    rest_exactly,
)

_OPTIONS = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "nsz", "reassoc"},
    "_nrt": False,  # all arrays are made before; counting references would take half of the time
}
_INLINED = {**_OPTIONS, "forceinline": True}
# Part of the function that calls it, so that it is not compiled a second time.
_PART = {**_OPTIONS, "inline": "always"}
STAGES = 7
NODES = np.array([0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0])
WEIGHTS = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1 / 5, 0.0, 0.0, 0.0, 0.0, 0.0],
        [3 / 40, 9 / 40, 0.0, 0.0, 0.0, 0.0],
        [44 / 45, -56 / 15, 32 / 9, 0.0, 0.0, 0.0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0.0, 0.0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0.0],
        [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ]
)
ERROR = np.array([71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])
# The polynomial inside a step (L. F. Shampine, "Some practical Runge-Kutta formulas", 1986).
INSIDE = np.array(
    [
        -12715105075 / 11282082432,
        0.0,
        87487479700 / 32700410799,
        -10690763975 / 1880347072,
        701980252875 / 199316789632,
        -1453857185 / 822651844,
        69997945 / 29380423,
    ]
)
SAFETY, SMALLEST_FACTOR, LARGEST_FACTOR = 0.9, 0.2, 5.0
GAIN, MEMORY = 0.17, 0.04
SHORTEST_STEP = 1e-11
APART = 1e-12
AFTER = 1e-9
AT_REST = 1e-11
RELEASE = 1e-8
TARGET = 1.5e-8
BEYOND = 1e-9
MOST_EVENTS_AT_ONCE = 50
LOOKS = 8
MOST_GUESSES = 100
# Above its limit the torque stops the integral of the error; it fades over this share of the limit.
FADING = 0.01

DONE, NOT_REGULAR, TOO_SHORT, TOO_MANY_EVENTS = 0, 1, 2, 3


class Loop(NamedTuple):
    """What stays the same in a run: see :class:`.continuous.ContinuousLoop`."""

    plant: object
    nominal: object
    law: object
    reference: object


class Scratch(NamedTuple):
    """Arrays that a step works with; rows of ``slopes`` belong to its stages."""

    work: object
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


def scratch_of(joints: int, elements: int, fed_forward: int, size: int) -> Scratch:
    """Return the arrays that a run works with.

    Args:
        joints: number of joints.
        elements: number of friction elements.
        fed_forward: number of those of the nominal robot.
        size: number of states.
    """
    return Scratch(
        work=workspace(joints),
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
        heading=np.zeros(fed_forward),
    )


@numba.njit(**_INLINED)
def _copy(source, target):
    for i in range(target.size):
        target[i] = source[i]


@numba.njit(**_INLINED)
def _actuate(loop, time, y, heading, scratch, slope):
    """Fill the torque at a state; put the rate of the integral, where there is one, into slope."""
    law, torque, target = loop.law, scratch.torque, scratch.target
    joints = torque.size
    q, qd = y[:joints], y[joints : 2 * joints]
    integrating = y.size > 2 * joints
    integral = y[2 * joints :] if integrating else scratch.rest
    follow(loop.reference, time, target)
    wanted_torque(
        law, loop.nominal, q, qd, integral, target, heading, torque,
        scratch.work, scratch.mass, scratch.bias,
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


@numba.njit(**_OPTIONS)
def _rates(loop, time, y, mode, heading, scratch, slope, share):
    """Fill the rates of a state and the shares of the friction elements.

    Args:
        loop: robot, nominal robot, law and reference.
        time: time of the reference.
        y: state.
        mode: (directions, order, counts) of the friction elements, see :func:`_settle`.
        heading: signs of the friction that computed torque feeds forward.
        scratch: arrays to work with.
        slope: result.
        share: (elements,) result; a first guess on entry.

    Returns:
        by how much the largest share of a resting element exceeds 1; NaN where the mass matrix is
        not positive definite.
    """
    direction, order, counts = mode
    _actuate(loop, time, y, heading, scratch, slope)
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


@numba.njit(**_PART)
def _settle(loop, time, y, mode, resting, heading, scratch, tally):
    """Find what slides and what rests from now on; set the velocities of what rests to zero.

    Args:
        loop: robot, nominal robot, law and reference.
        time: time of the reference.
        y: state; its velocities change by what they lack to zero.
        mode: directions (elements,) of sliding, 0 for rest; the order of what rests, and counts
            (2,) of the independent elements in it and of all.
        resting: (elements,) which elements have come to zero velocity, or were at rest.
        heading: signs of the friction that computed torque feeds forward.
        scratch: arrays to work with.
        tally: counts of elements that came to rest, were released, or reversed.

    Returns:
        whether the mass matrix is positive definite.
    """
    direction, order, counts = mode
    joints = scratch.torque.size
    qd = y[joints : 2 * joints]
    before = scratch.before
    for e in range(direction.size):
        before[e] = direction[e]
    for e in range(direction.size):
        if resting[e]:
            direction[e] = 0.0
    slope, share = scratch.slopes[STAGES], scratch.shares[STAGES]
    counts[:] = 0
    mass_and_bias(loop.plant, y[:joints], qd, scratch.work, scratch.mass, scratch.bias)
    if not factor(scratch.mass):
        return False
    independent, total = arrange(loop.plant, resting, order, scratch.give)
    _stop(loop.plant, qd, order, independent, scratch)
    _join_resting(loop.plant, qd, direction, resting)
    if np.isnan(_rates(loop, time, y, mode, heading, scratch, slope, share)):
        return False
    independent, total = arrange(loop.plant, resting, order, scratch.give)
    respond(loop.plant, scratch.mass, order, total, scratch.give, scratch.response)
    free, found, needed = scratch.lines
    for a in range(total):
        free[a] = element_velocity(loop.plant, order[a], slope[joints : 2 * joints])
        found[a] = min(max(share[order[a]], -1.0), 1.0)
    balance(scratch.response, free, total, found, needed)
    for a in range(total):
        e = order[a]
        share[e] = found[a]
        if abs(needed[a]) > 1.0 + BEYOND:
            resting[e] = False
            direction[e] = 1.0 if needed[a] > 0.0 else -1.0
    counts[0], counts[1] = arrange(loop.plant, resting, order, scratch.give)
    _count(before, direction, tally)
    return True


@numba.njit(**_PART)
def _join_resting(plant, qd, direction, resting):
    """Add the elements whose velocity has become zero because others rest."""
    speed = 1.0
    for j in range(qd.size):
        speed = max(speed, abs(qd[j]))
    for e in range(direction.size):
        if not resting[e] and abs(element_velocity(plant, e, qd)) <= AT_REST * speed:
            resting[e] = True
            direction[e] = 0.0


@numba.njit(**_PART)
def _count(before, after, tally):
    """Count what came to rest, was released, or reversed."""
    for e in range(after.size):
        if before[e] != after[e]:
            change = 0 if after[e] == 0.0 else (1 if before[e] == 0.0 else 2)
            tally[change] += 1


@numba.njit(**_PART)
def _stop(plant, qd, order, count, scratch):
    """Take the velocities of independent elements away, by an impulse of these elements."""
    if count == 0:
        return
    respond(plant, scratch.mass, order, count, scratch.give, scratch.response)
    impulse = scratch.lines[0]
    for a in range(count):
        impulse[a] = element_velocity(plant, order[a], qd)
    small = scratch.response[:count, :count]
    factor(small)
    solve(small, impulse[:count])
    for a in range(count):
        for j in range(qd.size):
            qd[j] -= scratch.give[a, j] * impulse[a]
    rest_exactly(plant, order, count, qd)


@numba.njit(**_OPTIONS)
def _within(time, start, step):
    """Return a time of a step, kept clear of its ends, where the reference may jump."""
    clear = min(APART, 1e-3 * step)
    return min(max(time, start + clear), start + step - clear)


@numba.njit(**_PART)
def _stages(loop, time, step, y, mode, heading, scratch, tally):
    """Fill all stages of a step but the first; the trial state is the one at its end."""
    tally[5] += STAGES - 1
    slopes, trial = scratch.slopes, scratch.trial
    for s in range(1, STAGES):
        _copy(y, trial)
        for p in range(s):
            weight = step * WEIGHTS[s, p]
            for i in range(y.size):
                trial[i] += weight * slopes[p, i]
        _copy(scratch.shares[s - 1], scratch.shares[s])
        at = _within(time + NODES[s] * step, time, step)
        scratch.excess[s] = _rates(
            loop,
            at,
            trial,
            mode,
            heading,
            scratch,
            slopes[s],
            scratch.shares[s],
        )


@numba.njit(**_PART)
def _largest_error(step, y, scratch):
    """Return the largest local error of the state, each relative to 1 + its size."""
    largest = 0.0
    for i in range(y.size):
        error = 0.0
        for s in range(STAGES):
            error += ERROR[s] * scratch.slopes[s, i]
        size = 1.0 + max(abs(y[i]), abs(scratch.trial[i]))
        error = abs(step * error) / size
        if not np.isfinite(error):
            return np.inf
        largest = max(largest, error)
    return largest


@numba.njit(**_PART)
def _prepare_inside(step, y, scratch):
    """Fill the polynomial of the state inside a step."""
    inside, slopes = scratch.inside, scratch.slopes
    for i in range(y.size):
        change = scratch.trial[i] - y[i]
        first = step * slopes[0, i] - change
        total = 0.0
        for s in range(STAGES):
            total += INSIDE[s] * slopes[s, i]
        inside[0, i] = y[i]
        inside[1, i] = change
        inside[2, i] = first
        inside[3, i] = change - step * slopes[STAGES - 1, i] - first
        inside[4, i] = step * total


@numba.njit(**_OPTIONS)
def _blend(c0, c1, c2, c3, c4, u):
    w = 1.0 - u
    return c0 + u * (c1 + w * (c2 + u * (c3 + w * c4)))


@numba.njit(**_OPTIONS)
def _state_inside(inside, u, out):
    """Fill the state at a share u of the step."""
    for i in range(out.size):
        out[i] = _blend(inside[0, i], inside[1, i], inside[2, i], inside[3, i], inside[4, i], u)


@numba.njit(**_OPTIONS)
def _crossing(plant, e, sign, inside, joints, c):
    """Return the share of the step at which a sliding element comes to rest; 2 if it does not.

    An element that has just been released starts at zero velocity; that is no event.
    """
    for i in range(5):
        c[i] = 0.0
    for j in range(joints):
        for i in range(5):
            c[i] += sign * plant.motion[e, j] * inside[i, joints + j]
    look = 1
    while look <= LOOKS and _blend(c[0], c[1], c[2], c[3], c[4], look / LOOKS) >= 0.0:
        look += 1
    if look > LOOKS:
        return 2.0
    low, high = (look - 1) / LOOKS, look / LOOKS
    if look == 1 and c[0] <= AT_REST:
        low = 0.5 * high
        while _blend(c[0], c[1], c[2], c[3], c[4], low) <= 0.0:
            high = low
            low *= 0.5
            if low < 1e-10:
                return 0.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if _blend(c[0], c[1], c[2], c[3], c[4], middle) < 0.0:
            high = middle
        else:
            low = middle
    return high


@numba.njit(**_PART)
def _release(loop, time, step, mode, heading, scratch, latest, tally):
    """Return the share of the step at which a resting element is released; 2 if none is.

    Only what comes before ``latest`` counts.
    """
    low, below, high, above = 0.0, scratch.excess[0] - TARGET, 2.0, 0.0
    stage, side = 0, 0
    for _ in range(STAGES + MOST_GUESSES):
        if high > 1.0:
            stage += 1
            if stage == STAGES or low >= latest:
                return 2.0
            u = NODES[stage]
            if not scratch.excess[stage] > RELEASE:
                continue
        else:
            if (high - low) * step < APART or above < RELEASE:
                break
            u = (low * above - high * below) / (above - below)
        tally[5] += 1
        value = _excess_inside(loop, time, step, u, mode, heading, scratch)
        if value > RELEASE:
            below *= 0.5 if side == 1 else 1.0
            side = 1 if high <= 1.0 else 0
            high, above = u, value - TARGET
        else:
            above *= 0.5 if side == -1 else 1.0
            side = -1 if high <= 1.0 else 0
            low, below = u, value - TARGET
    return high


@numba.njit(**_PART)
def _excess_inside(loop, time, step, u, mode, heading, scratch):
    """Return by how much the largest share of a resting element exceeds 1 inside a step."""
    state, slope, share = scratch.spare, scratch.slopes[STAGES], scratch.shares[STAGES]
    _copy(scratch.shares[0], share)
    _state_inside(scratch.inside, u, state)
    at = _within(time + u * step, time, step)
    return _rates(loop, at, state, mode, heading, scratch, slope, share)


@numba.njit(**_PART)
def _sample(loop, time, u, mode, heading, scratch, out, slips):
    """Fill position, velocity, torque and shares inside the present step."""
    joints = scratch.torque.size
    state, slope, share = scratch.spare, scratch.slopes[STAGES], scratch.shares[STAGES]
    _state_inside(scratch.inside, u, state)
    if mode[2][1] > 0:
        _copy(scratch.shares[0], share)
        _rates(loop, time, state, mode, heading, scratch, slope, share)
        for e in range(slips.size):
            slips[e] = min(max(share[e], -1.0), 1.0)
    else:
        _actuate(loop, time, state, heading, scratch, slope)
        _copy(mode[0], slips)
    for j in range(joints):
        out[0, j] = state[j]
        out[1, j] = state[joints + j]
        out[2, j] = scratch.torque[j]


@numba.njit(**_PART)
def _until_heading_turns(loop, time, step, heading, target):
    """Return the step that ends where the friction fed forward changes its sign, if it does."""
    for e in range(heading.size):
        for part in (0.5, 1.0):
            high = part * step
            if heading[e] * _pace(loop, e, _within(time + high, time, step), target) >= 0.0:
                continue
            low = 0.0
            while high - low > 0.1 * APART:
                middle = 0.5 * (low + high)
                if heading[e] * _pace(loop, e, time + middle, target) < 0.0:
                    high = middle
                else:
                    low = middle
            if high > 2.0 * AFTER:
                step = high
                break
    return step


@numba.njit(**_OPTIONS)
def _pace(loop, e, time, target):
    """Return the velocity of a friction element of the nominal robot along the reference."""
    follow(loop.reference, time, target)
    return element_velocity(loop.nominal, e, target[1])


@numba.njit(**_PART)
def _event(loop, time, step, mode, heading, scratch, resting, tally):
    """Return the share of the step at which the first event is, 2 if there is none.

    ``resting`` gets which elements are at rest there, those that are released included.
    """
    direction = mode[0]
    joints = scratch.torque.size
    first, which = 2.0, -1
    for e in range(direction.size):
        resting[e] = direction[e] == 0.0
        if not resting[e] and _may_cross(loop.plant, e, direction[e], scratch, joints):
            u = _crossing(loop.plant, e, direction[e], scratch.inside, joints, scratch.quartic)
            if u < first:
                first, which = u, e
    if mode[2][1] > 0:
        u = _release(loop, time, step, mode, heading, scratch, first, tally)
        if u < first:
            return u
    if which >= 0:
        resting[which] = True
    return first


@numba.njit(**_OPTIONS)
def _may_cross(plant, e, sign, scratch, joints):
    """Tell from both ends of a step whether a sliding element can come to zero velocity in it."""
    moving = slice(joints, 2 * joints)
    if sign * element_velocity(plant, e, scratch.trial[moving]) < 0.0:
        return True
    begins = sign * element_velocity(plant, e, scratch.slopes[0, moving])
    ends = sign * element_velocity(plant, e, scratch.slopes[STAGES - 1, moving])
    return begins < 0.0 and ends > 0.0


@numba.njit(**_OPTIONS)
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
            start = _within(time, time, taken)
            if not _settle(loop, start, y, mode, resting, heading, scratch, tally):
                return NOT_REGULAR, time
            _first_stage(loop, start, y, mode, heading, scratch, tally)
            fresh = False
        _stages(loop, time, taken, y, mode, heading, scratch, tally)
        error = _largest_error(taken, y, scratch)
        if not cut and not error <= tolerance:
            tally[4] += 1
            if taken <= SHORTEST_STEP:
                return (TOO_SHORT if _regular(scratch.excess) else NOT_REGULAR), time
            step = taken * max(SMALLEST_FACTOR, min(1.0, SAFETY * (tolerance / error) ** 0.2))
            continue
        _prepare_inside(taken, y, scratch)
        if not cut:
            u = _event(loop, time, taken, mode, heading, scratch, resting, tally)
            step, memory = _next_step(step, taken, error / tolerance, memory)
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


@numba.njit(**_OPTIONS)
def _regular(excess):
    """Tell whether the mass matrix was positive definite at all later stages of a step."""
    regular = True
    for s in range(1, STAGES):
        regular &= not np.isnan(excess[s])
    return regular


@numba.njit(**_PART)
def _meet_event(u, taken, step, at_once):
    """Return whether the step is to be cut at an event, or begun anew, and the step after it."""
    if at_once > 0:
        return False, True, 0.25 * taken
    return u < 1.0, False, step


@numba.njit(**_PART)
def _accept(y, taken, error, scratch, tally):
    """Take the end of a step as the start of the next one."""
    tally[3] += 1
    tally[6] = max(tally[6], error)
    tally[7] = min(tally[7], taken)
    _copy(scratch.trial, y)
    _copy(scratch.slopes[STAGES - 1], scratch.slopes[0])
    _copy(scratch.shares[STAGES - 1], scratch.shares[0])
    scratch.excess[0] = scratch.excess[STAGES - 1]


@numba.njit(**_PART)
def _next_stop(stops, stop, time):
    """Return the number of the first stop that is still ahead."""
    while stop < stops.size - 1 and stops[stop] <= time + 2.0 * APART:
        stop += 1
    return stop


@numba.njit(**_PART)
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
    until = _until_heading_turns(loop, time, step, heading, target)
    return until, ends_at_stop or until < step


@numba.njit(**_PART)
def _begin(plant, y, direction, resting):
    """Fill directions and rest of the friction elements at the start."""
    joints = plant.offset.size
    for e in range(direction.size):
        velocity = element_velocity(plant, e, y[joints : 2 * joints])
        resting[e] = abs(velocity) <= AT_REST
        direction[e] = 0.0 if resting[e] else np.sign(velocity)


@numba.njit(**_PART)
def _first_stage(loop, time, y, mode, heading, scratch, tally):
    """Fill the first stage of the step that follows a start or an event."""
    tally[5] += 3
    _copy(scratch.shares[STAGES], scratch.shares[0])
    scratch.excess[0] = _rates(
        loop,
        time,
        y,
        mode,
        heading,
        scratch,
        scratch.slopes[0],
        scratch.shares[0],
    )


@numba.njit(**_OPTIONS)
def _next_step(step, taken, share, memory):
    """Return the next step and what the controller of steps remembers.

    Args:
        step: the step that was wanted.
        taken: the step that was tried, shorter where something cut it.
        share: its largest error as a share of the tolerance.
        memory: that of the step before.
    """
    share = max(share, 1e-10)
    growth = SAFETY * share**-GAIN * memory**MEMORY
    following = taken * min(max(growth, SMALLEST_FACTOR), LARGEST_FACTOR)
    if taken < step:
        following = max(following, step)
    return following, max(share, 1e-4)


@numba.njit(**_PART)
def _sample_step(loop, time, step, mode, heading, scratch, times, row, out, slips):
    """Fill the samples inside a step; return the row of the next one."""
    while row < times.size and times[row] <= time + step + APART:
        at = _within(times[row], time, step)
        u = min((times[row] - time) / step, 1.0)
        _sample(loop, at, u, mode, heading, scratch, out[row], slips[row])
        row += 1
    return row
