"""Compiled efforts of cells of motions, as affine forms: recursive Newton-Euler.

Let w, dw (angular velocity and acceleration) and a (acceleration of the origin, gravity included)
of link j be known in frame j.  With its inertia J, first moments m and mass M and

    O = S(dw) + S(w) S(w) = S(dw) + w w^T - w.w 1

the force and moment that move it are f = M a + O m and n = J dw + w x J w + m x a, and a point p
has the acceleration a + O p (Khalil and Dombre 2002, ch. 9).  Only the products w_i w_j enter, each
of which is formed once: forms of products lose what is of second order.
"""

from __future__ import annotations

from robot_identification.compiled import compiled
from robot_identification.dynamics.kernels.affine import (
    FORM,
    LANES,
    PART,
    between,
    constant,
    cross,
    dot,
    get,
    get3,
    minus,
    plus,
    plus3,
    put,
    put3,
    radius,
    scaled,
    times,
    turn,
)
from robot_identification.dynamics.kernels.terms import ACCELERATION, COULOMB, ONE, VISCOUS
from robot_identification.robot.parameters import LINK_PARAMETERS

Q, RATE, QD, QDD, SIGN, STATE = 0, 1, 2, 3, 4, 5
"""Forms of a joint: position, velocity over speed, velocity, acceleration, sign of velocity."""

# Forms of a link: angular velocity, angular acceleration, acceleration, products of the first in
# the order XX XY XZ YY YZ ZZ, force and moment, cosine and sine of its joint.
_W, _L, _A, _WW, _F, _N, _TURN, _LINK = 0, 3, 6, 9, 15, 18, 21, 23

_OPTIONS = {**PART, "forceinline": False}


@compiled(**PART)
def _into(r, c, s, x):
    """Return a vector of the antecedent's frame in the frame of a joint that has turned."""
    y0 = dot((r[0, 0], r[1, 0], r[2, 0]), x)
    y1 = dot((r[0, 1], r[1, 1], r[2, 1]), x)
    y2 = dot((r[0, 2], r[1, 2], r[2, 2]), x)
    return plus(times(c, y0), times(s, y1)), minus(times(c, y1), times(s, y0)), y2


@compiled(**PART)
def _straight_into(r, x):
    """Return a vector of the antecedent's frame in the frame of a joint that does not turn."""
    return (
        dot((r[0, 0], r[1, 0], r[2, 0]), x),
        dot((r[0, 1], r[1, 1], r[2, 1]), x),
        dot((r[0, 2], r[1, 2], r[2, 2]), x),
    )


@compiled(**PART)
def _straight_back(r, x):
    """Return a vector of the frame of a joint that does not turn in the antecedent's frame."""
    return (
        dot((r[0, 0], r[0, 1], r[0, 2]), x),
        dot((r[1, 0], r[1, 1], r[1, 2]), x),
        dot((r[2, 0], r[2, 1], r[2, 2]), x),
    )


@compiled(**PART)
def _swung(x, dw, ww, p):
    """Return x + O p for a point of numbers."""
    a0 = dot((p[0], p[1], p[2]), (scaled(-1.0, plus(ww[3], ww[5])), ww[1], ww[2]))
    a1 = dot((p[0], p[1], p[2]), (ww[1], scaled(-1.0, plus(ww[0], ww[5])), ww[4]))
    a2 = dot((p[0], p[1], p[2]), (ww[2], ww[4], scaled(-1.0, plus(ww[0], ww[3]))))
    swing = cross((-p[0], -p[1], -p[2]), dw)  # dw x p
    return plus3(x, plus3((a0, a1, a2), swing))


@compiled(**PART)
def _products(link, t):
    """Return the six products of the angular velocity."""
    return (
        get(link, _WW, t), get(link, _WW + 1, t), get(link, _WW + 2, t),
        get(link, _WW + 3, t), get(link, _WW + 4, t), get(link, _WW + 5, t),
    )  # fmt: skip


@compiled(**_OPTIONS)
def _turn(r, p, state, before, link):
    """Fill the motion of a link whose joint turns, from that of its antecedent."""
    for t in range(LANES):
        c, s = turn(get(state, Q, t))
        put(link, _TURN, t, c)
        put(link, _TURN + 1, t, s)
        put3(link, _W, t, _into(r, c, s, get3(before, _W, t)))
    for t in range(LANES):
        c, s = get(link, _TURN, t), get(link, _TURN + 1, t)
        put3(link, _L, t, _into(r, c, s, get3(before, _L, t)))
    for t in range(LANES):
        c, s = get(link, _TURN, t), get(link, _TURN + 1, t)
        a = _swung(get3(before, _A, t), get3(before, _L, t), _products(before, t), p)
        put3(link, _A, t, _into(r, c, s, a))
    for t in range(LANES):
        w, dw, qd = get3(link, _W, t), get3(link, _L, t), get(state, QD, t)
        put(link, _W + 2, t, plus(w[2], qd))
        put(link, _L, t, plus(dw[0], times(w[1], qd)))
        put(link, _L + 1, t, minus(dw[1], times(w[0], qd)))
        put(link, _L + 2, t, plus(dw[2], get(state, QDD, t)))


