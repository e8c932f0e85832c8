import copy
import math
import signal

import numpy as np
import pytest
from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from robot_identification.msg import SampleBlock
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from control_messages import control_msgs  # noqa: F401
from diagnostics import values_of
from live_nodes import BEGIN, RATE, ROBOT, states
from refused_starts import refused_start
from robot_identification.files.bags.joint_states.reading import read_joint_states
from robot_identification.ros.clients.client import RequestRefusedError
from robot_identification.ros.clients.processes import NodeProcessError
from robot_identification.ros.common import qos
from robot_identification.ros.messages.common import time_of
from stalled_nodes import stalled

pytestmark = pytest.mark.ros

URDF = """<robot name="r"><link name="base"/><link name="arm"/>
<joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>"""


def joined(blocks, name):
    return np.concatenate([np.array(getattr(block, name)) for block in blocks])


def test_samples_come_through_unchanged_and_numbered(suite):
    sent = states(700)
    blocks = suite.record(sent)
    assert [block.sequence for block in blocks] == list(range(len(blocks)))
    counts = np.cumsum([0] + [len(block.stamps) for block in blocks])
    assert [block.first_sample for block in blocks] == counts[:-1].tolist()
    assert counts[-1] == len(sent)
    assert [block.last for block in blocks] == [False] * (len(blocks) - 1) + [True]
    assert joined(blocks, "position").tolist() == [x for m in sent for x in m.position]
    assert joined(blocks, "effort").tolist() == [x for m in sent for x in m.effort]
    for block in blocks:
        assert block.robot == "scara"
        assert block.kind == SampleBlock.RAW
        assert block.effort_meaning == "joint_torque"
        assert block.joint_names == list(ROBOT.joint_names)


def test_permuted_names_make_the_same_samples(suite):
    straight = suite.record(states(300))
    names = tuple(reversed(ROBOT.joint_names))
    mixed = [
        a if i % 2 else b
        for i, (a, b) in enumerate(zip(states(300), states(300, names), strict=True))
    ]
    permuted = suite.record(mixed)
    for name in ("stamps", "position", "effort"):
        assert joined(straight, name).tolist() == joined(permuted, name).tolist()


def test_every_sample_is_accounted_for(suite):
    lost = {17, 100, 101, 102, 350}
    sent = [message for i, message in enumerate(states(500)) if i not in lost]
    sent.insert(200, copy.deepcopy(sent[198]))  # a duplicate
    sent[300], sent[301] = sent[301], sent[300]  # out of order
    final = suite.record(sent)[-1]
    assert final.received == len(sent)
    assert final.lost == len(lost)
    assert final.received - final.duplicate + final.lost == 500
    assert (final.duplicate, final.out_of_order, final.refused) == (1, 1, 0)


def test_a_gripper_with_states_of_its_own_on_the_topic_is_no_mistake(suite):
    own = states(200)

    def with_gripper():
        for message in own:
            gripper = copy.deepcopy(message)
            gripper.name, gripper.effort = ["finger_1", "finger_2"], [math.nan] * 2
            suite.driver.publish(gripper)
            yield message

    blocks = suite.record(with_gripper(), expected=len(own))
    assert joined(blocks, "position").tolist() == [x for m in own for x in m.position]
    assert (blocks[-1].received, blocks[-1].refused, blocks[-1].lost) == (len(own), 0, 0)


def test_samples_wait_for_a_reference_that_comes_after_them(suite):
    behind = 20
    sent = states(600)
    reference = suite.client.node.create_publisher(JointState, "joint_reference", qos.STATES_OUT)
    suite.wait(reference.get_subscription_count, "reader of the reference")

    def lagging():
        for i, state in enumerate(sent):
            if i >= behind:
                reference.publish(sent[i - behind])
            yield state

    suite.send_first_reference(reference, sent[0])
    blocks = suite.record(lagging(), expected=len(sent))
    suite.client.node.destroy_publisher(reference)
    assert joined(blocks, "stamps").size == len(sent)
    wanted = [x for message in sent[:-behind] for x in message.position]
    assert joined(blocks, "reference_position")[: len(wanted)].tolist() == wanted


