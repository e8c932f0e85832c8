"""Transitions of the excitation node by hand, with a robot in motion: how each of them ends."""

from types import SimpleNamespace

import numpy as np
import pytest

from hand_moved_controller import Arm
from hand_moved_lifecycle import Asked
from robot_identification.ros.excitation.works import ExcitationWorks
from robot_identification.ros.lifecycle.works import ManagedWorks
from robot_identification.ros.supervision.phases import Phase, Reason
from watched_motion import APPROACH, LIMITS

MOVED = 0.02  # rad/s or m/s: the speed below which a joint counts as at rest


class Node:
    """The node without ROS: its lifecycle, and works around the executor of an arm."""

    def __init__(self, arm):
        self.arm = arm
        self.planning = self.closed = self.cancelled = False
        works = object.__new__(ExcitationWorks)
        works.executor = arm.executor
        works._slot = arm.executor._slot
        works._log, works._robot = arm.node.get_logger(), SimpleNamespace(name="arm")
        works.planner = SimpleNamespace(cancel=self._cancel, close=self._close)
        managed = ManagedWorks(lambda: works, check=lambda: None, let_go=lambda: None)
        self.asked = Asked(managed, node="/excitation")
        arm.lifecycle = self.asked.lifecycle
        arm.lifecycle.start()

    def _cancel(self):
        self.cancelled = True
        return True

    def _close(self):
        self.closed = True

    @property
    def state(self):
        return self.asked.state

    def ask(self, name):
        return self.asked.ask(name)

    def wait(self, longest=20.0):
        """Let time pass until the transition is over; return the answer to it."""
        end = self.arm.world.elapsed + round(longest * 1e9)
        while self.arm.lifecycle.under_way:
            assert self.arm.world.elapsed < end, self.state
            self.arm.pass_time(0.02)
            self.arm.lifecycle.look()
        return self.asked.answers[-1]


def in_motion(seconds=1.0, **given):
    """Return a node whose robot has been moving for some time."""
    arm = Arm(**given)
    node = Node(arm)
    arm.start()
    arm.pass_time(seconds)
    assert arm.motion.moving
    return node


def speed(arm):
    return float(np.abs(arm.motion.states.mean_velocity()).max())


def sent(arm):
    return len(arm.controller.sent) + len(arm.on_topic)


def deactivate_while_it_moves(node):
    """Ask a node whose robot does not come to rest for the transition, and wait for its end."""
    world = node.arm.world
    node.ask("deactivate")
    while node.arm.lifecycle.under_way:
        world.offset = world.offset + np.array([0.005, 0.0])  # per 20 ms
        node.arm.pass_time(0.02)
        node.arm.lifecycle.look()


class TestDeactivate:
    @pytest.mark.parametrize("seconds", [0.1, 0.31, 0.6, 1.3, 2.2, 3.9])
    @pytest.mark.parametrize("way", ["action", "topic"])
    def test_a_robot_in_motion_is_braked_and_the_transition_ends_at_rest(self, seconds, way):
        arm = Arm()
        node = Node(arm)
        arm.controller.there, arm.node.heard = way == "action", True
        arm.start()
        if way == "topic":
            arm.world.take(arm.motion.command)
        arm.pass_time(seconds)
        assert node.ask("deactivate") is None
        assert node.state == "deactivating"
        if way == "topic":
            arm.world.take(arm.motion.command)
        assert node.wait()
        assert node.state == "inactive"
        assert (arm.motion.phase, arm.motion.reason) == (Phase.STOPPED, Reason.REQUESTED)
        assert arm.text.startswith("the node is deactivated")
        assert speed(arm) <= MOVED
        assert (np.abs(arm.world.position) <= LIMITS.upper).all()
        count = sent(arm)
        arm.pass_time(2.0)
        assert sent(arm) == count

    def test_on_the_way_to_the_start_too(self):
        node = in_motion(0.8, approach=APPROACH, position=(0.3, 0.0))
        assert node.arm.motion.phase is Phase.APPROACHING
        node.ask("deactivate")
        assert node.wait()
        assert node.arm.motion.phase is Phase.STOPPED

    def test_a_robot_that_is_braking_already_is_waited_for(self):
        node = in_motion()
        node.arm.executor.stop()
        assert node.ask("deactivate") is None
        assert node.wait()
        assert node.arm.text.startswith("stop requested")

    @pytest.mark.parametrize("seconds", [0.05, 0.3, 2.0, 60.0])
    def test_a_node_that_stands_still_meanwhile_looks_again(self, seconds):
        node = in_motion()
        node.ask("deactivate")
        world = node.arm.world
        world.elapsed += round(seconds * 1e9)
        node.arm.lifecycle.look()
        assert node.state == "deactivating", "nobody has seen the robot at rest"
        assert node.wait()
        assert node.state == "inactive"
        assert speed(node.arm) <= MOVED

    def test_states_that_pause_for_a_while_do_not_fail_it(self):
        node = in_motion()
        node.arm.world.silent = True
        node.ask("deactivate")
        node.arm.pass_time(0.4)
        node.arm.world.silent = False
        assert node.wait()
        assert node.state == "inactive"

    def test_a_robot_that_does_not_come_to_rest_fails_it(self, caplog):
        node = in_motion()
        deactivate_while_it_moves(node)
        assert node.asked.answers[-1] is False
        assert node.state == "active"
        assert "deactivate has failed: the node is deactivated" in caplog.text
        assert "the robot still moves: use the emergency stop" in caplog.text

    def test_a_robot_that_is_seen_to_move_after_that_fails_it_again(self):
        node = in_motion()
        deactivate_while_it_moves(node)
        assert "use the emergency stop" in node.arm.executor.stop()
        node.ask("deactivate")
        assert node.wait() is False
        assert node.state == "active"
        node.arm.pass_time(1.0)
        assert node.arm.executor.stop() == "nothing moves"
        assert node.ask("deactivate")
        assert node.state == "inactive"

    def test_states_that_stop_coming_fail_it(self, caplog):
        node = in_motion()
        node.arm.world.silent = True
        node.ask("deactivate")
        assert node.wait() is False
        assert (node.state, node.arm.motion.phase) == ("active", Phase.FAULT)
        assert "sends no states, it may still move: use the emergency stop" in caplog.text

    def test_after_that_failure_another_one_tries_again_what_can_be_known(self):
        node = in_motion()
        node.arm.world.silent = True
        node.ask("deactivate")
        node.wait()
        node.arm.world.silent = False
        assert node.ask("deactivate"), "nothing that this node has sent is under way any more"
        assert node.state == "inactive"

    def test_a_robot_that_was_blocked_is_at_rest(self):
        """The motion ends as a fault: it never showed.  But the robot stands, and says so."""
        arm = Arm()
        node = Node(arm)
        arm.start()
        arm.world.frozen = True
        arm.wait_for(Phase.BRAKING)
        node.ask("deactivate")
        assert node.wait()
        assert (arm.motion.phase, arm.motion.reason) == (Phase.FAULT, Reason.NOT_MOVING)
        assert node.state == "inactive"

    def test_nothing_that_moves_ends_it_at_once(self):
        node = Node(Arm())
        assert node.ask("deactivate")
        assert node.state == "inactive"
        assert sent(node.arm) == 0