@compiled(**_OPTIONS)
def _slide(r, p, state, before, link):
    """Fill the motion of a link whose joint slides, from that of its antecedent."""
    zero = (constant(0.0), constant(0.0), constant(0.0))
    for t in range(LANES):
        put3(link, _W, t, _straight_into(r, get3(before, _W, t)))
        put3(link, _L, t, _straight_into(r, get3(before, _L, t)))
    for t in range(LANES):
        dw, ww, q = get3(before, _L, t), _products(before, t), get(state, Q, t)
        a = _swung(get3(before, _A, t), dw, ww, p)
        further = _swung(zero, dw, ww, (r[0, 2], r[1, 2], r[2, 2]))
        a = plus3(a, (times(q, further[0]), times(q, further[1]), times(q, further[2])))
        put3(link, _A, t, _straight_into(r, a))
    for t in range(LANES):
        a, qd = get3(link, _A, t), get(state, QD, t)
        put(link, _A, t, plus(a[0], scaled(2.0, times(get(link, _W + 1, t), qd))))
        put(link, _A + 1, t, minus(a[1], scaled(2.0, times(get(link, _W, t), qd))))
        put(link, _A + 2, t, plus(a[2], get(state, QDD, t)))


@compiled(**_OPTIONS)
def _load(own, link):
    """Fill the products of the angular velocity, and force and moment that move the link."""
    J, m = own[:6], (own[6], own[7], own[8])
    for t in range(LANES):
        w = get3(link, _W, t)
        put(link, _WW, t, times(w[0], w[0]))
        put(link, _WW + 1, t, times(w[0], w[1]))
        put(link, _WW + 2, t, times(w[0], w[2]))
        put(link, _WW + 3, t, times(w[1], w[1]))
        put(link, _WW + 4, t, times(w[1], w[2]))
        put(link, _WW + 5, t, times(w[2], w[2]))
    for t in range(LANES):
        dw, a, ww = get3(link, _L, t), get3(link, _A, t), _products(link, t)
        ma = (scaled(own[9], a[0]), scaled(own[9], a[1]), scaled(own[9], a[2]))
        put3(link, _F, t, _swung(ma, dw, ww, m))
    for t in range(LANES):
        dw, a, ww = get3(link, _L, t), get3(link, _A, t), _products(link, t)
        n0 = dot((J[0], J[1], J[2]), dw)
        n1 = dot((J[1], J[3], J[4]), dw)
        n2 = dot((J[2], J[4], J[5]), dw)
        # w x J w
        n0 = plus(n0, plus(scaled(J[2], ww[1]), scaled(-J[1], ww[2])))
        n0 = plus(n0, plus(scaled(J[4], minus(ww[3], ww[5])), scaled(J[5] - J[3], ww[4])))
        n1 = plus(n1, plus(scaled(J[1], ww[4]), scaled(-J[4], ww[1])))
        n1 = plus(n1, plus(scaled(J[2], minus(ww[5], ww[0])), scaled(J[0] - J[5], ww[2])))
        n2 = plus(n2, plus(scaled(J[4], ww[2]), scaled(-J[2], ww[4])))
        n2 = plus(n2, plus(scaled(J[1], minus(ww[0], ww[3])), scaled(J[3] - J[0], ww[1])))
        put3(link, _N, t, plus3((n0, n1, n2), cross(m, a)))


@compiled(**_OPTIONS)
def _turn_back(r, p, link, before):
    """Add the force and moment of a link whose joint turns to those of its antecedent."""
    for t in range(LANES):
        c, s = get(link, _TURN, t), get(link, _TURN + 1, t)
        f = get3(link, _F, t)
        f = minus(times(c, f[0]), times(s, f[1])), plus(times(s, f[0]), times(c, f[1])), f[2]
        f = _straight_back(r, f)
        put3(before, _F, t, plus3(get3(before, _F, t), f))
        put3(before, _N, t, plus3(get3(before, _N, t), cross(p, f)))
    for t in range(LANES):
        c, s = get(link, _TURN, t), get(link, _TURN + 1, t)
        n = get3(link, _N, t)
        n = minus(times(c, n[0]), times(s, n[1])), plus(times(s, n[0]), times(c, n[1])), n[2]
        put3(before, _N, t, plus3(get3(before, _N, t), _straight_back(r, n)))


@compiled(**_OPTIONS)
def _slide_back(r, p, state, link, before):
    """Add the force and moment of a link whose joint slides to those of its antecedent."""
    for t in range(LANES):
        f = _straight_back(r, get3(link, _F, t))
        q, arm = get(state, Q, t), cross((r[0, 2], r[1, 2], r[2, 2]), f)
        moved = times(q, arm[0]), times(q, arm[1]), times(q, arm[2])
        put3(before, _F, t, plus3(get3(before, _F, t), f))
        put3(before, _N, t, plus3(get3(before, _N, t), plus3(cross(p, f), moved)))
    for t in range(LANES):
        n = _straight_back(r, get3(link, _N, t))
        put3(before, _N, t, plus3(get3(before, _N, t), n))


