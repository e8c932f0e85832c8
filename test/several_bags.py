"""Recordings of one simulated arm as several bags, with noise, contacts and spikes put in."""

import itertools
from dataclasses import replace

import numpy as np

from robot_identification.robot.processing import ProcessingSettings
from simulated_experiments import experiment

NOISE = np.array([0.5, 0.1])
STATED = ProcessingSettings(
    cutoff_hz=20.0, rate_hz=20.0, velocity_threshold=(0.05, 0.05), drop_start=30, drop_end=30
)


def arm(parts=3, seed=0, level=1.0):
    """Return robot, so many recordings that follow each other, and the true parameters.

    Efforts have noise of a level, as a multiple of ``NOISE``.
    """
    robot, (whole,), _, truth = experiment(
        "scara", "scara", 200.0, 0.0 * NOISE, positions=True, seed=seed
    )
    edges = np.linspace(0.0, 1.0, parts + 1)
    rng = np.random.default_rng(seed)
    recordings = [
        with_efforts(
            replace(whole.between(begin, end), source=f"part {i}"),
            lambda effort: effort + level * NOISE * rng.standard_normal(effort.shape),
        )
        for i, (begin, end) in enumerate(itertools.pairwise(edges))
    ]
    return robot, recordings, truth


def with_efforts(recording, change):
    """Return a recording whose efforts, (samples, joints) of each segment, are changed."""
    segments = [replace(s, effort=change(s.effort)) for s in recording.segments]
    return replace(recording, segments=tuple(segments))
