"""Compiled mass matrix and bias of one state, all joints side by side.

Every vector and tensor is given along the axes of the base.  Then bodies and wrenches of links add
up without being turned, and most formulas are those of every joint by itself: they run over
the joints as vector instructions do, eight at a time.  Only four passes follow the tree: frames
and angular velocities, accelerations, bodies with wrenches, and the entries of the mass matrix.

Link j has the mass M, first moments m and inertia J at the origin of its frame.  Moved by w, l
(angular velocity and acceleration) and a (acceleration of the origin, gravity included) it needs

    f = M a + l x m + w x (w x m),    n = J l + w x J w + m x a.

About a point O, from which the origin of the frame lies at r, these are f and n + r x f, and

    M,    m + M r,    J + (2 r.m + M r.r) 1 - (r m^T + m r^T) - M r r^T;

sums over the links that joint j carries give its composite body M, m, J and wrench f, n.  Joint j
moves what it carries by the angular velocity u and by the velocity v of what is at O: (z, r x z)
for a revolute joint, (0, z) for a prismatic one.  At rate 1 the composite body has the momentum

    h = M v + u x m,    g = J u + m x v,

so that for joint k on the way from the base to joint j

    mass[j, k] = v_k . h_j + u_k . g_j,    bias[j] = v_j . f_j + u_j . n_j

and viscous friction and offset (R. Featherstone, "Rigid body dynamics algorithms", 2008, ch. 2 and
6, with one point for all joints).  O is the origin of the last frame: the light links of an arm are
near it, so that nothing large cancels in their inertias.
"""

from __future__ import annotations

import numpy as np

from robot_identification.compiled import BARE, INLINED, compiled
from robot_identification.dynamics.kernels.frames import sine_and_cosine
from robot_identification.dynamics.tree import Floats, Tree

LANES = 8
"""Joints side by side in a block; a constant makes loops over them vector instructions."""

# Places of quantities in a block: a row of LANES for each of their components.
ROTATION = 0  # constant orientation in the antecedent, 9
TRANSLATION = 9 * LANES  # constant origin in the antecedent, 3
TURNS = 12 * LANES  # 1 for a revolute joint, 0 for a prismatic one
SLIDES = 13 * LANES  # 0 for a revolute joint, 1 for a prismatic one
LINK = 14 * LANES  # XX XY XZ YY YZ ZZ MX MY MZ M in its own frame, 10
CARRIED = 24 * LANES  # mass that the joint carries
DRIVE = 25 * LANES  # drive inertia of the joint itself
VISCOUS = 26 * LANES  # viscous friction of the joint itself
OFFSET = 27 * LANES  # constant effort
POSITION = 28 * LANES
RATE = 29 * LANES
LOCAL = 30 * LANES  # orientation in the antecedent, 9
STEP = 39 * LANES  # origin in the antecedent, 3
FRAME = 42 * LANES  # orientation in the base, 9
ORIGIN = 51 * LANES  # origin in the base, 3
ARM = 54 * LANES  # origin from that of the antecedent, 3
W = 57 * LANES  # angular velocity, 3
L = 60 * LANES  # angular acceleration, 3
A = 63 * LANES  # acceleration of the origin, 3
BODY = 66 * LANES  # m and J about O, 9
WRENCH = 75 * LANES  # f and n about O, 6
U = 81 * LANES  # what the joint moves: angular velocity, 3
V = 84 * LANES  # and velocity at O, 3
H = 87 * LANES  # momentum of the composite body, 3
G = 90 * LANES  # and angular momentum about O, 3
BIAS = 93 * LANES
ENTRIES = 94 * LANES  # entries of the mass matrix
BLOCK = 95 * LANES


@compiled(**INLINED)
def _cross(a0, a1, a2, b0, b1, b2):
    return a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0


@compiled(**INLINED)
def _vector(x, at):
    return x[at], x[at + LANES], x[at + 2 * LANES]


@compiled(**INLINED)
def _put(x, at, a, b, c):
    x[at] = a
    x[at + LANES] = b
    x[at + 2 * LANES] = c


@compiled(**INLINED)
def _tensor(x, at):
    """Return XX XY XZ YY YZ ZZ."""
    return (
        x[at], x[at + LANES], x[at + 2 * LANES],
        x[at + 3 * LANES], x[at + 4 * LANES], x[at + 5 * LANES],
    )  # fmt: skip


