"""Forward kinematics: placements of joints and frames."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_identification.errors import ShapeError
from robot_identification.robot.angles import cos_sin, rotation_x, rotation_z
from robot_identification.robot.model import Array, GeometricParameters, JointType, RobotModel


def placement(geometry: GeometricParameters) -> tuple[Array, Array]:
    """Return the frame of a joint at position zero, in the frame of its antecedent.

    Args:
        geometry: modified Denavit-Hartenberg parameters.

    Returns:
        (3, 3) rotation and (3,) translation in m of Rot(z, gamma) Trans(z, b) Rot(x, alpha)
        Trans(x, d) Rot(z, theta) Trans(z, r) (Khalil and Kleinfinger 1986).
    """
    turn = rotation_z(geometry.gamma)
    cosine, sine = cos_sin(geometry.alpha)
    rotation = turn @ rotation_x(geometry.alpha) @ rotation_z(geometry.theta)
    offset = np.array([geometry.d, -sine * geometry.r, geometry.b + cosine * geometry.r])
    return rotation, turn @ offset


def forward_kinematics(robot: RobotModel, position: npt.ArrayLike) -> Array:
    """Return the frames of all links in the base frame.

    Args:
        robot: the robot.
        position: (samples, joints) or (joints,) joint positions in rad or m.

    Returns:
        (samples, joints, 4, 4) or (joints, 4, 4) homogeneous transformations.

    Raises:
        ShapeError: the number of columns is not the number of joints.
    """
    q = np.asarray(position, dtype=np.float64)
    if q.ndim not in (1, 2) or q.shape[-1] != len(robot.joints):
        raise ShapeError("position", q.shape, f"(samples, {len(robot.joints)})")
    frames = np.zeros((*q.shape, 4, 4))
    for j, joint in enumerate(robot.joints):
        local = np.zeros((*q.shape[:-1], 4, 4))
        local[..., 3, 3] = 1.0
        local[..., :3, 3] = joint.translation
        if joint.type is JointType.PRISMATIC:
            local[..., :3, :3] = joint.rotation
            local[..., :3, 3] += q[..., j, None] * joint.rotation[:, 2]
        else:
            local[..., :3, :3] = joint.rotation @ _turns(q[..., j])
        carried = joint.antecedent >= 0
        frames[..., j, :, :] = frames[..., joint.antecedent, :, :] @ local if carried else local
    return frames


def _turns(angle: Array) -> Array:
    """Return (..., 3, 3) rotations about z."""
    turns = np.zeros((*angle.shape, 3, 3))
    turns[..., 0, 0] = turns[..., 1, 1] = np.cos(angle)
    turns[..., 1, 0] = np.sin(angle)
    turns[..., 0, 1] = -turns[..., 1, 0]
    turns[..., 2, 2] = 1.0
    return turns
