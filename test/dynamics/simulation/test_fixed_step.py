import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from random_robots import random_robot, random_values
from robot_identification.dynamics.direct import DirectModel
from robot_identification.dynamics.reference import hold
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.dynamics.simulation.sensors import Sensors, SensorSettings
from robot_identification.errors import SettingError, ShapeError, SimulationError
from robot_identification.robot.experiment import Controller
from robot_identification.robot.model import EffortMeaning, RobotModel
from small_robots import pendulum, pendulum_values, sinusoid, two_joints_with_coupled_friction

NO_CONTROL = Controller(law="cascade", rate_hz=1000.0, gains={})


def test_without_friction_and_control_energy_is_kept():
    robot = pendulum()
    loop = ClosedLoop(robot, pendulum_values(), controller=NO_CONTROL)
    samples = loop.run(hold([0.3]), 10.0, loop.at_rest([0.3]))
    q, qd = samples.position[:, 0], samples.velocity[:, 0]
    energy = 0.5 * 0.5 * qd**2 + 9.81 * 1.0 * np.sin(q)
    assert np.ptp(qd) > 5.0
    assert np.abs(energy - energy[0]).max() < 1e-8 * np.abs(energy).max()


def test_gravity_is_held_by_coulomb_friction_below_its_limit():
    robot = pendulum()
    loop = ClosedLoop(robot, pendulum_values(Fc=10.0), controller=NO_CONTROL)
    samples = loop.run(hold([0.0]), 5.0, loop.at_rest([0.0]))
    assert np.abs(samples.position).max() < 1e-12
    assert np.abs(samples.velocity).max() < 1e-12


def test_gravity_above_the_limit_of_friction_sets_the_link_in_motion():
    robot = pendulum()
    loop = ClosedLoop(robot, pendulum_values(Fc=9.0), controller=NO_CONTROL)
    samples = loop.run(hold([0.0]), 0.1, loop.at_rest([0.0]))
    acceleration = (9.0 - 9.81) / 0.5
    np.testing.assert_allclose(samples.velocity[-1], acceleration * 0.1, rtol=1e-3)


def test_a_sliding_mass_stops_where_friction_has_used_up_its_energy():
    robot = pendulum(gravity=0.0)
    loop = ClosedLoop(robot, pendulum_values(Fc=0.7), controller=NO_CONTROL)
    rest = loop.at_rest([0.0])
    moving = type(rest)(**{**vars(rest), "velocity": np.array([2.0])})
    samples = loop.run(hold([0.0]), 3.0, moving)
    expected = 0.5 * 0.5 * 2.0**2 / 0.7
    np.testing.assert_allclose(samples.position[-1], expected, atol=1e-6)
    assert abs(samples.velocity[-1, 0]) < 1e-12
    np.testing.assert_allclose(samples.slip[[0, -1], 0], [1.0, 0.0], atol=1e-12)


