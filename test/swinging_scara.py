"""A short recording of a robot whose parameters are known."""

import numpy as np

from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.signals.raw_samples import RawSamples

RATE = 200


def swinging_scara(seconds=20.0) -> RawSamples:
    """Return samples of a SCARA that swings both joints, with a little torque noise."""
    robot = load_robot("scara")
    t = np.arange(0.0, seconds, 1.0 / RATE)[:, None]
    waves = [
        (np.array([[0.8, 1.0]]), np.array([[2.1, 3.7]])),
        (np.array([[0.5, 0.4]]), np.array([[5.3, 6.9]])),
    ]
    q = sum(a * np.sin(w * t) for a, w in waves)
    qd = sum(a * w * np.cos(w * t) for a, w in waves)
    qdd = sum(-a * w * w * np.sin(w * t) for a, w in waves)
    effort = inverse_dynamics(robot, load_values("scara", robot), q, qd, qdd)
    effort = effort + np.random.default_rng(0).normal(scale=[0.05, 0.01], size=effort.shape)
    stamps = 1_700_000_000_000_000_000 + np.arange(len(t), dtype=np.int64) * (10**9 // RATE)
    return RawSamples(stamps, q, qd, effort)
