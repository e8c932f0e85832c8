"""What the parameter robot of a node names: a file or a topic."""

from dataclasses import dataclass

import pytest

import ros_nodes
from robot_identification.errors import SettingError
from robot_identification.ros.common.diagnostics import NodeDiagnostics
from robot_identification.ros.common.parameters.declaration import declare
from robot_identification.ros.common.parameters.shared import RobotParameters
from robot_identification.ros.robots.source import settle_robot, topic_of


@dataclass(frozen=True)
class Parameters(RobotParameters):
    """Those of a node that has nothing but a robot."""


@pytest.fixture(scope="module")
def node():
    with ros_nodes.node(namespace="left") as made:
        yield made


@pytest.mark.parametrize(
    "file", ["ur10", "robot_description", "/robot_description", "a.urdf", "./topic:a.urdf", ""]
)
def test_what_does_not_begin_with_topic_is_never_one(node, file):
    assert topic_of(node, file) is None


@pytest.mark.parametrize("topic", ["robot_description", "/robot_description", "~/description"])
def test_a_topic_may_be_relative_or_absolute(node, topic):
    assert topic_of(node, f"topic:{topic}") == topic


@pytest.mark.parametrize("name", ["", "a.urdf", "my robot", "/2nd", "a//b"])
def test_what_no_topic_can_be_called_is_refused(node, name):
    with pytest.raises(SettingError, match="no name of a topic"):
        topic_of(node, f"topic:{name}")


def settled(*arguments):
    with ros_nodes.node(*arguments) as made:
        declared = declare(made, Parameters)
        source = settle_robot(made, declared, NodeDiagnostics(made))
        return declared.now, source


def test_a_file_stays_as_it_is_and_nothing_is_waited_for():
    values, source = settled("-p", "robot:=ur10")
    assert (values.robot, source.given, source.topic) == ("ur10", "ur10", "")
    assert source.refusal() is None


def test_a_robot_file_beside_a_file_is_refused():
    with pytest.raises(SettingError, match="completes the description on a topic"):
        settled("-p", "robot:=ur10", "-p", "robot_defaults:=arm.yaml")
