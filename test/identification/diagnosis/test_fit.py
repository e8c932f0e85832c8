"""What a fit leaves is explained by the one change that was made, and by no other."""

from dataclasses import replace

import numpy as np
import pytest

from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import CancelledError, NotPredictiveError
from robot_identification.identification import assembly
from robot_identification.identification.diagnosis import fit, judgement
from robot_identification.identification.diagnosis.diagnosis import diagnose
from robot_identification.identification.diagnosis.finding import Severity
from robot_identification.identification.identify import identify
from robot_identification.identification.validate import validate
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.robot.terms.joint_terms import DEFAULT_TERMS, TermKind
from robot_identification.robot.terms.temperature import TemperatureDependence
from robot_identification.signals.recording import Recording, Segment

RATE = 250.0


@pytest.fixture(scope="module")
def robot():
    """An arm of three joints with friction."""
    bare = load_robot("three_dof")
    joints = [
        replace(j, terms=DEFAULT_TERMS - {"Ia"}, limits=replace(j.limits, velocity=10.0))
        for j in bare.joints
    ]
    return replace(bare, joints=tuple(joints))


@pytest.fixture(scope="module")
def motion(robot):
    """Thirty seconds of a motion whose joints move at unlike frequencies, and its efforts."""
    clock = np.arange(0.0, 30.0, 1.0 / RATE)
    q, qd, qdd = (np.zeros((len(clock), 3)) for _ in range(3))
    for joint, frequencies in enumerate(((0.31, 0.97), (0.43, 1.13), (0.59, 1.37))):
        for place, hz in enumerate(frequencies):
            w, size = 2.0 * np.pi * hz, (0.8, 0.3)[place]
            angle = w * clock + joint + place
            q[:, joint] += size * np.sin(angle)
            qd[:, joint] += size * w * np.cos(angle)
            qdd[:, joint] -= size * w**2 * np.sin(angle)
    values = np.array(load_values("three_dof", robot))
    for joint in range(3):
        values[robot.layout.columns(joint, TermKind.VISCOUS)] = 0.5 / (joint + 1)
        values[robot.layout.columns(joint, TermKind.COULOMB)] = 6.0 / (joint + 1)
    effort = inverse_dynamics(robot, values, q, qd, qdd)
    noise = np.random.default_rng(3).standard_normal(effort.shape)
    return clock, q, effort + 0.02 * effort.std(axis=0) * noise


def recorded(robot, motion, position=None, effort=None):
    clock, q, efforts = motion
    q = q if position is None else position(np.array(q))
    efforts = efforts if effort is None else effort(np.array(efforts))
    return Recording(robot.joint_names, 1.0 / RATE, (Segment(clock, q, None, efforts),))


def mistakes(robot, recording):
    found = identify(robot, [recording]).findings
    return [(f.joints, f.cause) for f in found if f.severity is Severity.MISTAKE]


def times(joint, factor):
    def change(signal):
        signal[:, joint] *= factor
        return signal

    return change


def swapped(signal):
    return signal[:, [0, 2, 1]]


def test_a_sound_recording_has_no_mistake(robot, motion):
    assert mistakes(robot, recorded(robot, motion)) == []


@pytest.mark.parametrize("joint", [0, 1, 2])
def test_negated_efforts_of_a_joint_are_named(robot, motion, joint):
    found = mistakes(robot, recorded(robot, motion, effort=times(joint, -1.0)))
    assert found[0] == ((robot.joint_names[joint],), "effort sign")


def test_efforts_that_are_all_negated_are_named_by_their_friction(robot, motion):
    found = mistakes(robot, recorded(robot, motion, effort=np.negative))
    assert [cause for _, cause in found] == ["effort sign"]
    assert set(found[0][0]) == set(robot.joint_names)


@pytest.mark.parametrize(
    ("changes", "joints", "cause"),
    [
        ({"position": times(1, -1.0)}, {1}, "position sign"),
        ({"position": times(1, 2.0)}, {1}, "position factor"),
        ({"effort": times(1, 0.5)}, {1}, "effort factor"),
        ({"effort": swapped}, {1, 2}, "efforts swapped"),
        ({"effort": swapped, "position": swapped}, {1, 2}, "joints swapped"),
    ],
)
def test_a_change_of_data_is_named(robot, motion, changes, joints, cause):
    found = mistakes(robot, recorded(robot, motion, **changes))
    assert found[0][1] == cause
    assert set(found[0][0]) == {robot.joint_names[joint] for joint in joints}


@pytest.mark.parametrize("factor", [0.001, 0.5, 101.0])
def test_the_factor_on_the_efforts_of_a_joint_is_found(robot, motion, factor):
    wrong = recorded(robot, motion, effort=times(1, 1.0 / factor))
    found = next(f for f in identify(robot, [wrong]).findings if f.cause == "effort factor")
    assert (found.severity, found.joints) == (Severity.MISTAKE, (robot.joint_names[1],))
    assert found.figures["amount"] == pytest.approx(factor, rel=0.1)