@compiled(**INLINED)
def _times(xx, xy, xz, yy, yz, zz, a, b, c):
    """Return a symmetric tensor times a vector."""
    return xx * a + xy * b + xz * c, xy * a + yy * b + yz * c, xz * a + yz * b + zz * c


@compiled(**INLINED)
def _move_joints(x):
    """Fill the placement of every joint in its antecedent."""
    for t in range(LANES):
        s, c = sine_and_cosine(x[POSITION + t] * x[TURNS + t])
        slide = x[POSITION + t] * x[SLIDES + t]
        for i in range(3):
            row = 3 * i * LANES + t
            a, b, z = _vector(x, ROTATION + row)
            _put(x, LOCAL + row, c * a + s * b, c * b - s * a, z)
            place = i * LANES + t
            x[STEP + place] = x[TRANSLATION + place] + z * slide


@compiled(**INLINED)
def _place_link(own, its):
    """Fill orientation, origin and angular velocity of a link from those of its antecedent."""
    turning = own[RATE] * own[TURNS]
    for i in range(3):
        row, place = 3 * i * LANES, i * LANES
        a, b, c = _vector(its, FRAME + row)
        along = a * own[LOCAL + 2 * LANES] + b * own[LOCAL + 5 * LANES] + c * own[LOCAL + 8 * LANES]
        arm = a * own[STEP] + b * own[STEP + LANES] + c * own[STEP + 2 * LANES]
        _put(
            own,
            FRAME + row,
            a * own[LOCAL] + b * own[LOCAL + 3 * LANES] + c * own[LOCAL + 6 * LANES],
            a * own[LOCAL + LANES] + b * own[LOCAL + 4 * LANES] + c * own[LOCAL + 7 * LANES],
            along,
        )
        own[ARM + place] = arm
        own[ORIGIN + place] = its[ORIGIN + place] + arm
        own[W + place] = its[W + place] + along * turning


@compiled(**INLINED)
def _velocity_terms(x):
    """Fill what the rates add to the accelerations l and a of each antecedent.

    With w of the antecedent, l grows by w x z qd or a by twice that, and a by w x (w x arm).
    """
    for t in range(LANES):
        z0, z1, z2 = x[FRAME + 2 * LANES + t], x[FRAME + 5 * LANES + t], x[FRAME + 8 * LANES + t]
        turning, sliding = x[RATE + t] * x[TURNS + t], 2.0 * x[RATE + t] * x[SLIDES + t]
        w0, w1, w2 = _vector(x, W + t)
        w0, w1, w2 = w0 - z0 * turning, w1 - z1 * turning, w2 - z2 * turning
        k0, k1, k2 = _cross(w0, w1, w2, z0, z1, z2)
        c0, c1, c2 = _cross(w0, w1, w2, *_vector(x, ARM + t))
        c0, c1, c2 = _cross(w0, w1, w2, c0, c1, c2)
        _put(x, L + t, k0 * turning, k1 * turning, k2 * turning)
        _put(x, A + t, k0 * sliding + c0, k1 * sliding + c1, k2 * sliding + c2)


@compiled(**INLINED)
def _accelerate_link(own, its):
    """Add the accelerations of the antecedent."""
    l0, l1, l2 = _vector(its, L)
    c0, c1, c2 = _cross(l0, l1, l2, *_vector(own, ARM))
    a0, a1, a2 = _vector(its, A)
    for row, added in ((L, l0), (L + LANES, l1), (L + 2 * LANES, l2)):
        own[row] += added
    for row, added in ((A, a0 + c0), (A + LANES, a1 + c1), (A + 2 * LANES, a2 + c2)):
        own[row] += added


