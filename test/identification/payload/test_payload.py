"""The payload of a robot from runs without and with it: exact, honest, within its intervals."""

import numpy as np
import pytest

from payload_runs import BODY, QUANTITIES, columns_of, folded, motion, segment
from robot_identification.errors import NotExcitedError
from robot_identification.identification.payload.body import STANDARD, derivative, quantities
from robot_identification.identification.payload.estimate import Rows, estimate_payload
from robot_identification.identification.payload.runs import Columns, friction_columns
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.mounting import mounting, placed


@pytest.fixture(scope="module")
def ur10():
    robot = load_robot("ur10")
    return robot, load_values("ur10_simulated", robot)


def rows_of(columns, run, *, loaded):
    return Rows(run.factors, run.grams, columns.loaded if loaded else columns.bare)


def estimated(robot, values, place=None, *, body=BODY, noise=0.0, seed=0, **moving):
    """Return the estimate from two runs along different motions."""
    columns = columns_of(robot, place)
    with_body = columns.mounting.with_body(values, body)
    parts = []
    for loaded, own in ((False, values), (True, with_body)):
        moved = motion(robot, 1 + loaded, **moving)
        run = folded(columns, [segment(robot, own, moved, noise=noise, seed=2 * seed + loaded)])
        parts.append(rows_of(columns, run, loaded=loaded))
    return estimate_payload(parts[:1], parts[1])


@pytest.mark.parametrize("robot_name", ["ur10", "tx40"])
def test_without_noise_the_payload_comes_out_exactly(robot_name):
    robot = load_robot(robot_name)
    estimate = estimated(robot, load_values(f"{robot_name}_simulated", robot))
    assert estimate.rank == 10
    assert estimate.told.all()
    np.testing.assert_allclose(estimate.values, BODY.standard, rtol=0, atol=1e-9)
    np.testing.assert_allclose(estimate.body.values, QUANTITIES, rtol=0, atol=1e-9)
    assert estimate.error_without.max() > 0.05
    assert estimate.error_loaded.max() < 1e-9


def test_the_payload_is_told_in_the_frame_that_is_asked_for(ur10):
    robot, values = ur10
    place = placed(mounting(robot, "forearm_link"), [0.1, -0.2, 0.05], [0.4, -0.3, 1.2])
    estimate = estimated(robot, values, place)
    told = estimate.body.values[~np.isnan(estimate.body.values)]
    np.testing.assert_allclose(told, QUANTITIES[~np.isnan(estimate.body.values)], atol=1e-8)
    assert estimate.body.values[0] == pytest.approx(2.0)


def test_intervals_hold_the_truth_as_often_as_they_say(ur10):
    robot, values = ur10
    noise = np.array([3.0, 3.0, 2.0, 0.5, 0.4, 0.7])
    inside, squares = [], []
    for seed in range(16):
        body = estimated(robot, values, noise=noise, seed=seed, duration=5.0).body
        inside.append((body.lower <= QUANTITIES) & (body.upper >= QUANTITIES))
        squares.append(((body.values - QUANTITIES) / body.std) ** 2)
    assert 0.9 <= np.mean(inside) <= 0.99
    assert 0.7 <= np.mean(squares) <= 1.4


def test_a_planar_arm_tells_what_turns_in_its_plane():
    robot = load_robot("scara")
    estimate = estimated(robot, load_values("scara", robot))
    assert estimate.rank == 4
    told = [name for name, told in zip(STANDARD, estimate.told, strict=True) if told]
    assert told == ["ZZ", "MX", "MY", "M"]
    planar = [0, 1, 2, 9]  # mass, x, y, izz
    np.testing.assert_allclose(estimate.body.values[planar], QUANTITIES[planar], atol=1e-9)
    assert np.isnan(np.delete(estimate.body.values, planar)).all()


def test_a_held_joint_does_no_harm_where_both_runs_hold_it_at_the_same_place(ur10):
    robot, values = ur10
    estimate = estimated(robot, values, still=(5,), posture=0.3)
    assert estimate.rank == 10
    np.testing.assert_allclose(estimate.body.values, QUANTITIES, atol=1e-7)
    elsewhere = estimated(robot, values, still=(5,))  # the link itself, seen from there, is unknown
    assert elsewhere.rank < 10
    told = ~np.isnan(elsewhere.body.values)
    np.testing.assert_allclose(elsewhere.body.values[told], QUANTITIES[told], atol=1e-7)


def test_postures_alone_tell_nothing_of_the_inertia(ur10):
    robot, values = ur10
    columns = columns_of(robot)
    t, q, qd, qdd = motion(robot, 3)
    slow = (t, q, 0.0 * qd, 0.0 * qdd)
    loaded = columns.mounting.with_body(values, BODY)
    runs = [folded(columns, [segment(robot, own, slow)], threshold=0.0) for own in (values, loaded)]
    bare, carrying = (rows_of(columns, run, loaded=i == 1) for i, run in enumerate(runs))
    estimate = estimate_payload([bare], carrying)
    assert estimate.rank == 4
    np.testing.assert_array_equal(estimate.told, [False] * 6 + [True] * 4)
    np.testing.assert_allclose(estimate.body.values[:4], QUANTITIES[:4], atol=1e-7)
    assert np.isnan(estimate.body.values[4:]).all()


def test_a_payload_that_never_moves_is_refused():
    robot = load_robot("scara")
    columns = columns_of(robot)
    values = load_values("scara", robot)
    still = motion(robot, 1)
    still = (still[0], still[1], 0.0 * still[2], 0.0 * still[3])
    run = folded(columns, [segment(robot, values, still)], threshold=0.0)
    with pytest.raises(NotExcitedError) as refusal:
        estimate_payload([rows_of(columns, run, loaded=False)], rows_of(columns, run, loaded=True))
    assert "M of the payload" in refusal.value.parameters


def test_friction_that_grows_with_the_load_is_told_apart_where_it_may(ur10):
    robot, values = ur10
    friction = friction_columns(robot)
    base = columns_of(robot).base
    worn = np.array(columns_of(robot).mounting.with_body(values, BODY))
    worn[friction] *= 1.2
    found = {}
    for name, further in (("shared", friction[:0]), ("separate", friction)):
        columns = Columns(base, mounting(robot), further)
        runs = [
            rows_of(
                columns,
                folded(columns, [segment(robot, own, motion(robot, 1 + loaded))]),
                loaded=loaded,
            )
            for loaded, own in ((False, values), (True, worn))
        ]
        found[name] = estimate_payload(runs[:1], runs[1])
    np.testing.assert_allclose(found["separate"].body.values, QUANTITIES, atol=1e-8)
    changes = found["separate"].others[base.rank :]
    np.testing.assert_allclose(changes, 0.2 * values[friction], atol=1e-7)
    assert np.abs(found["shared"].body.values - QUANTITIES).max() > 1e-3


def test_derivatives_of_the_body_are_those_of_differences():
    standard = np.array(BODY.standard)
    step = 1e-6
    differences = np.column_stack(
        [(quantities(standard + step * e) - quantities(standard - step * e)) / (2 * step)
         for e in np.eye(10)]
    )  # fmt: skip
    np.testing.assert_allclose(derivative(standard), differences, atol=1e-8)
    np.testing.assert_allclose(quantities(standard), QUANTITIES, atol=1e-12)
