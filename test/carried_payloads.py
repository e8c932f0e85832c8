"""Motions of an arm that picks up a body, with noise and friction that its model does not have."""

from copy import deepcopy
from functools import cache

import numpy as np

from robot_identification.calibration.running_payload.settings import RunningPayloadSettings
from robot_identification.calibration.running_payload.watch import PayloadWatch
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.robot.bodies import Body
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.mounting import mounting

BEGIN = 1_700_000_000_000_000_000
RATE = 250.0
ROBOT = load_robot("tx40")
TRUTH = load_values("tx40_simulated", ROBOT)
PLACE = mounting(ROBOT)
BODY = Body(2.0, [0.02, -0.03, 0.08], np.diag([0.006, 0.007, 0.004]))
SETTINGS = RunningPayloadSettings(learning_time=20.0)
NOISE = 0.2  # N m, of every sample, where nothing else is said
LITTLE_NOISE = 0.02  # N m
UNKNOWN = 1.5  # N m, at 1 rad/s
RIPPLES = 10.0  # in a radian of a joint, 2 pi of them a wave


class Carrying:
    """An arm that moves by sums of sines, one part after the other.

    Args:
        seed: of the noise.
        warming: by which friction falls at 1 rad/s, in N m in a second.
        noise: of every sample, in N m.

    Attributes:
        efforts: (joints,) from outside, for the parts to come.
        load_friction: share by which friction follows the efforts of the body.
        delay: by which efforts are late, in s.
        ripple: share by which gears pass on more or less of the body's efforts as they turn.
    """

    def __init__(self, seed=0, warming=0.0, noise=NOISE):
        self._rng = np.random.default_rng(seed)
        self.warming, self.noise = warming, noise
        self.now, self.efforts = 0.0, np.zeros(len(ROBOT.joints))
        self.load_friction = self.delay = self.ripple = 0.0

    def part(self, seconds, body=None, lifting=0.0):
        """Return stamps, positions and efforts of so many seconds, with a body or none.

        Args:
            seconds: that the part lasts.
            body: what is carried.
            lifting: s in which the weight of the body passes from what it lies on to the arm.
        """
        time = self.now + np.arange(round(seconds * RATE))[:, None] / RATE
        self.now = float(time[-1, 0]) + 1.0 / RATE
        q, qd, qdd = motion(time - self.delay)
        tau = inverse_dynamics(ROBOT, TRUTH, q, qd, qdd)
        if body is not None:
            load = inverse_dynamics(ROBOT, PLACE.with_body(TRUTH, body), q, qd, qdd) - tau
            if lifting:
                load *= np.minimum((time - time[0]) / lifting, 1.0)
            tau += load * (1.0 + self.ripple * np.sin(RIPPLES * q))
            tau += self.load_friction * np.abs(load) * np.sign(qd)
        friction = UNKNOWN - self.warming * time
        tau += friction * np.sign(qd) * np.sqrt(np.abs(qd)) - self.efforts
        tau += self.noise * self._rng.normal(size=tau.shape)
        return BEGIN + np.rint(1e9 * time[:, 0]).astype(np.int64), motion(time)[0], tau


def motion(time):
    """Return positions, velocities and accelerations at (samples, 1) times."""
    joints = np.arange(len(ROBOT.joints))
    q, qd, qdd = np.zeros((3, len(time), len(joints)))
    for tone in (0.31, 0.53, 0.83):
        w = 2.0 * np.pi * tone * (1.0 + 0.13 * joints)
        p, a = 3.0 * tone + 1.7 * joints, 0.12 / tone
        q += a * np.sin(w * time + p)
        qd += a * w * np.cos(w * time + p)
        qdd -= a * w * w * np.sin(w * time + p)
    return q, qd, qdd


def send(watch, part, at_once=50):
    """Send a part in blocks; return the states that were told."""
    states = []
    for first in range(0, len(part[0]), at_once):
        states += watch.push(*(signal[first : first + at_once] for signal in part))
    return states


def new_watch(free=None):
    return PayloadWatch(ROBOT, TRUTH, PLACE, settings=SETTINGS, free=free)


def learn(arm, watch):
    """Let a bare arm move until its free motion has been learned."""
    while watch.free is None:
        send(watch, arm.part(1.0))


@cache
def learned_from(seed=0, **properties):
    """Return an arm, and what has just learned its free motion; copy them."""
    arm, watch = Carrying(seed, **properties), new_watch()
    learn(arm, watch)
    return arm, watch


def learned_arm(noise=NOISE):
    """Return an arm that moves, and what has learned its free motion."""
    arm, watch = deepcopy(learned_from(seed=1, noise=noise))
    send(watch, arm.part(4.0))
    return arm, watch


def learned():
    """Return what twenty seconds of the bare arm have told."""
    return learned_from()[1].free