@compiled(**INLINED)
def _bodies_and_wrenches(x, o0, o1, o2):
    """Fill body and wrench of every link, and what its joint moves, about O."""
    for t in range(LANES):
        x0, y0, z0 = _vector(x, FRAME + t)
        x1, y1, z1 = _vector(x, FRAME + 3 * LANES + t)
        x2, y2, z2 = _vector(x, FRAME + 6 * LANES + t)
        own = _tensor(x, LINK + t)
        a, b, c = _vector(x, LINK + 6 * LANES + t)
        mass = x[LINK + 9 * LANES + t]
        m0, m1, m2 = x0 * a + y0 * b + z0 * c, x1 * a + y1 * b + z1 * c, x2 * a + y2 * b + z2 * c
        a, b, c = _times(*own, x0, y0, z0)
        xx, xy, xz = x0 * a + y0 * b + z0 * c, x1 * a + y1 * b + z1 * c, x2 * a + y2 * b + z2 * c
        a, b, c = _times(*own, x1, y1, z1)
        yy, yz = x1 * a + y1 * b + z1 * c, x2 * a + y2 * b + z2 * c
        a, b, c = _times(*own, x2, y2, z2)
        zz = x2 * a + y2 * b + z2 * c
        w0, w1, w2 = _vector(x, W + t)
        l0, l1, l2 = _vector(x, L + t)
        a0, a1, a2 = _vector(x, A + t)
        c0, c1, c2 = _cross(w0, w1, w2, *_cross(w0, w1, w2, m0, m1, m2))
        d0, d1, d2 = _cross(l0, l1, l2, m0, m1, m2)
        f0, f1, f2 = mass * a0 + c0 + d0, mass * a1 + c1 + d1, mass * a2 + c2 + d2
        n0, n1, n2 = _times(xx, xy, xz, yy, yz, zz, l0, l1, l2)
        c0, c1, c2 = _cross(w0, w1, w2, *_times(xx, xy, xz, yy, yz, zz, w0, w1, w2))
        d0, d1, d2 = _cross(m0, m1, m2, a0, a1, a2)
        r0, r1, r2 = _vector(x, ORIGIN + t)
        r0, r1, r2 = r0 - o0, r1 - o1, r2 - o2
        e0, e1, e2 = _cross(r0, r1, r2, f0, f1, f2)
        _put(x, WRENCH + t, f0, f1, f2)
        _put(x, WRENCH + 3 * LANES + t, n0 + c0 + d0 + e0, n1 + c1 + d1 + e1, n2 + c2 + d2 + e2)
        b0, b1, b2 = m0 + mass * r0, m1 + mass * r1, m2 + mass * r2
        e0, e1, e2 = r0 * (m0 + b0), r1 * (m1 + b1), r2 * (m2 + b2)
        _put(x, BODY + t, b0, b1, b2)
        _put(x, BODY + 3 * LANES + t, xx + e1 + e2, xy - r0 * b1 - m0 * r1, xz - r0 * b2 - m0 * r2)
        _put(x, BODY + 6 * LANES + t, yy + e0 + e2, yz - r1 * b2 - m1 * r2, zz + e0 + e1)
        turns, slides = x[TURNS + t], x[SLIDES + t]
        c0, c1, c2 = _cross(r0, r1, r2, z0, z1, z2)
        _put(x, U + t, turns * z0, turns * z1, turns * z2)
        _put(x, V + t, turns * c0 + slides * z0, turns * c1 + slides * z1, turns * c2 + slides * z2)


@compiled(**INLINED)
def _carry(own, its):
    """Add body and wrench to those of the antecedent."""
    for row in range(15):
        its[BODY + row * LANES] += own[BODY + row * LANES]


@compiled(**INLINED)
def _momenta(x):
    """Fill momentum of the composite bodies, and bias."""
    for t in range(LANES):
        u0, u1, u2 = _vector(x, U + t)
        v0, v1, v2 = _vector(x, V + t)
        m0, m1, m2 = _vector(x, BODY + t)
        mass = x[CARRIED + t]
        c0, c1, c2 = _cross(u0, u1, u2, m0, m1, m2)
        d0, d1, d2 = _cross(m0, m1, m2, v0, v1, v2)
        g0, g1, g2 = _times(*_tensor(x, BODY + 3 * LANES + t), u0, u1, u2)
        _put(x, H + t, mass * v0 + c0, mass * v1 + c1, mass * v2 + c2)
        _put(x, G + t, g0 + d0, g1 + d1, g2 + d2)
        f0, f1, f2 = _vector(x, WRENCH + t)
        n0, n1, n2 = _vector(x, WRENCH + 3 * LANES + t)
        moved = u0 * n0 + u1 * n1 + u2 * n2 + v0 * f0 + v1 * f1 + v2 * f2
        x[BIAS + t] = moved + x[OFFSET + t] + x[VISCOUS + t] * x[RATE + t]


@compiled(**INLINED)
def _entries(x, u0, u1, u2, v0, v1, v2):
    """Fill the entries of one row of the mass matrix, given h and g of its joint."""
    for t in range(LANES):
        a0, a1, a2 = _vector(x, U + t)
        b0, b1, b2 = _vector(x, V + t)
        x[ENTRIES + t] = a0 * u0 + a1 * u1 + a2 * u2 + b0 * v0 + b1 * v1 + b2 * v2


