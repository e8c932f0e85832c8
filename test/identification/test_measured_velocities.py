"""Tachometers beside coarse encoders: whose velocities give the better parameters?"""

from dataclasses import replace

import numpy as np
import pytest

from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.identify import identify
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.raw_samples import RawSamples
from simulated_experiments import START, simulated

pytestmark = pytest.mark.usefixtures("undiagnosed")

STEP = 1e-3
GOOD, POOR = 1e-3, 1e-2


def largest_error(noise, velocities, cutoff_hz):
    """Return the largest relative error of the parameters, and the error of the fit.

    Args:
        noise: standard deviation of the tachometers' noise in rad/s.
        velocities: which are used.
        cutoff_hz: of the filter.
    """
    robot = replace(load_robot("scara"), processing=ProcessingSettings())
    base = base_parameters(robot)
    truth = base.values(load_values("scara", robot)[base.columns])
    samples, _ = simulated("scara", "scara", 1000.0)
    rng = np.random.default_rng(0)
    shape = samples.effort.shape
    effort = samples.effort + 0.01 * samples.effort.std(axis=0) * rng.normal(size=shape)
    position = np.round(samples.position / STEP) * STEP
    velocity = samples.velocity + noise * rng.normal(size=shape)
    stamps = START + np.round(samples.time * 1e9).astype(np.int64)
    recording = build_recording(
        RawSamples(stamps, position, velocity, effort), robot.joint_names, source="run"
    )
    stated = ProcessingSettings(velocities=velocities, cutoff_hz=cutoff_hz)
    found = identify(robot, [recording], method="wls", overrides=stated)
    errors = np.abs(found.estimate.values - truth) / np.abs(truth)
    return float(errors.max()), found.estimate.relative_error.total


@pytest.mark.parametrize(
    ("cutoff_hz", "derived", "measured"), [(None, 0.013, 0.003), (20.0, 0.043, 0.003)]
)
def test_good_tachometers_are_better_than_coarse_encoders(cutoff_hz, derived, measured):
    ours, fit = largest_error(GOOD, "measured", cutoff_hz)
    theirs, plain = largest_error(GOOD, "derived", cutoff_hz)
    assert ours == pytest.approx(measured, abs=6e-4)
    assert theirs == pytest.approx(derived, abs=6e-4)
    assert fit < 0.4 * plain


def test_poor_tachometers_are_worse_than_the_same_encoders():
    ours, fit = largest_error(POOR, "measured", None)
    theirs, plain = largest_error(POOR, "derived", None)
    assert ours > 2.0 * theirs
    assert fit > 2.0 * plain
