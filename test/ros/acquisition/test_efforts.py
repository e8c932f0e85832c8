"""Efforts of a topic of their own, through DDS: late by a known delay, at another rate."""

import signal
import time

import numpy as np
import pytest
from robot_identification.msg import DataSelection, SampleBlock
from robot_identification.srv import Identify
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from diagnostics import values_of
from live_nodes import BEGIN, RATE, ROBOT, states
from refused_starts import refused_start
from robot_identification.ros.common import qos
from robot_identification.ros.messages.common import time_of

pytestmark = pytest.mark.ros

DELAY = 0.0042
SAMPLES = 800
RATE_OF_EFFORTS = 2.0 * RATE


def separated(sent):
    """Return states without effort, and their efforts at twice the rate, late by a delay."""
    instants = np.arange(2 * len(sent) - 1) / RATE_OF_EFFORTS
    true = np.array([message.effort for message in sent])
    times = np.arange(len(sent)) / RATE
    efforts = []
    for instant in instants:
        values = [float(np.interp(instant, times, column)) for column in true.T]
        message = JointState(name=list(reversed(ROBOT.joint_names)), effort=values[::-1])
        message.header.stamp = time_of(BEGIN + round((instant + DELAY) * 1e9))
        efforts.append(message)
    for message in sent:
        message.effort = []
    return sent, efforts


def told(suite, key):
    """Return the last value of a key on /diagnostics."""
    found = [v[key] for v in map(values_of, suite.diagnostics.statuses) if key in v]
    return found[-1] if found else ""


@pytest.fixture(scope="module")
def suite(make_suite):
    suite = make_suite()
    suite.start(
        "acquisition",
        block_period=0.05,
        diagnostics_period=0.1,
        effort_topic="efforts",
        effort_delay=DELAY,
    )
    suite.start("identification")
    suite.wait_for_acquisition()
    suite.verbs.require("identification")
    suite.efforts = suite.client.node.create_publisher(JointState, "efforts", qos.STATES_OUT)
    suite.wait(suite.efforts.get_subscription_count, "reader of efforts")
    return suite


def record(suite, motion, efforts, merged=SAMPLES, meanwhile=lambda _: None):
    """Record states, each with its two efforts, as they come, and return the blocks."""
    recording = suite.verbs.start_recording().message
    for i, message in enumerate(motion):
        meanwhile(i)
        suite.driver.publish(message)
        for effort in efforts[2 * i : 2 * i + 2]:
            if effort is not None:
                suite.efforts.publish(effort)
    suite.wait(
        lambda: sum(len(block.stamps) for block in suite.of(recording)) >= merged, "merged samples"
    )
    suite.verbs.stop_recording()
    suite.wait(lambda: suite.of(recording)[-1].last, "last block")
    return suite.of(recording)


def test_efforts_are_merged_by_stamp_and_their_delay_is_taken_out(suite):
    sent = states(SAMPLES)
    true = {BEGIN + round(i * 1e9 / RATE): m.effort.tolist() for i, m in enumerate(sent)}
    blocks = record(suite, *separated(sent))
    stamps = [stamp for block in blocks for stamp in block.stamps]
    merged = np.concatenate([np.array(block.effort) for block in blocks]).reshape(-1, 2)
    np.testing.assert_allclose(merged, [true[stamp] for stamp in stamps], atol=1e-9)
    final = blocks[-1]
    assert (len(stamps), final.without_effort, final.received) == (SAMPLES, 0, SAMPLES)
    assert final.effort_topic == "efforts"
    assert final.effort_delay == DELAY
    assert float(told(suite, "effort_delay_s")) == DELAY


def test_the_result_tells_what_delay_is_left(suite):
    blocks = record(suite, *separated(states(SAMPLES)))
    answer = suite.identify(blocks[0].recording)
    assert answer.success, answer.message
    told = [line for line in answer.result.warnings if "behind the motion" in line]
    assert len(told) == 1
    assert "beyond the 4.2 ms given" in told[0]
    remaining = float(told[0].split(" lie ")[1].split(" ms")[0])
    assert abs(remaining) < 1.0
    assert "effort_delay" in {entry.key for entry in answer.result.settings}


def test_efforts_that_a_stalled_node_missed_are_waited_for(suite):
    acquisition = suite.processes.process("acquisition")

    def stall(number):
        if number == SAMPLES // 2:
            acquisition.send_signal(signal.SIGSTOP)
        elif number == SAMPLES - 1:
            time.sleep(1.0)  # the clock of patience is moved elsewhere
            acquisition.send_signal(signal.SIGCONT)

    blocks = record(suite, *separated(states(SAMPLES)), meanwhile=stall)
    assert (blocks[-1].without_effort, blocks[-1].lost) == (0, 0)


def test_a_gap_in_the_efforts_is_counted_and_not_bridged(suite):
    motion, efforts = separated(states(SAMPLES))
    gap = slice(400, 440)
    silent = [None if gap.start <= i < gap.stop else e for i, e in enumerate(efforts)]
    blocks = record(suite, motion, silent, merged=SAMPLES - 20)
    stamps = [stamp for block in blocks for stamp in block.stamps]
    times = (np.array(stamps) - BEGIN) / 1e9
    assert not np.any((times > 199.5 / RATE) & (times < 219.4 / RATE))
    assert blocks[-1].without_effort == SAMPLES - len(stamps) == 20


def test_arrays_without_stamps_count_when_they_are_sent(make_suite):
    suite = make_suite()
    suite.start(
        "acquisition",
        autostart=True,
        effort_topic="efforts",
        effort_type="std_msgs/msg/Float64MultiArray",
        effort_joints=["joint_2", "spare", "joint_1"],
        effort_delay=0.001,
    )
    suite.wait_for_acquisition()
    efforts = suite.client.node.create_publisher(Float64MultiArray, "efforts", qos.STATES_OUT)
    suite.wait(efforts.get_subscription_count, "reader of efforts")
    message = states(1)[0]
    message.effort = []

    def merged():
        message.header.stamp = suite.client.node.get_clock().now().to_msg()
        suite.driver.publish(message)
        efforts.publish(Float64MultiArray(data=[2.0, 9.0, 1.0]))
        return [block for block in suite.blocks if len(block.stamps)]

    suite.wait(merged, "merged samples")
    (values,) = {tuple(np.reshape(b.effort, (-1, 2))[0]) for b in suite.blocks if len(b.stamps)}
    assert values == (1.0, 2.0)
    assert suite.blocks[0].kind == SampleBlock.RAW


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"effort_type": "std_msgs/msg/Float64MultiArray"}, "carry no stamps"),
        ({"effort_joints": ["joint_1"]}, "joint joint_2 of the robot is not among"),
    ],
)
def test_efforts_that_nobody_can_place_are_refused_at_the_start(parameters, told):
    given = {"robot": "scara", "effort_topic": "efforts", **parameters}
    assert told in refused_start("acquisition", given)


def test_a_request_with_efforts_that_fit_nothing_is_refused(suite):
    request = Identify.Request(data=DataSelection(bags=["/nowhere"], effort_delay=0.1))
    answer = suite.verbs.answers.ask(request)
    assert not answer.success
    assert "effort_topic" in answer.message
