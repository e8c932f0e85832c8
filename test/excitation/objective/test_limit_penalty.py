"""What a motion exceeds its limits by, and its derivatives over the points."""

from dataclasses import replace

import numpy as np
import pytest

from robot_identification.excitation.motions.braking import stopping_factors
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.objective.curve import Curve, Points
from robot_identification.excitation.objective.penalties import LimitPenalty
from robot_identification.robot.files.loading import load_robot


def limits_of(with_jerk):
    limits = MotionLimits.of(load_robot("tx40"))
    jerk = 20.0 * limits.acceleration if with_jerk else np.full(6, np.inf)
    return replace(limits, jerk=jerk)


FRACTIONS = (0.08, 0.17, 0.25, 0.33, 0.42, 0.5, 0.58, 0.67, 0.75, 0.83, 0.92)


def penalty_of(limits):
    return LimitPenalty(limits, Curve(FRACTIONS))


def fast_points(limits, count=5, seed=0):
    rng = np.random.default_rng(seed)
    positions = limits.middle + limits.half_range * rng.uniform(-1, 1, (count, 6))
    velocities = limits.velocity * rng.uniform(-1, 1, (count, 6))
    return Points(positions, velocities, rng.uniform(0.3, 0.6, count - 1))


@pytest.mark.parametrize("with_jerk", [False, True])
def test_the_penalty_is_the_squares_beyond_the_limits_along_the_trajectory(with_jerk):
    limits = limits_of(with_jerk)
    points = fast_points(limits)
    times = np.concatenate([[0.0], np.cumsum(points.durations)])
    still = np.zeros_like(points.positions)
    names = tuple("abcdef")
    trajectory = Trajectory(names, times, points.positions, points.velocities, still)
    fractions = np.array([0.08, 0.17, 0.25, 0.33, 0.42, 0.5, 0.58, 0.67, 0.75, 0.83, 0.92])
    q, qd, qdd = trajectory.sample(
        (times[:-1, None] + np.outer(points.durations, fractions)).ravel()
    )
    c, k = stopping_factors(limits)
    rest = q + c * qd * np.abs(qd) + k * qd
    shares = [(rest - limits.middle) / limits.half_range, qd / limits.velocity]
    shares.append(qdd / limits.acceleration)
    expected = sum((np.maximum(np.abs(share) - 0.98, 0.0) ** 2).sum() for share in shares)
    assert expected > 1.0
    assert penalty_of(limits)(points)[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("with_jerk", [False, True])
def test_the_gradient_of_the_penalty_is_exact(with_jerk):
    limits = limits_of(with_jerk)
    penalty, points = penalty_of(limits), fast_points(limits, seed=1)
    _, gradient = penalty(points)
    rng, h = np.random.default_rng(2), 1e-6
    for _ in range(5):
        way = [rng.normal(size=x.shape) for x in vars(points).values()]
        ahead, behind = (
            penalty(
                Points(*(x + s * h * d for x, d in zip(vars(points).values(), way, strict=True)))
            )[0]
            for s in (1, -1)
        )
        got = sum((g * d).sum() for g, d in zip(vars(gradient).values(), way, strict=True))
        assert got == pytest.approx((ahead - behind) / (2 * h), rel=1e-5)


def test_a_slow_motion_in_the_middle_costs_nothing():
    limits = limits_of(with_jerk=False)
    positions = np.tile(limits.middle, (3, 1))
    value, gradient = penalty_of(limits)(Points(positions, 0.0 * positions, np.ones(2)))
    assert value == 0.0
    assert not any(part.any() for part in vars(gradient).values())
