"""Motions through the nodes excitation and mujoco_robot, each a process of its own, by DDS."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from contacts.arms import TRACKING, Place
from contacts.tally import Tally
from diagnostics import Diagnostics, values_of
from robot_identification.ros.common import qos
from robot_identification.ros.messages.trajectories import message_of
from simulated_cell import Cell, Status

SIMULATOR = "mujoco_robot"
STOPPED_EVERY = 3
PLAN = {"rows": 12, "starts": 1, "duration": 6.0, "timeout": 300.0}
OVER = (Status.FINISHED, Status.STOPPED, Status.FAULT)


class Robot:
    """An arm in a cell, with its nodes."""

    def __init__(self, place: Place, rng: np.random.Generator, logs: Path) -> None:
        self.place, self.rng = place, rng
        shared = {"cell": str(place.cell)}
        self.cell = Cell(
            logs,
            place.robot,
            place.values,
            simulator=SIMULATOR,
            simulation={
                **shared, "contacts": True, "initial_position": place.free(rng).tolist(),
            },
            excitation={
                **shared, "tracking_error_limit": [TRACKING], "approach_speed": 0.5,
                "state_timeout": 1.0, "acknowledge_unchecked": False,
            },
        )  # fmt: skip
        node = self.cell.client.node
        self._told = Diagnostics(node, self.cell.namespace)
        self._commands = node.create_publisher(JointTrajectory, "joint_trajectory", qos.COMMANDS)
        self.cell.start_nodes()

    def told(self) -> tuple[int, float]:
        """Return contacts and smallest distance, as the node tells them from now on."""
        count = len(self._told.of(SIMULATOR))
        self.cell.wait(lambda: len(self._told.of(SIMULATOR)) > count + 1, "diagnostics")
        values = values_of(self._told.of(SIMULATOR)[-1])
        return int(values["contacts"]), float(values["smallest_distance"] or np.inf)

    def move(self, tally: Tally, start: list[float]) -> None:
        """Plan and follow a motion; every third one is stopped."""
        seed = int(self.rng.integers(1e6))
        planned = self.cell.answers.plan(**PLAN, seed=seed, start_position=start)
        if not planned.success:
            tally.not_certified += 1
            print(f"not planned: {planned.message}", file=sys.stderr)
            return
        sent, began = len(self.cell.sent), time.monotonic()
        answer = self.cell.answers.start()
        if not answer.success:
            tally.no_way += 1
            print(f"not begun: {answer.message}", file=sys.stderr)
            return
        lengths = re.search(r"approach ([\d.]+) s, trajectory ([\d.]+) s", answer.message)
        self.cell.wait_for(Status.APPROACHING, Status.RUNNING, *OVER, timeout=60.0)
        tally.motions += 1
        if tally.motions % STOPPED_EVERY == 0:
            self._stop(tally, self.rng.uniform(0.0, sum(map(float, lengths.groups()))))
        status = self.cell.wait_for(*OVER, timeout=120.0)
        tally.seconds_in_motion += time.monotonic() - began
        if status.state == Status.FAULT or status.stop_reason not in (
            Status.NO_STOP, Status.REQUESTED,
        ):  # fmt: skip
            tally.faults.append(status.text)
        first = self.cell.sent[sent].trajectory
        tally.went_around += float(lengths[1]) > 0.0 and len(first.times) > 2

    def _stop(self, tally: Tally, after: float) -> None:
        end = time.monotonic() + after
        self.cell.wait(lambda: time.monotonic() >= end, "moment of the stop", 120.0)
        approaching = self.cell.status.state == Status.APPROACHING
        if self.cell.answers.stop().message.startswith("braking: "):
            tally.stopped += 1
            tally.while_approaching += approaching

    def collide(self) -> None:
        """Send the arm to where something stands, without asking the node excitation."""
        way, begin = self.place.collision(self.rng, self.cell.position()), time.monotonic()
        self._commands.publish(message_of(way, self.cell.now() + 300_000_000))
        until = begin + way.duration + 1.0
        self.cell.wait(lambda: time.monotonic() > until, "way", 60.0)


def moved(place: Place, rng: np.random.Generator, wanted: int, tally: Tally, logs: Path) -> None:
    """Move an arm in a cell, and then into something."""
    robot = Robot(place, rng, logs)
    until = tally.motions + wanted
    with robot.cell:
        for number in range(3 * wanted):
            if tally.motions == until:
                break
            robot.move(tally, [] if number % 2 else place.free(rng).tolist())
        tally.take(robot)
