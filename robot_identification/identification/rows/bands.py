"""Gram matrices of the rows in frequency bands, from which spectra of residuals follow.

The rows of a block are taken to the frequency domain, padded with zeros so that its ends do not
touch.  With X(w) the transforms of the columns of all joints, their efforts included, the Gram
matrix of a band is

    G_b = sum over w in b of Re[X(w)^* X(w)] = X^T T_b X,

with T_b the Toeplitz matrix of an ideal band-pass filter; all G_b together are X^T X.  Power and
co-spectrum of the residuals of any parameters and weights follow from them, and so does the
covariance of an estimate whose residuals are coloured (:mod:`.robust_std`).  Their number and size
do not grow with the recording; those of several recordings are added.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from robot_identification.errors import ShapeError
from robot_identification.robot.arrays import Array, by_value, read_only

BLOCK = 1024  # rows in time that are transformed together
_LENGTH = 2 * BLOCK
_BINS = BLOCK + 1
# Coloured noise bends most at low frequencies, where the motion is too: bands grow from there.
_FIRST, _GROWTH = 5, 1.4

Flags = npt.NDArray[np.bool_]


def _edges() -> npt.NDArray[np.intp]:
    edges = [0]
    width = float(_FIRST)
    while edges[-1] < _BINS:
        edges.append(min(edges[-1] + round(width), _BINS))
        width *= _GROWTH
    return np.array(edges, dtype=np.intp)


EDGES = _edges()
# Share of every frequency in a sum over the block; those inside the spectrum stand for two.
_SHARES = np.where(np.isin(np.arange(_BINS), (0, BLOCK)), 1.0, 2.0) / _LENGTH


@by_value
@dataclass(frozen=True)
class BandGrams:
    """Gram matrices of the rows of all joints, band by band.

    Attributes:
        columns: for each joint the places of its columns among the parameters.
        grams: (bands, entries, entries); the entries are those of ``columns``, joint by joint,
            each joint's followed by its effort.
        shares: (bands,) share of the power of white noise in every band.
        common: (joints, joints) number of instants at which both joints' rows are kept.
        mixing: (joints, bands, bands) power that unit spectral density in a band (last index)
            gives in every band; not diagonal, because rows that are left out mix frequencies.
    """

    columns: tuple[npt.NDArray[np.intp], ...]
    grams: Array
    shares: Array
    common: Array
    mixing: Array

    @property
    def firsts(self) -> npt.NDArray[np.intp]:
        """(joints,) entry at which each joint begins."""
        sizes = [len(columns) + 1 for columns in self.columns]
        return np.cumsum([0, *sizes[:-1]])

    @property
    def sizes(self) -> npt.NDArray[np.intp]:
        """(joints,) number of entries of each joint."""
        return np.array([len(columns) + 1 for columns in self.columns], dtype=np.intp)

    def restricted(self, columns: npt.ArrayLike) -> BandGrams:
        """Return the Gram matrices of the same rows without some of their columns.

        Args:
            columns: (kept,) places of the parameters that stay, which are numbered anew in this
                order.
        """
        kept = np.asarray(columns, dtype=np.intp)
        own, entries = [], []
        for first, places in zip(self.firsts, self.columns, strict=True):
            at = {int(place): first + i for i, place in enumerate(places)}
            present = [i for i, place in enumerate(kept) if int(place) in at]
            own.append(np.array(present, dtype=np.intp))
            entries += [*(at[int(kept[i])] for i in present), first + len(places)]
        grams = read_only(self.grams[:, entries][:, :, entries])
        return BandGrams(tuple(own), grams, self.shares, self.common, self.mixing)

    def merged(self, starts: Sequence[int]) -> BandGrams:
        """Return fewer and wider bands.

        Args:
            starts: rising numbers of the bands with which the new ones begin, from 0.
        """
        mixing = np.add.reduceat(np.add.reduceat(self.mixing, starts, axis=1), starts, axis=2)
        return BandGrams(
            columns=self.columns,
            grams=np.add.reduceat(self.grams, starts, axis=0),
            shares=np.add.reduceat(self.shares, starts),
            common=self.common,
            mixing=mixing,
        )


def summed(bands: Sequence[BandGrams], scales: Array | None = None) -> BandGrams:
    """Return the Gram matrices of the rows of several groups together.

    Args:
        bands: of each group, with the same columns.
        scales: (groups, joints) factor on the rows; 1 by default.
    """
    first = bands[0]
    if scales is None and len(bands) == 1:
        return first
    grams = np.zeros_like(first.grams)
    for number, own in enumerate(bands):
        if scales is None:
            grams += own.grams
        else:
            scale = np.repeat(scales[number], first.sizes)
            grams += own.grams * scale[:, None] * scale
    return BandGrams(
        columns=first.columns,
        grams=read_only(grams),
        shares=first.shares,
        common=read_only(np.sum([own.common for own in bands], axis=0)),
        mixing=read_only(np.sum([own.mixing for own in bands], axis=0)),
    )


class BandStream:
    """Gram matrices of bands, growing in value, not in size, with every block taken in.

    Args:
        columns: for each joint the places of its columns among the parameters.
    """

    def __init__(self, columns: Sequence[npt.NDArray[np.intp]]) -> None:
        self._columns = tuple(columns)
        sizes = [len(own) + 1 for own in self._columns]
        self._joint_of_entry = np.repeat(np.arange(len(sizes)), sizes)
        self._grams = np.zeros((len(EDGES) - 1, sum(sizes), sum(sizes)))
        self._common = np.zeros((len(sizes), len(sizes)))
        self._flags_power = np.zeros((len(sizes), _BINS))

    @property
    def entries(self) -> int:
        """Number of columns of all joints, efforts included."""
        return len(self._joint_of_entry)

    def add(self, rows: Array, kept: Flags) -> None:
        """Take in rows that follow each other in time at a constant period.

        Args:
            rows: (entries, instants) columns joint by joint, each joint's followed by its effort.
            kept: (joints, instants) which rows count.

        Raises:
            ShapeError: the arrays do not fit.
        """
        instants = kept.shape[1]
        expected = (len(self._joint_of_entry), instants)
        if rows.shape != expected or len(kept) != len(self._columns):
            raise ShapeError("rows", rows.shape, str(expected))
        for first in range(0, instants, BLOCK):
            part = slice(first, first + BLOCK)
            self._add_block(rows[:, part], kept[:, part])

    def _add_block(self, rows: Array, kept: Flags) -> None:
        flags = kept.astype(np.float64)
        used = np.where(kept[self._joint_of_entry], rows, 0.0)
        spectra = scipy.fft.rfft(used, _LENGTH, axis=1, overwrite_x=True) * np.sqrt(_SHARES)
        for band, (begin, end) in enumerate(itertools.pairwise(EDGES)):
            parts = np.ascontiguousarray(spectra[:, begin:end]).view(np.float64)
            self._grams[band] += parts @ parts.T
        self._common += flags @ flags.T
        self._flags_power += np.abs(scipy.fft.rfft(flags, _LENGTH, axis=1)) ** 2

    def with_rows(self, rows: Array, kept: Flags) -> BandStream:
        """Return a stream that has taken in further rows too; this one stays as it is."""
        other = BandStream(self._columns)
        other.add(rows, kept)
        for mine, theirs in (
            (self._grams, other._grams),
            (self._common, other._common),
            (self._flags_power, other._flags_power),
        ):
            theirs += mine
        return other

    def grams(self) -> BandGrams:
        """Return the Gram matrices of everything taken in so far."""
        inside = np.arange(_BINS) >= EDGES[:-1, None]
        inside &= np.arange(_BINS) < EDGES[1:, None]
        filters = scipy.fft.irfft(inside.astype(np.float64), _LENGTH, axis=1)
        together = scipy.fft.irfft(self._flags_power, _LENGTH, axis=1)
        return BandGrams(
            columns=self._columns,
            grams=read_only(self._grams),
            shares=read_only(np.add.reduceat(_SHARES, EDGES[:-1])),
            common=read_only(self._common),
            mixing=read_only((filters * together[:, None, :]) @ filters.T),
        )
