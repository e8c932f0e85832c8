"""Stop a simulated robot at random moments, through DDS, and look at what it did.

Simulated robot and excitation node run in processes of their own.  A trajectory is planned and
followed at 20 % speed and at full speed; then the robot is started and stopped again and again,
each time at another moment.  Measured are the time from the request to the braking trajectory, the
time from its start to rest against the certified time, and the largest share of every limit that
the braking trajectories and, from ~/start to rest, the robot have used; last, a node killed in
motion is started again.  Accelerations of the robot are differences of its velocities over 10 ms.

Usage: braking.py [--robot NAME] [--values NAME] [--interface action|topic|auto] [--stops N]
       [--seed N] [--state-timeout S] [--json]

The controller of the simulated robot takes trajectories by its action only, by its topic only, or
by both (auto), where the excitation node chooses the action.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))

import numpy as np
from robot_identification.msg import ExcitationStatus as Status
from robot_identification.srv import PlanExcitation

from robot_identification.ros.common.middleware import private_domain
from robot_identification.ros.controllers.interfaces import AUTO, INTERFACES
from simulated_cell import Cell, Stop

LIMITS = ("position", "velocity", "acceleration")
QUIET = 3.0
GOALS = "goals: braking within 0.1 s, at rest within the certified time, no share above 1"


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--robot", default="tx40")
    parser.add_argument("--values", default="tx40_simulated")
    parser.add_argument("--interface", choices=INTERFACES, default=AUTO)
    parser.add_argument("--duration", type=float, default=12.0)
    parser.add_argument("--stops", type=int, default=50)
    parser.add_argument("--state-timeout", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    os.environ.update(private_domain())
    with (
        tempfile.TemporaryDirectory() as folder,
        Cell(
            Path(folder),
            options.robot,
            options.values,
            simulation={"interface": options.interface},
            excitation={"state_timeout": options.state_timeout},
        ) as cell,
    ):
        cell.start_nodes()
        result = measure(cell, options)
    print(json.dumps(result) if options.json else text(result))
    return 0


def measure(cell: Cell, options: argparse.Namespace) -> dict[str, Any]:
    """Return everything that is measured."""
    request = PlanExcitation.Request(rows=10, starts=2, duration=options.duration)
    future = cell.begun.ask(request)
    waits = answers_while(cell, future)
    plan = future.result()
    if not plan.success:
        raise SystemExit(plan.message)
    cell.set_parameter("excitation", "speed", 0.2)
    rehearsal = cell.run()
    cell.set_parameter("excitation", "speed", 1.0)
    full = cell.run()
    moments = np.random.default_rng(options.seed)
    stops: list[Stop] = []
    early = []
    while len(stops) < options.stops:
        moment = moments.uniform(0.02, 0.98) * plan.duration
        stop = cell.stop_after(moment, plan.braking_time)
        if stop is None:
            early.append(cell.status.text)
        else:
            stops.append(stop)
    return {
        "plan": plan.message,
        "interface": options.interface,
        "longest_answer_while_planning": max(waits),
        "rehearsal": {"state": rehearsal[0].state, **rehearsal[1]},
        "full_speed": {"state": full[0].state, **full[1]},
        "stops": summary(stops),
        "stopped_before_the_request": early,
        "commands_after_kill": commands_after_kill(cell),
    }


def answers_while(cell: Cell, future: Any) -> list[float]:
    """Return how long ~/stop took to answer while a plan was computed, in s."""
    waits = [0.0]
    while not future.done():
        begin = time.monotonic()
        cell.answers.stop()
        waits.append(time.monotonic() - begin)
        cell.client.spin(0.02)
    return waits


def summary(stops: list[Stop]) -> dict[str, Any]:
    """Return the worst of all stops."""
    delays = np.array([stop.delay for stop in stops])
    return {
        "count": len(stops),
        "stopped": sum(stop.state == Status.STOPPED for stop in stops),
        "delay_median": float(np.median(delays)),
        "delay_p99": float(np.quantile(delays, 0.99)),
        "delay_max": max(stop.delay for stop in stops),
        "rest_over_certified_max": max(stop.rest / stop.certified for stop in stops),
        "late": [[s.after, s.rest, s.certified] for s in stops if s.rest > s.certified],
        "commanded": {name: max(stop.commanded[name] for stop in stops) for name in LIMITS},
        "measured": {name: max(stop.measured[name] for stop in stops) for name in LIMITS},
    }


def commands_after_kill(cell: Cell) -> int:
    """Kill the node in motion, start it again; return how many trajectories it sent unasked."""
    cell.start()
    cell.wait_for(Status.RUNNING, timeout=60.0)
    cell.client.spin(1.0)
    cell.kill(signal.SIGKILL)
    count = len(cell.sent)
    cell.start_excitation()
    cell.client.spin(QUIET)
    return len(cell.sent) - count


def text(result: dict[str, Any]) -> str:
    """Return the results for people."""
    return f"{json.dumps(result, indent=2)}\n{GOALS}"


if __name__ == "__main__":
    sys.exit(main())
