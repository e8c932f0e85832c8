"""Commands of the excitation node without a node: what becomes of one that cannot be published."""

import re
from types import SimpleNamespace

import pytest

from hand_moved_controller import NoEfforts
from node_loggers import NodeLogger
from robot_identification.ros.common.jobs import JobSlot
from robot_identification.ros.controllers.choice import Controller
from robot_identification.ros.excitation.execution import MotionExecutor
from robot_identification.ros.excitation.experiments import Course
from robot_identification.ros.supervision.phases import Phase
from watched_motion import World


class Node:
    """Publishes, unless the middleware is broken."""

    def __init__(self):
        self.published, self.broken, self.logger = [], False, NodeLogger()

    def create_publisher(self, *_, **_options):
        return self

    def publish(self, message):
        if self.broken:
            raise RuntimeError("the middleware is broken")
        self.published.append(message)

    def wait_for_all_acked(self, _):
        return True

    def get_logger(self):
        return self.logger


@pytest.fixture
def moving():
    """Return a node that moves a robot, and that robot."""
    world, node = World(), Node()
    watch = SimpleNamespace(
        take=lambda moving=False: None,
        look=lambda moving=False: world.look() or True,
        now=lambda: world.instant,
        limited=lambda: "; a was at the effort limit",
    )
    arms = SimpleNamespace(problem=lambda: "")
    executor = MotionExecutor(
        node, JobSlot(node.get_logger()), None, require_active=lambda: None,
        controller=Controller(node, "topic", None), watch=watch, planner=None, preparation=None,
        arms=arms, efforts=NoEfforts(), changed=lambda: None,
    )  # fmt: skip
    executor.course = Course(None, world.motion)
    world.begin()
    world.pass_time(1.0)
    return SimpleNamespace(executor=executor, node=node, world=world, arms=arms)


def test_braking_that_cannot_be_published_is_published_as_soon_as_it_can(moving):
    moving.node.broken = True
    moving.executor.stop()
    assert moving.world.motion.phase is Phase.BRAKING
    assert "could not be published" in moving.node.logger.told[0]
    moving.executor.look()
    moving.node.broken = False
    moving.executor.look()
    moving.executor.look()
    (braking,) = moving.node.published
    command = moving.world.motion.command
    assert braking.points[-1].positions.tolist() == command.trajectory.positions[-1].tolist()


def test_a_node_that_ends_publishes_what_it_could_not_before(moving):
    moving.node.broken = True
    moving.executor.stop()
    moving.node.broken = False
    moving.executor.finish()
    assert len(moving.node.published) == 1
    moving.executor.finish()
    assert len(moving.node.published) == 1


def test_a_node_that_ends_tells_that_it_brakes(moving, monkeypatch):
    told = []
    monkeypatch.setattr(moving.executor, "_changed", lambda: told.append(moving.world.motion.phase))
    moving.executor.finish()
    assert told == [Phase.BRAKING]
    assert moving.world.motion.text == "the node ends"


def test_watching_that_fails_stops_the_robot(moving, monkeypatch):
    def fail(_):
        raise ZeroDivisionError("a fault of this program")

    monkeypatch.setattr(moving.world.motion, "tick", fail)
    moving.executor.look()
    assert moving.world.motion.phase is Phase.BRAKING
    assert len(moving.node.published) == 1
    assert "fault" in moving.world.motion.text


def test_braking_comes_to_its_end_though_watching_goes_on_failing(moving):
    def fail():
        raise ZeroDivisionError("a fault of this program")

    moving.arms.problem = fail
    moving.executor.look()
    moving.world.take(moving.world.motion.command)
    assert moving.world.motion.phase is Phase.BRAKING
    for _ in range(200):
        moving.executor.look()
    assert moving.world.motion.phase is Phase.STOPPED
    assert "fault" in moving.world.motion.text


def test_another_robot_that_leaves_its_place_stops_the_motion(moving):
    moving.executor.look()
    assert moving.world.motion.moving
    assert moving.world.motion.phase is not Phase.BRAKING
    moving.arms.problem = lambda: "the other robot has moved"
    moving.executor.look()
    assert moving.world.motion.phase is Phase.BRAKING
    assert moving.world.motion.text.startswith("the other robot has moved")
    moving.executor.look()  # braking goes on, and is looked after
    assert moving.world.motion.phase is Phase.BRAKING


def test_a_robot_that_cannot_follow_for_its_effort_limits_is_told_so(moving):
    moving.world.frozen = True
    for _ in range(100):
        moving.executor.look()
    text = moving.world.motion.text
    assert re.search(r" is 0\.1\d* off, more than 0\.1; a was at the effort limit", text), text


def test_a_robot_that_could_follow_and_is_late_is_told_so(moving):
    moving.executor._watch.limited = str
    moving.world.frozen = True
    for _ in range(100):
        moving.executor.look()
    text = moving.world.motion.text
    assert re.search(
        r" more than 0\.1; the robot stands where the trajectory was 0\.\d* s", text
    ), text


def test_a_stop_on_request_says_nothing_of_efforts(moving):
    moving.executor.stop()
    moving.executor.look()
    assert "effort" not in moving.world.motion.text
