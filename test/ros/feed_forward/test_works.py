"""The node computed_torque by hand: efforts in its states, and how they end."""

from types import SimpleNamespace

import numpy as np
import pytest
from sensor_msgs.msg import JointState

from hand_moved_lifecycle import Asked
from node_loggers import NodeLogger
from robot_identification.dynamics.feed_forward import FeedForward
from robot_identification.errors import UnknownRobotError
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.files.loading import find_robot, load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.ros.common.joint_states import stamp_of
from robot_identification.ros.feed_forward.parameters import ComputedTorqueParameters
from robot_identification.ros.feed_forward.works import FeedForwardWorks
from robot_identification.ros.lifecycle.works import ManagedWorks
from robot_identification.ros.messages.common import time_of
from robot_identification.ros.messages.inertial import parameters_message
from robot_identification.ros.messages.trajectories import message_of

ROBOT = load_robot("tx40")
TRUTH = load_values("tx40_simulated", ROBOT)
MS = 1_000_000
BEGIN = 1_700_000_000_000 * MS
PLACE = np.array([0.6, 0.4, -0.5, 0.8, 0.6, -1.2])


class Node:
    """Publishes into a list, and hands on what a test sends."""

    def __init__(self):
        self.sent, self.callbacks, self.waited = [], {}, 0
        self.publisher = SimpleNamespace(
            publish=lambda one: self.sent.append((stamp_of(one), np.array(one.effort))),
            wait_for_all_acked=self._wait,
        )

    def _wait(self, _):
        self.waited += 1

    def create_publisher(self, *_, **__):
        return self.publisher

    def create_subscription(self, kind, topic, callback, *_, **__):
        self.callbacks[topic] = callback

    def get_logger(self):
        return NodeLogger("computed_torque")


class Robot:
    """A robot that stands somewhere, and the node beside it."""

    def __init__(self, **given):
        self.node, self.seconds, self.now = Node(), 100.0, BEGIN
        self.place = PLACE
        values = ComputedTorqueParameters(robot="tx40", **given)
        managed = ManagedWorks(
            lambda: FeedForwardWorks(
                self.node, values, self.asked.lifecycle, clock=lambda: self.seconds
            ),
            check=lambda: None,
            let_go=lambda: None,
        )
        self.asked = Asked(managed, node="/computed_torque")

    @property
    def sent(self):
        return self.node.sent

    def ask(self, name):
        return self.asked.ask(name)

    def say(self, milliseconds):
        """Let time go by in which the robot says where it is."""
        for _ in range(0, milliseconds, 4):
            self.now += 4 * MS
            self.seconds += 0.004
            state = JointState(name=list(ROBOT.joint_names), position=self.place.tolist())
            state.header.stamp = time_of(self.now)
            self.node.callbacks["joint_states"](state)
            self.asked.lifecycle.look()

    def feed(self):
        """Give it parameters and something to hold."""
        self.node.callbacks["inertial_parameters"](parameters_message(ROBOT, TRUTH, stamp=1))
        held = Trajectory(ROBOT.joint_names, [0.0], PLACE[None])
        self.node.callbacks["joint_trajectory"](message_of(held, 0))


@pytest.fixture
def robot():
    """Return a robot that the node feeds a model forward to."""
    robot = Robot()
    robot.asked.lifecycle.start()
    robot.say(20)
    robot.feed()
    robot.say(500)
    assert np.abs(robot.sent[-1][1]).max() > 1.0
    return robot


def test_only_an_active_node_sends_and_then_in_full(robot):
    other = Robot()
    assert other.ask("configure")
    other.feed()
    other.say(500)
    assert other.sent == []
    assert other.ask("activate")
    other.say(100)
    assert other.sent
    np.testing.assert_allclose(other.sent[0][1], robot.sent[-1][1], atol=1e-9)
    assert other.sent[0][0] > other.now - 100 * MS


def test_a_robot_that_is_not_there_is_refused_and_nothing_listens():
    robot = Robot()
    values = ComputedTorqueParameters(robot="nonesuch")
    with pytest.raises(UnknownRobotError):
        FeedForwardWorks(robot.node, values, robot.asked.lifecycle)
    assert robot.node.callbacks == {}


def test_what_is_odd_about_the_robot_is_told(robot, tmp_path, caplog):
    path = tmp_path / "robot.yaml"
    path.write_text(find_robot("tx40").read_text().replace("upper: 3.14", "upper: 180", 1))
    values = ComputedTorqueParameters(robot=str(path))
    FeedForwardWorks(robot.node, values, robot.asked.lifecycle)
    assert "is 180 rad, 29 turns; in degrees?" in caplog.text


def test_deactivation_lets_the_efforts_fall_and_ends_when_they_have(robot):
    held, count, begun = robot.sent[-1][1], len(robot.sent), robot.now
    assert robot.ask("deactivate") is None
    robot.say(480)
    assert robot.asked.state == "deactivating"
    robot.say(60)
    assert (robot.asked.answers[-1], robot.asked.state) == (True, "inactive")
    stamps, efforts = zip(*robot.sent[count:], strict=True)
    assert begun < stamps[0] <= begun + 10 * MS
    assert stamps[-1] <= begun + 510 * MS
    steps = np.diff([held, *efforts], axis=0)
    assert np.abs(steps).max() < 0.03 * np.abs(held).max(), "no step shakes the robot"
    assert not efforts[-1].any()
    robot.say(500)
    assert len(robot.sent) == count + len(stamps)


