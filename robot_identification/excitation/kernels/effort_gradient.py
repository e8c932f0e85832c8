"""Compiled derivatives of weighted regressor entries with respect to the motion.

For link j let w, l (angular velocity and acceleration) and a (acceleration of the origin, gravity
included) be known in frame j, and let joint k, which moves the link, have the unit motion (u, v)
there.  With the inertia J, the first moments m and the mass M as weights of the ten factors, the
sum of the weighted entries of row k that belong to link j is the effort

    y = u . (J l + w x J w + m x a) + v . (M a + l x m + w x (w x m)).

With c = u x w its derivatives are

    over l:  J u + m x v,              over a:  u x m + M v,
    over w:  J c + J w x u + (w x m) x v + m x (v x w),
    over u:  J l + w x J w + m x a,    over v:  M a + l x m + w x (w x m),

and those that reach frame j pass to its antecedent by the transpose of the map that brought the
motion: y = E x gives E^T, a + l x p + w x (w x p) gives p x oa to l and the last two terms over w
above, with p and oa in the place of m and v.  Turning frame j about z changes every vector x in it
by x x z.

Samples are taken in blocks, with the samples of one quantity side by side, so that every loop over
a block has a constant length and becomes vector instructions; a block is as short as keeps its
quantities in the first-level cache.  What is read and written by one loop lies in few arrays:
compilers give up where they must compare many for overlap.
"""

from __future__ import annotations

import numpy as np

from robot_identification.compiled import IN_ANY_ORDER, compiled
from robot_identification.robot.parameters import LINK_PARAMETERS

BLOCK = 64

_OPTIONS = {"fastmath": IN_ANY_ORDER}
_PART = {**_OPTIONS, "forceinline": True}

# Rows of the motion of a link, and of the derivatives over it.
_W, _L, _A, _ONTO_W, _ONTO_L, _ONTO_A, _MOTION = 0, 3, 6, 9, 12, 15, 18
# Rows of the unit motion of a joint at a link, and of the derivatives over it.
_U, _V, _ONTO_U, _ONTO_V, _UNIT = 0, 3, 6, 9, 12
# Rows of the placement of a frame in that of its antecedent.
_E, _P, _PLACE = 0, 9, 12


@compiled(**_PART)
def _get(x, row, t):
    """Return the vector in three rows, of one sample."""
    return x[row * BLOCK + t], x[(row + 1) * BLOCK + t], x[(row + 2) * BLOCK + t]


@compiled(**_PART)
def _put(x, row, t, y):
    """Fill three rows with a vector."""
    x[row * BLOCK + t] = y[0]
    x[(row + 1) * BLOCK + t] = y[1]
    x[(row + 2) * BLOCK + t] = y[2]


@compiled(**_PART)
def _add(x, row, t, y):
    """Add a vector to three rows."""
    x[row * BLOCK + t] += y[0]
    x[(row + 1) * BLOCK + t] += y[1]
    x[(row + 2) * BLOCK + t] += y[2]


@compiled(**_PART)
def _sum(x, y):
    return x[0] + y[0], x[1] + y[1], x[2] + y[2]


@compiled(**_PART)
def _scaled(factor, x):
    return factor * x[0], factor * x[1], factor * x[2]


@compiled(**_PART)
def _dot(x, y):
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


@compiled(**_PART)
def _cross(x, y):
    return x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]


@compiled(**_PART)
def _spin(x, y):
    """Return the derivative of x . y when the frame of y turns about z: x . (y cross z)."""
    return x[0] * y[1] - x[1] * y[0]


@compiled(**_PART)
def _times(J, x):
    """Return the product with the symmetric matrix XX XY XZ YY YZ ZZ."""
    return (
        J[0] * x[0] + J[1] * x[1] + J[2] * x[2],
        J[1] * x[0] + J[3] * x[1] + J[4] * x[2],
        J[2] * x[0] + J[4] * x[1] + J[5] * x[2],
    )


