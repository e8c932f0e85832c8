"""Defaults of the simulated experiments of a robot, given in its file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SimulatedExperiment:
    """A simulated experiment: motion, sampling, sensor noise.

    Attributes:
        trajectory: name of a file in config/trajectories.
        rate_hz: sampling rate.
        position_noise: (joints,) standard deviations of white noise in rad or m.
        effort_noise: (joints,) standard deviations in N m or N.
        seeds: seeds of the noise, one for each repetition.
        natural_frequency: (joints,) of the closed loop in rad/s, which its gains were made for.
        damping: (joints,) damping ratios, likewise.
    """

    trajectory: str
    rate_hz: float
    position_noise: tuple[float, ...]
    effort_noise: tuple[float, ...]
    seeds: tuple[int, ...]
    natural_frequency: tuple[float, ...]
    damping: tuple[float, ...]
