"""Drive gains from a known payload: exact without noise, unbiased with it, refused where untold."""

from dataclasses import replace

import numpy as np
import pytest

from payload_runs import BODY, columns_of, folded, motion, segment
from robot_identification.errors import DriveGainError, SettingError
from robot_identification.identification.payload.calibrate_drives import gain_rows
from robot_identification.identification.payload.drive_gains import GAIN_METHODS, estimate_gains
from robot_identification.identification.payload.known import KnownPayload
from robot_identification.robot.bodies import Body
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.mounting import mounting

FACTORS = np.array([1.08, 0.93, 1.05, 0.9, 1.1, 0.95])
KNOWN = {
    "mass": KnownPayload(BODY.mass),
    "centre": KnownPayload(BODY.mass, BODY.centre),
    "inertia": KnownPayload(BODY.mass, BODY.centre, BODY.inertia),
}


def columns_and_runs(robot, values, *, factors, noise=0.0, seed=0, still=()):
    """Return the columns of a robot, and the rows of its runs without and with the payload."""
    columns = columns_of(robot)
    motors = np.linalg.inv(robot.motor_matrix).T
    runs = []
    for loaded, own in ((False, values), (True, columns.mounting.with_body(values, BODY))):
        moved = motion(robot, 1 + loaded, still=still)
        part = segment(robot, own, moved, noise=noise, seed=2 * seed + loaded, factors=factors)
        runs.append(folded(columns, [part], motors=motors))
    return columns, runs


def rows(robot, values, known, *, trusted=(), **measured):
    columns, runs = columns_and_runs(robot, values, **measured)
    return gain_rows(columns, *runs, known, trusted=trusted)


@pytest.fixture(scope="module", params=["ur10", "tx40"])
def arm(request):
    """Return robot, its parameters, and what is needed of runs without noise."""
    robot = load_robot(request.param)
    values = load_values(f"{request.param}_simulated", robot)
    return robot, values, columns_and_runs(robot, values, factors=FACTORS)


@pytest.mark.parametrize("method", GAIN_METHODS)
@pytest.mark.parametrize("known", KNOWN)
def test_without_noise_all_methods_give_the_true_gains(arm, known, method):
    robot, values, (columns, runs) = arm
    found = estimate_gains(gain_rows(columns, *runs, KNOWN[known]), method)
    np.testing.assert_allclose(found.factors, FACTORS, rtol=1e-8)
    base = columns_of(robot).base
    truth = base.values(values[base.columns])
    np.testing.assert_allclose(found.parameters, truth, atol=1e-6)
    unknown = [i for i in range(10) if i not in KNOWN[known].places]
    np.testing.assert_allclose(found.unknown_payload, BODY.standard[unknown], atol=1e-7)


def test_noise_leaves_currents_without_bias_and_draws_least_squares_to_zero():
    robot = load_robot("ur10")
    values = load_values("ur10_simulated", robot)
    noise = np.array([3.0, 3.0, 2.0, 0.5, 0.4, 0.7])
    errors = {"currents": [], "ls": []}
    inside = []
    for seed in range(8):
        system = rows(robot, values, KNOWN["inertia"], factors=FACTORS, noise=noise, seed=seed)
        for method, found in errors.items():
            estimate = estimate_gains(system, method)
            found.append(estimate.factors / FACTORS - 1.0)
            if method == "currents":
                inside.append(np.abs(estimate.factors - FACTORS) <= 1.96 * estimate.std)
    spread = np.std(errors["currents"], axis=0) / np.sqrt(8)
    assert (np.abs(np.mean(errors["currents"], axis=0)) < 3.5 * spread).all()
    assert (np.mean(errors["ls"], axis=0) < -0.005).all()
    assert 0.86 <= np.mean(inside) <= 1.0


def test_other_numbering_of_motors_gives_the_same_gains():
    robot = load_robot("ur10")
    values = load_values("ur10_simulated", robot)
    system = rows(robot, values, KNOWN["inertia"], factors=FACTORS, noise=0.1)
    order = [4, 0, 5, 2, 1, 3]
    grams = system.grams
    shuffled = replace(
        system,
        motors=tuple(system.motors[i] for i in order),
        factors=tuple(system.factors[i] for i in order),
        grams=_reordered(grams, order),
    )
    found, other = estimate_gains(system), estimate_gains(shuffled)
    np.testing.assert_allclose(other.factors, found.factors[order], rtol=1e-9)
    np.testing.assert_allclose(other.std, found.std[order], rtol=1e-6)


def _reordered(grams, order):
    size = len(grams.columns[0]) + 1
    entries = np.concatenate([np.arange(i * size, (i + 1) * size) for i in order])
    return replace(
        grams,
        grams=grams.grams[:, entries][:, :, entries],
        common=grams.common[np.ix_(order, order)],
        mixing=grams.mixing[order],
    )


def test_a_payload_on_the_axis_of_the_only_joint_says_nothing_and_the_joint_is_named():
    robot = load_robot("scara")
    values = load_values("scara", robot)
    point = KnownPayload(2.0, np.zeros(3), np.zeros((3, 3)))
    columns = columns_of(robot, mounting(robot, robot.joints[0].link))
    runs = []
    for loaded, own in (
        (False, values),
        (True, columns.mounting.with_body(values, Body(2.0, np.zeros(3), np.zeros((3, 3))))),
    ):
        moved = motion(robot, 1 + loaded)
        runs.append(
            folded(columns, [segment(robot, own, moved)], motors=np.linalg.inv(robot.motor_matrix))
        )
    with pytest.raises(DriveGainError) as refusal:
        estimate_gains(gain_rows(columns, *runs, point))
    assert refusal.value.joints == robot.joint_names


def test_a_motor_whose_joint_is_held_is_named_and_may_be_trusted():
    robot = load_robot("ur10")
    values = load_values("ur10_simulated", robot)
    factors = np.array([1.0, 0.93, 1.05, 0.9, 1.1, 0.95])
    options = {"factors": factors, "still": (0, 1, 2, 3, 4, 5)}
    with pytest.raises(DriveGainError) as refusal:
        estimate_gains(rows(robot, values, KNOWN["inertia"], **options))
    assert "shoulder_pan_joint" in refusal.value.joints
    moving = rows(robot, values, KNOWN["inertia"], factors=factors, trusted=(0,))
    found = estimate_gains(moving)
    assert (found.factors[0], found.std[0]) == (1.0, 0.0)
    np.testing.assert_allclose(found.factors, factors, rtol=1e-8)


def test_gains_drowned_in_noise_are_refused_with_their_deviations():
    robot = load_robot("ur10")
    values = load_values("ur10_simulated", robot)
    system = rows(robot, values, KNOWN["inertia"], factors=FACTORS, noise=20.0)
    with pytest.raises(DriveGainError) as refusal:
        estimate_gains(system)
    assert min(refusal.value.relative_std) > 0.3
    assert "wrist_3_joint" in refusal.value.joints


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0.0,), "positive"),
        ((float("nan"),), "positive"),
        ((2.0, None, np.eye(3)), "only with the centre"),
        ((2.0, [0.0, 1.0]), "shape"),
        ((2.0, [0.0, 0.0, np.inf]), "finite"),
        ((2.0, np.zeros(3), np.diag([1.0, 1.0, 3.0])), "sum of the others"),
        ((2.0, np.zeros(3), [[1.0, 0.1, 0], [0, 1.0, 0], [0, 0, 1.0]]), "symmetric"),
    ],
)
def test_payloads_that_cannot_be_are_refused(arguments, words):
    with pytest.raises(SettingError, match=words):
        KnownPayload(*arguments)