def test_what_comes_while_it_is_inactive_counts_when_it_is_active_again(robot):
    robot.ask("deactivate")
    robot.say(600)
    robot.feed()
    count = len(robot.sent)
    assert robot.ask("activate")
    robot.say(20)
    assert len(robot.sent) > count
    assert np.abs(robot.sent[-1][1]).max() > 1.0


def test_a_robot_that_was_moved_by_hand_meanwhile_is_held_where_it_stands_now(robot):
    robot.ask("deactivate")
    robot.say(600)
    robot.place = PLACE + np.array([0.0, -0.7, 0.9, 0.0, 0.3, 0.0])
    robot.say(100)
    assert robot.ask("activate")
    robot.say(20)
    still = np.zeros((1, len(PLACE)))
    holding = FeedForward(ROBOT, TRUTH).efforts(robot.place[None], still, still)[0]
    np.testing.assert_allclose(robot.sent[-1][1], holding, atol=1e-9)


def test_a_trajectory_that_is_under_way_is_gone_on_with_after_an_activation(robot):
    robot.ask("deactivate")
    robot.say(600)
    there = PLACE + 0.2
    move = Trajectory(ROBOT.joint_names, [0.0, 1.0], np.array([PLACE, there]))
    robot.node.callbacks["joint_trajectory"](message_of(move, robot.now))
    robot.say(200)
    assert robot.ask("activate")
    robot.say(1200)
    still = np.zeros((1, len(PLACE)))
    holding = FeedForward(ROBOT, TRUTH).efforts(there[None], still, still)[0]
    np.testing.assert_allclose(robot.sent[-1][1], holding, atol=1e-9)


@pytest.mark.parametrize("seconds", [1.1, 60.0])
def test_a_robot_that_says_nothing_any_more_has_its_efforts_taken_away_at_once(robot, seconds):
    assert robot.ask("deactivate") is None
    robot.seconds += seconds
    robot.asked.lifecycle.look()
    assert robot.asked.state == "inactive"
    stamp, effort = robot.sent[-1]
    assert (stamp, effort.any()) == (0, False)


def test_a_short_silence_is_waited_for(robot):
    assert robot.ask("deactivate") is None
    robot.seconds += 0.9
    robot.asked.lifecycle.look()
    assert robot.asked.state == "deactivating"
    robot.say(600)
    assert robot.asked.state == "inactive"
    assert robot.sent[-1][0] > 0


def test_states_of_a_gripper_are_no_matter_and_keep_no_robot_alive(robot, caplog):
    finger = JointState(name=["finger"], position=[0.0])
    fed = len(robot.sent)
    robot.node.callbacks["joint_states"](finger)
    assert (len(robot.sent), caplog.messages) == (fed, [])
    assert robot.ask("deactivate") is None
    robot.seconds += 1.1
    robot.node.callbacks["joint_states"](finger)
    robot.asked.lifecycle.look()
    assert robot.asked.state == "inactive"
    robot.node.callbacks["joint_states"](JointState(name=list(ROBOT.joint_names)))
    assert "joint state refused" in caplog.text


def test_a_robot_that_nothing_was_fed_to_ends_it_at_once():
    robot = Robot()
    robot.asked.lifecycle.start()
    assert robot.ask("deactivate")
    robot.say(100)
    assert robot.sent == []
    assert robot.ask("cleanup")
    assert robot.node.waited == 0


def test_a_shutdown_lets_them_fall_too_and_waits_until_that_has_arrived(robot):
    assert robot.ask("shutdown") is None
    robot.say(600)
    assert robot.asked.state == "finalized"
    assert not robot.sent[-1][1].any()
    assert robot.node.waited == 1


def test_a_node_that_ends_has_no_time_to_let_them_fall(robot):
    robot.asked.lifecycle._managed.works.close()
    stamp, effort = robot.sent[-1]
    assert (stamp, effort.any(), robot.node.waited) == (0, False, 1)


def test_whatever_a_fault_leaves_the_node_in_efforts_end(robot, monkeypatch):
    """Nobody has let them fall: the node is finalized by a fault of all that should have."""
    works = robot.asked.lifecycle._managed.works
    monkeypatch.setattr(works, "rest", lambda why: 1 / 0)
    assert robot.ask("deactivate") is False
    assert robot.asked.state == "finalized"
    robot.say(600)
    assert not robot.sent[-1][1].any()


def test_a_clock_that_begins_anew_takes_the_efforts_away_until_another_trajectory(robot, caplog):
    robot.now = 5000 * MS
    robot.say(200)
    assert not robot.sent[-1][1].any()
    count = len(robot.sent)
    robot.say(200)
    assert len(robot.sent) == count
    assert caplog.text.count("until another trajectory comes") == 1
    robot.feed()
    robot.say(100)
    assert np.abs(robot.sent[-1][1]).max() > 1.0
