"""Compiled forward kinematics: frames of the joints at postures, and capsules carried with them."""

from __future__ import annotations

import numpy as np

from robot_identification.compiled import compiled


@compiled()
def dot(a, b):
    """Return the scalar product of two vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled()
def joint_frames(q, antecedent, rotation, translation, prismatic, turned, placed):
    """Fill the frames of all joints at a posture, in the base frame."""
    for j in range(len(antecedent)):
        c, s = np.cos(q[j]), np.sin(q[j])
        if prismatic[j]:
            c, s = 1.0, 0.0
        k = antecedent[j]
        for row in range(3):
            x = rotation[j, row, 0] * c + rotation[j, row, 1] * s
            y = rotation[j, row, 1] * c - rotation[j, row, 0] * s
            turned[j, row, 0], turned[j, row, 1] = x, y
            turned[j, row, 2] = rotation[j, row, 2]
            placed[j, row] = translation[j, row]
            if prismatic[j]:
                placed[j, row] += q[j] * rotation[j, row, 2]
        if k >= 0:
            own, place = turned[j].copy(), placed[j].copy()
            for row in range(3):
                for column in range(3):
                    turned[j, row, column] = (
                        turned[k, row, 0] * own[0, column]
                        + turned[k, row, 1] * own[1, column]
                        + turned[k, row, 2] * own[2, column]
                    )
                placed[j, row] = placed[k, row] + dot(turned[k, row], place)


@compiled()
def frames(q, robot, turned, placed):
    """Fill the frames of all joints, (cells, joints, 3, 3) and (cells, joints, 3), at postures."""
    antecedent, rotation, translation, prismatic = robot
    for cell in range(len(q)):
        joint_frames(
            q[cell], antecedent, rotation, translation, prismatic, turned[cell], placed[cell]
        )


@compiled()
def carry(ends, joint, turned, placed, out):
    """Fill the ends of a capsule in the base frame."""
    for i in range(2):
        for row in range(3):
            if joint < 0:
                out[i, row] = ends[i, row]
            else:
                out[i, row] = placed[joint, row] + dot(turned[joint, row], ends[i])