@compiled(**_PART)
def _into(place, t, x):
    """Return a vector of the antecedent's frame in frame j."""
    a, b, c = _get(place, _E, t), _get(place, _E + 3, t), _get(place, _E + 6, t)
    return _dot(a, x), _dot(b, x), _dot(c, x)


@compiled(**_PART)
def _back(place, t, y):
    """Return a vector of frame j in the antecedent's frame."""
    a, b, c = _get(place, _E, t), _get(place, _E + 3, t), _get(place, _E + 6, t)
    return _sum(_sum(_scaled(y[0], a), _scaled(y[1], b)), _scaled(y[2], c))


@compiled(**_OPTIONS)
def _placed(rotation, translation, prismatic, q, cosine, sine, place):
    """Fill the placement of frame j for a block."""
    for t in range(BLOCK):
        c, s, along = cosine[t], sine[t], 0.0
        if prismatic:
            c, s, along = 1.0, 0.0, q[t]
        for i in range(3):
            x, y, z = rotation[i, 0], rotation[i, 1], rotation[i, 2]
            place[(_E + i) * BLOCK + t] = c * x + s * y
            place[(_E + 3 + i) * BLOCK + t] = c * y - s * x
            place[(_E + 6 + i) * BLOCK + t] = z
            place[(_P + i) * BLOCK + t] = translation[i] + along * z


@compiled(**_OPTIONS)
def _carried(place, before, motion):
    """Fill the motion of frame j as the antecedent's motion ``before`` moves it."""
    for t in range(BLOCK):
        p = _get(place, _P, t)
        w, dw, a = _get(before, _W, t), _get(before, _L, t), _get(before, _A, t)
        a = _sum(a, _sum(_cross(dw, p), _cross(w, _cross(w, p))))
        _put(motion, _W, t, _into(place, t, w))
        _put(motion, _L, t, _into(place, t, dw))
        _put(motion, _A, t, _into(place, t, a))


@compiled(**_OPTIONS)
def _joined(prismatic, qd, qdd, motion):
    """Add the joint's own motion about or along z."""
    if prismatic:
        for t in range(BLOCK):
            w = _get(motion, _W, t)
            _add(motion, _A, t, (2.0 * w[1] * qd[t], -2.0 * w[0] * qd[t], qdd[t]))
    else:
        for t in range(BLOCK):
            w = _get(motion, _W, t)
            _add(motion, _L, t, (w[1] * qd[t], -w[0] * qd[t], qdd[t]))
            motion[(_W + 2) * BLOCK + t] += qd[t]


@compiled(**_OPTIONS)
def _unit_carried(place, before, unit):
    """Fill a unit motion seen at and in frame j, from the antecedent's."""
    for t in range(BLOCK):
        u, v = _get(before, _U, t), _get(before, _V, t)
        v = _sum(v, _cross(u, _get(place, _P, t)))
        _put(unit, _U, t, _into(place, t, u))
        _put(unit, _V, t, _into(place, t, v))


@compiled(**_PART)
def _link_of(weights, t):
    """Return J, m and M of one sample."""
    J = (
        weights[t],
        weights[BLOCK + t],
        weights[2 * BLOCK + t],
        weights[3 * BLOCK + t],
        weights[4 * BLOCK + t],
        weights[5 * BLOCK + t],
    )
    return J, _get(weights, 6, t), weights[9 * BLOCK + t]


@compiled(**_OPTIONS)
def _onto_motion(weights, unit, motion):
    """Add the derivatives of the effort over the motion of the link."""
    for t in range(BLOCK):
        J, m, mass = _link_of(weights, t)
        w, u, v = _get(motion, _W, t), _get(unit, _U, t), _get(unit, _V, t)
        turning = _sum(_times(J, _cross(u, w)), _cross(_times(J, w), u))
        swinging = _sum(_cross(_cross(w, m), v), _cross(m, _cross(v, w)))
        _add(motion, _ONTO_W, t, _sum(turning, swinging))
        _add(motion, _ONTO_L, t, _sum(_times(J, u), _cross(m, v)))
        _add(motion, _ONTO_A, t, _sum(_cross(u, m), _scaled(mass, v)))


