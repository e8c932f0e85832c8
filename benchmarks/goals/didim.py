"""DIDIM to convergence: 20 s at 1 kHz of a robot with six joints.

The robot is the TX-40 with its coupled wrist, simulated under its controller at 2 kHz; only efforts
are used.  There is no peer in Python.  The first run compiles and does not count.
"""

from __future__ import annotations

from didim_speed import Bench

from goals.measuring import Candidate, Options, Row, Verdict, interleaved

TITLE = "DIDIM, 20 s at 1 kHz"
_SECONDS = 20.0


def measure(options: Options) -> Row:
    """Measure the row."""
    row = Row(TITLE)
    bench = Bench.of(5.0 if options.quick else _SECONDS)
    result = bench.identify()
    times = interleaved([Candidate("ours", bench.identify)], options.rounds)["ours"]
    case = "6R with a coupled wrist"
    row.add_times(case, {"ours, processor": times}, "s", 1.0)
    row.add_spread(case, "ours, by the clock", times.wall, "s")
    simulations = result.history.simulations
    steps = simulations * _SECONDS * bench.robot.controller.rate_hz
    bound = (
        f"{result.iterations} iterations, {simulations} simulations: "
        f"{times.median / steps * 1e6:.1f} us for each control step, all included"
    )
    row.verdicts.append(
        Verdict(
            case,
            "s of the processor to convergence",
            1.0,
            times.median,
            at_least=False,
            bound=bound,
        )
    )
    return row
