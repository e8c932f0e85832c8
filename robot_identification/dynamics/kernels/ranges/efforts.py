"""Compiled efforts of cells of motions, as affine forms: recursive Newton-Euler.

Let w, dw (angular velocity and acceleration) and a (acceleration of the origin, gravity included)
of link j be known in frame j.  With its inertia J, first moments m and mass M and

    O = S(dw) + S(w) S(w) = S(dw) + w w^T - w.w 1

the force and moment that move it are f = M a + O m and n = J dw + w x J w + m x a, and a point p
has the acceleration a + O p (Khalil and Dombre 2002, ch. 9).  Only the products w_i w_j enter, each
of which is formed once: forms of products lose what is of second order.

What bodies, drive inertias and springs between links ask for is kept by itself: friction that
follows the load follows that.
"""

from __future__ import annotations

from robot_identification.compiled import compiled
from robot_identification.dynamics.kernels.ranges.affine import (
    FORM,
    LANES,
    PART,
    constant,
    cross,
    dot,
    get,
    get3,
    minus,
    plus,
    plus3,
    product,
    put,
    put3,
    scaled,
    times,
    turn,
    turned,
)
from robot_identification.dynamics.kernels.ranges.springs import add_springs
from robot_identification.dynamics.kernels.ranges.terms import (
    LOADED,
    QD,
    QDD,
    WEIGHT,
    Q,
    add_couplings,
    add_terms,
    combined,
)
from robot_identification.dynamics.kernels.terms import ACCELERATION, GRAVITY_LOAD
from robot_identification.robot.parameters import LINK_PARAMETERS

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
        f = product(r, turned(c, s, f))
        put3(before, _F, t, plus3(get3(before, _F, t), f))
        put3(before, _N, t, plus3(get3(before, _N, t), cross(p, f)))
    for t in range(LANES):
        c, s = get(link, _TURN, t), get(link, _TURN + 1, t)
        n = get3(link, _N, t)
        put3(before, _N, t, plus3(get3(before, _N, t), product(r, turned(c, s, n))))


@compiled(**_OPTIONS)
def _slide_back(r, p, state, link, before):
    """Add the force and moment of a link whose joint slides to those of its antecedent."""
    for t in range(LANES):
        f = product(r, get3(link, _F, t))
        q, arm = get(state, Q, t), cross((r[0, 2], r[1, 2], r[2, 2]), f)
        moved = times(q, arm[0]), times(q, arm[1]), times(q, arm[2])
        put3(before, _F, t, plus3(get3(before, _F, t), f))
        put3(before, _N, t, plus3(get3(before, _N, t), plus3(cross(p, f), moved)))
    for t in range(LANES):
        n = product(r, get3(link, _N, t))
        put3(before, _N, t, plus3(get3(before, _N, t), n))


@compiled(**_OPTIONS)
def _add_drives(tree, coupling, values, states, efforts):
    """Add to the loads of joints what drive inertias ask for, those of couplings too."""
    per_joint = LINK_PARAMETERS + tree.terms.size
    for j in range(states.shape[0]):
        for i in range(tree.terms.size):
            if tree.terms[i] == ACCELERATION:
                own = values[j * per_joint + LINK_PARAMETERS + i]
                for t in range(LANES):
                    y = scaled(own, get(states[j], QDD, t))
                    put(efforts[j], LOADED, t, plus(get(efforts[j], LOADED, t), y))
    for i in range(coupling.joint.size):
        if coupling.kind[i] == ACCELERATION:
            gain = coupling.gain[i] * values[coupling.column[i]]
            own = efforts[coupling.joint[i]]
            for t in range(LANES):
                y = scaled(gain, combined(coupling.motion[i], QDD, states, t))
                put(own, LOADED, t, plus(get(own, LOADED, t), y))


@compiled(**_OPTIONS)
def workspace_size():
    """Return how many numbers a link takes."""
    return _LINK * FORM * LANES


@compiled(**_OPTIONS)
def _carry(tree, values, states, links, efforts, form):
    """Fill a form of the joints with what bodies ask for."""
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
        place, point = _F + 2 if tree.prismatic[j] else _N + 2, (p[0], p[1], p[2])
        for t in range(LANES):
            put(efforts[j], form, t, get(link, place, t))
        if tree.prismatic[j]:
            _slide_back(r, point, states[j], link, before)
        else:
            _turn_back(r, point, link, before)


@compiled(**_OPTIONS)
def _follows_weight(tree, values):
    """Tell whether friction of a joint follows its weight."""
    per_joint = LINK_PARAMETERS + tree.terms.size
    for i in range(tree.terms.size):
        if tree.terms[i] == GRAVITY_LOAD:
            for j in range(tree.antecedent.size):
                if values[j * per_joint + LINK_PARAMETERS + i] != 0.0:
                    return True
    return False


@compiled(**_OPTIONS)
def efforts_of(robot, states, still, links, efforts, held):
    """Fill the efforts of a block of cells.

    Args:
        robot: kinematic tree, coupling terms, springs between links, and (full columns,) standard
            parameters.
        states: (joints, STATE * FORM * LANES) forms of the joints.
        still: the same with zeros, for the states at rest.
        links: (joints + 1, LINK * FORM * LANES) workspace; the last row is the base.
        efforts: (joints, ACTING * FORM * LANES) result, first the efforts, in N m or N.
        held: (joints, LANES) friction at rest, which may act either way, besides.
    """
    tree, coupling, springs, values = robot
    if _follows_weight(tree, values):
        for j in range(states.shape[0]):
            for t in range(LANES):
                put(still[j], Q, t, get(states[j], Q, t))
        _carry(tree, values, still, links, efforts, WEIGHT)
    _carry(tree, values, states, links, efforts, LOADED)
    add_springs(tree, springs, states, links, _TURN, efforts)
    _add_drives(tree, coupling, values, states, efforts)
    per_joint = LINK_PARAMETERS + tree.terms.size
    for j in range(states.shape[0]):
        first = j * per_joint + LINK_PARAMETERS
        own = values[first : first + tree.terms.size]
        add_terms(tree.terms, tree.shapes[j], own, states[j], efforts[j], held[j])
    add_couplings(coupling, values, states, efforts, held)