def test_a_smooth_motion_agrees_with_an_adaptive_integrator():
    rng = np.random.default_rng(5)
    robot = random_robot(rng, 3)
    values = random_values(rng, robot)
    values[12::14] = 0.0
    start = rng.normal(size=3)
    loop = ClosedLoop(robot, values, controller=NO_CONTROL, substeps=4)
    samples = loop.run(hold(start), 0.5, loop.at_rest(start))
    direct = DirectModel(robot, values)

    def rate(_, state):
        return np.concatenate(
            [state[3:], direct.accelerations(state[:3], state[3:], np.zeros(3))[0]]
        )

    exact = solve_ivp(
        rate, (0.0, 0.5), np.concatenate([start, np.zeros(3)]), "DOP853", rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(samples.position[-1], exact.y[:3, -1], atol=1e-8)
    np.testing.assert_allclose(samples.velocity[-1], exact.y[3:, -1], atol=1e-7)


def test_with_reversals_the_result_converges_as_the_step_shrinks():
    robot, values, controller = two_joints_with_coupled_friction()
    reference = sinusoid([0.3, 0.4], 1.0, 2.0)
    fine = None
    errors = []
    for substeps in (64, 8, 4, 2, 1):
        loop = ClosedLoop(robot, values, controller=controller, substeps=substeps)
        position = loop.run(reference, 2.0, loop.at_rest([0.0, 0.0])).position
        if fine is None:
            fine = position
        else:
            errors.append(float(np.abs(position - fine).max()))
    assert errors[-1] < 1e-5
    assert errors[0] < errors[-1] / 16.0  # at least of order 1.3 over three halvings


def test_a_coupled_element_sticks_while_its_joints_move_against_each_other():
    robot, values, controller = two_joints_with_coupled_friction()
    values[-1] = 1e4  # the friction of the common motor is never overcome
    values[11::14] = 0.0
    loop = ClosedLoop(robot, values, controller=controller)
    samples = loop.run(sinusoid([0.3, -0.3], 1.0, 1.0), 1.0, loop.at_rest([0.0, 0.0]))
    common = samples.velocity.sum(axis=1)
    assert np.abs(samples.velocity).max() > 0.5
    assert np.abs(common).max() < 1e-9


@pytest.mark.parametrize(
    ("law", "gains", "tolerance"),
    [
        ("cascade", {"kp": (60.0,), "kv": (100.0,)}, 0.2),
        ("pid", {"kp": (2000.0,), "kd": (60.0,), "acceleration_feedforward": (0.5,)}, 0.02),
        ("pid", {"kp": (2000.0,), "ki": (5000.0,), "kd": (60.0,)}, 0.02),
        ("computed_torque", {"kp": (400.0,), "kd": (40.0,)}, 0.01),
    ],
)
def test_every_control_law_follows_its_reference(law, gains, tolerance):
    robot = pendulum()
    controller = Controller(law, 2000.0, gains)
    loop = ClosedLoop(robot, pendulum_values(Fv=0.5, Fc=0.5), controller=controller)
    reference = sinusoid([0.5], 0.5, 4.0)
    samples = loop.run(reference, 4.0)
    wanted = 0.5 * (1.0 - np.cos(math.pi * samples.time))
    assert np.abs(samples.position[:, 0] - wanted).max() < tolerance


def test_the_integral_removes_the_error_that_gravity_leaves():
    robot = pendulum()
    gains = {"kp": (100.0,), "kd": (20.0,)}
    without = ClosedLoop(robot, pendulum_values(), controller=Controller("pid", 1000.0, gains))
    gains = {**gains, "ki": (100.0,)}
    with_integral = ClosedLoop(
        robot, pendulum_values(), controller=Controller("pid", 1000.0, gains)
    )
    assert abs(without.settled([0.0]).position[0]) > 0.05
    assert abs(with_integral.settled([0.0], 30.0).position[0]) < 1e-6


def test_the_effort_never_exceeds_its_limit():
    robot = pendulum(effort=12.0)
    controller = Controller("pid", 1000.0, {"kp": (2000.0,), "kd": (60.0,)})
    loop = ClosedLoop(robot, pendulum_values(), controller=controller)
    samples = loop.run(sinusoid([1.0], 1.0, 1.0), 1.0, loop.at_rest([0.0]))
    assert np.abs(samples.effort).max() <= 12.0
    assert np.count_nonzero(np.abs(samples.effort) == 12.0) > 10


def test_the_integral_does_not_wind_up_while_the_effort_is_limited():
    gains = {"kp": (200.0,), "ki": (300.0,), "kd": (40.0,)}
    loop = ClosedLoop(
        pendulum(0.0, effort=3.0), pendulum_values(), controller=Controller("pid", 1e3, gains)
    )
    samples = loop.run(hold([1.0]), 6.0, loop.at_rest([0.0]))
    assert np.abs(samples.effort).max() <= 3.0
    assert np.count_nonzero(np.abs(samples.effort) == 3.0) > 100
    assert samples.position.max() < 1.2
    np.testing.assert_allclose(samples.position[-1], 1.0, atol=1e-4)


def test_computed_torque_leaves_an_error_where_its_model_is_wrong():
    robot, values, _ = two_joints_with_coupled_friction((5.0, 3.0), 4.0)
    controller = Controller("computed_torque", 4000.0, {"kp": (400.0,) * 2, "kd": (40.0,) * 2})
    reference = sinusoid([0.3, 0.4], 1.0, 2.0)
    errors = []
    for share in (1.0, 0.8):
        loop = ClosedLoop(
            robot, values, controller=controller, nominal=share * values, sample_rate_hz=1000.0
        )
        samples = loop.run(reference, 2.0, loop.at_rest([0.0, 0.0]))
        wanted = np.array([[0.3, 0.4]]) * (1.0 - np.cos(2.0 * math.pi * samples.time))[:, None]
        errors.append(float(np.abs(samples.position - wanted).max()))
    assert errors[0] < 1e-4  # of the torque that is held
    assert errors[1] > 1e-3


def test_the_effort_belongs_to_the_instant_of_the_position():
    robot, values, controller = two_joints_with_coupled_friction()
    values[[12, 26, -1]] = 0.0
    loop = ClosedLoop(robot, values, controller=controller)
    samples = loop.run(sinusoid([0.3, 0.4], 2.0, 1.0), 1.0)
    period = loop.sample_period
    middle = slice(100, -100)
    q = samples.position
    qdd = (q[2:] - 2.0 * q[1:-1] + q[:-2]) / period**2
    needed = inverse_dynamics(robot, values, q[1:-1], samples.velocity[1:-1], qdd)
    error = (samples.effort[1:-1] - needed)[middle]
    rates = np.gradient(samples.effort[1:-1], period, axis=0)[middle]
    lag = (error * rates).sum() / (rates**2).sum()
    assert abs(lag) < 0.01 * period


def test_effort_and_slip_of_a_sample_agree_with_the_inverse_model():
    robot, values, controller = two_joints_with_coupled_friction()
    values[[12, 26, -1]] *= 10.0
    loop = ClosedLoop(robot, values, controller=controller)
    samples = loop.run(sinusoid([0.3, 0.4], 1.0, 2.0), 2.0)
    share = np.abs(samples.slip)
    assert share.max() <= 1.0
    assert np.count_nonzero((share < 0.99).any(axis=1)) > 25  # it also sticks
    without = values.copy()
    without[[12, 26, -1]] = 0.0
    q = samples.position
    qdd = (q[2:] - 2.0 * q[1:-1] + q[:-2]) / loop.sample_period**2
    smooth = inverse_dynamics(robot, without, q[1:-1], samples.velocity[1:-1], qdd)
    needed = smooth + samples.slip[1:-1] @ loop.plant.action
    error = np.abs(samples.effort[1:-1] - needed)
    assert np.median(error) < 2e-4 * np.abs(samples.effort).max()
    assert np.abs(samples.effort[1:-1] - smooth).max() > 0.4


def test_a_delayed_controller_answers_later():
    robot = pendulum(gravity=0.0)
    gains = {"kp": (100.0,), "kd": (5.0,)}
    first = []
    for delay in (0, 3):
        controller = Controller("pid", 1000.0, gains, delay_samples=delay)
        loop = ClosedLoop(robot, pendulum_values(), controller=controller)
        rest = loop.at_rest([0.0])
        moving = type(rest)(**{**vars(rest), "velocity": np.array([1.0])})
        _, samples = loop.advance(moving, hold([0.0]), 10)
        first.append(int(np.flatnonzero(samples.effort[:, 0])[0]))
    assert first == [0, 3]


def test_the_reference_is_delayed_like_the_measurement():
    robot = pendulum(gravity=0.0)
    gains = {"kp": (0.0,), "velocity_feedforward": (1.0,)}
    reference = sinusoid([0.3], 1.0, 1.0)
    efforts = []
    for delay in (0, 3):
        controller = Controller("pid", 1000.0, gains, delay_samples=delay)
        loop = ClosedLoop(robot, pendulum_values(), controller=controller)
        efforts.append(loop.advance(loop.at_rest([0.0]), reference, 500)[1].effort)
    assert np.ptp(efforts[0]) > 1.0
    np.testing.assert_allclose(efforts[1][3:], efforts[0][:-3], atol=1e-12)


def test_a_held_effort_is_the_one_after_the_instant():
    robot = pendulum(gravity=0.0)
    gains = {"kp": (0.0,), "velocity_feedforward": (1.0,)}
    reference = sinusoid([0.3], 1.0, 1.0)
    efforts = []
    for recorded in ("mean", "held"):
        controller = Controller("pid", 1000.0, gains, recorded_effort=recorded)
        loop = ClosedLoop(robot, pendulum_values(), controller=controller)
        efforts.append(loop.advance(loop.at_rest([0.0]), reference, 500)[1].effort)
    mean, held = efforts
    assert np.ptp(held) > 1.0
    np.testing.assert_allclose(mean[1:], 0.5 * (held[1:] + held[:-1]), atol=1e-12)


def test_the_averaged_difference_is_the_velocity_one_period_ago():
    robot = pendulum(gravity=0.0)
    gains = {"kd": (3.0,)}
    controller = Controller(
        "pid", 1000.0, gains, delay_samples=1, velocity_estimate="averaged_difference"
    )
    loop = ClosedLoop(robot, pendulum_values(), controller=controller)
    rest = loop.at_rest([0.0])
    history = np.zeros_like(rest.history)
    for k, place in ((0, 0.0), (3, -0.001), (2, -0.002), (1, -0.003)):
        history[k % 4, 0] = place
    moving = type(rest)(**{**vars(rest), "velocity": np.array([1.0]), "history": history})
    _, samples = loop.advance(moving, hold([0.0]), 1)
    np.testing.assert_allclose(samples.effort[0], -3.0 * 1.0)


def test_the_filtered_derivative_settles_with_its_time_constant():
    robot = pendulum(gravity=0.0)
    cutoff_hz, rate_hz = 20.0, 4000.0
    controller = Controller(
        "pid",
        rate_hz,
        {"kd": (3.0,)},
        velocity_estimate="filtered_derivative",
        velocity_cutoff_hz=cutoff_hz,
    )
    heavy = pendulum_values(ZZ=1e9)  # moves on at a constant speed
    loop = ClosedLoop(robot, heavy, controller=controller)
    rest = loop.at_rest([0.0])
    moving = type(rest)(**{**vars(rest), "velocity": np.array([1.0])})
    end, samples = loop.advance(moving, hold([0.0]), 400)
    w = 2.0 * math.pi * cutoff_hz
    period = 1.0 / rate_hz
    estimate = 1.0 - (1.0 + w * period) ** -float(end.step - 1)
    np.testing.assert_allclose(end.history[(end.step - 1) % 3, 1], estimate, rtol=1e-6)
    np.testing.assert_allclose(samples.effort[-1], -3.0 * estimate, rtol=1e-3)
    np.testing.assert_allclose(estimate, 1.0 - math.exp(-w * 399 * period), atol=1e-4)


def test_the_way_a_run_is_cut_changes_nothing():
    robot, values, controller = two_joints_with_coupled_friction()
    loop = ClosedLoop(robot, values, controller=controller, sample_rate_hz=500.0)
    reference = sinusoid([0.3, 0.4], 1.0, 1.0)
    state = loop.settled([0.0, 0.0])
    _, whole = loop.advance(state, reference, 900)
    pieces = []
    for steps in (1, 2, 97, 300, 500):
        state, samples = loop.advance(state, reference, steps)
        pieces.append(samples)
    for name in ("time", "position", "velocity", "effort", "slip"):
        joined = np.concatenate([getattr(piece, name) for piece in pieces])
        np.testing.assert_array_equal(joined, getattr(whole, name))


def test_the_settled_state_stays_where_it_is():
    robot, values, controller = two_joints_with_coupled_friction()
    loop = ClosedLoop(robot, values, controller=controller)
    samples = loop.run(hold([0.2, -0.1]), 1.0)
    assert np.abs(samples.position - samples.position[0]).max() < 1e-12


def test_an_unstable_loop_is_refused_with_the_time():
    robot = pendulum()
    controller = Controller("pid", 1000.0, {"kp": (-1e6,), "kd": (-1e4,)})
    loop = ClosedLoop(robot, pendulum_values(), controller=controller)
    with pytest.raises(SimulationError) as caught:
        loop.run(hold([0.0]), 5.0, loop.at_rest([0.1]))
    assert 0.0 < caught.value.time < 5.0
    impossible = ClosedLoop(robot, pendulum_values(ZZ=-1.0), controller=controller)
    with pytest.raises(SimulationError, match="mass matrix"):
        impossible.run(hold([0.0]), 1.0)


def test_wrong_settings_are_refused():
    values = pendulum_values()
    with pytest.raises(SettingError, match="declares no controller"):
        ClosedLoop(pendulum(), values)
    with pytest.raises(SettingError, match="divide"):
        ClosedLoop(pendulum(), values, controller=NO_CONTROL, sample_rate_hz=300.0)
    with pytest.raises(SettingError, match="law"):
        ClosedLoop(pendulum(), values, controller=Controller("magic", 1000.0, {}))
    with pytest.raises(SettingError, match="kp"):
        ClosedLoop(pendulum(), values, controller=Controller("pid", 1000.0, {"kp": (1.0, 2.0)}))
    for estimate, word in (("magic", "velocity_estimate"), ("filtered_derivative", "cutoff")):
        controller = Controller("cascade", 1000.0, {}, velocity_estimate=estimate)
        with pytest.raises(SettingError, match=word):
            ClosedLoop(pendulum(), values, controller=controller)
    with pytest.raises(ShapeError, match="position"):
        ClosedLoop(pendulum(), values, controller=NO_CONTROL).at_rest([0.0, 0.0])


def measured(seed, cuts=(400,), **settings):
    given = {
        "position_noise": (1e-4,),
        "effort_noise": (0.2,),
        "position_resolution": (0.0,),
        "effort_resolution": (0.0,),
    } | settings
    robot = RobotModel(
        "pendulum",
        "base",
        pendulum().joints,
        [0.0, 0.0, 0.0],
        effort_meaning=EffortMeaning.JOINT_TORQUE,
    )
    loop = ClosedLoop(robot, pendulum_values(), controller=NO_CONTROL)
    sensors = Sensors(robot, SensorSettings(**given), seed)
    state, parts = loop.at_rest([0.0]), []
    for count in cuts:
        state, samples = loop.advance(state, hold([0.0]), count)
        parts.append(sensors.measure(samples))
    return [np.concatenate(columns) for columns in zip(*parts, strict=True)]


def test_noise_depends_on_the_seed_alone():
    position, _, effort = measured(3)
    for again in (measured(3), measured(3, cuts=(1, 99, 300))):
        np.testing.assert_array_equal(again[0], position)
        np.testing.assert_array_equal(again[2], effort)
    assert not np.array_equal(measured(4)[0], position)
    np.testing.assert_allclose(position.std(), 1e-4, rtol=0.1)
    np.testing.assert_allclose(effort.std(), 0.2, rtol=0.1)


def test_an_encoder_gives_multiples_of_its_step():
    position, _, _ = measured(3, position_resolution=(2.5e-5,))
    np.testing.assert_allclose(position / 2.5e-5, np.round(position / 2.5e-5), atol=1e-9)
    assert len(np.unique(np.round(position / 2.5e-5))) > 5