@compiled(**_OPTIONS)
def _onto_unit(weights, motion, unit):
    """Add the derivatives of the effort over the unit motion: moment and force of the link."""
    for t in range(BLOCK):
        J, m, mass = _link_of(weights, t)
        w, dw, a = _get(motion, _W, t), _get(motion, _L, t), _get(motion, _A, t)
        moment = _sum(_times(J, dw), _cross(w, _times(J, w)))
        _add(unit, _ONTO_U, t, _sum(moment, _cross(m, a)))
        force = _sum(_cross(dw, m), _cross(w, _cross(w, m)))
        _add(unit, _ONTO_V, t, _sum(force, _scaled(mass, a)))


@compiled(**_OPTIONS)
def _leave_joint(prismatic, qd, motion, slope_q, slope_qd, slope_qdd):
    """Collect the derivatives over the joint's own motion, as far as the link's motion goes."""
    for t in range(BLOCK):
        w, dw, a = _get(motion, _W, t), _get(motion, _L, t), _get(motion, _A, t)
        ow, ol, oa = (
            _get(motion, _ONTO_W, t), _get(motion, _ONTO_L, t), _get(motion, _ONTO_A, t),
        )  # fmt: skip
        if prismatic:
            along = (w[0] * w[2] + dw[1], w[1] * w[2] - dw[0], -w[0] * w[0] - w[1] * w[1])
            slope_q[t] = _dot(oa, along)
            slope_qd[t] = 2.0 * _spin(oa, w)
            slope_qdd[t] = oa[2]
            _add(motion, _ONTO_W, t, (-2.0 * oa[1] * qd[t], 2.0 * oa[0] * qd[t], 0.0))
        else:
            slope_q[t] = _spin(ow, w) + _spin(ol, dw) + _spin(oa, a)
            slope_qd[t] = ow[2] + _spin(ol, w)
            slope_qdd[t] = ol[2]
            _add(motion, _ONTO_W, t, (-ol[1] * qd[t], ol[0] * qd[t], 0.0))


@compiled(**_OPTIONS)
def _motion_back(place, motion, before):
    """Pass the derivatives over the motion of frame j to the motion of its antecedent."""
    for t in range(BLOCK):
        p, w = _get(place, _P, t), _get(before, _W, t)
        oa = _back(place, t, _get(motion, _ONTO_A, t))
        swinging = _sum(_cross(_cross(w, p), oa), _cross(p, _cross(oa, w)))
        _add(before, _ONTO_W, t, _sum(_back(place, t, _get(motion, _ONTO_W, t)), swinging))
        _add(before, _ONTO_L, t, _sum(_back(place, t, _get(motion, _ONTO_L, t)), _cross(p, oa)))
        _add(before, _ONTO_A, t, oa)


@compiled(**_OPTIONS)
def _unit_back(prismatic, place, unit, before, slope_q):
    """Pass the derivatives over a unit motion at frame j to its antecedent, and to the joint."""
    for t in range(BLOCK):
        u, v = _get(unit, _U, t), _get(unit, _V, t)
        ou, ov = _get(unit, _ONTO_U, t), _get(unit, _ONTO_V, t)
        slope_q[t] += _spin(ov, u) if prismatic else _spin(ou, u) + _spin(ov, v)
        force = _back(place, t, ov)
        _add(before, _ONTO_V, t, force)
        _add(before, _ONTO_U, t, _sum(_back(place, t, ou), _cross(_get(place, _P, t), force)))


