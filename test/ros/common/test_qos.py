"""Quality of service that users override by parameters, as ROS names them."""

import math

import pytest
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from sensor_msgs.msg import JointState

from live_nodes import states
from refused_starts import refused_start
from robot_identification.errors import SettingError
from robot_identification.ros.common import qos
from ros_nodes import node

pytestmark = pytest.mark.ros

STATES = "qos_overrides./joint_states.subscription"


def subscribed(made):
    return qos.create_subscription(made, JointState, "joint_states", print, qos.STATES_WATCHED)


def test_without_parameters_a_topic_is_as_the_table_says():
    with node() as made:
        profile = subscribed(made).qos_profile
        assert profile.depth == qos.STATES_WATCHED.depth
        assert profile.reliability == ReliabilityPolicy.BEST_EFFORT


def test_parameters_go_before_the_table_which_stays_as_it_is():
    with node("-p", f"{STATES}.reliability:=reliable", "-p", f"{STATES}.depth:=7") as made:
        profile = subscribed(made).qos_profile
        assert (profile.reliability, profile.depth) == (ReliabilityPolicy.RELIABLE, 7)
        qos.refuse_unused_overrides(made)
    assert qos.STATES_WATCHED.reliability == ReliabilityPolicy.BEST_EFFORT
    assert qos.STATES_WATCHED.depth == 500


def test_the_topic_is_the_one_after_namespace_and_remapping():
    line = ("-r", "joint_states:=driver/states")
    name = "qos_overrides./left/driver/states.subscription.depth"
    with node(*line, "-p", f"{name}:=9", namespace="left") as made:
        assert subscribed(made).qos_profile.depth == 9


def test_publishers_have_overrides_of_their_own():
    name = "qos_overrides./joint_states.publisher.durability"
    with node("-p", f"{name}:=transient_local") as made:
        sent = qos.create_publisher(made, JointState, "joint_states", qos.STATES_OUT)
        (told,) = made.get_publishers_info_by_topic("/joint_states")
        assert told.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
        assert sent.topic_name == "/joint_states"


@pytest.mark.parametrize(
    ("policy", "value"), [("reliability", "relaible"), ("depth", "many"), ("history", "5")]
)
def test_a_value_that_a_policy_does_not_have_is_refused_with_those_that_it_has(policy, value):
    hint = pytest.raises(SettingError, match=f"{STATES}.{policy} = {value}: .*best_effort")
    with node("-p", f"{STATES}.{policy}:={value}") as made, hint:
        subscribed(made)


def test_an_override_that_nothing_takes_up_is_refused_with_the_nearest():
    said = refused_start(
        "acquisition",
        {"robot": "scara", "qos_overrides./joint_state.subscription.depth": 10},
    )
    assert "qos_overrides./joint_state.subscription.depth = 10: nothing of the node" in said
    assert f"did you mean {STATES}.depth" in said


def test_who_asks_for_reliable_states_of_a_lossy_driver_is_told_and_nothing_is_changed(make_suite):
    suite = make_suite()
    topic = f"{suite.namespace}/joint_states"
    suite.start("acquisition", **{f"qos_overrides.{topic}.subscription.reliability": "reliable"})
    suite.verbs.require("acquisition")
    lossy = suite.client.node.create_publisher(JointState, "joint_states", qos.STATES_WATCHED)

    def told():
        lossy.publish(states(1)[0])
        statuses = suite.diagnostics.of("acquisition: joint states")
        return any("incompatible RELIABILITY" in one.message for one in statuses)

    suite.client.wait_for(told, math.inf, "word of the incompatible reliability")
    reliable = {
        info.qos_profile.reliability
        for info in suite.client.node.get_subscriptions_info_by_topic(topic)
        if info.node_name == "acquisition"
    }
    assert reliable == {ReliabilityPolicy.RELIABLE}
