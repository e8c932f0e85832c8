"""Simulation of 20 s of a closed loop, beside SciPy's integrators with Pinocchio's dynamics.

Ours treats stick and slip as events; the peers smooth Coulomb friction by tanh(v/eps), without
which they do not get past the first rest.  The peers are tightened, eps and tolerance together, and
compared at every step with the quickest of our runs that is at least as accurate.  Errors are the
largest distance of a position at 1 kHz from a run of ours at tolerance 1e-12.  A peer that exceeds
its budget of processor time bounds the ratio from below.
"""

from __future__ import annotations

from typing import Any

from simulation import Case

from goals import robots
from goals.measuring import Candidate, Options, Row, Times, Verdict, interleaved, timed
from goals.robots import Arm

TITLE = "closed loop, 20 s"
TOLERANCES = (1e-6, 1e-4, 1e-3)
BUDGET = 12.0
SMOOTHINGS = {"RK45": (1e-2, 1e-3), "LSODA": (1e-2, 1e-3, 1e-4, 1e-5)}
WANTED = {"RK45": 50.0, "LSODA": 15.0}
_SECONDS = 20.0


def measure(options: Options) -> Row:
    """Measure the row."""
    row = Row(TITLE)
    seconds = 2.0 if options.quick else _SECONDS
    for arm in (robots.six_joints(), robots.seven_joints()):
        _measure(arm, seconds, options, row)
    return row


def _measure(arm: Arm, seconds: float, options: Options, row: Row) -> None:
    case = Case(arm.name, arm.robot, arm.values, seconds)
    errors: dict[str, float] = {}
    candidates = [Candidate(_ours(t), lambda t=t: case.ours(t)) for t in TOLERANCES]
    times = interleaved(candidates, options.rounds)
    for tolerance in TOLERANCES:
        errors[_ours(tolerance)] = case.error(case.ours(tolerance))
    without = case.loop.run(case.reference, case.seconds, state=case.state)
    steps = without.certificate.evaluations
    real_time = seconds / times[_ours(1e-6)].median
    each = 1e6 * times[_ours(1e-6)].median / steps
    bound = f"{steps} evaluations of the direct model, {each:.1f} us each with all the rest"
    row.add_times(case.name, times, "s", 1.0)
    row.verdicts.append(
        Verdict(case.name, "times faster than real time, at 1e-6", 500.0, real_time, bound=bound)
    )
    for method, smoothings in SMOOTHINGS.items():
        for smoothing in smoothings[:1] if options.quick else smoothings:
            _tightened(case, method, smoothing, times, errors, row)
    for name, value in errors.items():
        row.add_spread(case.name, f"error, {name}", [value], "rad")


def _tightened(
    case: Case,
    method: str,
    smoothing: float,
    times: dict[str, Times],
    errors: dict[str, float],
    row: Row,
) -> None:
    """Run a peer once between runs of ours, and add how much longer it takes."""
    found: dict[str, Any] = {}

    def peer() -> None:
        found["position"] = case.peer(method, smoothing, max(1e-4 * smoothing, 1e-12), BUDGET)

    _, spent = timed(peer)
    stopped = found["position"] is None
    error = float("inf") if stopped else case.error(found["position"])
    name = f"{method}, eps {smoothing:g}"
    row.add_spread(case.name, name + (", stopped" if stopped else ""), [spent], "s")
    if not stopped:
        row.add_spread(case.name, f"error, {name}", [error], "rad")
    accurate = [times[o].median for o, e in errors.items() if e <= error or stopped]
    ours = min(accurate, default=times[_ours(1e-6)].median)
    goal = f"times {method}, eps {smoothing:g}, at equal accuracy"
    row.verdicts.append(
        Verdict(case.name, goal, WANTED[method], spent / ours, only_bounded=stopped)
    )


def _ours(tolerance: float) -> str:
    return f"ours, tolerance {tolerance:g}"
