"""Blocks of samples that somebody else sends: what becomes of a recording, and who is told."""

import copy
import uuid

import numpy as np
import pytest
from rclpy.duration import Duration
from robot_identification.msg import IdentificationResult, SampleBlock
from robot_identification.srv import Validate
from std_msgs.msg import String

from live_nodes import SAMPLES, states
from robot_identification import msg
from robot_identification.ros.common import qos
from robot_identification.ros.messages.error_codes import CODES

pytestmark = pytest.mark.ros

NOT_ENDED = "not ended"
SPOILT = "is spoilt"
FEW = 100
ARRIVED = Duration(seconds=600)


@pytest.fixture(scope="module")
def forged(make_suite):
    """Acquisition and identification, ready, and a publisher that is neither."""
    suite = make_suite()
    suite.start("acquisition", block_period=0.05, diagnostics_period=0.1)
    suite.start("identification", streaming_settle=3.0, refresh_period=0.05)
    suite.wait_for_acquisition()
    suite.verbs.require("identification")
    suite.wait_until_blocks_arrive()
    suite.forger = suite.client.node.create_publisher(SampleBlock, "samples", qos.BLOCKS)
    suite.wait(lambda: suite.forger.get_subscription_count() >= 2, "readers of samples")
    suite.estimates = []
    suite.client.node.create_subscription(
        IdentificationResult, "identified_parameters", suite.estimates.append, qos.LATCHED
    )
    return suite


class Recorded:
    """A recording while it is made."""

    def __init__(self, suite):
        self.suite, self.sent = suite, 0
        self.name = suite.verbs.start_recording().message

    def send(self, until):
        """Send samples a few at a time: how many a block has decides from what settings come."""
        messages = states(until)
        while self.sent < until:
            upto = min(self.sent + FEW, until)
            for message in messages[self.sent : upto]:
                self.suite.driver.publish(message)
            self.suite.wait(lambda upto=upto: self.suite.received(self.name) >= upto, "samples")
            self.sent = upto
        self.suite.wait(lambda: self.samples() == until, "blocks of all samples")

    def samples(self):
        """Return how many samples the acquisition node has sent."""
        return sum(len(block.stamps) for block in self.blocks())

    def blocks(self):
        return [b for b in self.suite.of(self.name) if b.header.frame_id != "forged"]

    def is_estimated(self):
        """Tell whether the newest estimate is of this recording."""
        estimates = self.suite.estimates
        return estimates and estimates[-1].sources[0].name == self.name

    def is_told_to_be_spoilt(self):
        """Tell whether the newest estimate is of this recording, and says that it is spoilt."""
        told = self.suite.estimates[-1].warnings if self.is_estimated() else ()
        return any(SPOILT in warning for warning in told)

    def stop(self):
        self.suite.verbs.stop_recording()
        self.suite.wait(lambda: self.blocks()[-1].last, "last block")
        return self.name


def forge(suite, block, **fields):
    """Send a block with other fields, and wait until the identification node has it."""
    made = copy.deepcopy(block)
    made.header.frame_id = "forged"
    for name, value in fields.items():
        setattr(made, name, value)
    suite.forger.publish(made)
    assert suite.forger.wait_for_all_acked(ARRIVED)


def identified(suite, *recordings, **fields):
    """Return the response about a recording, once all of it has arrived, its end too."""
    answers = []

    def whole():
        answers.append(suite.identify(*recordings, **fields))
        assert answers[-1].success, answers[-1].message
        unended = any(NOT_ENDED in warning for warning in answers[-1].result.warnings)
        return answers[-1].result.sources[0].samples == SAMPLES and not unended

    suite.wait(whole, "the whole of its samples")
    return answers[-1]


