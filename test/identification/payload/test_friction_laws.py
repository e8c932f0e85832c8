"""Payloads of a robot whose friction follows the load, which the payload changes."""

from dataclasses import replace

import numpy as np
import pytest

from payload_runs import BODY, motion
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import SettingError
from robot_identification.identification.identify import identify
from robot_identification.identification.payload.calibrate_drives import identify_drive_gains
from robot_identification.identification.payload.identify import identify_payload
from robot_identification.identification.payload.known import KnownPayload
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.mounting import mounting
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.recording import Recording

pytestmark = pytest.mark.usefixtures("undiagnosed")

PLAIN = load_robot("ur10")
ROBOT = replace(PLAIN, joints=tuple(replace(j, terms=j.terms | {"Fl", "Fs"}) for j in PLAIN.joints))
SETTINGS = ProcessingSettings(cutoff_hz=20.0, rate_hz=40.0)
NOISE = 0.05


def values():
    known = dict(zip(PLAIN.all_parameter_names, load_values("ur10_simulated", PLAIN), strict=True))
    known |= {f"Fl{k + 1}": 0.15 for k in range(6)} | {f"Fs{k + 1}": 2.0 for k in range(6)}
    return np.array([known.get(name, 0.0) for name in ROBOT.all_parameter_names])


def run(parameters, seed):
    time, q, qd, qdd = motion(ROBOT, seed, duration=25.0)
    effort = inverse_dynamics(ROBOT, parameters, q, qd, qdd)
    effort += np.random.default_rng(seed).normal(size=effort.shape) * NOISE
    return Recording.from_arrays(PLAIN, time, q, effort)


@pytest.fixture(scope="module")
def runs():
    bare = values()
    return [run(bare, 1)], [run(mounting(ROBOT).with_body(bare, BODY), 2)]


def mass_of(robot, bare, loaded, **further):
    body = identify_payload(
        robot, bare, loaded, mounting(robot), overrides=SETTINGS, **further
    ).estimate.body
    return body.values[0], body.std[0]


def test_friction_of_the_loaded_runs_follows_the_payload_too(runs):
    mass, std = mass_of(ROBOT, *runs)
    assert abs(mass - BODY.mass) < 3.0 * std
    assert std < 0.01 * BODY.mass
    wrong, _ = mass_of(PLAIN, *runs)  # which does not know such friction
    assert abs(wrong - BODY.mass) > 5.0 * abs(mass - BODY.mass)


def test_the_law_of_an_earlier_result_holds_for_its_payload(runs):
    bare, loaded = runs
    earlier = identify(ROBOT, bare, overrides=SETTINGS)
    mass, std = mass_of(PLAIN, [], loaded, earlier=earlier)
    assert abs(mass - BODY.mass) < 3.0 * std


def test_a_result_without_a_law_does_not_tell_loads(runs):
    bare, loaded = runs
    earlier = identify(PLAIN, bare, overrides=SETTINGS)
    with pytest.raises(SettingError, match="has no friction law"):
        mass_of(ROBOT, [], loaded, earlier=earlier)


def test_drive_gains_refuse_friction_whose_size_scales_with_them(runs):
    known = KnownPayload(mass=BODY.mass)
    with pytest.raises(SettingError, match="friction that follows the load"):
        identify_drive_gains(ROBOT, *runs, mounting(ROBOT), known)
