"""Does a node that stood still for some seconds hear anything afterwards?

A driver sends joint states.  Within a burst the acquisition node is stopped (SIGSTOP); some seconds
later it goes on (SIGCONT), just when the next state comes.  Counted are the stalls after which it
got what it had missed, with the time that took, and those after which it heard nothing for 20 s,
not even a request; then another node is started.  With ``--shared-memory`` Fast DDS is set up as it
comes.

Usage: stalls.py [--stalls N] [--seconds S] [--shared-memory]
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import time
from pathlib import Path

import numpy as np
from robot_identification.msg import SampleBlock
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from robot_identification.nodes import qos
from robot_identification.nodes.client import Client, ClientTimeoutError
from robot_identification.nodes.messages import time_of
from robot_identification.nodes.middleware import private_domain
from robot_identification.nodes.processes import NodeProcesses, command

PERIOD = 5e-4
BURST = 0.3
PATIENCE = 20.0
NODES = ("acquisition", "identification")


class Suite:
    """The nodes, and a driver that sends states to them."""

    def __init__(self, folder: Path, number: int) -> None:
        self.namespace = f"/stalls_{os.getpid()}_{number}"
        self.processes = NodeProcesses(folder)
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

    def stall(self, seconds: float) -> float | None:
        """Stall the acquisition node within a burst; return how long it took to catch up, in s.

        Returns:
            None where it never did.
        """
        recording = self.client.demand(Trigger, "acquisition/start", timeout=PATIENCE).message
        acquisition = self.processes.process("acquisition")
        sent = self.send(BURST)
        acquisition.send_signal(signal.SIGSTOP)
        sent += self.send(BURST)
        time.sleep(seconds)
        acquisition.send_signal(signal.SIGCONT)
        begin = time.monotonic()
        sent += self.send(PERIOD)
        try:
            self.client.wait_for(lambda: self.received(recording) == sent, PATIENCE, "states")
            taken = time.monotonic() - begin
            self.client.demand(Trigger, "acquisition/stop", timeout=PATIENCE)
        except ClientTimeoutError:
            return None
        return taken

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


def measure(stalls: int, seconds: float, folder: Path) -> tuple[list[float], int]:
    """Return the times taken to catch up in s, and how often a node went deaf."""
    taken: list[float] = []
    deaf = 0
    suite = Suite(folder, 0)
    try:
        while len(taken) + deaf < stalls:
            seconds_taken = suite.stall(seconds)
            if seconds_taken is not None:
                taken.append(seconds_taken)
                continue
            deaf += 1
            suite.close()
            suite = Suite(folder, deaf)
    finally:
        suite.close()
    return taken, deaf


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stalls", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--shared-memory", action="store_true")
    arguments = parser.parse_args()
    if arguments.shared_memory:
        os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    os.environ.update(private_domain())
    with tempfile.TemporaryDirectory() as folder:
        taken, deaf = measure(arguments.stalls, arguments.seconds, Path(folder))
    print(f"{len(taken) + deaf} stalls of {arguments.seconds:g} s: {deaf} times deaf for good")
    if taken:
        print(
            f"caught up {len(taken)} times, after {np.median(taken):.1f} s (median), "
            f"{max(taken):.1f} s (longest)"
        )


if __name__ == "__main__":
    main()
