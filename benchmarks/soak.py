"""Joint states of seven joints at 1 kHz for an hour, through the nodes, in processes of their own.

A driver sends states of a moving arm with a stamp every millisecond.  ``acquisition`` records them
and publishes samples and filtered samples, ``identification`` keeps them and refreshes its estimate
every second, ``calibration`` predicts their efforts.  This process receives what they publish,
checks that every stamp sent is there once, and looks up every few seconds what each node uses.

In the warm-up every node is stopped (SIGSTOP) for a second, ``--stalls`` times: what waits takes
buffers that the middleware keeps for good, and which a machine that stalls would make grow later.
Memory for samples is granted up to ``--memory`` MB, which is used up before the warm-up ends: then
nothing may grow.  Slopes and ages are of the time after the warm-up, losses of all.  With
``--recording M`` a recording ends after M minutes and another begins.

Run it with real-time priority where others use the machine; the nodes inherit it:

    chrt -r 30 python benchmarks/soak.py --minutes 60 --core 3 --output soak.json

Usage: soak.py [--minutes M] [--warm-up M] [--stalls N] [--recording M] [--memory MB] [--core N]
               [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # of the nodes too

import sys

import numpy as np
from robot_identification.srv import Calibrate, Identify
from soaking.arm import NAMES, prepare
from soaking.machine import Machine
from soaking.observer import Observer
from soaking.resources import Resources

from robot_identification.ros.clients.client import Client
from robot_identification.ros.clients.processes import NodeProcesses, command
from robot_identification.ros.clients.verbs import Verbs
from robot_identification.ros.common.joint_states import NANOSECONDS
from robot_identification.ros.common.middleware import private_domain

NAMESPACE = "/soak"
NODES = ("acquisition", "identification", "calibration")
RATE = 1000.0
LOOK_EVERY = 5.0
WRITE_EVERY = 60.0
SETTLING = 3.0
STALL = 1.0


def main() -> None:
    """Run the soak, print a table and write a file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--warm-up", type=float, default=10.0, help="left out of slopes and ages")
    parser.add_argument("--stalls", type=int, default=40, help="of every node in the warm-up")
    parser.add_argument("--recording", type=float, default=0.0, help="length of one, min; 0: all")
    parser.add_argument("--memory", type=int, default=64, help="max_memory_mb of identification")
    parser.add_argument("--core", type=int, help="the only core that acquisition may use")
    parser.add_argument("--output", type=Path, help="file for all figures, as json")
    options = parser.parse_args()
    os.environ.update(private_domain())
    with tempfile.TemporaryDirectory() as folder:
        found = Soak(Path(folder), options).run()
    table(found)
    print("passed" if found["nothing_lost"] else "FAILED: not all that was sent came through")


class Soak:
    """One soak.

    Args:
        folder: for logs and what the processes hand over.
        options: of the command line.
    """

    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        self._folder, self._options = folder, options
        self._arm = prepare(folder, RATE)
        self._report = folder / "driver.json"
        self._machine = Machine()

    def run(self) -> dict[str, Any]:
        """Run to the end and return all figures."""
        environment = {"PYTHONPATH": str(Path(__file__).parent)}
        with (
            NodeProcesses(self._folder, environment) as nodes,
            Client(NAMESPACE, watch=nodes.check) as client,
        ):
            observer = Observer(client.node, round(NANOSECONDS / RATE))
            verbs = Verbs(client)
            self._start(nodes, verbs)
            resources = Resources({name: nodes.process(name).pid for name in NODES})
            self._drive(nodes, verbs, observer, resources)
            client.spin(SETTLING)
            verbs.stop_recording()
            client.wait_for(lambda: observer.raw.ended, 10.0, "last block")
            client.spin(SETTLING)
            found = self._figures(observer, resources)
            found["identify_at_the_end"] = self._identify(verbs)
            found["warnings_logged"] = {name: warnings(nodes.output(name)) for name in NODES}
        self._write(found)
        return found

    def _start(self, nodes: NodeProcesses, verbs: Verbs) -> None:
        robot = str(self._arm.description)
        given: dict[str, dict[str, object]] = {
            "acquisition": {"robot": robot, "publish_filtered": True},
            "identification": {
                "robot": robot,
                "refresh_period": 1.0,
                "max_memory_mb": self._options.memory,
            },
            "calibration": {"robot": robot, "predicted_rate": 50.0},
        }
        for name, parameters in given.items():
            with pinned(self._options.core if name == "acquisition" else None):
                nodes.start(name, command(name, parameters=parameters, namespace=NAMESPACE))
        request = Calibrate.Request(result=str(self._arm.result), prior="none", consistent=True)
        verbs.ask(request)
        verbs.require("acquisition", "identification")
        verbs.start_recording()
        verbs.client.spin(SETTLING)

    def _drive(
        self, nodes: NodeProcesses, verbs: Verbs, observer: Observer, resources: Resources
    ) -> None:
        """Send states and watch until all are sent."""
        client = verbs.client
        samples = round(self._options.minutes * 60.0 * RATE)
        line = [sys.executable, "-m", "soaking.publisher", NAMESPACE]
        line += [str(self._arm.motion), "2", str(samples), str(self._report)]
        driver = nodes.start("driver", line)
        client.wait_for(lambda: observer.raw.samples, 60.0, "samples")
        begin = written = cleared = time.monotonic()
        warm = begin + 60.0 * self._options.warm_up
        stalls = self._options.stalls
        while driver.poll() is None:
            resources.look(time.monotonic() - begin)
            self._machine.look()
            if stalls and time.monotonic() < warm:
                self._stall(nodes, client)
                stalls -= 1
            client.spin(LOOK_EVERY)
            now = time.monotonic()
            if now >= warm:
                observer.forget_ages()
                warm = math.inf
            if self._options.recording and now - cleared >= 60.0 * self._options.recording:
                verbs.clear_recordings()
                cleared = now
            if now - written >= WRITE_EVERY:
                self._write(self._figures(observer, resources))
                written = now
        if driver.returncode:
            raise SystemExit(nodes.output("driver"))
        nodes.stop("driver")

    def _stall(self, nodes: NodeProcesses, client: Client) -> None:
        """Have one node after the other stand still."""
        for process in map(nodes.process, NODES):
            process.send_signal(signal.SIGSTOP)
            client.spin(STALL)
            process.send_signal(signal.SIGCONT)

    def _figures(self, observer: Observer, resources: Resources) -> dict[str, Any]:
        driver = json.loads(self._report.read_text()) if self._report.exists() else {}
        raw, period = observer.raw, round(NANOSECONDS / RATE)
        whole = (
            bool(driver)
            and driver["sent"] == raw.samples
            and driver["first_stamp"] == raw.first_stamp
            and raw.last_stamp == raw.first_stamp + (raw.samples - 1) * period
            and not raw.faults
            and not observer.filtered.faults
        )
        warm_up = 60.0 * self._options.warm_up
        return {
            "minutes": resources.times[-1] / 60.0 if resources.times else 0.0,
            "settings": {**vars(self._options), "output": str(self._options.output)},
            "machine": self._machine.summary(),
            "driver": driver,
            "nothing_lost": whole,
            "samples": raw.summary(),
            "filtered_samples": observer.filtered.summary(),
            "estimates": {
                "count": len(observer.estimates),
                **observer.estimate_ages(),
                **self._arm.deviations(observer.last_estimate),
            },
            "diagnostics": observer.reports,
            "diagnostics_not_ok": observer.levels,
            "nodes": {name: resources.summary(name, warm_up) for name in resources.usages},
            "series": resources.series(),
        }

    def _identify(self, verbs: Verbs) -> dict[str, Any]:
        """Ask for an identification of the recording as it is kept; return what it said."""
        response = verbs.answers.ask(Identify.Request())
        return {
            "success": response.success,
            "message": response.message,
            "seconds": response.result.seconds,
            "warnings": list(response.result.warnings),
        }

    def _write(self, found: dict[str, Any]) -> None:
        if self._options.output is None:
            return
        new = self._options.output.with_suffix(".new")
        new.write_text(json.dumps(found, indent=1) + "\n")
        new.replace(self._options.output)


