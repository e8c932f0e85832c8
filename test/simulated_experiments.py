"""Recordings of simulated robots whose parameters are known."""

from functools import cache

import numpy as np

from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.files.plans.trajectories import read_trajectory
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.share import share_directory
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.raw_samples import RawSamples

START = 1_700_000_000_000_000_000


@cache
def simulated(name, values, rate_hz):
    """Return samples without noise of a robot along its trajectory, and that trajectory."""
    robot = load_robot(name)
    path = share_directory() / "config" / "trajectories" / f"{name}.yaml"
    trajectory = read_trajectory(path).reordered(robot.joint_names)
    loop = ClosedLoop(robot, load_values(values, robot), sample_rate_hz=rate_hz)
    return loop.run(trajectory.reference, trajectory.duration), trajectory


def raw_samples(name, values, rate_hz, noise, seed=0, positions=True):
    """Return noisy samples of a robot along its trajectory; without positions they are NaN."""
    samples, _ = simulated(name, values, rate_hz)
    rng = np.random.default_rng(seed)
    effort = samples.effort + rng.normal(size=samples.effort.shape) * noise
    measured = samples.position + 1e-5 * rng.normal(size=samples.position.shape)
    stamps = START + np.round(samples.time * 1e9).astype(np.int64)
    position = measured if positions else np.full(measured.shape, np.nan)
    return RawSamples(stamps, position, None, effort)


def reference_at(samples, rate_hz):
    """Return the reference of the SCARA at the stamps of samples."""
    _, trajectory = simulated("scara", "scara", rate_hz)
    return trajectory.sample((samples.stamps - samples.stamps[0]) * 1e-9)[0]


def write_without_positions(path, rate_hz, noise, seed=0, seconds=None):
    """Write a bag with efforts and reference of the SCARA, whose positions nobody measured.

    It is as long as the trajectory, or ends after so many seconds.
    """
    raw = raw_samples("scara", "scara", rate_hz, noise, seed, positions=False)
    if seconds is not None:
        raw = raw.at(slice(round(seconds * rate_hz)))
    reference = reference_at(raw, rate_hz)
    samples = RawSamples(raw.stamps, raw.position, None, raw.effort, reference)
    write_joint_states(path, load_robot("scara").joint_names, samples)
    return path


def experiment(name, values, rate_hz, noise, seed=0, positions=False, seconds=None):
    """Return robot, recordings, references and the true base parameters."""
    robot = load_robot(name)
    base = base_parameters(robot)
    raw = raw_samples(name, values, rate_hz, noise, seed, positions)
    recording = build_recording(raw, robot.joint_names, positions_needed=positions)
    if seconds is not None:
        recording = recording.between(0.0, seconds / recording.duration)
    _, trajectory = simulated(name, values, rate_hz)
    truth = base.values(load_values(values, robot)[base.columns])
    return robot, [recording], [trajectory.reference], truth
