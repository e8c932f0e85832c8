"""Continuous control with stick and slip as events."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from robot_identification.dynamics.continuous import ContinuousLoop
from robot_identification.dynamics.direct import DirectModel
from robot_identification.dynamics.reference import Reference, hold, sample
from robot_identification.dynamics.simulation import ClosedLoop
from robot_identification.dynamics.stops import stops_of
from robot_identification.errors import SettingError, ShapeError, SimulationError
from robot_identification.excitation.trajectory import interpolate
from robot_identification.robot.controller import Controller
from robot_identification.robot.loading import load_robot
from robot_identification.robot.values import load_values
from robot_identification.share import share_directory
from robot_identification.storage.trajectories import read_trajectory
from small_robots import pendulum, pendulum_values, sinusoid, two_joints_with_coupled_friction

NO_CONTROL = Controller("cascade", 1000.0, {})
PIECE = 0.05  # s, of the references
STRONG = ((5.0, 3.0), 4.0)  # friction of two joints and of their coupling
PD = Controller("pid", 1000.0, {"kp": (400.0,), "kd": (20.0,)})


@pytest.fixture(scope="module")
def tx40():
    robot = load_robot("tx40")
    values = load_values("tx40_simulated", robot)
    path = share_directory() / "config" / "trajectories" / "tx40.yaml"
    return robot, values, read_trajectory(path).reordered(robot.joint_names).reference


def test_without_friction_and_control_energy_is_kept():
    loop = ContinuousLoop(pendulum(), pendulum_values(), controller=NO_CONTROL, tolerance=1e-10)
    samples, certificate, _ = loop.run(hold([0.3]), 10.0, state=loop.at_rest([0.3]))
    q, qd = samples.position[:, 0], samples.velocity[:, 0]
    energy = 0.5 * 0.5 * qd**2 + 9.81 * np.sin(q)
    assert np.ptp(qd) > 5.0
    assert np.abs(energy - energy[0]).max() < 1e-7
    assert certificate.events == 0
    assert 0.0 < certificate.largest_error <= 1e-10


def test_a_sliding_mass_stops_where_friction_has_used_up_its_energy():
    loop = ContinuousLoop(pendulum(0.0), pendulum_values(Fc=0.7), controller=NO_CONTROL)
    moving = replace(loop.at_rest([0.0]), velocity=np.array([2.0]))
    samples, certificate, end = loop.run(hold([0.0]), 3.0, state=moving)
    np.testing.assert_allclose(end.position, 0.5 * 0.5 * 2.0**2 / 0.7, rtol=1e-12)
    assert end.velocity[0] == 0.0
    assert certificate.stopped == 1
    assert certificate.released == certificate.reversed == 0
    np.testing.assert_array_equal(samples.slip[[0, -1], 0], [1.0, 0.0])


@pytest.mark.parametrize(("friction", "moves"), [(9.82, False), (9.80, True)])
def test_friction_holds_gravity_up_to_its_limit(friction, moves):
    loop = ContinuousLoop(pendulum(), pendulum_values(Fc=friction), controller=NO_CONTROL)
    samples = loop.run(hold([0.0]), 0.2, state=loop.at_rest([0.0])).samples
    if moves:
        expected = (friction - 9.81) / 0.5 * samples.time
        np.testing.assert_allclose(samples.velocity[:, 0], expected, rtol=1e-3, atol=1e-12)
        np.testing.assert_array_equal(samples.slip, -1.0)
    else:
        np.testing.assert_array_equal(samples.position, 0.0)
        np.testing.assert_allclose(samples.slip, -9.81 / friction)


def stick_and_slip(reference_at, ends, kp, kd, inertia, friction):
    """Return positions at ``ends`` of one driven inertia, phase by phase with SciPy."""
    t, q, qd, direction, found = 0.0, 0.0, 0.0, 0, []
    for end in ends:
        while t < end:
            if direction == 0:  # rests: how long does the friction hold?

                def excess(time, _, q=q):
                    at, rate = reference_at(time)
                    return abs(kp * (at - q) + kd * rate) - friction

                excess.terminal, excess.direction = True, 1.0
                at, rate = reference_at(t)
                if abs(kp * (at - q) + kd * rate) > friction * (1.0 + 1e-13):
                    direction = int(np.sign(kp * (at - q) + kd * rate))
                    continue
                phase = solve_ivp(
                    lambda *_: [0.0], (t, end), [0.0], events=excess, max_step=1e-3, rtol=1e-12
                )
                t = phase.t[-1] + (1e-13 if phase.status == 1 else 0.0)
                if phase.status == 1:
                    at, rate = reference_at(t)
                    direction = int(np.sign(kp * (at - q) + kd * rate))
                continue

            def stops(time, y, sign=direction, begin=t):
                return sign * y[1] if time > begin + 1e-9 else 1.0

            def rates(time, y, sign=direction):
                at, rate = reference_at(time)
                force = kp * (at - y[0]) + kd * (rate - y[1]) - sign * friction
                return [y[1], force / inertia]

            stops.terminal, stops.direction = True, -1.0
            phase = solve_ivp(
                rates, (t, end), [q, qd], "DOP853", events=stops, rtol=1e-12, atol=1e-13,
                max_step=2e-3,
            )  # fmt: skip
            t, (q, qd) = phase.t[-1], phase.y[:, -1]
            if phase.status == 1:
                qd, direction = 0.0, 0
        found.append(q)
    return np.array(found)


def test_stick_and_slip_agree_with_another_integrator():
    w, amplitude = 2.0 * math.pi, 0.02
    coefficients = sinusoid([amplitude], 1.0, 2.0, PIECE)
    ends = np.linspace(0.1, 2.0, 20)

    def reference_at(time):
        piece = min(int(np.searchsorted(coefficients.knots, time, "right")) - 1, 39)
        u = time - coefficients.knots[piece]
        c = coefficients.coefficients[piece, 0]
        rate = sum(k * c[k] * u ** (k - 1) for k in range(1, 6))
        return sum(c[k] * u**k for k in range(6)), rate

    assert abs(reference_at(0.25)[1] - amplitude * w) < 1e-4
    expected = stick_and_slip(reference_at, ends, 400.0, 20.0, 0.5, 6.0)
    loop = ContinuousLoop(pendulum(0.0), pendulum_values(Fc=6.0), controller=PD, tolerance=1e-10)
    run = loop.run(coefficients, 2.0, times=ends, state=loop.at_rest([0.0]))
    assert run.certificate.stopped >= 3
    assert run.certificate.released >= 3
    np.testing.assert_allclose(run.samples.position[:, 0], expected, atol=1e-9)


def test_smoothed_friction_does_not_converge_with_the_tolerance():
    loop = ContinuousLoop(pendulum(0.0), pendulum_values(Fc=6.0), controller=PD, tolerance=1e-10)
    times = np.linspace(0.0, 2.0, 201)
    reference = sinusoid([0.02], 1.0, 2.0, PIECE)
    exact = loop.run(reference, 2.0, times=times, state=loop.at_rest([0.0])).samples.position[:, 0]

    def smoothed(eps, tolerance):
        def rates(time, y):
            at, rate, _ = (signal[0, 0] for signal in sample(reference, [time]))
            force = 400.0 * (at - y[0]) + 20.0 * (rate - y[1]) - 6.0 * math.tanh(y[1] / eps)
            return [y[1], force / 0.5]

        solution = solve_ivp(
            rates, (0.0, 2.0), [0.0, 0.0], "LSODA", times, rtol=tolerance, atol=tolerance
        )
        return float(np.abs(solution.y[0] - exact).max())

    coarse, fine = smoothed(1e-3, 1e-6), smoothed(1e-3, 1e-10)
    assert fine > 1e-5
    assert abs(coarse - fine) < 0.05 * fine
    assert smoothed(1e-4, 1e-10) < 0.5 * fine
    rough = ContinuousLoop(pendulum(0.0), pendulum_values(Fc=6.0), controller=PD, tolerance=1e-6)
    run = rough.run(reference, 2.0, times=times, state=rough.at_rest([0.0]))
    assert np.abs(run.samples.position[:, 0] - exact).max() < 1e-3 * fine


def test_a_controller_with_a_rate_approaches_the_continuous_one():
    robot, values, controller = two_joints_with_coupled_friction(*STRONG)
    reference = sinusoid([0.3, 0.4], 1.0, 1.5, PIECE)
    loop = ContinuousLoop(robot, values, controller=controller, tolerance=1e-9)
    exact, certificate, _ = loop.run(reference, 1.5, state=loop.at_rest([0.0, 0.0]))
    assert certificate.events > 10
    errors = []
    for rate_hz in (4000.0, 8000.0, 16000.0):
        sampled = ClosedLoop(
            robot, values, controller=controller, rate_hz=rate_hz, sample_rate_hz=1000.0
        )
        position = sampled.run(reference, 1.5, sampled.at_rest([0.0, 0.0])).position
        errors.append(float(np.abs(position - exact.position).max()))
    ratios = np.array(errors[:-1]) / errors[1:]
    assert (np.abs(ratios - 2.0) < 0.2).all(), errors
    assert abs(2.0 * errors[2] - errors[1]) < 0.05 * errors[2]


def test_the_error_falls_with_the_tolerance(tx40):
    robot, values, reference = tx40
    tight = ContinuousLoop(robot, values, tolerance=1e-11)
    state = tight.settled(reference.coefficients[0, :, 0])
    exact, certificate, _ = tight.run(reference, 5.0, state=state)
    assert certificate.events > 20
    previous = math.inf
    for tolerance in (1e-4, 1e-6, 1e-8):
        loop = ContinuousLoop(robot, values, tolerance=tolerance)
        run = loop.run(reference, 5.0, state=state)
        assert run.certificate.largest_error <= tolerance
        assert run.certificate.events == certificate.events
        error = float(np.abs(run.samples.position - exact.position).max())
        assert error < min(0.1 * previous, tolerance)
        previous = error


def test_effort_and_slip_of_a_sample_belong_to_its_state():
    robot, values, controller = two_joints_with_coupled_friction(*STRONG)
    values[[12, 26, -1]] *= 3.0
    loop = ContinuousLoop(robot, values, controller=controller, tolerance=1e-10)
    times = np.sort(np.concatenate([np.arange(0.1, 1.4, 0.01) + d for d in (0.0, 1e-5, 2e-5)]))
    samples = loop.run(sinusoid([0.1, 0.13], 1.0, 1.5, PIECE), 1.5, times=times).samples
    before, now, after = (samples.velocity[i::3] for i in range(3))
    sliding = (np.abs(samples.slip[1::3]) == 1.0).all(axis=1)
    assert 0.2 < sliding.mean() < 0.95
    without = values.copy()
    without[[12, 26, -1]] = 0.0
    middle = slice(1, None, 3)
    load = samples.effort[middle] - samples.slip[middle] @ loop.plant.action
    qdd = DirectModel(robot, without).accelerations(samples.position[middle], now, load)
    np.testing.assert_allclose((after - before) / 2e-5, qdd, atol=2e-3 * np.abs(qdd).max())


def test_a_coupled_element_sticks_while_its_joints_move_against_each_other():
    robot, values, controller = two_joints_with_coupled_friction(*STRONG)
    values[-1] = 1e4  # the friction of the common motor is never overcome
    values[11::14] = 0.0
    loop = ContinuousLoop(robot, values, controller=controller)
    samples = loop.run(
        sinusoid([0.3, -0.3], 1.0, 1.0, PIECE), 1.0, state=loop.at_rest([0.0, 0.0])
    ).samples
    assert np.abs(samples.velocity).max() > 0.5
    assert np.abs(samples.velocity.sum(axis=1)).max() < 1e-11


def test_elements_that_depend_on_each_other_hold_together():
    robot, values, controller = two_joints_with_coupled_friction(*STRONG)
    loop = ContinuousLoop(robot, values, controller=controller)
    bias = DirectModel(robot, values).bias([0.0, 0.0], [0.0, 0.0])[0]
    # The elements of both joints alone cannot bear this; with the common one they can.
    common = 0.5 * values[-1]
    values[[13, 27]] += -bias + np.array([values[12], values[26]]) * 0.9 + common
    loop = ContinuousLoop(robot, values, controller=NO_CONTROL)
    run = loop.run(hold([0.0, 0.0]), 0.1, state=loop.at_rest([0.0, 0.0]))
    np.testing.assert_array_equal(run.samples.velocity, 0.0)
    assert np.abs(run.samples.slip).max() <= 1.0
    held = run.samples.slip[0] @ loop.plant.action
    bias = DirectModel(robot, values).bias([0.0, 0.0], [0.0, 0.0])[0]
    np.testing.assert_allclose(held, -bias, atol=1e-9)
    values[[13, 27]] += 0.2 * np.array([values[12], values[26]]) + common
    loop = ContinuousLoop(robot, values, controller=NO_CONTROL)
    run = loop.run(hold([0.0, 0.0]), 0.1, state=loop.at_rest([0.0, 0.0]))
    assert np.abs(run.samples.velocity[-1]).max() > 0.0


@pytest.mark.parametrize(
    ("law", "gains", "tolerance"),
    [
        ("cascade", {"kp": (60.0,), "kv": (100.0,)}, 0.2),
        ("pid", {"kp": (2000.0,), "kd": (60.0,), "acceleration_feedforward": (0.5,)}, 0.02),
        ("pid", {"kp": (2000.0,), "ki": (5000.0,), "kd": (60.0,)}, 0.02),
        ("computed_torque", {"kp": (400.0,), "kd": (40.0,)}, 1e-3),
    ],
)
def test_every_control_law_follows_its_reference(law, gains, tolerance):
    loop = ContinuousLoop(
        pendulum(), pendulum_values(Fv=0.5, Fc=0.5), controller=Controller(law, 2000.0, gains)
    )
    samples = loop.run(sinusoid([0.5], 0.5, 4.0, PIECE), 4.0).samples
    wanted = 0.5 * (1.0 - np.cos(math.pi * samples.time))
    assert np.abs(samples.position[:, 0] - wanted).max() < tolerance


def test_computed_torque_with_the_true_model_leaves_no_error():
    robot, values, _ = two_joints_with_coupled_friction(*STRONG)
    controller = Controller("computed_torque", 1000.0, {"kp": (400.0,) * 2, "kd": (40.0,) * 2})
    loop = ContinuousLoop(robot, values, controller=controller, tolerance=1e-9)
    reference = sinusoid([0.3, 0.4], 1.0, 2.0, PIECE)
    run = loop.run(reference, 2.0, state=loop.at_rest([0.0, 0.0]))
    wanted = np.array([[0.3, 0.4]]) * (1.0 - np.cos(2.0 * math.pi * run.samples.time))[:, None]
    assert np.abs(run.samples.position - wanted).max() < 1e-5  # of the quintic pieces
    other = ContinuousLoop(robot, values, controller=controller, nominal=0.8 * values)
    run = other.run(reference, 2.0, state=loop.at_rest([0.0, 0.0]))
    assert np.abs(run.samples.position - wanted).max() > 1e-3


def test_the_effort_never_exceeds_its_limit_and_the_integral_does_not_wind_up():
    robot = pendulum(0.0, effort=3.0)
    gains = {"kp": (200.0,), "ki": (300.0,), "kd": (40.0,)}
    loop = ContinuousLoop(robot, pendulum_values(), controller=Controller("pid", 1e3, gains))
    samples = loop.run(hold([1.0]), 6.0, state=loop.at_rest([0.0])).samples
    assert np.abs(samples.effort).max() <= 3.0
    assert np.count_nonzero(np.abs(samples.effort) == 3.0) > 100
    assert samples.position.max() < 1.2
    np.testing.assert_allclose(samples.position[-1], 1.0, atol=1e-4)


def test_a_reference_that_jumps_ends_a_step():
    t = np.array([0.0, 0.1, 0.2])
    straight = Reference(t, interpolate(t, np.array([[0.0], [0.1], [0.0]]), None, None))
    np.testing.assert_allclose(stops_of(straight, 0.0, 1.0), [0.1, 0.2, 1.0])
    smooth = sinusoid([0.1], 1.0, 1.0, PIECE)
    assert len(stops_of(smooth, 0.0, 1.0)) > 15
    fine = Reference(smooth.knots / 100.0, smooth.coefficients * 100.0 ** np.arange(6))
    assert len(stops_of(fine, 0.0, 1.0)) == 2
    controller = replace(PD, gains={"kp": (400.0,), "kd": (20.0,)})
    positions = []
    for tolerance in (1e-6, 1e-12):
        loop = ContinuousLoop(
            pendulum(0.0), pendulum_values(), controller=controller, tolerance=tolerance
        )
        positions.append(loop.run(straight, 0.5, state=loop.at_rest([0.0])).samples.position)
    assert np.abs(positions[0] - positions[1]).max() < 1e-7


def test_parameters_that_drive_instead_of_braking_do_not_stop_the_simulation():
    values = pendulum_values(Fc=-0.2, Fv=1.0)
    loop = ContinuousLoop(pendulum(), values, controller=PD)
    run = loop.run(sinusoid([0.5], 1.0, 2.0, PIECE), 2.0)
    assert np.abs(run.samples.slip).min() == 1.0


def test_what_cannot_be_simulated_is_refused():
    robot, values = pendulum(), pendulum_values()
    unstable = Controller("pid", 1000.0, {"kp": (-1e6,), "kd": (-1e4,)})
    loop = ContinuousLoop(robot, values, controller=unstable)
    with pytest.raises(SimulationError) as caught:
        loop.run(hold([0.0]), 5.0, state=loop.at_rest([0.1]))
    assert 0.0 < caught.value.time < 5.0
    impossible = ContinuousLoop(robot, pendulum_values(ZZ=-1.0), controller=PD)
    with pytest.raises(SimulationError, match="mass matrix"):
        impossible.run(hold([0.0]), 1.0)
    for controller, word in (
        (Controller("pid", 1e3, {}, delay_samples=1), "delay_samples"),
        (Controller("pid", 1e3, {}, velocity_estimate="averaged_difference"), "velocity_estimate"),
    ):
        with pytest.raises(SettingError, match=word):
            ContinuousLoop(robot, values, controller=controller)
    with pytest.raises(SettingError, match="declares no controller"):
        ContinuousLoop(robot, values)
    for name, value in (("tolerance", 0.0), ("longest_step", -1.0)):
        with pytest.raises(SettingError, match=name):
            ContinuousLoop(robot, values, controller=PD, **{name: value})
    loop = ContinuousLoop(robot, values, controller=PD)
    with pytest.raises(SettingError, match="times"):
        loop.run(hold([0.0]), 1.0, times=[0.0, 2.0])
    with pytest.raises(SettingError, match="rate_hz"):
        loop.run(hold([0.0]), 1.0, rate_hz=-1.0)
    with pytest.raises(SettingError, match="duration"):
        loop.run(hold([0.0]), math.nan)
    with pytest.raises(ShapeError, match="reference"):
        loop.run(hold([0.0, 0.0]), 1.0)
    with pytest.raises(ShapeError, match="position"):
        loop.at_rest([0.0, 0.0])
