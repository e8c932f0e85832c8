"""Simulation of 20 s of a closed loop with a controller of 1 kHz, beside SciPy with Pinocchio.

An arm follows a Fourier series under a proportional-derivative law whose torque is held from one
instant of the controller to the next, with viscous and Coulomb friction.  Ours is the fixed-step
loop, with one, two and four steps in a period.  The peers are RK45 and LSODA of SciPy with
Pinocchio's articulated-body algorithm.  They begin anew at every instant of the controller, where
the torque jumps, and smooth Coulomb friction by tanh(v/eps), without which they do not get past the
first rest.  They are tightened, eps and tolerance together, and compared at every step with the
quickest of our runs that is at least as accurate.  Errors are the largest distance of a position at
1 kHz from a run of ours with 64 steps in a period.  A peer that exceeds its budget of processor
time bounds the ratio from below.

The same peers, their law evaluated at every instant, are shown beside: a shorter run of another
controller, whose distance from the one of 1 kHz remains, however tight they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin
from scipy.integrate import RK45, odeint, solve_ivp

from goals import robots
from goals.measuring import Candidate, Options, Row, Times, Verdict, interleaved
from goals.robots import Arm
from robot_identification.dynamics.direct import DirectModel
from robot_identification.dynamics.reference import Reference, sample
from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.excitation.motions.trajectory import interpolate
from robot_identification.robot.arrays import Array
from robot_identification.robot.experiment import Controller

TITLE = "closed loop, 20 s"
STEPS = {"ours, 1 ms": 1, "ours, 0.5 ms": 2, "ours, 0.25 ms": 4}
SMOOTHINGS = {"RK45": (1e-2, 1e-3), "LSODA": (1e-2, 1e-3, 1e-4)}
WANTED = {"RK45": 50.0, "LSODA": 15.0}
BUDGET = 12.0
_SECONDS, _RATE, _FINEST = 20.0, 1000.0, 64
_PIECE = 0.1  # s, of the reference
_BANDWIDTH = 50.0  # rad/s
_Rates = Callable[[float, Array], Array]


class Case:
    """An arm under its controller, and what it follows."""

    def __init__(self, arm: Arm, seconds: float) -> None:
        self.arm, self.seconds = arm, seconds
        grid = np.random.default_rng(1).uniform(-2.0, 2.0, (2000, arm.joints))
        masses = DirectModel(arm.robot, arm.values).mass_matrix(grid)
        inertia = masses.diagonal(axis1=1, axis2=2).max(0)
        self.kp, self.kd = _BANDWIDTH**2 * inertia, 2.0 * _BANDWIDTH * inertia
        self.reference = fourier_reference(arm.joints, seconds)
        self.start = self.reference.coefficients[0, :, 0]
        self.times = np.arange(round(seconds * _RATE) + 1) / _RATE
        own = arm.values.reshape(arm.joints, 14)
        self.viscous, self.coulomb, self.offset = own[:, 11], own[:, 12], own[:, 13]
        self.data = arm.peer.createData()
        self.exact = self.ours(_FINEST)

    def ours(self, substeps: int) -> Array:
        """Return our positions, with so many steps in a period of the controller."""
        gains = {"kp": tuple(self.kp), "kd": tuple(self.kd)}
        controller = Controller("pid", _RATE, gains)
        loop = ClosedLoop(self.arm.robot, self.arm.values, controller=controller, substeps=substeps)
        return loop.run(self.reference, self.seconds, loop.at_rest(self.start)).position

    def peer(self, method: str, smoothing: float) -> Array | None:
        """Return a peer's positions under a torque that is held, None where it takes too long."""
        joints, tolerance = self.arm.joints, tolerance_of(smoothing)
        deadline = time.process_time() + BUDGET
        through = _by_runge_kutta if method == "RK45" else _by_lsoda
        wanted, rates, _ = sample(self.reference, self.times)
        y, step = np.concatenate([self.start, np.zeros(joints)]), 1.0 / _RATE
        positions = np.empty_like(wanted)
        for k in range(len(self.times)):
            positions[k] = y[:joints]
            torque = self.kp * (wanted[k] - y[:joints]) + self.kd * (rates[k] - y[joints:])
            y, step = through(self._rates(torque, smoothing), y, tolerance, step)
            if time.process_time() > deadline:
                return None
        return positions

    def with_another_law(self, method: str, smoothing: float) -> Array | None:
        """Return a peer's positions, its law evaluated at every instant; None where it is late."""
        joints, tolerance = self.arm.joints, tolerance_of(smoothing)
        deadline = time.process_time() + BUDGET
        places = self.reference.coefficients
        slopes = places[..., 1:] * np.arange(1, 6)

        def rates(t: float, y: Array) -> Array:
            if time.process_time() > deadline:
                raise TimeoutError
            piece = min(int(t / _PIECE), len(places) - 1)
            powers = (t - piece * _PIECE) ** np.arange(6)
            wanted, rate = places[piece] @ powers, slopes[piece] @ powers[:5]
            torque = self.kp * (wanted - y[:joints]) + self.kd * (rate - y[joints:])
            return self._rates(torque, smoothing)(t, y)

        begin = np.concatenate([self.start, np.zeros(joints)])
        span = (0.0, self.seconds)
        try:
            solution = solve_ivp(
                rates, span, begin, method, t_eval=self.times, rtol=tolerance, atol=tolerance
            )
        except TimeoutError:
            return None
        return solution.y[:joints].T

    def _rates(self, torque: Array, smoothing: float) -> _Rates:
        """Return the rates of positions and velocities under a torque, with Pinocchio."""
        joints, model, data = self.arm.joints, self.arm.peer, self.data
        drive = torque - self.offset

        def rates(_: float, y: Array) -> Array:
            q, qd = y[:joints], y[joints:]
            effort = drive - self.viscous * qd - self.coulomb * np.tanh(qd / smoothing)
            return np.concatenate([qd, pin.aba(model, data, q, qd, effort)])

        return rates

    def error(self, position: Array) -> float:
        """Return the largest distance from the exact positions."""
        return float(np.abs(position - self.exact).max())


