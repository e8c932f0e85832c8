"""What is wrong with a recording is named with joint and cause before anything is fitted."""

from dataclasses import replace

import numpy as np
import pytest

from robot_identification.errors import NoEffortError
from robot_identification.identification.diagnosis.finding import Severity
from robot_identification.identification.diagnosis.recorded.recording import recording_findings
from robot_identification.identification.identify import identify
from robot_identification.robot.files.loading import load_robot
from robot_identification.signals.conditioning import joint_side_recording
from swinging_scara import swinging_scara


@pytest.fixture(scope="module")
def scara():
    return load_robot("scara")


@pytest.fixture(scope="module")
def recording(scara):
    return joint_side_recording(swinging_scara(), scara)


def spoilt(recording, joint=1, **changes):
    """Return the recording with the signals of one joint changed by functions."""
    (segment,) = recording.segments
    signals = {name: np.array(getattr(segment, name)) for name in changes}
    for name, change in changes.items():
        signals[name][:, joint] = change(signals[name][:, joint])
    return replace(recording, segments=(replace(segment, velocity=None, **signals),))


def mistakes(scara, recording):
    found = recording_findings(scara, [recording])
    return {(f.joints[0], f.cause) for f in found if f.severity is Severity.MISTAKE and f.joints}


def held(signal, samples=80):
    begin = len(signal) // 3
    begin += int(np.argmax(np.abs(np.gradient(signal[begin : 2 * begin]))))
    changed = np.array(signal)
    changed[begin : begin + samples] = changed[begin]
    return changed


def spiky(signal):
    changed = np.array(signal)
    changed[[300, 900, 1500]] += 3.0 * np.abs(signal).max()
    return changed


def test_nothing_is_wrong_with_a_sound_recording(scara, recording):
    assert not mistakes(scara, recording)


@pytest.mark.parametrize(
    ("signal", "change", "cause"),
    [
        ("effort", np.zeros_like, "effort zero"),
        ("effort", lambda x: np.full_like(x, 2.0), "effort constant"),
        ("effort", lambda x: np.clip(x, -0.6 * np.abs(x).max(), 0.6 * np.abs(x).max()),
         "effort saturated"),
        ("effort", spiky, "effort spikes"),
        ("effort", held, "effort stuck"),
        ("effort", lambda x: np.round(x / x.std()) * x.std(), "effort quantised"),
        ("effort", lambda x: 1000.0 * x, "effort beyond limits"),
        ("position", held, "position stuck"),
        ("position", np.rad2deg, "position unit"),
    ],
)  # fmt: skip
def test_a_spoilt_signal_is_named_with_its_joint(scara, recording, signal, change, cause):
    found = mistakes(scara, spoilt(recording, **{signal: change}))
    assert ("joint_2", cause) in found
    assert {joint for joint, _ in found} == {"joint_2"}


@pytest.mark.parametrize(
    "small", [lambda x, zone: np.where(np.abs(x) < zone, 0.0, x),
              lambda x, zone: np.sign(x) * np.maximum(np.abs(x) - zone, 0.0)],
    ids=["left out", "taken off"],
)  # fmt: skip
def test_a_dead_zone_of_the_efforts_is_named_and_not_taken_for_a_driver_that_hangs(
    scara, recording, small
):
    spoiled = spoilt(recording, effort=lambda x: small(x, 0.15 * np.abs(x).max()))
    assert mistakes(scara, spoiled) == {("joint_2", "effort dead zone")}


@pytest.mark.parametrize("level", [0.6, 0.8, 0.9])
def test_efforts_that_are_cut_off_are_not_said_to_be_held_there(scara, recording, level):
    def cut(effort):
        return np.clip(effort, *(level * np.abs(effort).max() * np.array([-1.0, 1.0])))

    assert mistakes(scara, spoilt(recording, effort=cut)) == {("joint_2", "effort saturated")}


@pytest.mark.parametrize("levels", [4, 8, 16])
def test_efforts_in_coarse_steps_are_not_said_to_be_cut_off_or_held(scara, recording, levels):
    """Many samples have the largest value, or none, and stay there, and none lies just beside."""

    def coarse(effort):
        often_small = effort * np.abs(effort)
        step = np.abs(often_small).max() / levels
        return step * np.rint(often_small / step)

    assert mistakes(scara, spoilt(recording, effort=coarse)) <= {("joint_2", "effort quantised")}


@pytest.mark.parametrize("effort", [np.zeros_like, lambda x: held(x, 400), lambda x: 2.0 + 0.0 * x])
def test_a_joint_that_rests_beside_the_noise_of_its_encoder_is_not_taken_to_move(
    scara, recording, effort
):
    """A gripper, or a wrist that nobody moved."""
    noise = np.random.default_rng(5).normal(size=recording.samples)
    still = spoilt(recording, position=lambda q: 0.3 + 1e-5 * np.round(noise), effort=effort)
    assert not mistakes(scara, still)
    (told,) = (f for f in recording_findings(scara, [still]) if f.cause == "position constant")
    assert told.joints == (scara.joint_names[1],)
    assert "but for noise" in told.problem


def test_a_joint_that_moves_one_way_is_named(scara, recording):
    onwards = spoilt(recording, position=lambda x: np.linspace(0.0, 2.0, len(x)))
    joints = tuple(replace(joint, terms=joint.terms | {"off"}) for joint in scara.joints)
    found = recording_findings(replace(scara, joints=joints), [onwards])
    causes = {finding.cause for finding in found if "joint_2" in finding.joints}
    assert "one direction only" in causes


def test_what_is_the_same_for_three_joints_is_said_once():
    robot = load_robot("three_dof")
    clock = np.arange(0.0, 8.0, 0.005)
    angles = np.rad2deg(np.sin(clock[:, None] * np.array([1.0, 1.7, 2.3])))
    recording = replace(
        joint_side_recording(swinging_scara(), load_robot("scara")), joint_names=robot.joint_names
    )
    segment = replace(
        recording.segments[0], time=clock, position=angles, velocity=None, effort=0.1 * angles
    )
    limited = replace(
        robot,
        joints=tuple(
            replace(joint, limits=replace(joint.limits, lower=-3.0, upper=3.0))
            for joint in robot.joints
        ),
    )
    found = recording_findings(limited, [replace(recording, segments=(segment,))])
    (units,) = [f for f in found if f.cause == "position unit"]
    assert set(units.joints) == set(robot.joint_names)


def test_a_refusal_carries_what_was_found(scara, recording):
    with pytest.raises(NoEffortError) as refused:
        identify(scara, [spoilt(recording, effort=np.zeros_like)])
    assert any("joint_2: effort zero" in line for line in refused.value.findings)
