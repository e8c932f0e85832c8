"""A driver, the fault injector, acquisition and identification."""

import uuid

import numpy as np
from rcl_interfaces.srv import SetParameters
from sensor_msgs.msg import JointState

from diagnostics import values_of
from live_nodes import ROBOT, Suite, states
from robot_identification.ros.clients.processes import command
from robot_identification.ros.common import qos
from robot_identification.ros.simulation.fault_injector import read_faults
from robot_identification.ros.simulation.faults import Injector

EFFORT_NOISE = 0.3
SAMPLES = 800  # eight seconds


def noisy_states(seed=0, samples=SAMPLES, **options):
    """Return the joint states of the shared motion, with noise on the efforts."""
    noise = np.random.default_rng(seed)
    messages = states(samples, **options)
    for message in messages:
        drawn = EFFORT_NOISE * noise.standard_normal(len(ROBOT.joint_names))
        message.effort = (np.array(message.effort) + drawn).tolist()
    return messages


class FaultySuite(Suite):
    """The suite behind a fault injector."""

    def __init__(self, client, processes, namespace, folder):
        super().__init__(client, processes, namespace)
        self.folder = folder
        node = client.node
        node.destroy_publisher(self.driver)
        self.driver = node.create_publisher(JointState, "joint_states_in", qos.STATES_OUT)

    def start_all(self):
        line = command("fault_injector", namespace=self.namespace)
        self.processes.start("fault_injector", line)
        self.start("acquisition", block_period=0.05, diagnostics_period=0.1)
        self.start("identification", output_directory=str(self.folder.parent))
        self.wait_for_acquisition()
        self.verbs.require("identification")
        self.client.wait_for_service(SetParameters, "fault_injector/set_parameters")
        self.wait(self.arrives, "joint states behind the injector")
        (last,), _ = self.record_with(messages=states(60))
        self.wait(lambda: self.is_known(last.recording), "blocks at the identification node")

    def arrives(self):
        """Send a state; tell whether any has arrived at the acquisition node."""
        self.driver.publish(states(1)[0])
        return self.value("messages_received") not in ("", "0")

    def reports(self, since=0):
        """Return what the acquisition node has said of the joint states."""
        return self.diagnostics.of("acquisition: joint states", since)

    def value(self, key):
        """Return a value of the last report of the acquisition node."""
        for status in self.reports()[-1:]:
            return values_of(status)[key]
        return ""

    def verdicts(self, since=0):
        """Return level and message of the reports of the acquisition node."""
        return [(status.level, status.message) for status in self.reports(since)]

    def set_faults(self, faults):
        """Write a fault file and make the injector use it from the next state on."""
        path = self.folder / f"{uuid.uuid4().hex}.yaml"
        entries = ", ".join(f"{{{line}}}" for line in faults)
        path.write_text(f"seed: 3\nfaults: [{entries}]\n")
        self.verbs.set_parameter("fault_injector", "faults", str(path))
        return path

    def record_with(self, *faults, messages=None):
        """Record through faults.

        Returns:
            The last block of every recording that came of it, and what the injector has sent.
        """
        messages = noisy_states() if messages is None else messages
        sent = Injector(read_faults(self.set_faults(faults))).apply_all(messages)
        before, known = int(self.value("messages_received")), len(self.blocks)
        self.verbs.start_recording()
        for message in messages:
            self.driver.publish(message)
        self.wait(
            lambda: int(self.value("messages_received")) >= before + len(sent), "all messages"
        )
        final = self.verbs.stop_recording().message
        self.wait(lambda: self.of(final) and self.of(final)[-1].last, "last block")
        lasts = [block for block in self.blocks[known:] if block.last]
        assert sum(block.received for block in lasts) == len(sent)
        return lasts, sent
