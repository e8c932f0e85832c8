"""Compiled Householder update of a triangular factor by blocks of rows.

The factor of a tall matrix is all that least squares needs of it.  Given the upper triangle T of
what was seen so far, the triangle of [T; X] follows from one reflection per column,

    H_i = I - tau_i v_i v_i^T,    v_i = [u_i e_i; x_i],

which touches row i of T and all rows of X: above X, v_i has the single entry u_i.  With the image
of column i positive, u_i = -|x_i|^2 / (t_ii + |[t_ii; x_i]|) is had without cancellation and small
where T outweighs X (Golub and Van Loan, *Matrix Computations*, 4th ed., algorithm 5.1.1): row i of
T changes by little, and so it is rounded by little however many blocks follow.

Reflections are applied to the columns behind them four at a time.  Their product has the compact
form (Schreiber and Van Loan 1989)

    H_1 H_2 H_3 H_4 = I - V S V^T,    S = [S' -tau_k S' V'^T v_k; 0 tau_k],

so that all columns y behind a panel are reflected by

    d = S^T (V^T y),    y <- y - V d:

every number that is loaded serves four products, not one.  X is stored transposed, a tile of rows
at a time, with the entries of one column side by side.
"""

from __future__ import annotations

import math

import numpy as np

from robot_identification.compiled import IN_ANY_ORDER, compiled

TILE = 256  # rows that are reflected together: some 100 kB with 40 columns
_PANEL = 4  # reflections that are applied together
_PAIR = 2  # columns that they are applied to together
_NOTHING = 1e-150  # squares as small as this are none: the products of their reciprocals overflow
_LINE = 64  # bytes that a processor loads together; vectors that straddle two lines load slowly

# Sums may be taken in any order; differences of products may not be turned into sums of them.
_SUMS = {"fastmath": IN_ANY_ORDER}
_PRODUCTS = {"fastmath": {"contract", "nsz"}}


