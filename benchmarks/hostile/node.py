"""Hostile sequences of joint states through the node excitation, in a process of its own."""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from robot_identification.msg import ExcitationStatus as Status
from robot_identification.srv import PlanExcitation

from fake_driver import FakeDriver, honest
from hostile.lies import Liar
from oracles.quintic_curve import shares
from robot_identification.ros.clients.client import ClientTimeoutError
from robot_identification.ros.common.joint_states import NANOSECONDS
from robot_identification.ros.common.middleware import private_domain
from robot_identification.ros.supervision.phases import Reason
from simulated_cell import Cell

PERIOD = 0.005
LATEST = 1.0
LONGEST = 0.3
TOLD_EVERY = 100
PLAN_LASTS = 250
"""Sequences after which another plan takes the place of the one before."""
ENDS = {Status.STOPPED: "STOPPED", Status.FAULT: "FAULT", Status.FINISHED: "FINISHED"}
REASONS = tuple(reason.name for reason in Reason)


def worst(robot: str, sequences: int, seed: int, workers: int) -> dict[str, object]:
    """Return the largest share of every limit over all sequences, and how the motions ended."""
    context = multiprocessing.get_context("spawn")
    counts = [len(part) for part in np.array_split(np.arange(sequences), workers)]
    with context.Pool(workers) as pool:
        jobs = [(robot, count, seed + 1000 * i) for i, count in enumerate(counts)]
        parts = pool.starmap(_part, jobs)
    ends: Counter[str] = Counter()
    for part in parts:
        ends.update(part[1])
    names = ("position", "velocity", "acceleration")
    return {
        "sequences": sum(part[2] for part in parts),
        "shares": dict(zip(names, np.max([p[0] for p in parts], axis=0), strict=True)),
        "ends": dict(ends.most_common()),
    }


def _part(robot: str, sequences: int, seed: int) -> tuple[list[float], Counter[str], int]:
    rng, most, ends = np.random.default_rng(seed), np.zeros(3), Counter()
    excitation = {"start_lead": 0.05, "approach_speed": 1.0}
    os.environ.update(private_domain())
    with (
        tempfile.TemporaryDirectory() as folder,
        Cell(Path(folder), robot, robot, excitation=excitation) as cell,
    ):
        driver = FakeDriver(cell)
        cell.client.node.create_timer(PERIOD, driver.say)
        cell.start_excitation()
        for number in range(sequences):
            if number % PLAN_LASTS == 0:
                start = _planned(cell, driver, number)
            try:
                found, end = _sequence(cell, driver, start, rng)
            except ClientTimeoutError as error:  # a busy machine; nothing published may be wrong
                found = [shares(sent.trajectory, cell.limits) for sent in cell.sent]
                end = f"given up: {error}"
            most = np.max([most, *found], axis=0)
            ends[end] += 1
            if number % TOLD_EVERY == 0:
                print(number, most.round(3).tolist(), dict(ends), file=sys.stderr, flush=True)
    return most.tolist(), ends, sequences


def _planned(cell: Cell, driver: FakeDriver, seed: int) -> np.ndarray:
    """Plan from the zero posture, and return where the plan begins."""
    zero = [0.0] * len(cell.robot.joints)
    wanted = {"rows": 8, "starts": 1, "duration": 6.0, "seed": seed, "start_position": zero}
    driver.teleport(zero)
    request = PlanExcitation.Request(**wanted)
    plan = cell.ask(request)
    return np.array(plan.trajectory.points[0].positions)


def _sequence(
    cell: Cell, driver: FakeDriver, start: np.ndarray, rng: np.random.Generator
) -> tuple[list[list[float]], str]:
    """Start, lie after a random while, stop; return the shares of all braking and how it ended."""
    driver.teleport(start)
    cell.wait(lambda: cell.answers.start().success, "start", 60.0)
    cell.statuses.clear()
    cell.wait_for(Status.RUNNING, Status.FAULT, Status.STOPPED)
    begin = cell.now() + round(rng.uniform(0.0, LATEST) * NANOSECONDS)
    cell.wait(lambda: cell.now() >= begin, "moment")
    driver.tell = Liar(rng, len(start)).state
    end = cell.now() + round(rng.uniform(0.0, LONGEST) * NANOSECONDS)
    cell.wait(lambda: cell.now() >= end, "end of lies")
    cell.answers.stop()
    driver.tell = honest
    status = cell.wait_for(Status.STOPPED, Status.FAULT, Status.FINISHED, timeout=30.0)
    found = [shares(sent.trajectory, cell.limits) for sent in cell.sent]
    return found, f"{ENDS[status.state]} {REASONS[status.stop_reason]}"