def test_efforts_that_nothing_explains_are_not_wrong_by_a_factor(robot, motion):
    """The fit to the others is the better the less these efforts weigh, without an end."""

    def noise(effort):
        other = np.random.default_rng(5).standard_normal(len(effort))
        effort[:, 2] = effort[:, 2].std() * other
        return effort

    contradicting = recorded(robot, motion, effort=noise)
    assert all(cause != "effort factor" for _, cause in mistakes(robot, contradicting))


def test_efforts_that_come_late_are_named(robot, motion):
    late = recorded(robot, motion, effort=lambda x: np.roll(x, 5, axis=0))
    findings = identify(robot, [late]).findings
    assert findings[0].cause == "time shift"
    assert findings[0].figures["amount"] == pytest.approx(0.02, abs=0.005)


def test_a_delay_that_drives_have_is_doubted_and_no_mistake(robot, motion):
    late = recorded(robot, motion, effort=lambda x: np.roll(x, 1, axis=0))
    first = identify(robot, [late]).findings[0]
    assert (first.severity, first.cause) == (Severity.DOUBT, "time shift")


def test_what_coarse_positions_do_is_not_taken_for_a_delay(robot, motion):
    stated = ProcessingSettings(cutoff_hz=40.0, rate_hz=40.0)
    coarse = recorded(robot, motion, position=lambda x: 0.03 * np.rint(x / 0.03))
    found = identify(robot, [coarse], overrides=stated)
    assert any("too much noise of the positions" in line for line in found.warnings)
    (shift,) = [f for f in found.findings if f.cause == "time shift"]
    assert shift.severity is Severity.DOUBT
    assert "coarse steps of the positions" in shift.advice
    assert all(f.severity is not Severity.MISTAKE for f in found.findings)


@pytest.mark.parametrize("late", [5, 10])
def test_delays_of_fine_positions_are_mistakes_under_stated_settings(robot, motion, late):
    stated = ProcessingSettings(cutoff_hz=40.0, rate_hz=40.0)
    delayed = recorded(robot, motion, effort=lambda x: np.roll(x, late, axis=0))
    first = identify(robot, [delayed], overrides=stated).findings[0]
    assert (first.severity, first.cause) == (Severity.MISTAKE, "time shift")


def test_a_delay_is_named_beside_friction_that_falls_as_the_joint_warms_up(robot, motion):
    dependence = TemperatureDependence(reference=30.0)
    joints = tuple(replace(j, temperature=dependence) for j in robot.joints)
    warming = replace(robot, joints=joints)
    clock, q, efforts = motion
    celsius = np.tile(31.5 + 9.5 * np.sin(0.3 * clock)[:, None], (1, 3))
    signs = np.sign(np.gradient(q, 1.0 / RATE, axis=0))
    changed = efforts + 0.4 * efforts.std(axis=0) * signs * (1.0 - 0.04 * (celsius - 30.0))

    def measured(effort):
        return Recording.from_arrays(warming, clock, q, effort, temperature=celsius)

    late = np.array(changed)
    late[3:, 1] = changed[:-3, 1]
    assert mistakes(warming, measured(changed)) == []
    assert mistakes(warming, measured(late)) == [(("joint_2",), "time shift")]


def test_another_direction_of_gravity_is_named(robot, motion):
    turned = replace(robot, gravity=-robot.gravity[[1, 2, 0]])
    found = mistakes(turned, recorded(robot, motion))
    assert found[0] == ((), "gravity direction")


@pytest.mark.parametrize("joints", [(1,), (2,), (1, 2)])
def test_joints_whose_efforts_do_not_hold_the_weight_are_named(robot, motion, joints):
    _, q, _ = motion
    values, still = np.array(load_values("three_dof", robot)), np.zeros_like(q)
    weightless = replace(robot, gravity=np.zeros(3))
    held, none = (inverse_dynamics(r, values, q, still, still) for r in (robot, weightless))

    def subtracted(effort):
        effort[:, joints] -= (held - none)[:, joints]
        return effort

    found = mistakes(robot, recorded(robot, motion, effort=subtracted))
    assert found[0] == (tuple(robot.joint_names[k] for k in joints), "no gravity")


def test_a_missing_friction_term_is_named(robot, motion):
    joints = list(robot.joints)
    joints[2] = replace(joints[2], terms=joints[2].terms - {"Fc"})
    found = mistakes(replace(robot, joints=tuple(joints)), recorded(robot, motion))
    assert found == [((robot.joint_names[2],), "missing term")]


def test_a_prediction_worse_than_zero_is_doubted(robot, motion):
    recording = recorded(robot, motion)
    values = -identify(robot, [recording]).estimate.values
    causes = {finding.cause for finding in validate(robot, values, [recording]).findings}
    assert "worse than nothing" in causes


