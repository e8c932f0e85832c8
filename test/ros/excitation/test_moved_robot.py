"""The robot that the node excitation moves and tells the others of, without ROS."""

import logging
from types import SimpleNamespace

import pytest
from builtin_interfaces.msg import Time

from robot_identification.robot.files.loading import find_robot
from robot_identification.ros.excitation.checks.check import Verdict
from robot_identification.ros.excitation.checks.nodes import nodes_check
from robot_identification.ros.excitation.moved_robot import moved_robot
from robot_identification.ros.excitation.parameters import ExcitationParameters
from robot_identification.ros.robots.in_use import NodesInUse, say_robot_in_use


class Node:
    """A node whose statement of its robot goes nowhere."""

    def __init__(self, name):
        self.name = name

    def get_fully_qualified_name(self):
        return f"/{self.name}"

    def get_clock(self):
        return SimpleNamespace(now=lambda: SimpleNamespace(to_msg=Time))

    def create_publisher(self, *_arguments):
        return SimpleNamespace(publish=lambda _message: None)


def statement(name, robot):
    return say_robot_in_use(Node(name), robot, SimpleNamespace(given="scara"))


@pytest.mark.parametrize("meaning", ["joint_torque", "motor_torque"])
def test_efforts_are_what_the_parameter_says_to_all_nodes(meaning):
    """Acquisition reads the same parameter: the pre-flight must see no contradiction."""
    values = ExcitationParameters(robot="scara", effort_meaning=meaning)
    robot = moved_robot(values, logging.getLogger("excitation"))
    own, other = statement("excitation", robot), statement("acquisition", robot)
    assert own.effort_meaning == meaning
    assert nodes_check(own, NodesInUse((own, other))).verdict is Verdict.PASSED


def test_what_is_odd_about_the_robot_is_told_before_it_moves(tmp_path, caplog):
    text = find_robot("tx40").read_text().replace("upper: 3.14", "upper: 180", 1)
    robot = tmp_path / "robot.yaml"
    robot.write_text(text)
    moved_robot(ExcitationParameters(robot=str(robot)), logging.getLogger("excitation"))
    assert "is 180 rad, 29 turns; in degrees?" in caplog.text
