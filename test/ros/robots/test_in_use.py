"""What the nodes of a namespace say of their robots, and when that counts no more."""

from types import SimpleNamespace

import pytest
from robot_identification.msg import RobotInUse

from robot_identification.ros.robots import in_use
from robot_identification.ros.robots.in_use import RobotsInUse


class Graph:
    """The node that listens, and the graph of ROS around it.

    Attributes:
        waiting: messages that have come.
        running: names of the nodes in its namespace.
        publishing: those of them that publish what they say.
    """

    def __init__(self):
        self.waiting, self.running, self.publishing = [], ["excitation"], []

    def say(self, name, robot):
        self.waiting.append(RobotInUse(node=f"/arm/{name}", robot=robot, robot_hash="f00d"))
        self.running.append(name)
        self.publishing.append(name)

    def subscribed(self, node, _kind, topic, _profile):
        assert (node, topic) == (self, "robots_in_use")
        return SimpleNamespace(take=self.take, topic="/arm/robots_in_use")

    def take(self, _most):
        given, self.waiting = self.waiting, []
        return given

    def get_publishers_info_by_topic(self, topic):
        assert topic == "/arm/robots_in_use"
        return [SimpleNamespace(node_namespace="/arm", node_name=name) for name in self.publishing]

    def get_node_names_and_namespaces(self):
        return [(name, "/arm") for name in self.running]

    def get_namespace(self):
        return "/arm"


@pytest.fixture
def graph(monkeypatch):
    made = Graph()
    monkeypatch.setattr(in_use, "PolledSubscription", made.subscribed)
    return made


def robots(found):
    return {one.name: one.robot for one in found.statements}


def test_what_a_node_has_said_counts_as_long_as_it_works_with_that_robot(graph):
    """A managed node that is cleaned up runs on, and has no robot until it is configured anew."""
    listener = RobotsInUse(graph)
    graph.say("computed_torque", "emps")
    graph.say("acquisition", "scara")
    assert robots(listener.now()) == {"computed_torque": "emps", "acquisition": "scara"}
    graph.publishing.remove("computed_torque")
    found = listener.now()
    assert robots(found) == {"acquisition": "scara"}
    assert found.silent == ("/arm/computed_torque",)
    graph.running.remove("computed_torque")
    assert listener.now().silent == ()
    graph.say("computed_torque", "scara")
    assert robots(listener.now()) == {"computed_torque": "scara", "acquisition": "scara"}