@pytest.fixture(scope="module")
def frictionless(motion):
    """The motion with the efforts of a robot without friction, as sensors behind gears have."""
    bare = load_robot("three_dof")
    clock, q, _ = motion
    qd = np.gradient(q, 1.0 / RATE, axis=0)
    qdd = np.gradient(qd, 1.0 / RATE, axis=0)
    effort = inverse_dynamics(bare, load_values("three_dof", bare), q, qd, qdd)
    noise = np.random.default_rng(4).standard_normal(effort.shape)
    return clock, q, effort + 0.02 * effort.std(axis=0) * noise


def test_negated_efforts_without_friction_are_named_by_inertia(frictionless):
    bare = load_robot("three_dof")
    assert mistakes(bare, recorded(bare, frictionless)) == []
    found = mistakes(bare, recorded(bare, frictionless, effort=np.negative))
    assert [cause for _, cause in found] == ["effort sign"]


def test_the_offset_of_a_torque_sensor_is_not_taken_for_inertia(frictionless):
    bare = load_robot("three_dof")
    joints = tuple(replace(joint, terms=joint.terms | {"off"}) for joint in bare.joints)
    robot = replace(bare, joints=joints)
    assert mistakes(robot, recorded(robot, frictionless, effort=lambda e: e - 50.0)) == []
    found = mistakes(robot, recorded(robot, frictionless, effort=lambda e: 50.0 - e))
    assert [cause for _, cause in found] == ["effort sign"]


@pytest.fixture
def refused(monkeypatch):
    """Have every result be refused as one that predicts nothing; return how often was judged."""
    judged = []

    def refuse(_):
        raise NotPredictiveError(1.5, {"1.0 to 2.0 s": 1.5})

    def counted(*arguments):
        judged.append(arguments)
        return findings_of(*arguments)

    findings_of = judgement.recording_findings
    monkeypatch.setattr(assembly, "refuse_worse_than_zero", refuse)
    monkeypatch.setattr(judgement, "recording_findings", counted)
    return judged


def test_a_refusal_tells_what_the_fit_shows(robot, motion, refused):
    with pytest.raises(NotPredictiveError) as caught:
        identify(robot, [recorded(robot, motion, effort=times(1, -1.0))])
    first = caught.value.findings[0]
    assert first.startswith(f"mistake: {robot.joint_names[1]}: effort sign")
    assert len(refused) == 1


def test_recordings_are_judged_once_where_the_result_is_refused(robot, motion, refused):
    found = diagnose(robot, [recorded(robot, motion, effort=times(1, -1.0))])
    assert found.result is None
    assert (found.findings[0].cause, found.findings[0].joints) == (
        "effort sign",
        (robot.joint_names[1],),
    )
    assert len(refused) == 1


def test_the_search_for_what_is_wrong_can_be_cancelled(robot, motion, monkeypatch):
    begun, asked = [], []

    def trials(*arguments):
        begun.append(arguments)
        return usual(*arguments)

    def cancelled():
        asked.extend(begun)
        return len(asked) == 20

    usual = fit.Trials
    monkeypatch.setattr(fit, "Trials", trials)
    with pytest.raises(CancelledError, match="what is wrong"):
        identify(robot, [recorded(robot, motion, effort=times(1, -1.0))], cancelled=cancelled)
    assert len(asked) == 20


@pytest.mark.parametrize(
    ("joint", "factor"), [(1, 1.1), (0, 0.92)], ids=["a tenth too large", "a twelfth too small"]
)
def test_a_small_factor_on_clean_efforts_is_found(robot, motion, joint, factor):
    """What is left is below a percent of the effort for all factors near the right one."""
    clock, q, effort = motion
    fine = effort - 0.0
    spectrum = np.fft.rfft(fine, axis=0)
    spectrum[len(spectrum) // 10 :] = 0.0  # the motion is below, most of the noise above
    quiet = (clock, q, np.fft.irfft(spectrum, len(clock), axis=0))
    recording = recorded(robot, quiet, effort=times(joint, factor))
    (found,) = [f for f in identify(robot, [recording]).findings if f.cause == "effort factor"]
    assert found.severity is Severity.MISTAKE
    assert found.figures["amount"] == pytest.approx(1.0 / factor, rel=0.03)


def test_a_clock_that_is_wrong_by_a_fifth_is_named_with_its_factor(robot, motion):
    clock, q, effort = motion
    slower = Recording(robot.joint_names, 1.2 / RATE, (Segment(1.2 * clock, q, None, effort),))
    (found,) = [f for f in identify(robot, [slower]).findings if f.severity is Severity.MISTAKE]
    assert (found.joints, found.cause) == ((), "clock")
    assert found.figures["amount"] == pytest.approx(1.0 / 1.2, rel=0.03)


def test_positions_that_are_a_tenth_too_large_are_named(robot, motion):
    recording = recorded(robot, motion, position=times(1, 1.1))
    (found,) = [f for f in identify(robot, [recording]).findings if f.severity is Severity.MISTAKE]
    assert (found.joints, found.cause) == (("joint_2",), "position factor")
    assert found.figures["amount"] == pytest.approx(1.0 / 1.1, rel=0.03)
