"""Compiled placement of frames, for blocks of samples.

Samples are taken in blocks, with the samples of one quantity side by side: quantity number i of
sample t is at i BLOCK + t.  Loops over a block then become vector instructions, and the rows that
a block fills are written in runs long enough for the memory to keep up.
"""

from __future__ import annotations

import math

import numpy as np

from robot_identification.compiled import IN_ANY_ORDER, compiled

BLOCK = 256

OPTIONS = {"fastmath": IN_ANY_ORDER}
INLINED = {**OPTIONS, "forceinline": True}
# Sums must keep their order where they cancel what is not exact.
_ORDERED = {**INLINED, "fastmath": {"contract", "nsz"}}

_QUARTERS = 2.0 / math.pi
# A quarter of a turn in three parts; products of the first two with whole numbers up to 2^20 are
# exact.
_QUARTER_1 = float.fromhex("0x1.921fb544p+0")
_QUARTER_2 = float.fromhex("0x1.0b4611a6p-34")
_QUARTER_3 = float.fromhex("0x1.3198a2e037073p-69")


@compiled(**_ORDERED)
def sine_and_cosine(x):
    """Return sine and cosine of an angle in rad, to about 1e-16.

    Up to a million rad; beyond, the error grows as the distance of neighbouring numbers does.
    Unlike those of the C library it becomes vector instructions in a loop.  The whole number of
    quarters is taken off, and Taylor's series of the rest, at most an eighth of a turn, ends where
    terms fall below 1e-17.
    """
    quarters = np.floor(x * _QUARTERS + 0.5)
    y = ((x - quarters * _QUARTER_1) - quarters * _QUARTER_2) - quarters * _QUARTER_3
    z = y * y
    sine = 1.0 / 6227020800.0 + z * (-1.0 / 1307674368000.0 + z / 355687428096000.0)
    sine = 1.0 / 362880.0 + z * (-1.0 / 39916800.0 + z * sine)
    sine = -1.0 / 6.0 + z * (1.0 / 120.0 + z * (-1.0 / 5040.0 + z * sine))
    sine = y + y * z * sine
    cosine = 1.0 / 479001600.0 + z * (-1.0 / 87178291200.0 + z / 20922789888000.0)
    cosine = -1.0 / 720.0 + z * (1.0 / 40320.0 + z * (-1.0 / 3628800.0 + z * cosine))
    cosine = 1.0 + z * (-0.5 + z * (1.0 / 24.0 + z * cosine))
    turned = quarters - 4.0 * np.floor(0.25 * quarters)
    odd = (turned == 1.0) or (turned == 3.0)
    a = cosine if odd else sine
    b = sine if odd else cosine
    return -a if turned >= 2.0 else a, -b if (turned == 1.0 or turned == 2.0) else b


@compiled(**OPTIONS)
def load_block(tree, j, q, start, count, frame):
    """Fill the placement of joint j: frame holds cos, sin and origin (3) for a block."""
    p0, p1, p2 = tree.translation[j]
    if tree.prismatic[j]:
        z0, z1, z2 = tree.rotation[j, :, 2]
        for t in range(count):
            x = q[j, start + t]
            frame[t] = 1.0
            frame[BLOCK + t] = 0.0
            frame[2 * BLOCK + t] = p0 + z0 * x
            frame[3 * BLOCK + t] = p1 + z1 * x
            frame[4 * BLOCK + t] = p2 + z2 * x
    else:
        for t in range(count):
            sine, cosine = sine_and_cosine(q[j, start + t])
            frame[t] = cosine
            frame[BLOCK + t] = sine
            frame[2 * BLOCK + t] = p0
            frame[3 * BLOCK + t] = p1
            frame[4 * BLOCK + t] = p2


@compiled(**INLINED)
def elements_of(rotation):
    """Return the elements of a (3, 3) matrix row by row, which a loop then need not load again."""
    return (
        rotation[0, 0],
        rotation[0, 1],
        rotation[0, 2],
        rotation[1, 0],
        rotation[1, 1],
        rotation[1, 2],
        rotation[2, 0],
        rotation[2, 1],
        rotation[2, 2],
    )


@compiled(**INLINED)
def turned(r, cosine, sine, x0, x1, x2):
    """Turn a vector from the antecedent's frame into the frame of a joint.

    Args:
        r: constant orientation of the joint's frame, from :func:`elements_of`.
        cosine: of the joint's angle.
        sine: of the joint's angle.
        x0: first component of the vector in the antecedent's frame.
        x1: second component.
        x2: third component.
    """
    y0 = r[0] * x0 + r[3] * x1 + r[6] * x2
    y1 = r[1] * x0 + r[4] * x1 + r[7] * x2
    y2 = r[2] * x0 + r[5] * x1 + r[8] * x2
    return cosine * y0 + sine * y1, cosine * y1 - sine * y0, y2
