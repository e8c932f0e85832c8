"""Service: requests through DDS, from the call to the answer, and what is in them."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from didim_service import write_bag
from rclpy.serialization import serialize_message
from robot_identification.srv import Identify, IdentifyDidim

from profiling.shares import print_parts
from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.files.bags.joint_states.reading import read_joint_states
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.files.plans.trajectories import read_trajectory
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.ros.clients.client import Client
from robot_identification.ros.clients.processes import NodeProcesses, command
from robot_identification.ros.clients.verbs import Verbs
from robot_identification.share import share_directory
from robot_identification.signals.raw_samples import RawSamples

NAMESPACE = "/profile_service"
RATE, ROUNDS = 1000.0, 5
NOISE = np.array([0.8, 0.8, 0.4, 0.2, 0.2, 0.12])  # N m
BEGIN = 1_700_000_000_000_000_000


def measure(seconds: float) -> None:
    """Print where the time of requests goes: TX-40, a bag at 1 kHz."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_states(folder / "states", seconds)
        write_bag(folder / "efforts", seconds)
        line = command("identification", parameters={"robot": "tx40"}, namespace=NAMESPACE)
        with NodeProcesses(folder) as nodes, Client(NAMESPACE, watch=nodes.check) as client:
            nodes.start("identification", line)
            verbs = Verbs(client)
            verbs.require("identification")
            quick = _median(verbs.base_parameters)
            for kind, name, bag in (
                (Identify, "identify", folder / "states"),
                (IdentifyDidim, "didim", folder / "efforts"),
            ):
                found = _request(verbs, kind.Request(), name, bag)
                title = f"service {name}: a bag of {seconds:g} s at 1 kHz, 6 joints"
                print_parts(title, found, "ms", 1e3)
    print(f"\nA request for base parameters, which are known: {1e3 * quick:.3g} ms.")


def _request(verbs: Verbs, request: Any, name: str, bag: Path) -> dict[str, float]:
    """Return the seconds of the parts of a request."""
    request.data.bags = [str(bag)]
    first = time.monotonic()
    verbs.ask(request)
    first = time.monotonic() - first
    spent, answers = [], []
    for _ in range(ROUNDS):
        begin = time.monotonic()
        answers.append(verbs.ask(request))
        spent.append(time.monotonic() - begin)
    whole = float(np.median(spent))
    inside = float(np.median([answer.result.seconds for answer in answers]))
    names = load_robot("tx40").joint_names
    reading = _median(lambda: read_joint_states(bag, names, positions_needed=name == "identify"))
    sending = _median(lambda: serialize_message(answers[-1].result))
    print(f"\nThe first request {name} took {1e3 * (first - whole):.3g} ms more than a later one.")
    return {
        "reading the bag": reading,
        "identification": inside,
        "answer serialised, once for the service and once for the topic": 2.0 * sending,
        "DDS, executor, recording, message of the result": whole - inside - reading - 2.0 * sending,
    }


def _median(work: Any) -> float:
    """Return the median seconds of some work, which is done once before."""
    work()
    spent = []
    for _ in range(ROUNDS):
        begin = time.monotonic()
        work()
        spent.append(time.monotonic() - begin)
    return float(np.median(spent))


def _write_states(path: Path, seconds: float) -> None:
    """Write a bag of a simulated TX-40 with noise."""
    robot = load_robot("tx40")
    motion = share_directory() / "config" / "trajectories" / "tx40.yaml"
    trajectory = read_trajectory(motion).reordered(robot.joint_names)
    loop = ClosedLoop(robot, load_values("tx40_simulated", robot), sample_rate_hz=RATE)
    samples = loop.run(trajectory.reference, seconds)
    rng = np.random.default_rng(0)
    position = samples.position + 1e-5 * rng.normal(size=samples.position.shape)
    effort = samples.effort + NOISE * rng.normal(size=samples.effort.shape)
    stamps = BEGIN + np.round(samples.time * 1e9).astype(np.int64)
    raw = RawSamples(stamps, position, None, effort)
    write_joint_states(path, robot.joint_names, raw, storage="mcap")
