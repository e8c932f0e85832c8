"""Motions that repeat: random Fourier series within limits, and recordings of them."""

from functools import cache

import numpy as np

from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.periodic.fourier import derivative_basis
from robot_identification.signals.raw_samples import RawSamples

START = 1_700_000_000_000_000_000
PERIOD, HARMONICS, RATE = 4.0, 4, 200.0
REST = 0.5


def random_series(robot, seed=0, period=PERIOD, harmonics=HARMONICS, share=0.6):
    """Return (joints, 2 harmonics + 1) coefficients of a random motion within a share of limits."""
    rng = np.random.default_rng(seed)
    time = np.arange(0.0, period, period / 1000)
    basis = derivative_basis(time, period, harmonics)
    rows = []
    for joint in robot.joints:
        limits = joint.limits
        lower, upper = (
            side if side is not None and abs(side) < np.pi else np.copysign(np.pi, sign)
            for side, sign in ((limits.lower, -1.0), (limits.upper, 1.0))
        )
        row = np.zeros(2 * harmonics + 1)
        row[1:] = rng.standard_normal(2 * harmonics) / np.repeat(np.arange(1, harmonics + 1), 2)
        q, qd, qdd = (part @ row for part in basis)
        sizes = [(upper - lower) / np.ptp(q)]
        sizes += [
            limit / np.abs(signal).max()
            for limit, signal in ((limits.velocity, qd), (limits.acceleration, qdd))
            if limit is not None
        ]
        row *= share * min(sizes)
        row[0] = (lower + upper) / 2 - (q.max() + q.min()) / 2 * share * min(sizes)
        rows.append(row)
    return np.array(rows)


def periodic_trajectory(robot, periods, *, period=PERIOD, ramp=1.0, rate=50.0, **series):
    """Return a trajectory of whole periods between a run-in and a run-out, and when they begin."""
    rows = random_series(robot, period=period, **series)
    time = np.arange(round(periods * period * rate) + 1) / rate
    harmonics = rows.shape[1] // 2
    q, qd, qdd = (part @ rows.T for part in derivative_basis(time, period, harmonics))
    first, last = q[0] - qd[0] * ramp / 2, q[-1] + qd[-1] * ramp / 2
    still = np.zeros((1, len(rows)))
    begins = REST + ramp
    times = [0.0, REST, *(begins + time), begins + time[-1] + ramp]
    times.append(times[-1] + REST)
    trajectory = Trajectory(
        robot.joint_names,
        np.array(times),
        np.vstack([first, first, q, last, last]),
        np.vstack([still, still, qd, still, still]),
        np.vstack([still, still, qdd, still, still]),
    )
    return trajectory, begins


@cache
def exact_motion(name, periods, period=PERIOD, rate=RATE, seed=0):
    """Return robot, times, positions, and efforts without noise and friction's part of them."""
    robot = load_robot(name)
    values = load_values(name, robot)
    trajectory, _ = periodic_trajectory(robot, periods, period=period, rate=rate, seed=seed)
    time = np.arange(round(trajectory.duration * rate)) / rate
    motion = trajectory.sample(time)
    friction = np.where([name[:2] in ("Fv", "Fc") for name in robot.all_parameter_names], values, 0)
    moving = [np.array(signal) for signal in motion]
    return (
        robot,
        time,
        moving[0],
        inverse_dynamics(robot, values, *moving),
        inverse_dynamics(robot, friction, *moving),
    )


def periodic_recording(
    name="scara",
    periods=4,
    *,
    noise=0.05,
    position_noise=1e-6,
    drift=0.0,
    seed=0,
    stretch=1.0,
    period=PERIOD,
    rate=RATE,
    kept=None,
):
    """Return a recording of a motion that repeats.

    Args:
        name: of robot and parameters.
        periods: of the motion.
        noise: standard deviation of the efforts.
        position_noise: of the positions.
        drift: relative change of the friction from the first to the last period, a step for each.
        seed: of the noise.
        stretch: of the stamps, as by a clock that is off.
        period: in s.
        rate: of the samples.
        kept: which samples there are; by default all.
    """
    robot, time, position, effort, friction = exact_motion(name, periods, period, rate)
    rng = np.random.default_rng(seed)
    number = np.clip((time - REST - 1.0) // period, 0, periods - 1)
    change = drift * number / max(periods - 1, 1)
    measured = effort + change[:, None] * friction + noise * rng.normal(size=effort.shape)
    noisy = position + position_noise * rng.normal(size=position.shape)
    stamps = START + np.rint(time * stretch * 1e9).astype(np.int64)
    chosen = slice(None) if kept is None else kept
    raw = RawSamples(stamps[chosen], noisy[chosen], None, measured[chosen])
    return build_recording(raw, robot.joint_names, source="bag")