def test_the_state_of_a_controller_is_a_reference_until_there_is_one_of_its_own(
    control_msgs,  # noqa: F811
    make_suite,
    tmp_path,
):
    from control_msgs.msg import JointTrajectoryControllerState

    suite = make_suite()
    suite.start("acquisition", bag_directory=str(tmp_path))
    suite.wait_for_acquisition()
    node = suite.client.node
    controller = node.create_publisher(
        JointTrajectoryControllerState, "controller_state", qos.STATES_OUT
    )
    reference = node.create_publisher(JointState, "joint_reference", qos.STATES_OUT)
    for publisher in (controller, reference):
        suite.wait(publisher.get_subscription_count, "reader of the reference")
    sent = states(300)

    def follow(state, names, positions):
        point = JointTrajectoryPoint(positions=positions)
        controller.publish(
            JointTrajectoryControllerState(header=state.header, joint_names=names, reference=point)
        )

    def followed():
        for state in sent:
            follow(state, state.name, [x + 0.5 for x in state.position])
            yield state

    # A publisher that has found its reader may not have been found by it; what is acknowledged has.
    follow(sent[0], ["gripper"], [0.0])
    assert controller.wait_for_all_acked(Duration(seconds=60.0))
    wanted = [x + 0.5 for message in sent for x in message.position]
    blocks = suite.record(followed(), expected=len(sent))
    found = joined(blocks, "reference_position").tolist()
    assert found
    assert found == wanted[-len(found) :]
    (bag,) = tmp_path.iterdir()
    suite.wait((bag / "metadata.yaml").exists, "bag")
    states_topic, samples_topic = (
        f"{suite.namespace}/joint_{name}" for name in ("states", "reference")
    )
    kept = read_joint_states(
        bag, ROBOT.joint_names, topic=states_topic, reference_topic=samples_topic
    ).samples
    np.testing.assert_array_equal(kept.reference, kept.position + 0.5)
    suite.send_first_reference(reference, sent[0])
    blocks = suite.record(followed(), expected=len(sent))
    assert set(joined(blocks, "reference_position")) == set(sent[0].position)


def test_a_trajectory_that_cannot_be_interpolated_ends_no_recording(make_suite):
    """Every value is finite, and what lies between the points is not."""
    suite = make_suite()
    suite.start("acquisition", block_period=0.05, diagnostics_period=0.1)
    suite.wait_for_acquisition()
    publisher = suite.client.node.create_publisher(
        JointTrajectory, "joint_trajectory", qos.COMMANDS
    )
    suite.wait(publisher.get_subscription_count, "reader of trajectories")
    hostile = JointTrajectory(joint_names=list(ROBOT.joint_names))
    hostile.header.stamp = time_of(BEGIN)
    for nanoseconds, place in ((0, 1e308), (1, -1e308)):
        point = JointTrajectoryPoint(positions=[place, 0.0], velocities=[0.0, 0.0])
        point.time_from_start.nanosec = nanoseconds
        hostile.points.append(point)
    publisher.publish(hostile)
    refused = "reference ignored: joint joint_1 cannot be interpolated"
    suite.wait(lambda: refused in suite.processes.output("acquisition"), "refusal")
    sent = states(200)
    assert joined(suite.record(sent), "stamps").size == len(sent)


def spoil(message, **fields):
    spoilt = copy.deepcopy(message)
    for name, value in fields.items():
        setattr(spoilt, name, value)
    return spoilt


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"effort": []}, "no effort"),
        ({"effort": [math.nan, 0.0]}, "effort of joint joint_1 is nan"),
        ({"position": [0.0, math.inf]}, "position of joint joint_2 is inf"),
        ({"name": ["joint_1", "wrist"]}, "joint joint_2 of the robot is not among"),
        ({"effort": [0.0]}, "one per name"),
    ],
)
def test_bad_states_are_refused_counted_and_explained(suite, fields, reason):
    sent = states(200)
    sent[80:85] = [spoil(message, **fields) for message in sent[80:85]]
    final = suite.record(sent)[-1]
    assert (final.received, final.refused, final.lost) == (200, 5, 5)

    def explained():
        refusals = [values_of(s).get("last_refusal", "") for s in suite.diagnostics.statuses]
        return refusals and reason in refusals[-1]

    suite.wait(explained, "reason on /diagnostics")


def test_diagnostics_tell_rate_and_jitter(suite):
    suite.record(states(400))

    def rates():
        return [
            (float(values["rate_hz"]), float(values["jitter"]))
            for values in map(values_of, suite.diagnostics.statuses)
            if "rate_hz" in values and values["rate_hz"] != "nan"
        ]

    suite.wait(rates, "rate on /diagnostics")
    assert rates()[-1] == (pytest.approx(RATE), pytest.approx(0.0, abs=1e-6))


def test_recordings_begin_and_end_on_request(suite):
    call = suite.client.call
    assert not call(Trigger, "acquisition/stop").success
    assert "no recording" in call(Trigger, "acquisition/clear").message
    first = call(Trigger, "acquisition/start").message
    refused = call(Trigger, "acquisition/start")
    assert not refused.success
    assert first in refused.message
    second = call(Trigger, "acquisition/clear").message
    assert second != first
    assert call(Trigger, "acquisition/stop").message == second
    for name in (first, second):
        suite.wait(lambda name=name: suite.of(name), "block that ends the recording")
        assert suite.of(name)[-1].last


