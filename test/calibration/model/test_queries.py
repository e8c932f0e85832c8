"""Questions to a calibrated model: efforts, gravity, mass matrix, and how far they are known."""

from dataclasses import replace

import numpy as np
import pytest

import robot_identification as ri
from looped_robots import parallelogram, values_of
from robot_identification.calibration.model.queries import CalibratedModel, parameters_hash
from robot_identification.dynamics.direct import DirectModel
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import SampleError, ShapeError
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from swinging_scara import swinging_scara

TX40 = load_robot("tx40")
TRUTH = load_values("tx40_simulated", TX40)
MODEL = CalibratedModel(TX40, TRUTH)


def motion(samples=5):
    return np.random.default_rng(1).uniform(-1.0, 1.0, (3, samples, 6))


@pytest.fixture(scope="module")
def calibrated():
    samples = swinging_scara()
    robot = ri.load_robot("scara")
    time = (samples.stamps - samples.stamps[0]) * 1e-9
    noisy = samples.effort + np.random.default_rng(2).normal(size=samples.effort.shape) * 0.05
    result = ri.identify(robot, ri.Recording.from_arrays(robot, time, samples.position, noisy))
    return ri.calibrate(robot, result, space="base")


def test_efforts_are_those_of_the_inverse_dynamic_model():
    q, qd, qdd = motion(300)
    found = MODEL.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(found.values, inverse_dynamics(TX40, TRUTH, q, qd, qdd), atol=1e-12)
    assert found.joint_names == TX40.joint_names
    assert np.isnan(found.std).all()
    assert np.isnan(found.std_robust).all()


def test_mass_matrices_are_those_of_the_direct_model():
    q = motion()[0]
    np.testing.assert_allclose(
        MODEL.mass_matrix(q).values, DirectModel(TX40, TRUTH).mass_matrix(q), atol=1e-12
    )


def test_the_parts_add_up_to_the_efforts_of_a_motion_that_begins():
    q, _, qdd = motion()
    rest = MODEL.inverse_dynamics(q).values
    inertial = np.einsum("sjk,sk->sj", MODEL.mass_matrix(q).values, qdd)
    np.testing.assert_allclose(MODEL.inverse_dynamics(q, None, qdd).values, rest + inertial)
    offsets = [TRUTH[TX40.all_parameter_names.index(f"off{j}")] for j in range(1, 7)]
    np.testing.assert_allclose(MODEL.gravity(q).values + offsets, rest, atol=1e-12)


def test_without_gravity_nothing_has_to_be_held():
    adrift = CalibratedModel(replace(TX40, gravity=np.zeros(3)), TRUTH)
    np.testing.assert_allclose(adrift.gravity(motion()[0]).values, 0.0, atol=1e-12)


def test_one_posture_is_answered_without_the_axis_of_samples():
    q, qd, qdd = motion()
    one = MODEL.inverse_dynamics(q[2], qd[2], qdd[2])
    np.testing.assert_array_equal(one.values, MODEL.inverse_dynamics(q, qd, qdd).values[2])
    assert MODEL.mass_matrix(q[2]).values.shape == (6, 6)
    assert MODEL.mass_matrix(q[:0]).std.shape == (0, 6, 6)


def test_no_samples_have_no_efforts():
    model, none = CalibratedModel(TX40, TRUTH), np.zeros((0, 6))
    assert model.inverse_dynamics(none).values.shape == (0, 6)
    assert model.gravity(none).std.shape == (0, 6)
    assert model.mass_matrix(none).values.shape == (0, 6, 6)


def test_a_robot_with_a_loop_is_asked_for_the_joints_that_move_independently():
    robot = parallelogram()
    free = len(robot.active_joints)
    model = CalibratedModel(robot, values_of(robot))
    assert model.mass_matrix(np.zeros(free)).values.shape == (free, free)
    assert model.gravity(np.zeros(free)).joint_names == robot.active_names


@pytest.mark.parametrize(
    ("arrays", "error", "told"),
    [
        (([0.0] * 5,), ShapeError, "position has shape"),
        (([0.0] * 6, [0.0] * 5), ShapeError, "velocity has shape"),
        (([0.0] * 5 + [np.nan],), SampleError, "position of joint joint_6 is nan at sample 0"),
        (([0.0] * 6, [1e300] * 6), SampleError, "effort of the model of joint"),
    ],
)
def test_what_no_model_can_answer_is_refused_by_name(arrays, error, told):
    with pytest.raises(error, match=told):
        MODEL.inverse_dynamics(*arrays)


def test_the_hash_tells_parameters_and_laws_apart():
    law = replace(TX40.joints[0], terms=TX40.joints[0].terms | {"Fs"}, shapes={"Fs": (0.1, 1.0)})
    other = replace(law, shapes={"Fs": (0.2, 1.0)})
    robots = [replace(TX40, joints=(joint, *TX40.joints[1:])) for joint in (law, other)]
    values = np.ones(len(robots[0].all_parameter_names))
    hashes = [parameters_hash(robot, values) for robot in robots]
    hashes += [parameters_hash(TX40, TRUTH), parameters_hash(TX40, TRUTH * (1.0 + 1e-15))]
    assert len(set(hashes)) == 4
    assert MODEL.parameters_hash == hashes[2]


def test_deviations_are_those_of_what_the_data_determine(calibrated):
    robot = calibrated.description
    q, qd, qdd = (one[:, :2] for one in motion(40))
    found = ri.inverse_dynamics(robot, calibrated, q, qd, qdd)
    noise = np.zeros((400, len(calibrated.values)))
    formula = calibrated.spread.formula
    draws = np.random.default_rng(4).normal(size=(len(noise), formula.shape[1]))
    noise[:, calibrated.model] = draws @ formula.T
    efforts = [inverse_dynamics(robot, row, q, qd, qdd) for row in noise]
    np.testing.assert_allclose(found.std, np.std(efforts, axis=0), rtol=0.15)
    assert (found.std_robust > 0.0).all()
    masses = ri.mass_matrix(robot, calibrated, q)
    assert (masses.std > 0.0).any()
    gravity = ri.gravity(robot, calibrated, q)
    assert masses.parameters_hash == found.parameters_hash == gravity.parameters_hash


def test_the_truth_lies_within_the_deviations(calibrated):
    robot = ri.load_robot("scara")
    q, qd, qdd = (one[:, :2] for one in motion(200))
    found = ri.inverse_dynamics(robot, calibrated, q, qd, qdd)
    true = ri.inverse_dynamics(robot, "scara", q, qd, qdd)
    assert (np.abs(found.values - true.values) <= 4.0 * found.std_robust).all()
    assert (found.std_robust < 0.5).all()
