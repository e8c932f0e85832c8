"""Defaults of the simulated experiments of a robot, given in its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Workspace:
    """A box that the tool point must not leave.

    Attributes:
        lower: smallest coordinates in the base frame, in m.
        upper: largest coordinates.
        tool: the tool point in the frame of the last joint, in m.
    """

    lower: tuple[float, float, float]
    upper: tuple[float, float, float]
    tool: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def contains(self, last_frame: FloatArray) -> npt.NDArray[np.bool_]:
        """Tell for every frame (samples, 4, 4) of the last joint whether the tool is inside."""
        inside: npt.NDArray[np.bool_] = (self.beyond(last_frame) == 0.0).all(axis=-1)
        return inside

    def beyond(self, last_frame: FloatArray) -> FloatArray:
        """Return how far (samples, 3) the tool is outside, in m: below 0 below the lower corner.

        Args:
            last_frame: (samples, 4, 4) frames of the last joint.
        """
        place = last_frame[..., :3, :3] @ np.array(self.tool) + last_frame[..., :3, 3]
        found: FloatArray = np.maximum(place - self.upper, 0.0) + np.minimum(
            place - self.lower, 0.0
        )
        return found


FILTERED_DERIVATIVE = "filtered_derivative"
VELOCITY_ESTIMATES = ("measured", "averaged_difference", FILTERED_DERIVATIVE)


@dataclass(frozen=True)
class Controller:
    """The declared control law of the robot, for simulation.

    The torque is limited to the effort limits of the joints.

    Attributes:
        law: ``cascade``: tau = kv (kp (qr - q) - qd), Gautier et al. 2013, eq. 53;
            ``pid``: tau = kp (qr - q) + ki integral of (qr - q) + kd (qdr - qd)
            + velocity_feedforward qdr + acceleration_feedforward qddr;
            ``computed_torque``: tau = M(q) (qddr + kd (qdr - qd) + kp (qr - q)) + N(q, qd).
        rate_hz: rate at which the torque is renewed.
        gains: gain name -> one value per joint, in SI units of the joint's side.  ``cascade``
            has kp and kv; ``pid`` has kp, ki, kd, velocity_feedforward and
            acceleration_feedforward; ``computed_torque`` has kp and kd.
        delay_samples: periods of the controller between measurement and reference and the
            torque that answers them.
        velocity_estimate: ``measured``; ``averaged_difference``: the backward difference of the
            mean of the last two positions; or ``filtered_derivative``: with the cut-off w in rad/s
            and the period T, v[k] = (v[k-1] + w (q[k] - q[k-1])) / (1 + w T), the first-order
            filter w s / (s + w) by backward differences.
        velocity_cutoff_hz: cut-off of the filtered derivative, None for the other estimates.
        recorded_effort: what a recorded effort is: ``mean`` of the torques just before and just
            after its instant, as of a sensor; ``held``: the torque from then on, as of a command.
    """

    law: str
    rate_hz: float
    gains: Mapping[str, tuple[float, ...]]
    delay_samples: int = 0
    velocity_estimate: str = "measured"
    velocity_cutoff_hz: float | None = None
    recorded_effort: str = "mean"

    def __post_init__(self) -> None:
        object.__setattr__(self, "gains", MappingProxyType(dict(self.gains)))


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
