"""A recorded bag replayed through the live nodes: do they identify what `identify` makes of it?

The nodes `acquisition` and `identification` run in processes of their own.  The joint states of the
bag are published as they are, a burst at a time, and a burst follows when the blocks of samples say
that the one before has been recorded.  Printed is by how many standard deviations the parameters
differ from those of the command line at most: of the estimate that was streamed while the recording
ran, and of the answer of ~/identify; with the blocks that came.  All use the same settings.

Usage: bag_replay.py ROBOT BAG [--bursts N...]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from diagnostic_msgs.msg import DiagnosticArray
from one_pipeline import apart, same_settings
from robot_identification.msg import IdentificationResult as ResultMessage
from robot_identification.msg import SampleBlock
from sensor_msgs.msg import JointState

from robot_identification.files.bags.files import open_bag
from robot_identification.files.bags.joint_states.reading import JOINT_STATES
from robot_identification.files.bags.recordings import read_recordings
from robot_identification.files.results import read_result
from robot_identification.identification.result import IdentificationResult
from robot_identification.robot.files.document import read_document
from robot_identification.robot.files.loading import find_robot, load_robot
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.ros.clients.client import Client, ClientTimeoutError
from robot_identification.ros.clients.node_requests import NodesMissingError
from robot_identification.ros.clients.processes import NodeProcesses, command
from robot_identification.ros.clients.verbs import Verbs
from robot_identification.ros.clients.work_requests import data_of
from robot_identification.ros.common import qos
from robot_identification.ros.common.middleware import private_domain
from robot_identification.ros.messages.error_codes import CODES
from robot_identification.ros.messages.received_results import result_of

NAMESPACE = "/replay"
BURSTS = (1, 37, 100)
BLOCK_PERIOD = 0.01  # the shortest: blocks hold what one burst has brought
_DROPPED = ("duplicate", "refused", "without_effort")
_WITHIN = 120.0  # s: others may use the machine


@dataclass(frozen=True)
class Replayed:
    """What became of a bag.

    Attributes:
        streamed: the last estimate that was streamed.
        asked: the answer of ~/identify.
        sizes: number of samples -> how many blocks had as many.
    """

    streamed: IdentificationResult
    asked: IdentificationResult
    sizes: Mapping[int, int]


class Driver:
    """Publishes the joint states of a bag, and hears what the nodes make of them.

    Args:
        client: to talk through; of the namespace of the nodes.
    """

    def __init__(self, client: Client) -> None:
        self._verbs = Verbs(client)
        self._recording = ""
        self._sizes: Counter[int] = Counter()
        self._recorded = self._dropped = 0
        self._ended = False
        self._estimate: ResultMessage | None = None
        node = client.node
        self._states = node.create_publisher(JointState, "joint_states", qos.STATES_OUT)
        for kind, topic, take, profile in (
            (SampleBlock, "samples", self._on_block, qos.BLOCKS),
            (DiagnosticArray, "/diagnostics", self._on_diagnostics, qos.STATUS),
            (ResultMessage, "identified_parameters", self._on_estimate, qos.LATCHED),
        ):
            node.create_subscription(kind, topic, take, profile)

    def wait_until_ready(self) -> None:
        """Wait until the nodes answer and hear the driver."""
        self._verbs.require("acquisition", "identification")
        self._wait(self._states.get_subscription_count, "reader of joint states")

    def replay(self, messages: Sequence[bytes], burst: int, rows: Sequence[int]) -> Replayed:
        """Record messages, a burst at a time, and have the recording identified.

        Args:
            messages: serialised joint states.
            burst: messages that are sent together.
            rows: rows of every joint in an estimate of all of them.

        Raises:
            ClientTimeoutError: a message, a block or the estimate of all samples did not come.
            RequestRefusedError: the recording was of no use.
        """
        self._sizes, self._recorded, self._dropped, self._ended = Counter(), 0, 0, False
        self._recording = self._verbs.start_recording().message
        for first in range(0, len(messages), burst):
            sent = messages[first : first + burst]
            for message in sent:
                self._states.publish(message)
            self._wait_until_recorded(first + len(sent))
            if not first:
                self._wait(self._is_known, "block at the identification node")
        self._verbs.stop_recording()
        self._wait(lambda: self._ended, "last block")
        streamed = self._last_estimate(rows)
        asked = self._verbs.identify("wls", data_of([self._recording]))
        return Replayed(result_of(streamed), result_of(asked.result), dict(self._sizes))

    def _wait(self, condition: Callable[[], Any], what: str) -> Any:
        return self._verbs.wait(condition, what, _WITHIN)

    def _wait_until_recorded(self, sent: int) -> None:
        self._wait(lambda: self._recorded + self._dropped >= sent, f"joint state {sent}")

    def _is_known(self) -> bool:
        """Tell whether the identification node has a block: what it was not sent is not kept."""
        answer = self._verbs.answers.identify("", data_of([self._recording]))
        return bool(answer.error_code != CODES.UNKNOWN_RECORDING)

    def _last_estimate(self, rows: Sequence[int]) -> ResultMessage:
        """Return the estimate of all samples and rows when it has come."""
        wanted = (self._recording, self._recorded, list(rows))
        try:
            self._wait(lambda: self._said() == wanted, f"estimate of {wanted}")
        except ClientTimeoutError as error:
            raise ClientTimeoutError(f"{error}; the last one is of {self._said()}") from error
        return self._estimate

    def _said(self) -> tuple[str, int, list[int]] | None:
        """Return recording, number of samples and rows of the newest estimate."""
        newest = self._estimate
        if newest is None:
            return None
        return newest.sources[0].name, newest.sources[0].samples, list(newest.rows)

    def _on_block(self, block: SampleBlock) -> None:
        if block.recording == self._recording:
            self._sizes[len(block.stamps)] += 1
            self._recorded += len(block.stamps)
            self._ended = block.last

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        """Take note of joint states that were received and come in no block."""
        for status in message.status:
            values = {pair.key: pair.value for pair in status.values}
            if self._recording and values.get("recording") == self._recording:
                self._dropped = sum(int(values[f"recording_{name}"]) for name in _DROPPED)

    def _on_estimate(self, message: ResultMessage) -> None:
        self._estimate = message


def through_nodes(
    robot: str, bag: Path, settings: ProcessingSettings, bursts: Sequence[int] = BURSTS
) -> dict[str, dict[str, Any]]:
    """Return how far what the nodes identify from a bag is from what the command line does.

    Args:
        robot: name of the robot, or its file.
        bag: the bag.
        settings: complete ones, for all of them.
        bursts: numbers of messages that are sent together.
    """
    with open_bag(bag) as opened:
        messages = [data for _, data in opened.messages(JOINT_STATES, "sensor_msgs/msg/JointState")]
    found = {}
    with tempfile.TemporaryDirectory(prefix="bag_replay_") as name:
        folder = Path(name)
        description = _stated(robot, settings, folder / "robot.yaml")
        alone = _by_command(description, bag, folder / "result.yaml")
        with _nodes(folder, description) as driver:
            for burst in bursts:
                replayed = driver.replay(messages, burst, alone.estimate.rows)
                samples = [x.sources[0].samples for x in (alone, replayed.streamed, replayed.asked)]
                sizes = replayed.sizes
                found[f"bursts of {burst}"] = {
                    "samples": dict(zip(("command", "streamed", "asked"), samples, strict=True)),
                    "blocks": sum(sizes.values()),
                    "usual_block": max(sizes, key=lambda size: sizes[size]),
                    "largest_block": max(sizes),
                    "streamed": apart(replayed.streamed, alone),
                    "asked": apart(replayed.asked, alone),
                }
    return found


@contextmanager
def _nodes(folder: Path, description: Path) -> Iterator[Driver]:
    """Run the nodes; yield the driver that they hear."""
    os.environ.update(private_domain())
    with NodeProcesses(folder) as nodes, Client(NAMESPACE, watch=nodes.check) as client:
        driver = Driver(client)  # before its readers: they settle on what it offers
        robot = {"robot": str(description)}
        brisk = {"block_period": BLOCK_PERIOD, "diagnostics_period": 0.1, "publish_filtered": False}
        outputs = {"output_directory": str(folder)}
        for name, more in (("acquisition", brisk), ("identification", outputs)):
            nodes.start(name, command(name, parameters=robot | more, namespace=NAMESPACE))
        try:
            driver.wait_until_ready()
            yield driver
        except (ClientTimeoutError, NodesMissingError) as error:
            said = "\n".join(nodes.output(name) for name in nodes.names)
            raise SystemExit(f"{error}\n{said}") from error


def _stated(robot: str, settings: ProcessingSettings, path: Path) -> Path:
    """Write the file of a robot that recommends these settings; return its path."""
    document = dict(read_document(find_robot(robot)).data)
    document["processing"] = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in vars(settings).items()
        if value is not None
    }
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


def _by_command(description: Path, bag: Path, output: Path) -> IdentificationResult:
    """Return what the command line identifies."""
    line = [sys.executable, "-m", "robot_identification.cli.main", "identify"]
    subprocess.run([*line, description, bag, "-o", output], check=True, stdout=subprocess.DEVNULL)
    return read_result(output)


def main() -> int:
    """Replay a bag and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robot", help="name of a robot of the package, or its file")
    parser.add_argument("bag", type=Path)
    parser.add_argument("--bursts", nargs="+", type=int, default=list(BURSTS))
    options = parser.parse_args()
    robot = load_robot(options.robot)
    (whole,) = read_recordings([options.bag], robot)
    settings = same_settings(robot, whole)
    found = through_nodes(options.robot, options.bag, settings, options.bursts)
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
