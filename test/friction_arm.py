"""An arm of two joints with friction terms, its recordings, and what is chosen of them."""

import numpy as np

from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.robot.files.document import parse_document
from robot_identification.robot.files.robot_yaml.robot import build
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.recording import Recording

ARM = """\
name: arm
effort_meaning: joint_torque
joints:
  - {name: shoulder, type: revolute, geometry: {alpha: pi/2}}
  - {name: elbow, type: revolute, geometry: {d: 0.4}, MORE}
"""
SETTINGS = ProcessingSettings(cutoff_hz=20.0, rate_hz=50.0, velocity_threshold=(0.0, 0.0))


def arm(more="drive_gain: 1"):
    return build(parse_document(ARM.replace("MORE", more), "arm.yaml"))


def values_of(robot, **terms):
    """Standard parameters of the arm, with those of joint terms as named."""
    known = {
        "ZZ1": 0.9, "XX1": 0.4, "YY1": 0.5, "MX1": 1.2, "MY1": 0.2, "M1": 5.0,
        "ZZ2": 0.5, "XX2": 0.2, "YY2": 0.3, "MX2": 0.8, "MY2": 0.3, "M2": 3.0,
        "Ia1": 0.3, "Ia2": 0.2, "Fv1": 1.5, "Fv2": 1.0, "Fc1": 2.0, "Fc2": 1.5,
    }  # fmt: skip
    known |= terms
    return np.array([known.get(name, 0.0) for name in robot.all_parameter_names])


def moved(robot, values, *, noise=0.05, seed=0, duration=40.0):
    """A recording of a motion of many frequencies at 200 Hz, with white noise on the efforts."""
    rng = np.random.default_rng(seed)
    time = np.arange(0.0, duration, 0.005)
    rates = 2.0 * np.pi * np.array([0.13, 0.29, 0.47, 0.71])
    size = rng.uniform(0.2, 0.5, (2, 4))
    phase = rng.uniform(0.0, 6.0, (2, 4))
    angle = rates[:, None] * time
    q, qd, qdd = (
        np.einsum("jk,jkt->tj", size * rates**order, turn(angle + phase[..., None]))
        for order, turn in (
            (0, np.sin), (1, np.cos), (2, lambda x: -np.sin(x)),
        )
    )  # fmt: skip
    effort = inverse_dynamics(robot, values, q, qd, qdd)
    effort += noise * rng.normal(size=effort.shape)
    return Recording.from_arrays(robot, time, q, effort)


def chosen(result):
    """Terms beyond those of the robot file, by joint."""
    return {
        name: set(terms) - {"Ia", "Fv", "Fc", "off"}
        for name, terms in zip(result.joint_names, result.friction.joints, strict=True)
    }
