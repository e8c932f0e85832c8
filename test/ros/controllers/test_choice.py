"""Which way trajectories go: by the action, by its topic, or not at all."""

import sys

import pytest

from hand_moved_controller import HandMovedController, Node
from robot_identification.errors import SettingError
from robot_identification.ros.controllers.choice import Controller, make_wire
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
