"""Modified Denavit-Hartenberg parameters of any joint, whatever its description was.

Every rotation is Rot(z, gamma) Rot(x, alpha) Rot(z, theta), so that the placement of every joint
has the six parameters of Khalil and Kleinfinger (1986); a URDF is no exception.
"""

from __future__ import annotations

import math
import re

import numpy as np
import numpy.typing as npt

from robot_identification.errors import ShapeError
from robot_identification.robot.arrays import Array
from robot_identification.robot.joint import GeometricParameters, Joint, JointType
from robot_identification.robot.model import RobotModel

_MULTIPLE_OF_PI = re.compile(
    r"(?P<sign>[-+]?)((?P<factor>[0-9]+(\.[0-9]*)?) ?\* ?)?pi( ?/ ?(?P<divisor>[0-9]+(\.[0-9]*)?))?"
)
_UPRIGHT = 1e-12


def parse_angle(value: float | str) -> float:
    """Return an angle in rad that is given as a number or as text such as ``-pi/2``.

    Raises:
        ValueError: the text is not a multiple of pi.
    """
    if not isinstance(value, str):
        return float(value)
    match = _MULTIPLE_OF_PI.fullmatch(value)
    if match is None:
        raise ValueError(f"{value} is neither a number nor a multiple of pi")
    factor, divisor = (float(match[part] or 1) for part in ("factor", "divisor"))
    if divisor == 0:
        raise ValueError(f"{value} divides by zero")
    if not math.isfinite(math.pi * factor / divisor):
        raise ValueError(f"{value:.40} is not finite")
    return math.copysign(math.pi * factor / divisor, -1 if match["sign"] == "-" else 1)


def cos_sin(angle: float) -> tuple[float, float]:
    """Return cosine and sine of an angle in rad, exact where it is a multiple of a quarter turn.

    Exact zeros keep the structure of a robot with parallel and perpendicular axes.  An angle
    within 1e-10 rad of such a multiple was rounded when it was written down, and counts as one.
    """
    quarters = round(angle / (math.pi / 2))
    if abs(angle - quarters * (math.pi / 2)) <= 1e-10:
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[quarters % 4]
    return math.cos(angle), math.sin(angle)


WRITTEN = 1e-5
"""Angle in rad, or part of a direction, that six written digits may be off: 1.5708 is pi / 2."""


def nominal_angle(angle: float) -> float:
    """Return an angle of a description as it was meant: a multiple of 15 degrees exactly.

    Descriptions are written with six digits or so.  An angle that is not quite right makes a base
    parameter more, which no motion can tell: 1.5708 in place of pi / 2 a condition number of 1e8.

    Args:
        angle: in rad; within 1e-5 of a multiple of pi / 12 it counts as that.
    """
    steps = round(angle / (math.pi / 12))
    nominal = steps * (math.pi / 12) if steps % 6 else (steps // 6) * (math.pi / 2)
    return nominal if abs(angle - nominal) <= WRITTEN else angle


def rotation_x(angle: float) -> Array:
    """Return the (3, 3) rotation by ``angle`` rad about x."""
    c, s = cos_sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def rotation_y(angle: float) -> Array:
    """Return the (3, 3) rotation by ``angle`` rad about y."""
    c, s = cos_sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def rotation_z(angle: float) -> Array:
    """Return the (3, 3) rotation by ``angle`` rad about z."""
    c, s = cos_sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def roll_pitch_yaw(rotation: Array) -> tuple[float, float, float]:
    """Return roll, pitch and yaw of a rotation Rot(z, yaw) Rot(y, pitch) Rot(x, roll), in rad.

    Where the pitch is a quarter turn, yaw is 0 and roll takes the whole turn that is left.  Nearby
    the three still give back the rotation, because roll is computed from what yaw leaves.

    Args:
        rotation: (3, 3) rotation matrix.
    """
    across = math.hypot(rotation[0, 0], rotation[1, 0])
    yaw = math.atan2(rotation[1, 0], rotation[0, 0]) if across > _UPRIGHT else 0.0
    c, s = cos_sin(yaw)
    pitch = math.atan2(-rotation[2, 0], across)
    roll = math.atan2(
        s * rotation[0, 2] - c * rotation[1, 2], c * rotation[1, 1] - s * rotation[0, 1]
    )
    return roll, pitch, yaw


def axis_frame(axis: Array) -> Array:
    """Return a rotation that takes the z axis to a unit vector; the identity for z itself.

    It is the shortest rotation for an axis in the upper half-space; for one in the lower, half a
    turn about x followed by the shortest rotation from there.

    Args:
        axis: (3,) unit vector.
    """
    flip = np.diag([1.0, -1.0, -1.0]) if axis[2] < 0 else np.eye(3)
    start = flip[:, 2]
    cross = np.cross(start, axis)
    skew = np.array(
        [[0.0, -cross[2], cross[1]], [cross[2], 0.0, -cross[0]], [-cross[1], cross[0], 0.0]]
    )
    shortest = np.eye(3) + skew + skew @ skew / (1.0 + start @ axis)
    return np.asarray(shortest @ flip)


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


_NEGLIGIBLE = 1e-12


def geometric_parameters(joint: Joint) -> GeometricParameters:
    """Return the placement of a joint as six parameters, in rad and m.

    Where the axes of a joint and its antecedent are parallel, the common normal may stand
    anywhere; the one with b = 0 is chosen.
    """
    if joint.geometry is not None:
        return joint.geometry
    rotation, translation = joint.rotation, joint.translation
    sine = math.hypot(rotation[0, 2], rotation[1, 2])
    if sine <= _NEGLIGIBLE:
        return _parallel(rotation, translation)
    gamma = math.atan2(rotation[0, 2], -rotation[1, 2])
    alpha = math.atan2(sine, rotation[2, 2])
    theta = math.atan2(rotation[2, 0], rotation[2, 1])
    x, y = _turned(translation, gamma)
    r = -y / sine
    return GeometricParameters(
        alpha=alpha,
        d=_clean(x),
        theta=theta,
        r=_clean(r),
        gamma=gamma,
        b=_clean(translation[2] - rotation[2, 2] * r),
    )


def snapped(rotation: Array) -> Array:
    """Return a rotation whose entries are exact where they are 0, 1 or -1 but for rounding."""
    nearest = np.round(rotation)
    return np.where(np.abs(rotation - nearest) <= _NEGLIGIBLE, nearest, rotation)


def _parallel(rotation: Array, translation: Array) -> GeometricParameters:
    """Return the parameters of a joint whose axis is parallel to its antecedent's."""
    direction = math.copysign(1.0, rotation[2, 2])
    d = math.hypot(translation[0], translation[1])
    gamma = math.atan2(translation[1], translation[0]) if d > _NEGLIGIBLE else 0.0
    heading = math.atan2(rotation[1, 0], rotation[0, 0])
    return GeometricParameters(
        alpha=0.0 if direction > 0 else math.pi,
        d=_clean(d),
        theta=math.remainder(direction * (heading - gamma), 2 * math.pi),
        r=_clean(direction * translation[2]),
        gamma=gamma,
    )


def _turned(translation: Array, gamma: float) -> tuple[float, float]:
    c, s = math.cos(gamma), math.sin(gamma)
    return c * translation[0] + s * translation[1], c * translation[1] - s * translation[0]


def _clean(length: float) -> float:
    return 0.0 if abs(length) <= _NEGLIGIBLE else float(length)
