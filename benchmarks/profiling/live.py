"""Live: shares of a core of the nodes, what the acquisition spends on a sample, a block's way."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from soaking.arm import Arm, prepare
from soaking.resources import Usage

from profiling.block_costs import block_costs
from profiling.shares import Functions, cumulative, print_figures, print_parts, saved
from robot_identification.ros.acquisition.diagnostics import Diagnostics
from robot_identification.ros.acquisition.node import AcquisitionNode
from robot_identification.ros.acquisition.recordings import Recordings
from robot_identification.ros.clients.client import Client
from robot_identification.ros.clients.processes import NodeProcesses, command
from robot_identification.ros.clients.verbs import Verbs
from robot_identification.ros.common.joint_states import JointStateReader

RATE = 1000.0
NAMESPACE = "/profile"
NODES = ("acquisition", "identification")
# What the acquisition does with a sample, in its only thread.
SAMPLE: dict[str, Functions] = {
    "message to sample": [JointStateReader.read],
    "diagnostics": [Diagnostics.observe, Diagnostics.count],
    "recording, blocks": [Recordings.record],
}


def measure(seconds: float) -> None:
    """Print where the time of a live identification goes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        arm = prepare(folder, RATE)
        shares, _ = run(folder, arm, seconds)
        print_figures("live, 7 joints at 1 kHz, an estimate a second", shares, "% of a core", 100.0)
        _, profile = run(folder, arm, seconds, profile=True)
        stats = saved(profile)
        work = cumulative(stats, [AcquisitionNode._on_state])
        calls = round(RATE * seconds)
        found = {part: cumulative(stats, functions) for part, functions in SAMPLE.items()}
        found["the rest of the callback"] = work - sum(found.values())
        print_parts("acquisition: the callback of a sample, profiled", found, "us", 1e6 / calls)
        print_figures("live: a block of 100 samples", block_costs(arm, RATE), "ms", 1e3)


def run(
    folder: Path, arm: Arm, seconds: float, *, profile: bool = False
) -> tuple[dict[str, float], Path]:
    """Run acquisition and identification; return their shares of a core, and a profile's file.

    Args:
        folder: for logs and profile.
        arm: what sends the states.
        seconds: how long states are sent.
        profile: whether the acquisition runs under the profiler.
    """
    written = folder / "acquisition.profile"
    environment = {"PYTHONPATH": str(Path(__file__).parent.parent)}
    with (
        NodeProcesses(folder, environment) as nodes,
        Client(NAMESPACE, watch=nodes.check) as client,
    ):
        for name in NODES:
            line = command(name, parameters={"robot": str(arm.description)}, namespace=NAMESPACE)
            if profile and name == "acquisition":
                line = [sys.executable, "-m", "cProfile", "-o", str(written), *line]
            nodes.start(name, line)
        verbs = Verbs(client)
        verbs.require("acquisition", "identification")
        verbs.start_recording()
        driver = [sys.executable, "-m", "soaking.publisher", NAMESPACE, str(arm.motion), "1"]
        process = nodes.start(
            "driver", [*driver, str(round(RATE * seconds)), str(folder / "driver.json")]
        )
        client.spin(0.5 * seconds)  # the settings of the stream are found
        with measured_shares(nodes) as shares:
            client.spin(0.4 * seconds)
        client.wait_for(lambda: process.poll() is not None, 60.0, "the end of the states")
        nodes.stop("driver")
    return shares, written


@contextmanager
def measured_shares(nodes: NodeProcesses) -> Iterator[dict[str, float]]:
    """Yield a dictionary that holds, behind the block, the shares of a core in it."""
    shares: dict[str, float] = {}
    before, begin = {name: _times(nodes, name) for name in NODES}, time.monotonic()
    yield shares
    passed = time.monotonic() - begin
    for name in NODES:
        now = _times(nodes, name)
        shares[name] = (now.pop("all") - before[name]["all"]) / passed
        grown = {thread: value - before[name].get(thread, 0.0) for thread, value in now.items()}
        main = grown.pop(str(nodes.process(name).pid), 0.0) / passed
        shares[f"{name}: main thread"] = main
        shares[f"{name}: other threads"] = sum(grown.values()) / passed


def _times(nodes: NodeProcesses, name: str) -> dict[str, float]:
    """Return processor seconds of a process, ``all``, and of its threads."""
    pid = nodes.process(name).pid
    found = {"all": Usage.of(pid).seconds}
    for task in Path(f"/proc/{pid}/task").iterdir():
        fields = (task / "stat").read_text().rpartition(")")[2].split()
        found[task.name] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return found
