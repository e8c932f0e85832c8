"""DIDIM of a robot whose file states friction laws: simulated with them, and identified."""

from dataclasses import replace

import numpy as np
import pytest

from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.files.parameters import with_law_of
from robot_identification.files.plans.trajectories import read_trajectory
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.didim.run import identify_didim
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.share import share_directory
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.raw_samples import RawSamples

pytestmark = pytest.mark.usefixtures("undiagnosed")

START, RATE = 1_700_000_000_000_000_000, 500.0
EFFORT_NOISE, POSITION_NOISE = np.array([0.8, 0.8, 0.4, 0.2, 0.2, 0.12]), 1e-5
PLAIN = load_robot("tx40")


def asymmetric():
    """A TX-40 with Stribeck's, root and asymmetric viscous friction in every joint."""
    joints = tuple(
        replace(joint, terms=joint.terms | {"Fs", "Fr", "Fva"}, shapes={"Fs": (0.2, 1.0)})
        for joint in PLAIN.joints
    )
    robot = replace(PLAIN, joints=joints)
    known = dict(zip(PLAIN.all_parameter_names, load_values("tx40_simulated", PLAIN), strict=True))
    for k in range(1, 7):
        known[f"Fs{k}"], known[f"Fr{k}"] = 0.5 * known[f"Fc{k}"], 0.2 * known[f"Fc{k}"]
        known[f"Fva{k}"] = 0.1 * known[f"Fv{k}"]
    return robot, np.array([known.get(name, 0.0) for name in robot.all_parameter_names])


def loaded():
    """A TX-40 with Stribeck's friction and one that follows the load."""
    robot = with_law_of("tx40_stribeck_load", PLAIN)
    return robot, load_values("tx40_stribeck_load", robot)


@pytest.mark.slow
@pytest.mark.parametrize("made", [asymmetric, loaded])
def test_tx40_with_stated_laws_from_least_squares(made):
    robot, values = made()
    path = share_directory() / "config" / "trajectories" / "tx40.yaml"
    trajectory = read_trajectory(path).reordered(robot.joint_names)
    loop = ClosedLoop(robot, values, sample_rate_hz=RATE)
    samples = loop.run(trajectory.reference, 0.6 * trajectory.duration)
    rng = np.random.default_rng(0)
    raw = RawSamples(
        START + np.round(samples.time * 1e9).astype(np.int64),
        samples.position + POSITION_NOISE * rng.normal(size=samples.position.shape),
        None,
        samples.effort + EFFORT_NOISE * rng.normal(size=samples.effort.shape),
    )
    recording = build_recording(raw, robot.joint_names)
    result = identify_didim(robot, [recording], [trajectory.reference], start="idim")
    assert result.converged
    assert result.iterations <= 10
    last = result.history.iterations[-1].torque_error.joints
    np.testing.assert_allclose(last, result.history.noise_floor, rtol=0.2)
    base = base_parameters(robot)
    truth, std = base.values(values[base.columns]), result.estimate.larger_std
    known = std < 0.05 * np.abs(result.estimate.values)
    assert known.sum() >= 35
    near = np.abs(result.estimate.values - truth)[known] <= 3.0 * std[known]
    assert near.mean() > 0.95
