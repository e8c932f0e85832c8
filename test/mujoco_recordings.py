"""Recordings of robots that MuJoCo moves, with the noise of sensors."""

import numpy as np

from robot_identification.signals.recording import Recording

EFFORT_NOISE, POSITION_NOISE = 0.005, 1e-5  # of the effort limit; rad


def recorded(robot, loop, motion, seed):
    """Return the recording of a motion from and to rest at zero; the seed is that of the noise."""
    begin = loop.settled(np.zeros(len(robot.joints)))
    _, samples = loop.advance(begin, motion.reference, round(motion.duration * loop.rate_hz))
    rng = np.random.default_rng(seed)
    limits = np.array([joint.limits.effort for joint in robot.joints])
    position = samples.position + POSITION_NOISE * rng.normal(size=samples.position.shape)
    effort = samples.effort + EFFORT_NOISE * limits * rng.normal(size=samples.effort.shape)
    return Recording.from_arrays(robot, samples.time, position, effort)
