"""Nodes in processes of their own, talked to through DDS; a namespace keeps each set apart."""

import math

import numpy as np
from robot_identification.msg import IdentificationResult, SampleBlock
from robot_identification.srv import Identify
from sensor_msgs.msg import JointState

from diagnostics import Diagnostics, values_of
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values, values_path
from robot_identification.ros.clients.client import Client
from robot_identification.ros.clients.processes import command
from robot_identification.ros.clients.verbs import Verbs
from robot_identification.ros.common import qos
from robot_identification.ros.common.joint_states import stamp_of
from robot_identification.ros.messages.common import time_of
from robot_identification.ros.messages.error_codes import CODES

ROBOT = load_robot("scara")
TRUTH = load_values("scara", ROBOT)
RATE = 100.0
BEGIN = 1_700_000_000_000_000_000
SAMPLES = 1500
BURST = 400


def motion(values=TRUTH):
    """Return positions and the efforts that the SCARA needs for them, exactly."""
    time = np.arange(SAMPLES)[:, None] / RATE
    tones = 2.0 * np.pi * np.array([0.3, 0.4])
    swell = np.sin(0.5 * time)
    q = np.sin(tones * time) + 0.3 * np.sin(2.7 * tones * time) * swell
    qd = np.gradient(q, 1.0 / RATE, axis=0, edge_order=2)
    qdd = np.gradient(qd, 1.0 / RATE, axis=0, edge_order=2)
    return q, inverse_dynamics(ROBOT, values, q, qd, qdd)


def complete_values(folder):
    """Return a file with true values of all standard parameters of the SCARA, most of them 0."""
    path = folder / "scara_complete.yaml"
    text = values_path("scara").read_text()
    named = {line.partition(":")[0].strip() for line in text.splitlines()}
    missing = [name for name in ROBOT.all_parameter_names if name not in named]
    path.write_text(text + "".join(f"  {name}: 0.0\n" for name in missing))
    return path


def states(samples=SAMPLES, names=ROBOT.joint_names, values=TRUTH):
    """Return joint states of that motion, with the joints in any order."""
    q, tau = motion(values)
    order = [ROBOT.joint_names.index(name) for name in names]
    messages = []
    for i in range(samples):
        message = JointState(
            name=list(names), position=q[i, order].tolist(), effort=tau[i, order].tolist()
        )
        message.header.stamp = time_of(BEGIN + round(i * 1e9 / RATE))
        messages.append(message)
    return messages


class Suite:
    """Acquisition and identification, and the driver and the client that talk to them."""

    def __init__(self, client, processes, namespace):
        self.client, self.processes, self.namespace = client, processes, namespace
        self.blocks, self.filtered = [], []
        self.verbs = Verbs(client)
        self.progress = self.verbs.progress["identification"]
        self.samples = f"{namespace}/samples"
        node = client.node
        self.driver = node.create_publisher(JointState, "joint_states", qos.STATES_OUT)
        for kind, topic, store, profile in (
            (SampleBlock, "samples", self.blocks, qos.BLOCKS),
            (SampleBlock, "filtered_samples", self.filtered, qos.BLOCKS),
        ):
            node.create_subscription(kind, topic, store.append, profile)
        self.diagnostics = Diagnostics(node, namespace)

    def start(self, name, **parameters):
        line = command(name, parameters={"robot": "scara", **parameters}, namespace=self.namespace)
        return self.processes.start(name, line)

    def wait(self, condition, what):
        return self.client.wait_for(condition, math.inf, what)

    def wait_for_acquisition(self):
        self.verbs.require("acquisition")
        self.wait(self.driver.get_subscription_count, "reader of joint states")

    def wait_until_blocks_arrive(self):
        """Wait until the identification node receives what the acquisition node sends."""
        recording = self.record(states(60))[0].recording
        self.wait(lambda: self.is_known(recording), "blocks at the identification node")

    def is_known(self, recording):
        return self.identify(recording).error_code != CODES.UNKNOWN_RECORDING

    def of(self, recording, blocks=None):
        chosen = self.blocks if blocks is None else blocks
        return [block for block in chosen if block.recording == recording]

    def record(self, messages, expected=None):
        """Record messages and return the blocks that came of them.

        The node has received every burst before the next one goes out: none is too long for what
        the middleware keeps, however late a process is served.
        """
        wanted = len(messages) if expected is None else expected
        self.let_readers_find_samples()
        recording = self.verbs.start_recording().message
        self.send(recording, messages)
        self.wait(lambda: self.received(recording) >= wanted, "all samples")
        assert self.verbs.stop_recording().message == recording
        self.wait(lambda: self.of(recording)[-1].last, "last block")
        return self.of(recording)

    def send(self, recording, messages, before=0):
        """Send messages to a recording that has received some before, burst by burst."""
        for sent, message in enumerate(messages, start=before):
            if sent % BURST == 0:
                self.wait(lambda sent=sent: self.received(recording) >= sent, "samples")
            self.driver.publish(message)

    def let_readers_find_samples(self):
        """Wait until every node that reads samples is found: bursts outrun what is kept for it."""
        readers = 1 + ("identification" in self.processes.names)
        count = self.client.node.count_subscribers
        self.wait(lambda: count(self.samples) >= readers, "readers of samples")

    def send_first_reference(self, publisher, message):
        """Send the first sample of the reference and wait until the node has taken it in.

        What is refused comes after it on the same topic, and is told.
        """
        publisher.publish(message)
        publisher.publish(JointState(name=message.name, position=message.position))
        told = "sample without a stamp"
        self.wait(lambda: told in self.processes.output("acquisition"), "reference")

    def received(self, recording):
        """Return what was received, the refused ones, which make no block, included."""
        counts = [
            int(values["recording_received"])
            for values in map(values_of, self.diagnostics.statuses)
            if recording in values.values() and "recording_received" in values
        ]
        return max([*counts, *(block.received for block in self.of(recording))], default=0)

    def identify(self, *recordings, **fields):
        request = Identify.Request(**fields)
        request.data.recordings = list(recordings)
        return self.verbs.answers.ask(request)

    def identify_ended(self, *recordings, **fields):
        """Identify from recordings that have ended; a last block may still be on its way."""
        answers = []

        def ended():
            answers.append(self.identify(*recordings, **fields))
            return not any("not ended" in line for line in answers[-1].result.warnings)

        self.wait(ended, "end of the recordings")
        return answers[-1]

    def begin(self, request):
        """Send a request that takes a while; return the future of its answer when it has begun.

        Progress of what went before, which may come late, is passed over.
        """
        before = self.client.node.get_clock().now().nanoseconds
        future = self.verbs.begun.ask(request)
        self.wait(lambda: self.progress and stamp_of(self.progress[-1]) >= before, "progress")
        self.progress[:] = [m for m in self.progress if stamp_of(m) >= before]
        return future

    def latched(self):
        """Return the result that somebody who comes only now receives."""
        with Client(self.namespace) as late:
            got = []
            late.node.create_subscription(
                IdentificationResult, "identified_parameters", got.append, qos.LATCHED
            )
            late.wait_for(lambda: got, math.inf, "latched result")
            return got[0]