@compiled(**PART)
def sign(x):
    """Return what the sign of a form can be; at zero it can be any."""
    reach = radius(x)
    if x[0] - reach > 0.0:
        return constant(1.0)
    return constant(-1.0) if x[0] + reach < 0.0 else between(-1.0, 1.0)


@compiled(**PART)
def _rests(x):
    """Tell whether a velocity is zero throughout."""
    return x[0] == 0.0 and radius(x) == 0.0


@compiled(**PART)
def _powered(x, sign_of_x, power):
    """Return sign(v) |v|^p of a velocity for p = 2, 3 and so on."""
    magnitude, y = times(sign_of_x, x), x
    for _ in range(power - 1):
        y = times(y, magnitude)
    return y


@compiled(**_OPTIONS)
def _drive(codes, own, place, state, link, effort, held):
    """Fill the effort of a joint but for couplings.

    Args:
        codes: (terms,) what the terms of the joint multiply.
        own: (terms,) their parameters.
        place: that of the joint's component among the forms of the link.
        state: forms of the joint.
        link: forms of the link.
        effort: (FORM * LANES,) result.
        held: (LANES,) friction at rest.
    """
    for t in range(LANES):
        held[t] = 0.0
        put(effort, 0, t, get(link, place, t))
    for i in range(codes.size):
        for t in range(LANES):
            y = get(effort, 0, t)
            if codes[i] == ONE:
                y = y[0] + own[i], y[1], y[2], y[3], y[4], y[5]
            elif codes[i] == ACCELERATION:
                y = plus(y, scaled(own[i], get(state, QDD, t)))
            elif codes[i] == VISCOUS:
                y = plus(y, scaled(own[i], get(state, QD, t)))
            elif codes[i] != COULOMB:
                x = _powered(get(state, QD, t), get(state, SIGN, t), codes[i])
                y = plus(y, scaled(own[i], x))
            elif _rests(get(state, RATE, t)):
                held[t] += abs(own[i])
            else:
                y = plus(y, scaled(own[i], get(state, SIGN, t)))
            put(effort, 0, t, y)


@compiled(**_OPTIONS)
def _couple(coupling, values, states, efforts, held):
    """Add the contributions of couplings to the efforts of joints."""
    joints = states.shape[0]
    for i in range(coupling.joint.size):
        gain = coupling.gain[i] * values[coupling.column[i]]
        kind = coupling.kind[i]
        which = QDD if kind == ACCELERATION else (RATE if kind == COULOMB else QD)
        for t in range(LANES):
            total = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
            for j in range(joints):
                if coupling.motion[i, j] != 0.0:
                    total = plus(total, scaled(coupling.motion[i, j], get(states[j], which, t)))
            own = efforts[coupling.joint[i]]
            if kind == COULOMB:
                if _rests(total):
                    held[coupling.joint[i], t] += abs(gain)
                    continue
                total = sign(total)
            elif kind > VISCOUS:
                total = _powered(total, sign(total), kind)
            put(own, 0, t, plus(get(own, 0, t), scaled(gain, total)))


@compiled(**_OPTIONS)
def workspace_size():
    """Return how many numbers a link takes."""
    return _LINK * FORM * LANES


@compiled(**_OPTIONS)
def efforts_of(tree, coupling, values, states, links, efforts, held):
    """Fill the efforts of a block of cells.

    Args:
        tree: kinematic tree.
        coupling: coupling terms.
        values: (full columns,) standard parameters.
        states: (joints, STATE * FORM * LANES) forms of the joints.
        links: (joints + 1, LINK * FORM * LANES) workspace; the last row is the base.
        efforts: (joints, FORM * LANES) result, in N m or N.
        held: (joints, LANES) friction at rest, which may act either way, besides.
    """
    joints, per_joint = states.shape[0], LINK_PARAMETERS + tree.terms.size
    links[joints] = 0.0
    for axis in range(3):
        first = (_A + axis) * FORM * LANES
        links[joints, first : first + LANES] = -tree.gravity[axis]
    for j in range(joints):
        parent = tree.antecedent[j] if tree.antecedent[j] >= 0 else joints
        r, p, before, link = tree.rotation[j], tree.translation[j], links[parent], links[j]
        point = p[0], p[1], p[2]
        if tree.prismatic[j]:
            _slide(r, point, states[j], before, link)
        else:
            _turn(r, point, states[j], before, link)
        _load(values[j * per_joint : j * per_joint + LINK_PARAMETERS], link)
    for j in range(joints - 1, -1, -1):
        parent = tree.antecedent[j] if tree.antecedent[j] >= 0 else joints
        r, p, before, link = tree.rotation[j], tree.translation[j], links[parent], links[j]
        first, point = j * per_joint + LINK_PARAMETERS, (p[0], p[1], p[2])
        own = values[first : first + tree.terms.size]
        if tree.prismatic[j]:
            _drive(tree.terms, own, _F + 2, states[j], link, efforts[j], held[j])
            _slide_back(r, point, states[j], link, before)
        else:
            _drive(tree.terms, own, _N + 2, states[j], link, efforts[j], held[j])
            _turn_back(r, point, link, before)
    _couple(coupling, values, states, efforts, held)
