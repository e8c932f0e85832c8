"""Interface of motions: samples of a motion, and the chain rule from samples to unknowns.

A motion is whatever describes one: points with durations (:mod:`.curve`), or the coefficients of
Fourier series (:mod:`.fourier_series`).  Gradients over a motion have the same type.  Objective,
penalties and optimiser see samples only, and are written once for all families.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from robot_identification.robot.arrays import Array


class MotionValues(Protocol):
    """The values that describe a motion, or a gradient over them."""

    def plus(self, other: Any, /) -> Any:
        """Return the sums of these values and others."""

    def times(self, factor: float, /) -> Any:
        """Return these values times a factor."""

    def drawn_in(self, share: float, /) -> Any:
        """Return the motion drawn in towards its start: every way from there times a share."""


Motion = TypeVar("Motion", bound=MotionValues)

Pull = Callable[[Array], Motion]
"""Returns the gradient over the motion of what has these derivatives (columns, columns),
symmetric, over W^T W."""

Penalty = Callable[[Motion, float], tuple[float, Motion]]
"""Returns what a motion lacks to a condition, at least 0, times a weight; and its gradient over
the motion."""


class MotionMap(Protocol[Motion]):
    """Map from a motion to samples of it, and the transpose of its derivative."""

    def rows(self, motion: Motion, /) -> Array:
        """Return (3, joints, samples) position, velocity and acceleration."""

    def spans(self, motion: Motion, /) -> Array:
        """Return (samples,) the time that every sample stands for, in s."""

    def pull_rows(self, motion: Motion, slopes: Array, stretches: Array | None = None, /) -> Motion:
        """Return the gradient over the motion of what has slopes on :meth:`rows`.

        Args:
            motion: where the samples were taken.
            slopes: (3, joints, samples) derivatives over the samples.
            stretches: (samples,) derivatives over the logarithms of :meth:`spans`; None: all 0.
        """


class Observation(Protocol[Motion]):
    """A system W as a function of a motion.

    W^T W tells everything about the singular values, and needs no rows that are kept whole.
    """

    @property
    def columns(self) -> int:
        """Number of columns of W."""

    def rows(self, motion: Motion, /) -> Array:
        """Return W, (rows, columns)."""

    def pull(self, motion: Motion, slope: Array, /) -> Motion:
        """Return the gradient over the motion of what has the derivatives ``slope`` over W."""

    def gram(self, motion: Motion, /) -> tuple[Array, Pull[Motion]]:
        """Return W^T W, and what leads derivatives over it back to the motion."""


class Unknowns(Protocol[Motion]):
    """Motions as vectors of unknowns of about the same size, for an optimiser."""

    def bounds(self) -> list[tuple[float, float]]:
        """Return the least and the largest value of every unknown."""

    def vector(self, motion: Motion, /) -> Array:
        """Return (unknowns,) the unknowns of a motion."""

    def motion(self, x: Array, /) -> Motion:
        """Return the motion of unknowns."""

    def gradient(self, motion: Motion, slope: Motion, /) -> Array:
        """Return (unknowns,) derivatives over the unknowns, from those over the motion."""