@compiled(**INLINED)
def lane(j):
    """Return where joint j has its lane."""
    return j // LANES * BLOCK + j % LANES


@compiled(**INLINED)
def _antecedent(antecedent, j, blocks):
    """Return where the antecedent of joint j has its lane; that of the base is the last block."""
    return lane(antecedent[j]) if antecedent[j] >= 0 else blocks * BLOCK


@compiled(**INLINED)
def _fill_mass(antecedent, work, mass):
    """Fill the mass matrix out of momenta and what joints move."""
    mass[:] = 0.0
    for j in range(antecedent.size):
        own = work[lane(j) :]
        for b in range(j // LANES + 1):
            _entries(work[b * BLOCK : (b + 1) * BLOCK], *_vector(own, G), *_vector(own, H))
        mass[j, j] = own[DRIVE] + own[ENTRIES]
        k = antecedent[j]
        while k >= 0:
            value = work[lane(k) + ENTRIES]
            mass[j, k] = value
            mass[k, j] = value
            k = antecedent[k]


@compiled(**INLINED)
def place_links(antecedent, work):
    """Fill frames and angular velocities of all links for the state in the lanes."""
    blocks = (antecedent.size + LANES - 1) // LANES
    for b in range(blocks):
        _move_joints(work[b * BLOCK : (b + 1) * BLOCK])
    for j in range(antecedent.size):
        _place_link(work[lane(j) :], work[_antecedent(antecedent, j, blocks) :])


@compiled(**BARE)
def fill(antecedent, work, mass):
    """Fill the mass matrix and the lanes of the bias for the state in its lanes.

    Few arguments: a call copies what describes every array, and a plant has many.
    """
    joints = antecedent.size
    blocks = (joints + LANES - 1) // LANES
    place_links(antecedent, work)
    for b in range(blocks):
        _velocity_terms(work[b * BLOCK : (b + 1) * BLOCK])
    for j in range(joints):
        _accelerate_link(work[lane(j) :], work[_antecedent(antecedent, j, blocks) :])
    o0, o1, o2 = _vector(work[lane(joints - 1) :], ORIGIN)
    for b in range(blocks):
        _bodies_and_wrenches(work[b * BLOCK : (b + 1) * BLOCK], o0, o1, o2)
    for j in range(joints - 1, 0, -1):
        if antecedent[j] >= 0:
            _carry(work[lane(j) :], work[lane(antecedent[j]) :])
    for b in range(blocks):
        _momenta(work[b * BLOCK : (b + 1) * BLOCK])
    _fill_mass(antecedent, work, mass)


def lanes_of(tree: Tree, links: Floats, drive: Floats, viscous: Floats, offset: Floats) -> Floats:
    """Return blocks of joints side by side with all that stays the same, and one for the base.

    Args:
        tree: kinematic tree.
        links: (joints, 10) inertial parameters.
        drive: (joints, joints) drive inertias.
        viscous: (joints, joints) viscous friction.
        offset: (joints,) constant efforts.

    Returns:
        (blocks * BLOCK + BLOCK,) of which joint j has lane j % LANES in block j // LANES.
    """
    joints = len(tree.antecedent)
    carried = links[:, 9].copy()
    for j in range(joints - 1, 0, -1):
        if tree.antecedent[j] >= 0:
            carried[tree.antecedent[j]] += carried[j]
    blocks = -(-joints // LANES)
    rows = np.zeros((BLOCK // LANES, (blocks + 1) * LANES))
    known = {
        ROTATION: tree.rotation.reshape(joints, 9).T,
        TRANSLATION: tree.translation.T,
        TURNS: ~tree.prismatic,
        SLIDES: tree.prismatic,
        LINK: links.T,
        CARRIED: carried,
        DRIVE: np.diagonal(drive),
        VISCOUS: np.diagonal(viscous),
        OFFSET: offset,
    }
    for place, values in known.items():
        row, components = place // LANES, np.atleast_2d(values)
        rows[row : row + len(components), :joints] = components
    base = blocks * LANES
    rows[FRAME // LANES : FRAME // LANES + 9, base] = np.eye(3).ravel()
    rows[A // LANES : A // LANES + 3, base] = -tree.gravity
    return np.ascontiguousarray(rows.reshape(len(rows), -1, LANES).swapaxes(0, 1)).ravel()