@contextmanager
def pinned(core: int | None) -> Iterator[None]:
    """Have what is started here run on one core only."""
    before = os.sched_getaffinity(0)
    if core is not None:
        os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def warnings(text: str) -> list[str]:
    """Return the first lines of a log that warn or tell of an error."""
    return [line for line in text.splitlines() if "[INFO]" not in line][:20]


def table(found: dict[str, Any]) -> None:
    """Print the figures."""
    raw, driver, on = found["samples"], found["driver"], found["machine"]
    print(
        f"{found['minutes']:.1f} min, {len(NAMES)} joints at {RATE:g} Hz; {on['cores']} cores with "
        f"a load of {on['load_mean']:.1f} (largest {on['load_largest']:.1f}); scheduling "
        f"{on['scheduling']}, priority {on['priority']}; the host took "
        f"{100 * on['stolen_mean']:.1f} % of it ({100 * on['stolen_largest']:.1f} % at worst)"
    )
    print(f"sent {driver['sent']}, received {raw['samples']}, {raw['counted_by_node']}")
    print(f"faults {raw['faults']} in samples, {found['filtered_samples']['faults']} in filtered")
    times = {
        "driver late": driver["late_s"],
        "newest sample of a block": raw["age_of_newest_sample_s"],
        "oldest sample of a block": raw["age_of_oldest_sample_s"],
        "newest filtered sample": found["filtered_samples"]["age_of_newest_sample_s"],
        "refreshed estimate": found["estimates"]["age_s"],
    }
    print(f"\n{'ms':26}{'median':>10}{'99 %':>10}{'99.9 %':>10}{'largest':>10}")
    for name, values in times.items():
        print(f"{name:26}" + "".join(f"{1e3 * value:10.1f}" for value in values.values()))
    head = ("core", "busiest min", "MB warm", "MB last", "MB/h", "below", "resolution")
    print(f"\n{'':26}" + "".join(f"{name:>12}" for name in head))
    for name, used in found["nodes"].items():
        cells = [used["share_of_a_core"], used["share_of_a_core_busiest_minute"]]
        for kind in ("resident", "anonymous"):
            memory, growth = used[f"{kind}_mb"], used.get(f"{kind}_mb_per_h", {})
            cells += [memory["warm"] or 0.0, memory["last"]]
            cells += [growth.get(key, np.nan) for key in ("slope", "upper", "resolution")]
            print(f"{name + ', ' + kind:26}" + "".join(f"{cell:12.3f}" for cell in cells))
            cells = [np.nan, np.nan]
    for name, lines in found["warnings_logged"].items():
        print(f"\n{name} warned {len(lines)} times", *lines, sep="\n  ")
    print(f"\nidentify at the end: {found['identify_at_the_end']}")


if __name__ == "__main__":
    main()