def _by_runge_kutta(rates: _Rates, y: Array, tolerance: float, step: float) -> tuple[Array, float]:
    """Return a state one period later by RK45, and the step to begin the next period with."""
    period = 1.0 / _RATE
    solver = RK45(rates, 0.0, y, period, rtol=tolerance, atol=tolerance, first_step=step)
    longest = 0.0
    while solver.status == "running":
        solver.step()
        longest = max(longest, solver.h_abs)
    return solver.y, min(longest, period)


def _by_lsoda(rates: _Rates, y: Array, tolerance: float, step: float) -> tuple[Array, float]:
    """Return a state one period later by LSODA, which chooses how it begins.

    There is less around odeint than around the class of the same method.
    """
    ends = (0.0, 1.0 / _RATE)
    states = odeint(rates, y, ends, tfirst=True, rtol=tolerance, atol=tolerance, mxstep=5000)
    return states[1], step


def tolerance_of(smoothing: float) -> float:
    """Return the tolerance that goes with a smoothing of the friction."""
    return max(1e-4 * smoothing, 1e-12)


def fourier_reference(joints: int, seconds: float) -> Reference:
    """Return five harmonics of 0.1 Hz that begin at rest, by quintic pieces."""
    rng = np.random.default_rng(0)
    t = np.arange(round(seconds / _PIECE) + 1) * _PIECE
    w = 2.0 * np.pi * 0.1 * np.arange(1, 6)
    a = rng.normal(size=(5, joints)) * 0.35 / np.arange(1, 6)[:, None]
    phase = np.outer(t, w)
    position = (1.0 - np.cos(phase)) @ a
    velocity = (np.sin(phase) * w) @ a
    acceleration = (np.cos(phase) * w**2) @ a
    return Reference(t, interpolate(t, position, velocity, acceleration))


def measure(options: Options) -> Row:
    """Measure the row."""
    row = Row(TITLE)
    seconds = 2.0 if options.quick else _SECONDS
    for arm in (robots.six_joints(), robots.seven_joints()):
        _measure(Case(arm, seconds), options, row)
    return row


def _measure(case: Case, options: Options, row: Row) -> None:
    found: dict[str, Array | None] = {}

    def keeping(name: str, work: Callable[[], Array | None], *, seldom: bool = True) -> Candidate:
        def run() -> None:
            found[name] = work()

        return Candidate(name, run, seldom=seldom)

    ours = [keeping(name, lambda n=n: case.ours(n), seldom=False) for name, n in STEPS.items()]
    held, others = [], []
    for method, smoothings in SMOOTHINGS.items():
        for eps in smoothings[:1] if options.quick else smoothings:
            name = f"{method}, eps {eps:g}"
            held.append(keeping(name, lambda m=method, e=eps: case.peer(m, e)))
            others.append(
                keeping(f"{name}, another law", lambda m=method, e=eps: case.with_another_law(m, e))
            )
    times = interleaved([*ours, *held, *others], options.rounds)
    row.add_times(case.arm.name, times, "s", 1.0)
    errors = {
        name: case.error(position) for name, position in found.items() if position is not None
    }
    for name, value in errors.items():
        row.add_spread(case.arm.name, f"error, {name}", [value], "rad")
    for candidate in held:
        row.verdicts.append(_verdict(case, candidate.name, times, errors))
    faster = ", ".join(f"{case.seconds / times[name].median:.0f} ({name})" for name in STEPS)
    row.remarks.append(f"{case.arm.name}: times faster than real time: {faster}.")
    stopped = [name for name in times if name not in errors]
    if stopped:
        row.remarks.append(
            f"{case.arm.name}: stopped after {BUDGET:g} s of the processor: {'; '.join(stopped)}."
        )


def _verdict(case: Case, name: str, times: dict[str, Times], errors: dict[str, float]) -> Verdict:
    """Return how much longer a peer takes than the quickest of ours that is as accurate."""
    error = errors.get(name, np.inf)
    accurate = [ours for ours in STEPS if errors[ours] <= error] or list(STEPS)[-1:]
    quickest = min(accurate, key=lambda ours: times[ours].median)
    return Verdict(
        case.arm.name,
        f"times {name}, at equal accuracy",
        WANTED[name.partition(",")[0]],
        times[name].median / times[quickest].median,
        bound=f"{errors[quickest]:.0e} rad ({quickest}), {error:.0e} rad ({name})",
        only_bounded=name not in errors,
    )
