"""Which way trajectories go: by the action, by its topic, or not at all."""

import sys
import time
import uuid
from contextlib import ExitStack

import pytest
from trajectory_msgs.msg import JointTrajectory

from hand_moved_controller import HandMovedController, Node
from robot_identification.errors import SettingError
from robot_identification.ros.common import qos
from robot_identification.ros.controllers.choice import Controller, make_wire
from robot_identification.ros.controllers.transport import TopicTransport
from ros_nodes import node
from watched_motion import World


@pytest.mark.parametrize("interface", ["auto", "action"])
def test_the_action_is_taken_where_somebody_serves_it_when_a_motion_begins(interface):
    wire = HandMovedController(World())
    wire.there = False
    link = Controller(Node(), interface, wire)
    if interface == "auto":
        assert link.choose() is link.topic
    else:
        with pytest.raises(SettingError, match="nobody serves the action /arm/follow_joint"):
            link.choose()
    wire.there = True
    assert link.choose() is link.action


def test_without_control_msgs_the_topic_is_taken_and_the_action_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "control_msgs.action", None)
    monkeypatch.delitem(
        sys.modules, "robot_identification.ros.controllers.action_wire", raising=False
    )
    assert make_wire(Node(), "auto", "follow_joint_trajectory") is None
    with pytest.raises(SettingError, match=r"apt-get install ros-\$ROS_DISTRO-control-msgs"):
        make_wire(Node(), "action", "follow_joint_trajectory")


def test_the_topic_needs_no_client():
    link = Controller(Node(), "topic", make_wire(Node(), "topic", "follow_joint_trajectory"))
    assert link.action is None
    assert link.choose() is link.topic


@pytest.mark.parametrize("action", ["arm controller/follow_joint_trajectory", "arm//follow", ""])
def test_what_can_be_the_name_of_no_action_is_refused_where_one_may_be_taken(action):
    for interface in ("auto", "action"):
        with pytest.raises(SettingError, match=r"controller_action = .*is no name of an action"):
            make_wire(Node(), interface, action)
    assert make_wire(Node(), "topic", action) is None


@pytest.mark.ros
def test_listeners_are_named_as_ros_knows_them_and_readers_are_none():
    namespace = f"/arm_{uuid.uuid4().hex[:8]}"
    with ExitStack() as nodes:
        sender = nodes.enter_context(node(name="excitation", namespace=namespace))
        transport, topic = TopicTransport(sender), f"{namespace}/joint_trajectory"
        expected = (("acquisition", ()), ("controller", (f"{namespace}/controller",)))
        for count, (name, found) in enumerate(expected, start=1):
            listener = nodes.enter_context(node(name=name, namespace=namespace))
            listener.create_subscription(JointTrajectory, topic, print, qos.COMMANDS)
            while len(sender.get_subscriptions_info_by_topic(topic)) < count:
                time.sleep(0.01)
            assert transport.listeners == found
