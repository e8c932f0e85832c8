import numpy as np
import pytest

from robot_identification.dynamics.reference import hold
from robot_identification.identification.didim.experiments import Experiment
from robot_identification.identification.didim.verdict import measured_noise
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.processing.settings import resolve_processing
from robot_identification.signals.raw_samples import RawSamples

RATE = 200.0


def experiment(noise, seconds=200.0):
    time = np.arange(0.0, seconds, 1.0 / RATE)
    rng = np.random.default_rng(7)
    motion = np.column_stack([5.0 * np.sin(time), 0.3 * np.sign(np.sin(0.7 * time))])
    effort = motion + rng.normal(size=motion.shape) * noise
    return Experiment("made up", time, 1.0 / RATE, effort, hold([0.0, 0.0])), motion


def processing_at(rate_hz):
    stamps = (np.arange(400) * 5_000_000).astype(np.int64)
    still = np.zeros((400, 2))
    recording = build_recording(RawSamples(stamps, still, None, still), ("joint_1", "joint_2"))
    return resolve_processing(load_robot("scara"), [recording], ProcessingSettings(rate_hz=rate_hz))


@pytest.mark.parametrize("rate_hz", [200.0, 50.0, 10.0])
def test_the_floor_is_the_noise_that_decimation_lets_pass(rate_hz):
    noise = np.array([0.2, 0.03])
    made_up, motion = experiment(noise)
    processing = processing_at(rate_hz)
    found = measured_noise([made_up], processing)
    decimator = processing.decimator(made_up.period)
    passed = decimator.decimate((made_up.effort - motion).T.copy()) / decimator.gain
    whole = decimator.decimate(made_up.effort.T.copy()) / decimator.gain
    expected = np.linalg.norm(passed, axis=1) / np.linalg.norm(whole, axis=1)
    np.testing.assert_allclose(found.joints, expected, rtol=0.15)


def test_efforts_without_noise_have_no_floor_to_speak_of():
    made_up, _ = experiment(np.zeros(2))
    found = measured_noise([made_up], processing_at(10.0))
    assert found.joints[0] < 1e-4
    assert found.joints[1] < 1e-2  # a force that changes sign has a spectrum of its own