def test_a_receiver_that_stood_still_hears_that_a_recording_ends_with_its_node(make_suite):
    suite = make_suite()
    suite.start("acquisition")
    receiver = suite.start("identification")
    suite.wait_for_acquisition()
    suite.wait_until_blocks_arrive()
    recording = suite.verbs.start_recording().message
    suite.send(recording, states(800))
    suite.wait(lambda: sum(len(b.stamps) for b in suite.of(recording)) == 800, "samples")
    deep = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    foreign = suite.client.node.create_publisher(SampleBlock, "samples", deep)
    suite.wait(lambda: foreign.get_subscription_count() >= 2, "receivers of samples")
    with stalled(receiver, foreign):
        suite.processes.process("acquisition").send_signal(signal.SIGINT)
        suite.client.spin(1.0)
    suite.processes.stop("acquisition")
    answer = suite.identify_ended(recording)
    assert answer.success, answer.message
    assert not [line for line in answer.result.warnings if "not ended" in line]


def test_what_waited_in_a_stall_comes_in_blocks_like_all_others(make_suite):
    suite = make_suite()
    acquisition = suite.start("acquisition", block_period=1.0)  # in which a hundred samples come
    suite.wait_for_acquisition()
    recording = suite.verbs.start_recording().message
    sent = states(500)

    def publish(some, total):
        for state in some:
            suite.driver.publish(state)
        suite.wait(lambda: sum(len(b.stamps) for b in suite.of(recording)) == total, "samples")

    publish(sent[:100], 100)
    before = len(suite.of(recording))
    acquisition.send_signal(signal.SIGSTOP)
    for state in sent[100:400]:
        suite.driver.publish(state)
    suite.client.spin(1.0)
    acquisition.send_signal(signal.SIGCONT)
    publish(sent[400:], 500)
    sizes = [len(block.stamps) for block in suite.of(recording)[before:]]
    assert max(sizes) <= RATE


def test_filtered_samples_follow_the_motion(suite):
    raw = suite.record(states(1000))
    recording = raw[0].recording
    suite.wait(
        lambda: any(block.last for block in suite.of(recording, suite.filtered)), "filtered end"
    )
    blocks = suite.of(recording, suite.filtered)
    assert [block.sequence for block in blocks] == list(range(len(blocks)))
    assert {block.kind for block in blocks} == {SampleBlock.FILTERED}
    assert {block.sampling_rate for block in blocks} == {10.0}
    stamps, position = joined(blocks, "stamps"), joined(blocks, "position").reshape(-1, 2)
    velocity = joined(blocks, "velocity").reshape(-1, 2)
    places = np.rint((stamps - BEGIN) / 1e9 * RATE).astype(int)
    true = joined(raw, "position").reshape(-1, 2)
    inner = slice(10, -10)
    np.testing.assert_allclose(position[inner], true[places][inner], atol=0.02)
    slope = np.gradient(true, 1.0 / RATE, axis=0)[places]
    np.testing.assert_allclose(velocity[inner], slope[inner], atol=0.1)


def test_lossy_publishers_are_heard_and_time_may_rest(make_suite):
    suite = make_suite()
    process = suite.start("acquisition", use_sim_time=True, autostart=True)
    lossy = suite.client.node.create_publisher(
        type(states(1)[0]),
        "joint_states",
        QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT),
    )
    stream = iter(states())

    def heard():
        lossy.publish(next(stream))
        return suite.blocks

    suite.wait(heard, "block without a clock")
    process.send_signal(signal.SIGINT)
    assert process.wait() == 0
    suite.processes.stop("acquisition")


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"robot": "{urdf}"}, "say what recorded efforts of r are"),
        ({"robot": "{urdf}", "effort_meaning": "volts"}, "must be one of"),
        ({"robot": "no_such_robot"}, "neither a file nor a robot"),
    ],
)
def test_a_wrong_start_is_refused(tmp_path, parameters, told):
    urdf = tmp_path / "r.urdf"
    urdf.write_text(URDF)
    filled = {
        key: value.format(urdf=urdf) if isinstance(value, str) else value
        for key, value in parameters.items()
    }
    assert told in refused_start("acquisition", filled)


def test_a_wrong_start_is_told_to_who_watches_the_process(make_suite):
    suite = make_suite()
    process = suite.start("acquisition", block_period=-1.0)
    assert process.wait() == 2
    assert "block_period" in suite.processes.output("acquisition")
    with pytest.raises(NodeProcessError, match="acquisition has ended with exit code 2"):
        suite.processes.check()
    suite.processes.stop("acquisition")


def test_the_meaning_of_efforts_can_be_given(make_suite, tmp_path):
    urdf = tmp_path / "r.urdf"
    urdf.write_text(URDF)
    suite = make_suite()
    suite.start("acquisition", robot=str(urdf), effort_meaning="motor_torque", autostart=True)
    suite.wait_for_acquisition()
    message = states(1)[0]
    message.name, message.position, message.effort = ["turn"], [0.1], [0.2]
    message.header.stamp = time_of(BEGIN)
    suite.driver.publish(message)
    suite.wait(lambda: suite.blocks, "block")
    assert suite.blocks[0].effort_meaning == "motor_torque"
    with pytest.raises(RequestRefusedError, match="is running"):
        suite.verbs.start_recording()