class TestControllersThatOweAnAnswer:
    def begun(self):
        arm = Arm()
        node = Node(arm)
        arm.controller.answers = None
        arm.start()
        arm.pass_time(0.1)
        assert node.ask("deactivate") is None
        return node

    def test_what_is_accepted_too_late_is_cancelled_before_it_ends(self):
        node = self.begun()
        node.arm.pass_time(1.0)
        node.arm.lifecycle.look()
        assert node.state == "deactivating"
        (goal,) = node.arm.controller.sent
        node.arm.controller.answer(goal, True)
        assert node.wait()
        assert (node.state, goal.asked) == ("inactive", 1)
        assert speed(node.arm) <= MOVED

    def test_where_no_answer_comes_it_fails_and_says_what_to_do(self, caplog):
        node = self.begun()
        assert node.wait() is False
        assert node.state == "active"
        assert "/arm/follow_joint_trajectory has not answered" in caplog.text
        assert "restart the controller" in caplog.text

    def test_a_controller_that_goes_owes_nothing(self):
        node = self.begun()
        node.arm.controller.go()
        assert node.wait()
        assert node.state == "inactive"


class TestCleanupAndShutdown:
    def test_a_plan_under_way_is_ended_first(self):
        node = Node(Arm())
        job = node.arm.executor._slot.take("a plan")
        assert node.ask("deactivate"), "a plan is nothing that moves"
        assert not node.cancelled
        assert node.ask("cleanup") is None
        assert (node.state, node.cancelled, node.closed) == ("cleaningup", True, False)
        node.arm.lifecycle.look()
        assert node.state == "cleaningup"
        job.end()
        assert node.wait()
        assert (node.state, node.closed) == ("unconfigured", True)

    def test_a_shutdown_in_motion_brakes(self):
        node = in_motion()
        assert node.ask("shutdown") is None
        assert not node.closed
        assert node.wait()
        assert (node.state, node.closed) == ("finalized", True)
        assert (node.arm.motion.phase, speed(node.arm) <= MOVED) == (Phase.STOPPED, True)
        assert node.arm.text.startswith("the node is shut down")

    def test_a_shutdown_whose_robot_is_not_seen_at_rest_says_so_and_ends(self, caplog):
        node = in_motion()
        node.arm.world.silent = True
        node.ask("shutdown")
        assert node.wait() is False
        assert (node.state, node.closed) == ("finalized", True)
        assert "use the emergency stop" in caplog.text


class TestFaults:
    def test_a_fault_in_a_transition_brakes_the_robot(self, monkeypatch):
        node = in_motion()
        executor, wrong = node.arm.executor, [ZeroDivisionError("a fault of this program")]
        rest = executor.rest

        def once(why):
            if wrong:
                raise wrong.pop()
            return rest(why)

        monkeypatch.setattr(executor, "rest", once)
        assert node.ask("deactivate") is None
        assert node.state == "errorprocessing"
        assert node.arm.motion.phase is Phase.BRAKING
        assert node.wait() is False
        assert (node.state, node.arm.motion.phase) == ("unconfigured", Phase.STOPPED)
        assert speed(node.arm) <= MOVED

    def test_a_fault_in_a_transition_of_a_robot_that_is_not_seen_at_rest_finalizes(
        self, monkeypatch, caplog
    ):
        node = in_motion()
        rest = node.arm.executor.rest
        wrong = iter([lambda: 1 / 0])
        monkeypatch.setattr(node.arm.executor, "rest", lambda why: next(wrong, None) or rest(why))
        node.arm.world.silent = True
        node.ask("deactivate")
        assert node.wait() is False
        assert node.state == "finalized"
        assert "use the emergency stop" in caplog.text
