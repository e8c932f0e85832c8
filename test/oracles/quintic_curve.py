"""Points of a trajectory interpolated by SciPy's Hermite polynomials, as controllers do it."""

import numpy as np
from scipy.interpolate import BPoly

SAMPLES = 25


def states(times, positions, velocities, accelerations, samples=SAMPLES):
    """Return times, positions, velocities and accelerations on a grid of every interval."""
    points = np.stack([positions, velocities, accelerations], axis=1)
    curve = BPoly.from_derivatives(times, list(points))
    grid = np.linspace(times[:-1], times[1:], samples).ravel()
    return grid, curve(grid), curve.derivative(1)(grid), curve.derivative(2)(grid)


def shares(trajectory, limits, samples=SAMPLES):
    """Return the largest shares of the limits of position, velocity and acceleration."""
    t = trajectory
    _, q, v, a = states(t.times, t.positions, t.velocities, t.accelerations, samples)
    middle, half = (limits.lower + limits.upper) / 2.0, (limits.upper - limits.lower) / 2.0
    return [
        float((np.abs(values) / bound).max())
        for values, bound in (
            (q - middle, half),
            (v, limits.velocity),
            (a, limits.acceleration),
        )
    ]