def validated(suite, recording):
    request = Validate.Request(data=msg.DataSelection(recordings=[recording]))
    return suite.verbs.answers.ask(request)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_forged_block_is_told_by_every_result(forged, when):
    """Its efforts are larger than they were; the result is wrong, or is not, and says so."""
    recorded = Recorded(forged)
    recorded.send(1000)
    # What comes after the forged block is not streamed: there must be an estimate that can tell.
    forged.wait(recorded.is_estimated, "streamed estimate")
    last = recorded.blocks()[-1]
    if when == "before":  # a sample with the number of the block that comes next
        fields = {
            "sequence": last.sequence + 1,
            "first_sample": last.first_sample + len(last.stamps),
            "stamps": [last.stamps[-1] + 10**7],
            "position": last.position[-2:],
            "effort": (1.5 * np.array(last.effort[-2:])).tolist(),
        }
    else:
        fields = {"effort": (1.5 * np.array(last.effort)).tolist()}
    forge(forged, last, **fields)
    recorded.send(SAMPLES)
    name = recorded.stop()
    forged.wait(recorded.is_told_to_be_spoilt, "streamed remark")
    for method in ("wls", "ols"):
        response = forged.identify(name, method=method)
        assert response.success, response.message
        assert SPOILT in response.message
        assert any(SPOILT in warning for warning in response.result.warnings)
    assert any(SPOILT in warning for warning in forged.latched().warnings)
    response = validated(forged, name)
    assert response.success
    assert SPOILT in response.message
    assert any(SPOILT in warning for warning in response.warnings)


def test_a_block_that_comes_again_changes_nothing(forged):
    recorded = Recorded(forged)
    recorded.send(SAMPLES)
    name = recorded.stop()
    first = identified(forged, name)
    for block in recorded.blocks():
        forged.forger.publish(block)
    assert forged.forger.wait_for_all_acked(ARRIVED)
    again = identified(forged, name)
    assert not any(SPOILT in warning for warning in again.result.warnings)
    assert list(again.result.warnings) == list(first.result.warnings)
    assert repr(again.result.parameters) == repr(first.result.parameters)


@pytest.mark.parametrize("last", [True, False])
def test_an_end_that_is_forged_drops_nothing(forged, last):
    """A block without samples far ahead of all others."""
    recorded = Recorded(forged)
    recorded.send(500)
    nothing = SampleBlock(joint_names=recorded.blocks()[0].joint_names)
    empty = {"stamps": nothing.stamps, "position": [], "velocity": [], "effort": []}
    block = recorded.blocks()[-1]
    forge(forged, block, sequence=2**32 - 1, first_sample=0, last=last, **empty)
    recorded.send(SAMPLES)
    response = identified(forged, recorded.stop())
    assert (SPOILT in response.message) is last  # the other one is no block at all


def test_recordings_of_others_do_not_push_out_the_operator_s(forged):
    """The one that ended last, the one that runs, and that is the one meant without a name."""
    ended = Recorded(forged)
    ended.send(SAMPLES)
    ended.stop()
    before = identified(forged, ended.name)
    running = Recorded(forged)
    running.send(700)
    block = running.blocks()[0]
    for number in range(300):
        made = copy.deepcopy(block)
        made.recording, made.last = f"{uuid.uuid4().hex}", bool(number % 2)
        made.sequence = made.first_sample = 0
        forged.forger.publish(made)
        if number % 20 == 0:
            assert forged.forger.wait_for_all_acked(ARRIVED)
    running.send(SAMPLES)
    running.stop()
    forged.wait(lambda: forged.estimates[-1].sources[0].name == running.name, "its own estimate")
    response = identified(forged)
    assert response.result.sources[0].name == running.name
    assert not any("not arrived" in warning for warning in response.result.warnings)
    assert repr(identified(forged, ended.name).result.parameters) == repr(before.result.parameters)
    unknown = forged.identify("nobody's")
    assert unknown.error_code == CODES.UNKNOWN_RECORDING
    assert unknown.message.count(",") < 30  # of three hundred, no more are in memory


def test_a_recording_that_is_announced_late_is_streamed_from_its_first_block(forged):
    """Blocks and announcements are topics of their own, and need not come in order."""
    node = forged.client.node
    announcer = node.create_publisher(String, "recordings", qos.ANNOUNCED)
    forged.wait(announcer.get_subscription_count, "reader of announcements")
    recorded = Recorded(forged)
    recorded.send(SAMPLES)
    recorded.stop()
    blocks, name = copy.deepcopy(recorded.blocks()), uuid.uuid4().hex
    for block in blocks:
        block.recording = name
    forged.forger.publish(blocks[0])
    forged.wait(lambda: forged.is_known(name), "first block at the identification node")
    announcer.publish(String(data=name))
    for block in blocks[1:]:
        forged.forger.publish(block)

    def whole_is_told():
        (source,) = forged.estimates[-1].sources
        return (source.name, source.samples) == (name, SAMPLES)

    forged.wait(whole_is_told, "estimate of all samples")
