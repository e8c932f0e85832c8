"""What does a node that stood still for some seconds hear afterwards, and how soon?

A driver sends joint states.  Within a burst the acquisition node is stopped (SIGSTOP) and asked
something.  After S to S + 3 seconds, so that every phase of the heartbeats of Fast DDS is met, it
goes on (SIGCONT), just when the next state comes.  Measured is the time until it answers and until
it has what it missed.  Where it hears nothing for 20 s, not even a request, it counts as deaf, and
another node is started.  With ``--transport`` Fast DDS works as it comes, with that transport;
``DEFAULT`` uses shared memory.

Usage: stalls.py [--stalls N] [--seconds S] [--transport DEFAULT|UDPv4]
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from robot_identification.msg import SampleBlock
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from robot_identification.ros.clients.client import Client, ClientTimeoutError
from robot_identification.ros.clients.processes import NodeProcesses, command
from robot_identification.ros.common import qos
from robot_identification.ros.common.middleware import private_domain
from robot_identification.ros.messages.common import time_of

PERIOD = 5e-4
BURST = 0.3
HEARTBEAT = 3.0
PATIENCE = 20.0
NODES = ("acquisition", "identification")


class Stall(NamedTuple):
    """How long it took, in s, until a node that went on answered and had what it missed."""

    answered: float
    caught_up: float


class Suite:
    """The nodes, and a driver that sends states to them."""

    def __init__(self, folder: Path, number: int) -> None:
        self.namespace = f"/stalls_{os.getpid()}_{number}"
        self.processes = NodeProcesses(folder)
        self.random = np.random.default_rng()
        self.client = Client(self.namespace, watch=self.processes.check)
        node = self.client.node
        self.blocks: list[SampleBlock] = []
        self.driver = node.create_publisher(JointState, "joint_states", qos.STATES_OUT)
        node.create_subscription(SampleBlock, "samples", self.blocks.append, qos.BLOCKS)
        for name in NODES:
            line = command(name, parameters={"robot": "scara"}, namespace=self.namespace)
            self.processes.start(name, line)
        self.client.wait_for(
            lambda: self.client.node.count_subscribers(f"{self.namespace}/samples") == len(NODES),
            120.0,
            "nodes",
        )
        self.client.wait_for(self.driver.get_subscription_count, 60.0, "reader of states")

    def close(self) -> None:
        """End the nodes, with force where they do not hear."""
        self.client.close()
        self.processes.stop()

    def stall(self, seconds: float) -> Stall | None:
        """Stall the acquisition node within a burst; return None where it hears nothing after."""
        recording = self.client.call(Trigger, "acquisition/start", timeout=PATIENCE).message
        acquisition = self.processes.process("acquisition")
        sent = self.send(BURST)
        acquisition.send_signal(signal.SIGSTOP)
        sent += self.send(BURST)
        answer = self.client.begin(Trigger, "acquisition/start")  # refused: one is running
        time.sleep(self.random.uniform(seconds, seconds + HEARTBEAT))
        acquisition.send_signal(signal.SIGCONT)
        begin = time.monotonic()
        sent += self.send(PERIOD)
        try:
            self.client.wait_for(answer.done, PATIENCE, "answer")
            answered = time.monotonic() - begin
            self.client.wait_for(lambda: self.received(recording) == sent, PATIENCE, "states")
            caught_up = time.monotonic() - begin
            self.client.call(Trigger, "acquisition/stop", timeout=PATIENCE)
        except ClientTimeoutError:
            return None
        return Stall(answered, caught_up)

    def send(self, seconds: float) -> int:
        """Send states for some time; return how many."""
        end = time.monotonic() + seconds
        sent = 0
        while time.monotonic() < end:
            state = JointState(name=["joint_1", "joint_2"], position=[0.0, 0.0], effort=[0.0, 0.0])
            state.header.stamp = time_of(time.time_ns())
            self.driver.publish(state)
            sent += 1
            time.sleep(PERIOD)
        return sent

    def received(self, recording: str) -> int:
        """Return how many states of a recording have come back."""
        return sum(len(block.stamps) for block in self.blocks if block.recording == recording)


def measure(stalls: int, seconds: float, folder: Path) -> tuple[list[Stall], int]:
    """Return what came of stalls, and how often a node went deaf."""
    overcome: list[Stall] = []
    deaf = 0
    suite = Suite(folder, 0)
    try:
        while len(overcome) + deaf < stalls:
            stall = suite.stall(seconds)
            if stall is not None:
                overcome.append(stall)
                continue
            deaf += 1
            suite.close()
            suite = Suite(folder, deaf)
    finally:
        suite.close()
    return overcome, deaf


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stalls", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--transport", choices=("DEFAULT", "UDPv4"))
    arguments = parser.parse_args()
    if arguments.transport:
        os.environ["FASTDDS_BUILTIN_TRANSPORTS"] = arguments.transport
        os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "SUBNET"
    os.environ.update(private_domain())
    with tempfile.TemporaryDirectory() as folder:
        overcome, deaf = measure(arguments.stalls, arguments.seconds, Path(folder))
    print(f"{len(overcome) + deaf} stalls: {deaf} times deaf for good")
    for what, times in zip(Stall._fields, zip(*overcome, strict=True), strict=False):
        print(
            f"{what.replace('_', ' ')} {len(times)} times, after {np.median(times):.2f} s "
            f"(median), {max(times):.2f} s (longest)"
        )


if __name__ == "__main__":
    main()
