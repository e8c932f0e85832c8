"""The arm of the soak: what it is, how it moves, and what its identification should find."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from prediction import description, values
from robot_identification.msg import IdentificationResult

from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.files.results import write_result
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.identify import identify
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.model import RobotModel
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.raw_samples import RawSamples

NAMES = tuple(f"joint_{i}" for i in range(1, 8))
MOTION_S = 60.0
NOISE_S = 61.0
CALIBRATED_FROM_S = 20.0
NOISE = {"position": 1e-5, "velocity": 1e-3, "effort": 0.05}  # rad, rad/s, N m


@dataclass(frozen=True)
class Arm:
    """Files about an arm, and the truth.

    Attributes:
        description: robot file.
        motion: what its driver sends.
        result: an identification, for the calibration node.
        robot: the robot.
        truth: values of its standard parameters.
    """

    description: Path
    motion: Path
    result: Path
    robot: RobotModel
    truth: np.ndarray

    def deviations(self, message: IdentificationResult | None) -> dict[str, Any]:
        """Return what an estimate says of itself and how far it is from the truth."""
        if message is None:
            return {}
        base = base_parameters(self.robot)
        exact = base.values(self.truth[base.columns])
        found = np.array([parameter.value for parameter in message.parameters])
        robust = np.array([parameter.std_robust for parameter in message.parameters])
        return {
            "samples": message.sources[0].samples,
            "rows": sum(message.rows),
            "relative_error": message.relative_error_total,
            "good_enough": message.good_enough,
            "largest_deviation": float(np.abs(found - exact).max()),
            "largest_deviation_in_std": float((np.abs(found - exact) / robust).max()),
        }


def prepare(folder: Path, rate: float) -> Arm:
    """Write the files of an arm and return it.

    Args:
        folder: for the files.
        rate: of the joint states, Hz.
    """
    file = folder / "seven.yaml"
    file.write_text(description())
    robot = load_robot(file)
    rng = np.random.default_rng(0)
    truth = values(rng)
    times = np.arange(round(MOTION_S * rate)) / rate
    q, qd, qdd = motion(times, rng)
    exact = {"position": q, "velocity": qd, "effort": inverse_dynamics(robot, truth, q, qd, qdd)}
    noise = {
        f"{name}_noise": std * rng.normal(size=(round(NOISE_S * rate), len(NAMES)))
        for name, std in NOISE.items()
    }
    np.savez(folder / "motion.npz", names=NAMES, rate=rate, **exact, **noise)
    fitted = slice(round(CALIBRATED_FROM_S * rate))
    raw = RawSamples(
        np.round(times[fitted] * 1e9).astype(np.int64) + 10**9,
        *(exact[name][fitted] + noise[f"{name}_noise"][fitted] for name in exact),
    )
    write_result(folder / "result.yaml", identify(robot, [build_recording(raw, robot.joint_names)]))
    return Arm(file, folder / "motion.npz", folder / "result.yaml", robot, truth)


def motion(times: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return a motion that repeats after MOTION_S: three tones per joint, 0.1 to 0.6 Hz.

    Args:
        times: (samples,) in s.
        rng: picks tones and phases.

    Returns:
        Three arrays (samples, 7): positions, velocities and accelerations.
    """
    periods = rng.integers(round(0.1 * MOTION_S), round(0.6 * MOTION_S), size=(3, len(NAMES)))
    tones = 2.0 * np.pi * periods / MOTION_S
    angles = tones * times[:, None, None] + rng.uniform(0.0, 6.0, size=(3, len(NAMES)))
    amplitude = 0.4
    return (
        np.sum(amplitude * np.sin(angles), axis=1),
        np.sum(amplitude * tones * np.cos(angles), axis=1),
        np.sum(-amplitude * tones**2 * np.sin(angles), axis=1),
    )