@compiled(**_OPTIONS)
def _forward(tree, q, qd, qdd, cosine, sine, places, motions, units):
    """Fill placements, motions and unit motions of all links, derivatives over them with zero."""
    for j in range(tree.antecedent.size):
        parent = tree.antecedent[j]
        _placed(
            tree.rotation[j], tree.translation[j], tree.prismatic[j], q[j], cosine[j], sine[j],
            places[j],
        )  # fmt: skip
        motions[j] = 0.0
        _carried(places[j], motions[parent], motions[j])  # the last one is that of the base
        _joined(tree.prismatic[j], qd[j], qdd[j], motions[j])
        axis = _V + 2 if tree.prismatic[j] else _U + 2
        units[j, j] = 0.0
        units[j, j, axis * BLOCK : (axis + 1) * BLOCK] = 1.0
        k = parent
        while k >= 0:
            units[j, k, _ONTO_U * BLOCK :] = 0.0
            _unit_carried(places[j], units[parent, k], units[j, k])
            k = tree.antecedent[k]


@compiled(**_OPTIONS)
def _backward(tree, slots, slope, start, count, qd, places, motions, units, weights, onto):
    """Collect the derivatives of one block from the tips to the base."""
    per_joint = LINK_PARAMETERS + tree.terms.size
    for j in range(tree.antecedent.size - 1, -1, -1):
        parent = tree.antecedent[j]
        k = j
        while k >= 0:
            for i in range(LINK_PARAMETERS):
                row = slots[k, j * per_joint + i]
                for t in range(count):
                    weights[i * BLOCK + t] = slope[row, start + t] if row >= 0 else 0.0
            _onto_motion(weights, units[j, k], motions[j])
            if k != j:
                _onto_unit(weights, motions[j], units[j, k])
            k = tree.antecedent[k]
        _leave_joint(tree.prismatic[j], qd[j], motions[j], onto[0, j], onto[1, j], onto[2, j])
        k = parent
        while k >= 0:
            _unit_back(tree.prismatic[j], places[j], units[j, k], units[parent, k], onto[0, j])
            k = tree.antecedent[k]
        if parent >= 0:
            _motion_back(places[j], motions[j], motions[parent])


@compiled(**_OPTIONS)
def effort_gradients(tree, slots, q, qd, qdd, cosine, sine, slope, out):
    """Fill the derivatives of the weighted sum of the inertial entries of a regressor.

    Args:
        tree: kinematic tree.
        slots: (joints, full columns) row of ``slope`` that holds the weights of the entry of
            joint k and a column of the full regressor; -1 where there is none.
        q: (joints, samples) positions, each joint's samples side by side.
        qd: (joints, samples) velocities.
        qdd: (joints, samples) accelerations.
        cosine: (joints, samples) of q.
        sine: (joints, samples) of q.
        slope: (rows, samples) weights.
        out: (3, joints, samples) takes the derivatives over q, qd and qdd.
    """
    joints, samples = q.shape
    signals = np.zeros((5, joints, BLOCK))
    places = np.empty((joints, _PLACE * BLOCK))
    motions = np.zeros((joints + 1, _MOTION * BLOCK))
    for i in range(3):
        motions[joints, (_A + i) * BLOCK : (_A + i + 1) * BLOCK] = -tree.gravity[i]
    units = np.empty((joints, joints, _UNIT * BLOCK))
    weights = np.zeros(LINK_PARAMETERS * BLOCK)
    onto = np.empty((3, joints, BLOCK))
    for start in range(0, samples, BLOCK):
        count = min(BLOCK, samples - start)
        for j in range(joints):
            for t in range(count):
                signals[0, j, t] = q[j, start + t]
                signals[1, j, t] = qd[j, start + t]
                signals[2, j, t] = qdd[j, start + t]
                signals[3, j, t] = cosine[j, start + t]
                signals[4, j, t] = sine[j, start + t]
        _forward(
            tree, signals[0], signals[1], signals[2], signals[3], signals[4], places, motions,
            units,
        )  # fmt: skip
        _backward(
            tree, slots, slope, start, count, signals[1], places, motions, units, weights, onto
        )
        for i in range(3):
            for j in range(joints):
                for t in range(count):
                    out[i, j, start + t] = onto[i, j, t]
