"""Nodes that come late, or are killed and started again."""

import math
import signal

import pytest
from robot_identification.msg import IdentificationResult, SampleBlock
from robot_identification.srv import Identify, Validate
from std_srvs.srv import Trigger

from faults.driver import SAMPLES, FaultySuite, noisy_states
from long_work import many_bags
from robot_identification import msg
from robot_identification.ros.clients.client import Client
from robot_identification.ros.clients.processes import NodeProcesses
from robot_identification.ros.common import qos
from robot_identification.ros.messages.error_codes import CODES

pytestmark = pytest.mark.ros


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    """Return a suite of its own: its nodes are killed."""
    folder = tmp_path_factory.mktemp("restarts")
    with (
        NodeProcesses(folder) as processes,
        Client(f"/r{folder.name}{id(folder)}", watch=processes.check) as client,
    ):
        suite = FaultySuite(client, processes, client.node.get_namespace(), folder)
        suite.start_all()
        yield suite


@pytest.fixture(scope="module")
def recording(suite):
    (last,), _ = suite.record_with()
    return last.recording


def values(result):
    return [parameter.value for parameter in result.parameters]


def restart(suite, name, kind, service, **parameters):
    """Kill a node, start it again, and wait until it answers."""
    process = suite.processes.process(name)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    suite.processes.stop(name)
    suite.start(name, **parameters)
    asked = []

    def answers():
        """Ask again and again: what is asked of the killed node alone is lost."""
        asked.append(suite.client.begin(kind, f"{name}/{service}"))
        suite.client.spin(0.5)
        return any(answer.done() for answer in asked)

    suite.wait(answers, "new node")


def test_who_comes_late_gets_the_result_and_the_blocks(suite, recording):
    result = suite.identify(recording).result
    with Client(suite.namespace) as late:
        results, blocks = [], []
        late.node.create_subscription(
            IdentificationResult, "identified_parameters", results.append, qos.LATCHED
        )
        late.node.create_subscription(SampleBlock, "samples", blocks.append, qos.BLOCKS)
        late.wait_for(
            lambda: (
                results and any(block.last and block.recording == recording for block in blocks)
            ),
            math.inf,
            "what was published before",
        )
    assert repr(results[-1]) == repr(result)
    found = [block for block in blocks if block.recording == recording]
    assert repr(found) == repr(suite.of(recording))


@pytest.mark.parametrize("state", ["idle", "identifying"])
def test_an_identification_node_that_was_killed_knows_the_blocks_again(suite, recording, state):
    before = values(suite.identify(recording).result)
    if state == "identifying":
        many = Identify.Request(data=msg.DataSelection(bags=many_bags(1000)))
        future = suite.begin(many)
        assert not future.done()
    restart(suite, "identification", Trigger, "cancel")
    validated = suite.verbs.answers.ask(Validate.Request())
    assert validated.error_code in (CODES.RESULT_INVALID, CODES.UNKNOWN_RECORDING)
    suite.wait(lambda: suite.is_known(recording), "blocks at the identification node")
    suite.wait(lambda: values(suite.identify(recording).result) == before, "all blocks")


def test_what_an_acquisition_node_has_sent_before_it_was_killed_is_not_lost(suite):
    suite.set_faults([])
    name = suite.verbs.answers.start_recording().message
    suite.send(name, noisy_states())
    suite.wait(lambda: sum(len(b.stamps) for b in suite.of(name)) == SAMPLES, "blocks")
    suite.wait(lambda: suite.identify(name).result.sources, "recording")
    restart(suite, "acquisition", Trigger, "stop", block_period=0.05, diagnostics_period=0.1)
    assert not suite.of(name)[-1].last
    response = suite.identify(name)
    assert response.success, response.message
    assert response.result.sources[0].samples == SAMPLES
    assert "not ended" in "\n".join(response.result.warnings)
    stopped = suite.verbs.answers.stop_recording()
    assert not stopped.success
    assert "no recording is running" in stopped.message
    suite.diagnostics.statuses.clear()
    suite.wait(suite.arrives, "joint states behind the injector")
    (last,), _ = suite.record_with()
    assert last.recording != name
    suite.wait(lambda: suite.is_known(last.recording), "recording")
    assert suite.identify(last.recording).success
