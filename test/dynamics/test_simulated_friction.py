"""Stick and slip in fixed steps, beside motions that are known exactly."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from robot_identification.dynamics.direct import DirectModel
from robot_identification.dynamics.reference import hold, sample
from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.robot.experiment import Controller
from small_robots import pendulum, pendulum_values, sinusoid, two_joints_with_coupled_friction

NO_CONTROL = Controller("cascade", 1000.0, {})
KP, KD, INERTIA, FRICTION = 400.0, 20.0, 0.5, 6.0
PERIOD = 1e-3
PD = Controller("pid", 1.0 / PERIOD, {"kp": (KP,), "kd": (KD,)})
REFERENCE = sinusoid([0.02], 1.0, 2.0, 0.05)


@pytest.mark.parametrize(("friction", "moves"), [(9.82, False), (9.80, True)])
def test_friction_holds_gravity_up_to_its_limit(friction, moves):
    loop = ClosedLoop(pendulum(), pendulum_values(Fc=friction), controller=NO_CONTROL)
    samples = loop.run(hold([0.0]), 0.2, loop.at_rest([0.0]))
    if moves:
        expected = (friction - 9.81) / 0.5 * samples.time
        np.testing.assert_allclose(samples.velocity[:, 0], expected, rtol=1e-3, atol=1e-12)
        np.testing.assert_array_equal(samples.slip, -1.0)
    else:
        np.testing.assert_allclose(samples.position, 0.0, atol=1e-15)
        np.testing.assert_allclose(samples.slip, -9.81 / friction, rtol=1e-12)


def held_torque(periods):
    """Return positions of one driven inertia, and how often it came to rest, in closed form.

    Under a torque that is held for a period every phase is a parabola.
    """
    wanted, rates, _ = sample(REFERENCE, np.arange(periods) * PERIOD)
    q = qd = 0.0
    found, rests = [], 0
    for at, rate in zip(wanted[:, 0], rates[:, 0], strict=True):
        found.append(q)
        torque, left = KP * (at - q) + KD * (rate - qd), PERIOD
        while left > 0.0:
            if qd == 0.0 and abs(torque) <= FRICTION:
                break  # rests until the torque changes
            direction = np.sign(qd) if qd != 0.0 else np.sign(torque)
            acceleration = (torque - direction * FRICTION) / INERTIA
            ends = -qd / acceleration if qd * acceleration < 0.0 else math.inf
            time = min(left, ends)
            q += time * (qd + 0.5 * time * acceleration)
            qd = 0.0 if ends <= left else qd + time * acceleration
            rests += ends <= left and abs(torque) <= FRICTION
            left -= time
    return np.array(found), rests


def test_stick_and_slip_under_a_held_torque_are_those_of_the_closed_form():
    expected, rests = held_torque(2001)
    assert rests >= 3
    errors = []
    for substeps in (1, 2, 4, 16):
        loop = ClosedLoop(
            pendulum(0.0), pendulum_values(Fc=FRICTION), controller=PD, substeps=substeps
        )
        samples = loop.run(REFERENCE, 2.0, loop.at_rest([0.0]))
        errors.append(float(np.abs(samples.position[:, 0] - expected).max()))
        resting = np.abs(samples.velocity[:, 0]) < 1e-12
        assert 0.1 < resting.mean() < 0.9
    assert errors[0] < 1e-5
    assert errors[2] < 1e-6
    assert errors[3] < errors[0] / 16.0


def continuous_law(ends):
    """Return positions at ``ends`` of one driven inertia whose law holds at every instant.

    Phase by phase with SciPy, stick and slip as its events.
    """

    def force(time, q, qd):
        at, rate, _ = (signal[0, 0] for signal in sample(REFERENCE, [time]))
        return KP * (at - q) + KD * (rate - qd)

    t, q, qd, direction, found = 0.0, 0.0, 0.0, 0.0, []
    for end in ends:
        while t < end:
            if direction == 0.0:

                def event(time, _, q=q):
                    return abs(force(time, q, 0.0)) - FRICTION

                event.direction = 1.0
            else:

                def event(time, y, sign=direction, begin=t):
                    return sign * y[1] if time > begin + 1e-9 else 1.0

                event.direction = -1.0

            def rates(time, y, sign=direction):
                if sign == 0.0:
                    return [0.0, 0.0]
                return [y[1], (force(time, y[0], y[1]) - sign * FRICTION) / INERTIA]

            event.terminal = True
            phase = solve_ivp(
                rates, (t, end), [q, qd], "DOP853", events=event, rtol=1e-10, atol=1e-12,
                max_step=5e-3,
            )  # fmt: skip
            t, (q, qd) = float(phase.t[-1]), phase.y[:, -1]
            if phase.status == 1:
                qd = 0.0
                pushed = direction == 0.0 or abs(force(t, q, 0.0)) > FRICTION
                direction = float(np.sign(force(t, q, 0.0))) if pushed else 0.0
        found.append(q)
    return np.array(found)


def test_as_the_rate_rises_the_motion_comes_to_that_under_a_continuous_law():
    expected = continuous_law(np.linspace(0.1, 2.0, 20))
    positions = []
    for rate_hz in (4000.0, 8000.0, 16000.0):
        loop = ClosedLoop(
            pendulum(0.0),
            pendulum_values(Fc=FRICTION),
            controller=PD,
            rate_hz=rate_hz,
            sample_rate_hz=1000.0,
        )
        positions.append(loop.run(REFERENCE, 2.0, loop.at_rest([0.0])).position[100::100, 0])
    errors = [float(np.abs(position - expected).max()) for position in positions]
    ratios = np.array(errors[:-1]) / errors[1:]
    assert (np.abs(ratios - 2.0) < 0.2).all(), errors
    extrapolated = 2.0 * positions[2] - positions[1]
    assert np.abs(extrapolated - expected).max() < 0.1 * errors[2]


def test_elements_that_depend_on_each_other_hold_together():
    robot, values, _ = two_joints_with_coupled_friction((5.0, 3.0), 4.0)
    bias = DirectModel(robot, values).bias([0.0, 0.0], [0.0, 0.0])[0]
    # The elements of both joints alone cannot bear this; with the common one they can.
    common = 0.5 * values[-1]
    values[[13, 27]] += -bias + np.array([values[12], values[26]]) * 0.9 + common
    loop = ClosedLoop(robot, values, controller=NO_CONTROL)
    samples = loop.run(hold([0.0, 0.0]), 0.1, loop.at_rest([0.0, 0.0]))
    assert np.abs(samples.velocity).max() < 1e-12
    assert np.abs(samples.slip).max() <= 1.0
    bias = DirectModel(robot, values).bias([0.0, 0.0], [0.0, 0.0])[0]
    np.testing.assert_allclose(samples.slip[-1] @ loop.plant.action, -bias, atol=1e-9)
    values[[13, 27]] += 0.2 * np.array([values[12], values[26]]) + common
    loop = ClosedLoop(robot, values, controller=NO_CONTROL)
    samples = loop.run(hold([0.0, 0.0]), 0.1, loop.at_rest([0.0, 0.0]))
    assert np.abs(samples.velocity[-1]).max() > 1e-3


def test_friction_that_drives_instead_of_braking_does_not_stop_the_simulation():
    loop = ClosedLoop(pendulum(), pendulum_values(Fc=-0.2, Fv=1.0), controller=PD)
    samples = loop.run(sinusoid([0.5], 1.0, 2.0), 2.0)
    moving = np.abs(samples.velocity) > 0.05
    assert moving.mean() > 0.5
    np.testing.assert_array_equal(np.abs(samples.slip[moving]), 1.0)
