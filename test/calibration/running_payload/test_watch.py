"""What is told of the payload of an arm that moves."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

from carried_payloads import (
    BEGIN,
    BODY,
    LITTLE_NOISE,
    PLACE,
    RATE,
    ROBOT,
    SETTINGS,
    TRUTH,
    Carrying,
    learn,
    learned,
    learned_arm,
    learned_from,
    new_watch,
    send,
)
from robot_identification.calibration.running_payload.state import PayloadStatus
from robot_identification.calibration.running_payload.watch import PayloadWatch
from robot_identification.errors import EffortSignError, NoEffortError, SampleError
from robot_identification.robot.bodies import Body
from robot_identification.robot.mounting import mounting

TRUE = np.array([BODY.mass, *BODY.centre])


@pytest.fixture
def arm():
    arm = Carrying(seed=7)
    arm.now = 100.0
    return arm


@pytest.fixture
def watch(arm):
    watch = new_watch(learned())
    send(watch, arm.part(4.0))
    return watch


def test_a_body_that_is_picked_up_is_seen_within_a_second_and_weighed_in_five(arm, watch):
    picked = BEGIN + round(1e9 * arm.now)
    first = send(watch, arm.part(1.0, BODY))
    assert first[-1].changes == 1
    assert abs(first[-1].change_stamp - picked) < 4e8
    assert {state.status for state in first[-1:]} <= {PayloadStatus.CHANGING, PayloadStatus.CARRIED}
    last = send(watch, arm.part(4.0, BODY))[-1]
    assert (last.status, last.changes) == (PayloadStatus.CARRIED, 1)
    estimate = last.body.estimate
    error = estimate.values[:4] - TRUE
    assert abs(error[0]) < 0.03 * BODY.mass
    assert np.linalg.norm(error[1:]) < 5e-3
    assert (np.abs(error) < 4.0 * estimate.std[:4]).all()
    assert (estimate.std[:4] < [0.03, 3e-3, 3e-3, 3e-3]).all()
    body = last.body.body()
    assert body.mass == pytest.approx(estimate.values[0])
    laid_down = send(watch, arm.part(4.0))[-1]
    assert (laid_down.status, laid_down.changes) == (PayloadStatus.NONE, 2)


def test_a_body_is_weighed_by_a_robot_whose_friction_law_has_further_terms(arm):
    joints = tuple(
        replace(joint, terms=joint.terms | {"Fs"}, shapes={"Fs": (0.2, 1.0)})
        for joint in ROBOT.joints
    )
    law = replace(ROBOT, joints=joints)
    known = dict(zip(ROBOT.all_parameter_names, TRUTH, strict=True))
    values = [known.get(name, 0.0) for name in law.all_parameter_names]
    watch = PayloadWatch(law, values, PLACE, settings=SETTINGS)
    np.testing.assert_array_equal(watch.mounting.columns, mounting(law).columns)
    learn(arm, watch)
    state = send(watch, arm.part(6.0, BODY))[-1]
    assert state.status is PayloadStatus.CARRIED
    assert state.body.mass[0] == pytest.approx(BODY.mass, rel=0.03)


@pytest.mark.parametrize("start", [0.25, 0.35, 0.45])
def test_a_body_that_is_touched_before_it_is_picked_up_has_not_been_a_contact(start):
    """The rows with which the change is told say little of when the body was picked up."""
    arm, watch = learned_arm()
    send(watch, arm.part(start))
    touched = Body(0.02 * BODY.mass, BODY.centre, 0.02 * BODY.inertia)
    states = [*send(watch, arm.part(0.5, touched)), *send(watch, arm.part(2.4, BODY))]
    assert (states[-1].status, states[-1].changes) == (PayloadStatus.CARRIED, 1)
    assert PayloadStatus.CONTACT not in {state.status for state in states}


def test_a_light_body_that_is_laid_down_has_not_become_a_contact():
    arm, watch = learned_arm(LITTLE_NOISE)
    light = Body(0.3, [0.02, -0.03, 0.08], np.diag([0.0009, 0.0011, 0.0006]))
    for _ in range(6):
        states = [*send(watch, arm.part(7.4, light)), *send(watch, arm.part(5.3))]
        assert states[-1].status is PayloadStatus.NONE
        assert PayloadStatus.CONTACT not in {state.status for state in states}


def picked_up(warming):
    """Return what is told of a body that an arm has carried for five seconds, warming up or not."""
    arm, watch = deepcopy(learned_from(warming=warming))
    assert {state.changes for state in send(watch, arm.part(5.0))} == {0}
    return send(watch, arm.part(5.0, BODY))[-1]


def test_friction_that_falls_as_joints_warm_up_is_neither_noise_nor_payload():
    warm, cold, coldest = (picked_up(warming).body.estimate for warming in (0.0, 0.02, 0.06))
    assert (cold.std[:4] < 1.5 * warm.std[:4]).all()
    for estimate in (warm, cold, coldest):
        error = estimate.values[:4] - TRUE
        assert abs(error[0]) < 0.02 * BODY.mass
        assert np.linalg.norm(error[1:]) < 5e-3
        assert (np.abs(error) < 3.0 * estimate.std[:4]).all()


def test_after_a_rest_nobody_knows_whether_friction_still_falls():
    deviations = []
    for rest in (0.0, 300.0):
        arm, watch = deepcopy(learned_from(warming=0.02))
        arm.now, arm.warming = arm.now + rest, 0.02 * arm.now / (arm.now + rest)
        estimate = send(watch, arm.part(5.0, BODY))[-1].body.estimate
        deviations.append(estimate.std[0])
        assert abs(estimate.values[0] - BODY.mass) < 4.0 * estimate.std[0]
    assert deviations[1] > 1.05 * deviations[0]


def test_nothing_changes_while_nothing_changes(arm, watch):
    states = send(watch, arm.part(30.0))
    assert {state.changes for state in states} == {0}
    assert {state.status for state in states} == {PayloadStatus.NONE}
    assert np.mean([state.ratio for state in states]) < 0.5 * states[-1].limit


def test_a_push_is_a_contact_and_the_payload_before_it_stays(arm, watch):
    mass = send(watch, arm.part(6.0, BODY))[-1].body.mass[0]
    arm.efforts = np.array([0.0, 25.0, -20.0, 0.0, 0.0, 0.0])
    pushed = send(watch, arm.part(3.0, BODY))[-1]
    assert pushed.status is PayloadStatus.CONTACT
    assert pushed.body.mass[0] == pytest.approx(mass, rel=0.01)
    arm.efforts = np.zeros(6)
    after = send(watch, arm.part(6.0, BODY))[-1]
    assert after.status is PayloadStatus.CARRIED
    assert after.body.mass[0] == pytest.approx(BODY.mass, rel=0.03)


def test_efforts_that_fail_in_one_joint_are_no_payload(arm, watch):
    stamps, q, tau = arm.part(4.0)
    tau[:, 1] = 0.0
    assert send(watch, (stamps, q, tau))[-1].status is PayloadStatus.CONTACT


@pytest.mark.parametrize(
    ("spoil", "error"),
    [(lambda tau: -tau, EffortSignError), (lambda tau: 0.0 * tau, NoEffortError)],
)
def test_efforts_of_the_wrong_sign_or_that_nobody_measures_are_not_learned(spoil, error):
    arm, watch = Carrying(), new_watch()
    stamps, q, tau = arm.part(23.0)
    tau[:, 2] = spoil(tau[:, 2])
    with pytest.raises(error, match=ROBOT.joint_names[2]):
        send(watch, (stamps, q, tau))
    assert watch.free is None
    assert watch.learned < 0.2  # begins anew


def test_numbers_that_are_none_are_refused(arm, watch):
    stamps, q, tau = arm.part(0.1)
    tau[3, 1] = np.nan
    with pytest.raises(SampleError):
        watch.push(stamps, q, tau)


def test_lost_samples_and_pauses_cost_no_false_change(arm, watch):
    stamps, q, tau = arm.part(20.0)
    kept = np.random.default_rng(0).random(len(stamps)) > 0.05
    kept[2000:2600] = False
    states = send(watch, (stamps[kept], q[kept], tau[kept]))
    assert {state.changes for state in states} == {0}
    assert states[-1].status is PayloadStatus.NONE


def test_a_clock_that_is_set_back_or_forth_interrupts_and_no_more(arm, watch):
    send(watch, arm.part(5.0, BODY))
    for jump in (-3600, 7200):
        stamps, q, tau = arm.part(5.0, BODY)
        states = send(watch, (stamps + jump * 10**9, q, tau))
        assert states[-1].changes == 1
        assert states[-1].status is PayloadStatus.CARRIED
        assert states[-1].body.mass[0] == pytest.approx(BODY.mass, rel=0.03)


def test_of_a_driver_that_repeats_its_stamp_one_sample_is_kept(arm):
    watch = new_watch(learned())
    stamps, q, tau = arm.part(1.0)
    assert not send(watch, (np.full_like(stamps, BEGIN), q, tau))
    assert [len(signal) for signal in watch._stream._early] == [1, 1, 1]


def test_a_robot_at_rest_tells_nothing_new(arm, watch):
    stamps, q, tau = arm.part(3.0)
    still = np.repeat(q[:1], len(q), axis=0)
    before = send(watch, (stamps, q, tau))[-1]
    stamps, _, _ = arm.part(3.0)
    states = send(watch, (stamps, still, np.repeat(tau[:1], len(tau), axis=0)))
    assert states[-1].changes == before.changes


def test_a_robot_that_rests_first_is_told_of_with_the_stamps_of_its_own_states(arm):
    watch = new_watch(learned())
    stamps, q, tau = arm.part(2.0)
    states = send(watch, (stamps, np.repeat(q[:1], len(q), axis=0), tau))
    told = [state.stamp for state in states]
    assert {state.status for state in states} == {PayloadStatus.UNDETERMINED}
    assert told == sorted(set(told))
    assert stamps[0] <= told[0] <= told[-1] <= stamps[-1]


def test_the_payload_is_forgotten_and_the_bare_robot_learned_anew_on_request(arm, watch):
    send(watch, arm.part(4.0, BODY))
    watch.forget()
    fresh = send(watch, arm.part(0.5, BODY))[-1]
    assert fresh.seconds <= 0.5
    assert send(watch, arm.part(3.0, BODY))[-1].body.mass[0] == pytest.approx(2.0, rel=0.05)
    watch.learn_anew()
    assert watch.free is None
    assert send(watch, arm.part(1.0))[-1].status is PayloadStatus.LEARNING


def test_blocks_of_any_size_tell_the_same():
    part = Carrying(seed=3).part(6.0, BODY)
    few, many = (send(new_watch(learned()), part, n)[-1] for n in (7, round(6 * RATE)))
    np.testing.assert_allclose(few.body.standard, many.body.standard, rtol=1e-9)
    assert few.stamp == many.stamp
