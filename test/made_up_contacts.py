"""Motions of robots that are pushed: efforts exact, but for the push that only the robot feels."""

from typing import NamedTuple

import numpy as np

from robot_identification.dynamics.regressor import inverse_dynamics

BEGIN = 1_700_000_000_000_000_000


class Pushed(NamedTuple):
    """Samples of a motion, and the external efforts in it."""

    stamps: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    external: np.ndarray

    def part(self, samples):
        return Pushed(*(array[samples] for array in self))

    @property
    def measured(self):
        return self[:4]


def pushed(robot, values, push, *, seconds=1.0, rate=1000.0, begin=0.0, time=None, amplitude=0.5):
    """Return a motion of sines, pushed by constant efforts (joints,) from the time `begin` on."""
    joints = len(robot.joints)
    if time is None:
        time = np.arange(round(seconds * rate)) / rate
    speed = 2.0 * np.pi * np.linspace(0.3, 0.7, joints)
    angle = speed * time[:, None] + np.arange(joints)
    q, qd = amplitude * np.sin(angle), amplitude * speed * np.cos(angle)
    external = np.where(time[:, None] >= begin, push, 0.0)
    tau = inverse_dynamics(robot, values, q, qd, -(speed**2) * q) - external
    return Pushed(BEGIN + np.rint(time * 1e9).astype(np.int64), q, qd, tau, external)
