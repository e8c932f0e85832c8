"""Modified Denavit-Hartenberg parameters of any joint, whatever its description was.

Every rotation is Rot(z, gamma) Rot(x, alpha) Rot(z, theta), so that the placement of every joint
has the six parameters of Khalil and Kleinfinger (1986); a URDF is no exception.
"""

from __future__ import annotations

import math

import numpy as np

from robot_identification.robot.model import Array, GeometricParameters, Joint

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
