"""A heavy arm whose shoulder a gas spring holds, with values and a motion for it."""

from dataclasses import replace

import numpy as np

from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.robot.files.document import parse_document
from robot_identification.robot.files.robot_yaml.robot import build
from robot_identification.signals.recording import Recording, Segment

PRELOAD, STIFFNESS = 6000.0, 7000.0
RATE = 200.0

# Axis 2 lies 0.35 m beside axis 1, as in industrial arms; the spring is fastened to the carousel
# and to the lower arm.
FILE = """\
name: heavy_arm
effort_meaning: joint_torque
joint_defaults: {type: revolute, limits: {velocity: 4.0, acceleration: 20.0, effort: 8000.0}}
joints:
  - {name: carousel, link: carousel, geometry: {r: 0.5}}
  - {name: shoulder, link: lower_arm, geometry: {alpha: -pi/2, d: 0.35, theta: -pi/2}}
  - {name: elbow, link: upper_arm, geometry: {d: 1.1}}
springs:
  - name: balancer
    kind: gas
    between:
      - {link: carousel, point: [0.1, -0.12, -0.25]}
      - {link: lower_arm, point: [0.25, 0.05, 0]}
"""


def heavy_arm():
    return build(parse_document(FILE, "heavy_arm.yaml"))


def without_spring(robot):
    return replace(robot, springs=())


def true_values(robot):
    """Return values of links of 200, 150 and 120 kg, friction, and the spring's."""
    known = {
        "XX1": 20.0, "YY1": 20.0, "ZZ1": 30.0, "M1": 200.0,
        "XX2": 8.0, "XY2": -2.13, "YY2": 90.0, "ZZ2": 92.0, "MX2": 80.0, "MY2": 4.0, "M2": 150.0,
        "XX3": 35.0, "XY3": 11.25, "YY3": 19.0, "ZZ3": 40.0, "MX3": 30.0, "MY3": -45.0, "M3": 120.0,
        "Fv1": 60.0, "Fc1": 80.0, "Fv2": 90.0, "Fc2": 120.0, "Fv3": 40.0, "Fc3": 60.0,
        "Ia1": 20.0, "Ia2": 25.0, "Ia3": 10.0,
        "balancer_preload": PRELOAD, "balancer_stiffness": STIFFNESS,
    }  # fmt: skip
    return np.array([known.get(name, 0.0) for name in robot.all_parameter_names])


def motion(seconds=40.0, seed=0, waves=6):
    """Return (samples,) times and (samples, 3) position, velocity and acceleration."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, seconds, 1.0 / RATE)[:, None]
    q = np.tile([0.0, 0.2, 0.1], (len(t), 1))
    qd, qdd = np.zeros((2, len(t), 3))
    for _ in range(waves):
        w, phase = rng.uniform(0.6, 5.0, 3), rng.uniform(0.0, 2.0 * np.pi, 3)
        a = rng.uniform(0.3, 0.8, 3) / w
        q += a * np.sin(w * t + phase)
        qd += a * w * np.cos(w * t + phase)
        qdd -= a * w * w * np.sin(w * t + phase)
    return t[:, 0], q, qd, qdd


def recorded(robot, values, seed=0, noise=0.01):
    """Return a recording whose efforts have noise of that share of their deviation."""
    t, q, qd, qdd = motion(seed=seed)
    effort = inverse_dynamics(robot, values, q, qd, qdd)
    rng = np.random.default_rng([seed, 1])
    effort = effort + noise * effort.std(axis=0) * rng.normal(size=effort.shape)
    q = q + 1e-5 * rng.normal(size=q.shape)
    return Recording(robot.joint_names, 1.0 / RATE, (Segment(t, q, None, effort),))
