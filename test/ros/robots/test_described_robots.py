"""A node whose robot is described on a topic, through DDS."""

import hashlib

import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from std_msgs.msg import String

from diagnostics import values_of
from robot_identification.robot.files.loading import load_robot
from robot_identification.ros.common import qos
from robot_identification.ros.robots.in_use import RobotsInUse

pytestmark = pytest.mark.ros

URDF = """<robot name="turner"><link name="base"/><link name="arm"/>
<joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>"""
PART = "acquisition: robot description"


def test_a_node_waits_for_its_robot_says_which_it_has_and_stays_with_it(make_suite):
    suite = make_suite()
    node, told = suite.client.node, suite.diagnostics
    suite.start(
        "acquisition",
        robot="topic:robot_description",
        effort_meaning="joint_torque",
        diagnostics_period=0.1,
    )

    def newest(level):
        return next((s for s in reversed(told.of(PART)) if s.level == level), None)

    waiting = suite.wait(lambda: newest(DiagnosticStatus.STALE), "status of a node that waits")
    assert f"for a robot on {suite.namespace}/robot_description" in waiting.message
    others = RobotsInUse(node)
    assert not others.now().statements

    publisher = node.create_publisher(String, "robot_description", qos.LATCHED)
    publisher.publish(String(data=URDF))
    (said,) = suite.wait(lambda: others.now().statements, "robot of the node")
    digest = hashlib.sha256(URDF.encode()).hexdigest()
    assert (said.robot, said.digest, said.name) == ("turner", digest, "acquisition")
    assert (said.given, said.effort_meaning) == ("topic:robot_description", "joint_torque")
    assert said.joint_states == f"{suite.namespace}/joint_states"
    assert load_robot(said.file).digest == digest
    described = suite.wait(lambda: newest(DiagnosticStatus.OK), "status of a node with a robot")
    assert described.hardware_id == "turner"

    publisher.publish(String(data=URDF.replace('upper="1"', 'upper="2"')))
    changed = suite.wait(lambda: newest(DiagnosticStatus.ERROR), "status of another description")
    assert values_of(changed)["sha256"] == digest
    assert "describes another robot" in suite.processes.output("acquisition")
