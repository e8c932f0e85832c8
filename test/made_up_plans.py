"""Random plans inside the limits of a robot, and the same plans broken in every way."""

from dataclasses import replace

import numpy as np

from oracles.quintic_curve import states
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.timing import fitted, trajectory_of
from robot_identification.excitation.objective.curve import Points

BREAKS = ("limits", "nan", "names", "jump", "rush", "shift", "order", "nothing")


def random_plan(robot, rng, points=5):
    """Return a random trajectory from rest to rest that keeps the limits by construction."""
    limits = MotionLimits.of(robot).tightened(0.95, 0.97, 0.97)
    shape = (points, len(robot.joints))
    positions = rng.uniform(limits.lower, limits.upper, shape)
    velocities = rng.uniform(-0.6, 0.6, shape) * limits.velocity
    velocities[[0, -1]] = 0.0
    names = robot.joint_names
    timed, _ = fitted(Points(positions, velocities, np.zeros(points - 1)), limits, names)
    return trajectory_of(timed, names)


def broken(robot, trajectory, rng):
    """Return a robot and the values of a trajectory that no longer belong together."""
    t = trajectory
    names, times = list(t.joint_names), t.times.copy()
    q, v, a = t.positions.copy(), t.velocities.copy(), t.accelerations.copy()
    kind = BREAKS[rng.integers(len(BREAKS))]
    i, j = rng.integers(len(q)), rng.integers(q.shape[1])
    if kind == "limits":
        limit = ("velocity", "acceleration")[rng.integers(2)]
        joint = robot.joints[j]
        half = replace(joint.limits, **{limit: getattr(joint.limits, limit) / 2.0})
        joints = (*robot.joints[:j], replace(joint, limits=half), *robot.joints[j + 1 :])
        robot = replace(robot, joints=joints)
    elif kind == "nan":
        (q, v, a)[rng.integers(3)][i, j] = (np.nan, np.inf)[rng.integers(2)]
    elif kind == "names":
        names[j] = ("stranger", names[j - 1])[rng.integers(2)]
    elif kind == "jump":
        (q, v, a)[rng.integers(3)][i, j] += rng.normal() * 10.0 ** rng.uniform(-2, 1)
    elif kind == "rush":
        times *= rng.uniform(0.3, 0.99)
    elif kind == "shift":
        q[:, j] += rng.normal() * 3.0
    elif kind == "order":
        times[i] = times[i - 1]
    return robot, (tuple(names), times, q, v, a)


def violates(robot, names, times, q, v, a, samples=400):
    """Tell whether values cannot be followed or leave a limit on a grid of every interval."""
    values = np.concatenate([times, q.ravel(), v.ravel(), a.ravel()])
    if sorted(names) != sorted(robot.joint_names) or not np.isfinite(values).all():
        return True
    if not (np.diff(times) > 0).all() or np.abs(v[[0, -1]]).max() > 1e-3:
        return True
    order = [list(names).index(name) for name in robot.joint_names]
    _, position, velocity, acceleration = states(
        times, q[:, order], v[:, order], a[:, order], samples
    )
    limits = MotionLimits.of(robot)
    slack = 1e-6
    return bool(
        (position < limits.lower - slack).any()
        or (position > limits.upper + slack).any()
        or (np.abs(velocity) > limits.velocity + slack).any()
        or (np.abs(acceleration) > limits.acceleration + slack).any()
    )
