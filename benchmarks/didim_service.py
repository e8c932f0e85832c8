"""The identification node while DIDIM runs: does it answer, does it lose samples, does it cancel?

Simulated robot (TX-40, joint states at 1 kHz), acquisition and identification run in processes of
their own and are talked to through DDS.  A recording is under way all the time, so that blocks of
samples keep coming.  DIDIM is asked for on a bag of a simulated motion with efforts and reference
alone; until it has answered, ~/base_parameters is called again and again.  This is repeated until
there are enough calls.  Then DIDIM is cancelled at random moments.

Printed are the delays of the calls, with those of an idle node beside them, what DIDIM did in the
meantime, the seconds from the request to cancel to the answer CANCELLED, and the samples and blocks
that were lost.

Usage: didim_service.py [--seconds S] [--calls N] [--trials N] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.msg import Progress
from robot_identification.srv import BaseParameters, IdentifyDidim

from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.files.plans.trajectories import read_trajectory
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.ros.common import qos
from robot_identification.ros.demo.session import Session
from robot_identification.ros.messages.error_codes import code_name
from robot_identification.share import share_directory
from robot_identification.signals.raw_samples import RawSamples

RATE = 1000.0
NOISE = np.array([0.8, 0.8, 0.4, 0.2, 0.2, 0.12])  # N m
PAUSE = 0.02
BEGIN = 1_700_000_000_000_000_000
GOALS = "goals: answers within 0.1 s, cancelled within 1 s, nothing lost"


def write_bag(path: Path, seconds: float) -> None:
    """Write a bag of a simulated TX-40: noisy efforts and the reference, positions NaN."""
    robot = load_robot("tx40")
    motion = share_directory() / "config" / "trajectories" / "tx40.yaml"
    trajectory = read_trajectory(motion).reordered(robot.joint_names)
    loop = ClosedLoop(robot, load_values("tx40_simulated", robot), sample_rate_hz=RATE)
    samples = loop.run(trajectory.reference, seconds)
    noise = NOISE * np.random.default_rng(0).normal(size=samples.effort.shape)
    stamps = BEGIN + np.round(samples.time * 1e9).astype(np.int64)
    nowhere = np.full(samples.position.shape, np.nan)
    reference = trajectory.sample(samples.time)[0]
    raw = RawSamples(stamps, nowhere, None, samples.effort + noise, reference)
    write_joint_states(path, robot.joint_names, raw)


class Watch:
    """Calls services of a session while something else is under way."""

    def __init__(self, session: Session, bag: Path) -> None:
        self.verbs, self.client, self.bag = session.verbs, session.client, bag
        self.stage = ""
        self.client.node.create_subscription(
            Progress, "identification/progress", self._on_progress, qos.STATUS
        )

    def _on_progress(self, message: Progress) -> None:
        self.stage = message.stage

    def begin(self) -> Any:
        """Ask for DIDIM; return the future of the answer."""
        request = IdentifyDidim.Request()
        request.data.bags = [str(self.bag)]
        return self.verbs.begun.ask(request)

    def delay(self) -> float:
        """Return the seconds that a call of ~/base_parameters takes."""
        begin = time.monotonic()
        self.verbs.ask(BaseParameters.Request())
        return time.monotonic() - begin

    def delays_while_idle(self, calls: int) -> list[float]:
        """Return delays while nothing is under way."""
        delays = []
        for _ in range(calls):
            delays.append(self.delay())
            self.client.spin(PAUSE)
        return delays

    def delays_while_busy(self, calls: int) -> tuple[list[tuple[float, str]], list[float]]:
        """Return delays while DIDIM runs, with its stages, and the seconds of every run."""
        delays: list[tuple[float, str]] = []
        runs = []
        while len(delays) < calls:
            begin, answer = time.monotonic(), self.begin()
            while not answer.done():
                stage = self.stage
                seconds = self.delay()
                if not answer.done():
                    delays.append((seconds, stage))
                self.client.spin(PAUSE)
            response = answer.result()
            if not response.success:
                raise SystemExit(f"didim: {response.message}")
            runs.append(time.monotonic() - begin)
        return delays, runs

    def cancel(self, after: float) -> tuple[float, str]:
        """Cancel DIDIM some time after its request; return the seconds to its answer, its code."""
        answer = self.begin()
        self.client.spin(after)
        begin = time.monotonic()
        self.verbs.answers.cancel("identification")
        self.client.wait_for(answer.done, 60.0, "answer of what was cancelled")
        return time.monotonic() - begin, code_name(answer.result().error_code)


def measure(session: Session, bag: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Return everything that is measured."""
    watch = Watch(session, bag)
    with session.verbs.recorded() as recording:
        watch.delay()  # client and service find each other
        idle = watch.delays_while_idle(options.calls)
        busy, runs = watch.delays_while_busy(options.calls)
        moments = np.random.default_rng(0).uniform(0.05, 0.8, options.trials) * np.median(runs)
        cancelled = [watch.cancel(float(moment)) for moment in moments]
    block = recording.last_block
    output = session.nodes.output("identification")
    return {
        "idle": idle,
        "busy": [seconds for seconds, _ in busy],
        "slow_stages": Counter(stage for seconds, stage in busy if seconds > 0.1),
        "runs": runs,
        "cancel": [seconds for seconds, code in cancelled if code == "CANCELLED"],
        "cancel_codes": Counter(code for _, code in cancelled),
        "blocks": block.sequence + 1,
        "samples": block.first_sample + len(block.stamps),
        "samples_lost": block.lost,
        "samples_refused": block.refused,
        "gaps_in_blocks": output.count("did not arrive"),
        "load": os.getloadavg()[0],
        "cores": os.cpu_count(),
    }


def show(found: dict[str, Any]) -> None:
    """Print the figures."""
    print(f"load {found['load']:.1f} on {found['cores']} cores; {GOALS}")
    print(f"DIDIM: {len(found['runs'])} runs, median {np.median(found['runs']):.2f} s")
    for name, label in (("idle", "node idle"), ("busy", "DIDIM runs"), ("cancel", "cancel")):
        values = 1e3 * np.array(found[name])
        median, p99, p999 = np.quantile(values, (0.5, 0.99, 0.999))
        print(
            f"{label:11s} {len(values):4d}   median {median:6.1f} ms   99 % {p99:6.1f} ms   "
            f"99.9 % {p999:6.1f} ms   worst {values.max():6.1f} ms"
        )
    print(f"answers above 100 ms, by the stage that was reported: {dict(found['slow_stages'])}")
    print(f"answers of what was cancelled: {dict(found['cancel_codes'])}")
    print(
        f"{found['blocks']} blocks, {found['samples']} samples; lost {found['samples_lost']}, "
        f"refused {found['samples_refused']}, gaps between blocks {found['gaps_in_blocks']}"
    )


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="length of the bag")
    parser.add_argument("--calls", type=int, default=50, help="calls while idle, and while busy")
    parser.add_argument("--trials", type=int, default=10, help="how often DIDIM is cancelled")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bag = Path(folder, "bag")
        write_bag(bag, options.seconds)
        parameters = {"simulated_robot": {"rate": RATE, "seed": 1}}
        with Session(Path(folder), parameters, description="tx40") as session:
            session.wait_until_ready()
            found = measure(session, bag, options)
    if options.json:
        print(json.dumps(found))
    else:
        show(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
