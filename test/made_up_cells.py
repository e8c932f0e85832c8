"""Robots with shapes, in cells that a test describes."""

from dataclasses import replace

import numpy as np

from robot_identification.collision.model import load_collision_model
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.files.loading import load_robot

SHAPES = """
link_radius: 0.06
links:
  - {name: hand, link: link_3, capsule: {from: [0, 0, 0], to: [0.4, 0, 0], radius: 0.04}}
"""
"""Shapes of the robot three_dof, whose base frame is in its shoulder."""

ARM = "mounting: {pedestal: 1.2}" + SHAPES
"""The same on a pedestal, so that the floor is below its shoulder."""


def collisions(folder, cell="", robot="three_dof", **options):
    """Return the collision model of a robot in a cell."""
    path = folder / "cell.yaml"
    path.write_text(ARM + cell)
    return load_collision_model(robot, load_robot(robot), cell=path, **options)


def swing(joint, angle, seconds, begin=(0.0, 0.0, 0.0)):
    """Return a motion of one joint from rest to rest."""
    robot = load_robot("three_dof")
    positions = np.array([begin, begin])
    positions[1, joint] += angle
    still = np.zeros((2, 3))
    return Trajectory(robot.joint_names, np.array([0.0, seconds]), positions, still, still)


def random_motion(rng, limits, points=6):
    """Return a motion through random postures that keeps the limits of velocity roughly."""
    robot = load_robot("three_dof")
    share = rng.uniform(0.1, 0.8)
    middle = rng.uniform(-0.3, 0.3, 3) * limits.half_range
    positions = middle + share * limits.half_range * rng.uniform(-1.0, 1.0, (points, 3)) * 0.6
    velocities = 0.5 * limits.velocity * rng.uniform(-1.0, 1.0, (points, 3))
    velocities[[0, -1]] = 0.0
    still = np.zeros_like(positions)
    steps = np.abs(np.diff(positions, axis=0)).max(axis=1)
    times = np.concatenate([[0.0], np.cumsum(2.0 * steps / limits.velocity.min() + 0.6)])
    return Trajectory(robot.joint_names, times, positions, velocities, still)


def limits_of(robot="three_dof", **changed):
    """Return the limits of a robot, some of them changed."""
    return replace(MotionLimits.of(load_robot(robot)), **changed)


def jerked(names, times, jerks):
    """Return a motion from rest to rest with a jerk (joints,) in every piece between times."""
    q, v, a = (np.zeros((len(times), len(names))) for _ in range(3))
    for i, (jerk, step) in enumerate(zip(jerks, np.diff(times), strict=True)):
        a[i + 1] = a[i] + jerk * step
        v[i + 1] = v[i] + a[i] * step + jerk * step**2 / 2.0
        q[i + 1] = q[i] + v[i] * step + a[i] * step**2 / 2.0 + jerk * step**3 / 6.0
    v[-1] = a[-1] = 0.0
    return Trajectory(names, times, q, v, a)
