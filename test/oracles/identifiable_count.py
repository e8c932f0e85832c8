"""Number of identifiable inertial parameters of a serial robot under gravity, by counting.

Lin 1992, Theorem 2: a closed formula from the axes alone, without any matrix of the dynamics.
"""

import numpy as np

from oracles.numpy_dynamics import frames
from robot_identification.robot.joint import JointType

TOLERANCE = 1e-9


def parallel(a, b):
    return np.linalg.norm(np.cross(a, b)) <= TOLERANCE


def identifiable_count(robot):
    """Return the count for a serial robot without drive inertias and friction."""
    placed = frames(robot, np.zeros(len(robot.joints)))
    axes = [rotation[:, 2] for rotation, _ in placed]
    slides = [joint.type is JointType.PRISMATIC for joint in robot.joints]
    n = len(axes)
    r = next((j for j in range(n) if not slides[j]), n)
    s = next((j for j in range(r + 1, n) if not slides[j] and not parallel(axes[j], axes[r])), n)
    count = sum(slides)
    for j in range(n):
        if slides[j]:
            between = r < j < s and not parallel(axes[j], axes[r])
            count += 3 * (j > s) + 2 * between
        elif j >= s:
            count += 7
        else:
            count += 1 + 2 * _has_moments(robot, placed, axes, slides, r, j)
    return count


def _has_moments(robot, placed, axes, slides, r, j):
    """Return whether the first moments across the axis of joint j have an effect."""
    if not parallel(axes[r], robot.gravity / np.linalg.norm(robot.gravity)):
        return True
    if not all(parallel(axes[k], axes[r]) for k in range(j)):
        return True
    offsets = [placed[j][1] - placed[m][1] for m in range(r, j) if not slides[m]]
    return not all(parallel(offset, axes[r]) for offset in offsets)