@compiled()
def _aligned(rows, columns):
    """Return an array of zeros that begins where the processor's loads do."""
    spare = _LINE // 8
    memory = np.zeros(rows * columns + spare)
    first = (-memory.ctypes.data // 8) % spare
    return memory[first : first + rows * columns].reshape(rows, columns)


@compiled(**_SUMS)
def _products(v, v0, v1, v2, v3):
    """Return the products of a column with those of a panel."""
    d0 = d1 = d2 = d3 = 0.0
    for t in range(TILE):
        d0 += v[t] * v0[t]
        d1 += v[t] * v1[t]
        d2 += v[t] * v2[t]
        d3 += v[t] * v3[t]
    return d0, d1, d2, d3


@compiled(**_SUMS)
def _products_of_pair(v0, v1, v2, v3, x, y):
    """Return the products of two columns with those of a panel."""
    d0 = d1 = d2 = d3 = e0 = e1 = e2 = e3 = 0.0
    for t in range(TILE):
        d0 += v0[t] * x[t]
        d1 += v1[t] * x[t]
        d2 += v2[t] * x[t]
        d3 += v3[t] * x[t]
        e0 += v0[t] * y[t]
        e1 += v1[t] * y[t]
        e2 += v2[t] * y[t]
        e3 += v3[t] * y[t]
    return d0, d1, d2, d3, e0, e1, e2, e3


@compiled(**_PRODUCTS)
def _subtract(factor, v, x):
    """Take a multiple of one column from another."""
    for t in range(TILE):
        x[t] -= factor * v[t]


@compiled(**_PRODUCTS)
def _subtract_from_pair(v0, v1, v2, v3, x, y, d, e):
    """Take combinations of a panel's columns from two others."""
    d0, d1, d2, d3 = d
    e0, e1, e2, e3 = e
    for t in range(TILE):
        x[t] = x[t] - d0 * v0[t] - d1 * v1[t] - d2 * v2[t] - d3 * v3[t]
        y[t] = y[t] - e0 * v0[t] - e1 * v1[t] - e2 * v2[t] - e3 * v3[t]


@compiled(**_SUMS)
def _reflect_panel(triangle, tile, first, S, u):
    """Make the columns of a panel zero; leave their v in the tile, and S and u of the panel.

    Tell whether there were any: a tile of several joints' rows has columns without entries.

    Columns without entries are not reflected.  Those that depend on others lose all but rounding
    with each reflection, and come to where squares have no room any more.
    """
    columns = min(_PANEL, len(triangle) - first)
    for k in range(_PANEL):
        u[k] = 0.0
        for a in range(_PANEL):
            S[a, k] = 0.0
    products = np.empty(_PANEL)
    reflected = False
    for k in range(columns):
        i = first + k
        v = tile[i]
        products[0], products[1], products[2], products[3] = _products(
            v, tile[first], tile[first + 1], tile[first + 2], tile[first + 3]
        )
        square = products[k]
        if square <= _NOTHING:
            continue
        diagonal = abs(triangle[i, i])
        image = math.sqrt(diagonal * diagonal + square)
        u[k] = -square / (diagonal + image)
        tau = -1.0 / (image * u[k])
        if triangle[i, i] < 0.0:
            u[k], image = -u[k], -image
        triangle[i, i] = image
        for c in range(k + 1, columns):
            factor = (products[c] + u[k] * triangle[i, first + c]) * tau
            triangle[i, first + c] -= factor * u[k]
            _subtract(factor, v, tile[first + c])
        for a in range(k):
            for b in range(a, k):
                S[a, k] -= tau * S[a, b] * products[b]
        S[k, k] = tau
        reflected = True
    return reflected


@compiled(**_SUMS)
def _reflect_behind(triangle, tile, first, S, u, d):
    """Apply the reflections of a panel to the columns behind it; d: (panel, columns) scratch."""
    columns = len(triangle)
    behind = first + _PANEL
    v0, v1, v2, v3 = tile[first], tile[first + 1], tile[first + 2], tile[first + 3]
    for c in range(behind, columns, _PAIR):
        (
            d[0, c], d[1, c], d[2, c], d[3, c],
            d[0, c + 1], d[1, c + 1], d[2, c + 1], d[3, c + 1],
        ) = _products_of_pair(v0, v1, v2, v3, tile[c], tile[c + 1])  # fmt: skip
    for c in range(behind, columns):
        for k in range(_PANEL):
            d[k, c] += u[k] * triangle[first + k, c]
        for k in range(_PANEL - 1, -1, -1):
            total = 0.0
            for a in range(k + 1):
                total += S[a, k] * d[a, c]
            d[k, c] = total
            triangle[first + k, c] -= u[k] * total
    for c in range(behind, columns, _PAIR):
        _subtract_from_pair(
            v0, v1, v2, v3, tile[c], tile[c + 1],
            (d[0, c], d[1, c], d[2, c], d[3, c]),
            (d[0, c + 1], d[1, c + 1], d[2, c + 1], d[3, c + 1]),
        )  # fmt: skip


@compiled()
def _places(kept):
    """Return where the flags are set."""
    places = np.empty(len(kept), dtype=np.intp)
    count = 0
    for s in range(len(kept)):
        places[count] = s
        count += kept[s]
    return places[:count]


@compiled()
def _fill(tile, rows, places):
    """Put rows, at most as many as fit, into the tile, and zeros behind them."""
    count, first, last = len(places), places[0], places[-1] + 1
    for c in range(len(rows)):
        to, source = tile[c], rows[c, first:last]
        if count == TILE == len(source):  # without gaps
            for t in range(TILE):
                to[t] = source[t]
            continue
        for t in range(count):
            to[t] = source[places[t] - first]
        for t in range(count, TILE):
            to[t] = 0.0


@compiled()
def fold_rows(triangle, rows, kept):
    """Fold rows into an upper triangular factor, in place.

    Args:
        triangle: (columns, columns) upper triangular factor T with T^T T the Gram matrix of all
            rows folded so far; zeros at the start.
        rows: (columns, samples) new rows, transposed; left as they are.
        kept: (samples,) which of them count.
    """
    columns = len(triangle)
    # Panels are whole: behind the last column there are columns of zeros, without effect.
    whole = -(-columns // _PANEL) * _PANEL
    tile = _aligned(whole, TILE)
    d = np.zeros((_PANEL, whole))
    S, u = np.empty((_PANEL, _PANEL)), np.empty(_PANEL)
    places = _places(kept)
    for begin in range(0, len(places), TILE):
        _fill(tile, rows, places[begin : begin + TILE])
        for first in range(0, columns, _PANEL):
            if _reflect_panel(triangle, tile, first, S, u):
                _reflect_behind(triangle, tile, first, S, u, d)
