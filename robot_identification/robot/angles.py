"""Angles in files, as numbers or text such as pi/2, and rotations exact at quarter turns."""

from __future__ import annotations

import math
import re

import numpy as np

from robot_identification.robot.model import Array

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
