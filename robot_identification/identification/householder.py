"""Compiled Householder update of a triangular factor by blocks of rows.

The factor of a tall matrix is all that least squares needs of it.  Given the upper triangle T of
what was seen so far, the triangle of [T; X] follows from one reflection per column, which touches
row i of T and all rows of X.  X is stored transposed, with the entries of one column side by side.
"""

from __future__ import annotations

import math

import numba
import numpy as np

TILE = 64

_OPTIONS = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "nsz", "reassoc"},
}


@numba.njit(**_OPTIONS)
def _reflect(triangle, tile, i):
    """Make column i of the tile zero by a reflection and apply it to the columns behind it."""
    columns = triangle.shape[0]
    square = 0.0
    for t in range(TILE):
        square += tile[i, t] * tile[i, t]
    if square == 0.0:
        return
    diagonal = triangle[i, i]
    norm = math.sqrt(diagonal * diagonal + square)
    image = -norm if diagonal > 0.0 else norm
    scale = 1.0 / (diagonal - image)
    factor = (image - diagonal) / image
    for t in range(TILE):
        tile[i, t] *= scale
    triangle[i, i] = image
    for c in range(i + 1, columns):
        projection = 0.0
        for t in range(TILE):
            projection += tile[i, t] * tile[c, t]
        projection = (projection + triangle[i, c]) * factor
        triangle[i, c] -= projection
        for t in range(TILE):
            tile[c, t] -= projection * tile[i, t]


@numba.njit(**_OPTIONS)
def fold_rows(triangle, rows, kept):
    """Fold rows into an upper triangular factor, in place.

    Args:
        triangle: (columns, columns) upper triangular factor T with T^T T the Gram matrix of all
            rows folded so far; zeros at the start.
        rows: (columns, samples) new rows, transposed; left as they are.
        kept: (samples,) which of them count.
    """
    columns, samples = rows.shape
    tile = np.empty((columns, TILE))
    filled = 0
    for s in range(samples):
        if kept[s]:
            for c in range(columns):
                tile[c, filled] = rows[c, s]
            filled += 1
        if filled == TILE or (s == samples - 1 and filled > 0):
            for c in range(columns):
                for t in range(filled, TILE):
                    tile[c, t] = 0.0
            for i in range(columns):
                _reflect(triangle, tile, i)
            filled = 0
