"""Random limits of robots, and random states of motions and of braking from them."""

from dataclasses import replace

import numpy as np

from robot_identification.collision.tube import BrakingLaw, Tube
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.excitation.motions.braking import (
    braking_times,
    release_time,
    shortest_braking,
)
from robot_identification.excitation.motions.timing import motion_extrema
from robot_identification.robot.joint import JointLimits

SHORTEST = 1e-3  # s; at full speed no joint brakes in less


def with_limits(robot, rng, jerk=()):
    """Return a robot whose joints have random limits, some of them of jerk."""
    joints = []
    for place, joint in enumerate(robot.joints):
        acceleration = rng.uniform(3.0, 30.0)
        limits = JointLimits(
            lower=-rng.uniform(1.0, 3.0),
            upper=rng.uniform(1.0, 3.0),
            velocity=rng.uniform(1.0, 5.0),
            acceleration=acceleration,
            jerk=rng.uniform(5.0, 20.0) * acceleration if place in jerk else None,
        )
        joints.append(replace(joint, limits=limits))
    return replace(robot, joints=tuple(joints))


def tube_of(motion, limits):
    """Return the tube of a motion that is followed without error."""
    law = BrakingLaw(limits.acceleration, shortest_braking(limits), release_time(limits))
    extrema = motion_extrema(motion.coefficients, np.diff(motion.times))
    off = np.zeros(len(limits.lower))
    return Tube.of(motion.times, motion.coefficients, extrema, law, off)


def told_to_brake(motion, limits, times, k, x):
    """Return states (samples, joints) at the part x of the fall of the acceleration."""
    u = release_time(limits)
    q, v, a = motion.sample(times)
    k, x = k[:, None], x[:, None]
    position = q + k * v * u * x + k**2 * a * u**2 * (x**2 / 2.0 - x**3 / 6.0)
    return position, k * v + k**2 * a * u * (x - x**2 / 2.0), k**2 * a * (1.0 - x)


def states(motion, limits, rng, count):
    """Return random states (samples, joints) of a motion at any speed, and of braking from it."""
    return states_at(motion, limits, rng, rng.uniform(motion.times[0], motion.times[-1], count))


def states_at(motion, limits, rng, times):
    """Return random states (samples, joints) at times of a motion, and of braking from there.

    A third follows the motion or lets its acceleration fall, the others brake.
    """
    count = len(times)
    k = np.where(rng.random(count) < 0.5, 1.0, rng.random(count))
    still = count // 3
    first = np.where(rng.random(still) < 0.5, 0.0, rng.random(still))
    before = told_to_brake(motion, limits, times[:still], k[:still], first)
    q, w, _ = told_to_brake(motion, limits, times[still:], k[still:], np.ones(count - still))
    own = np.maximum(braking_times(limits, w), SHORTEST * k[still:, None])
    passed = rng.random((len(q), 1)) ** 2 * own.max(axis=1, keepdims=True)
    s = np.minimum(passed / own, 1.0)
    after = (
        q + w * own * (s - s**3 + s**4 / 2.0),
        w * (1.0 - 3.0 * s**2 + 2.0 * s**3),
        w / own * (6.0 * s**2 - 6.0 * s),
    )
    return tuple(np.vstack(pair) for pair in zip(before, after, strict=True))


def largest_efforts(robot, values, motion, limits, rng, count=6_000):
    """Return (joints,) the largest efforts of random states, most of them near the largest."""
    begin, end = motion.times[[0, -1]]
    times, most = rng.uniform(begin, end, count), np.zeros(len(robot.joints))
    for _ in range(3):
        sampled = states_at(motion, limits, rng, times)
        efforts = np.abs(inverse_dynamics(robot, values, *sampled))
        most = np.maximum(most, efforts.max(axis=0))
        best = times[np.argpartition(efforts, -8, axis=0)[-8:]].ravel()
        near = rng.choice(best, count) + rng.normal(scale=0.01 * (end - begin), size=count)
        times = np.clip(near, begin, end)
    return most
