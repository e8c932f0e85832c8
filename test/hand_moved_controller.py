"""A controller with the action FollowJointTrajectory that a test moves by hand; no ROS, no clock.

It stands on the robot of :mod:`watched_motion`, and what it does is what the test has set before.
"""

from types import SimpleNamespace

from action_msgs.msg import GoalStatus

from node_loggers import NodeLogger
from robot_identification.ros.common.jobs import JobSlot
from robot_identification.ros.common.joint_states import stamp_of
from robot_identification.ros.controllers.choice import Controller
from robot_identification.ros.controllers.goals import Outcome
from robot_identification.ros.excitation.execution import MotionExecutor
from robot_identification.ros.excitation.experiments import Course
from robot_identification.ros.messages.trajectories import trajectory_of
from robot_identification.ros.supervision.braking import hold
from robot_identification.ros.supervision.phases import Command
from watched_motion import BRAKING, World

REPLACED = "Current goal cancelled due to new incoming action."


class Goal:
    """A goal as its client sees it."""

    def __init__(self, controller, message):
        self.controller, self.message = controller, message
        self.accepted = self.outcome = self.cancelled = None
        self.asked = 0  # how often it was to be cancelled

    @property
    def command(self):
        stamp = stamp_of(self.message)
        return Command(trajectory_of(self.message), stamp, at_once=stamp == 0)

    def cancel(self):
        self.asked += 1
        self.controller.on_cancel(self)


class HandMovedController:
    """A client's view of the action, and the controller behind it.

    Attributes:
        sent: the goals.
        answers: what the next goals are answered: True, False, or None: nothing yet.
        cancels: the same of requests to cancel.
        there: whether the server is there.
        tells_end: whether results come.
        active: the goal under way.
    """

    name = "/arm/follow_joint_trajectory"

    def __init__(self, world):
        self.world, self.sent, self.active = world, [], None
        self.answers = self.cancels = self.there = self.tells_end = True

    def ready(self):
        return self.there

    def send(self, message):
        self.sent.append(Goal(self, message))
        if self.answers is not None:
            self.answer(self.sent[-1], self.answers)
        return self.sent[-1]

    def answer(self, goal, accepted):
        goal.accepted = accepted
        if accepted:
            if self.active is not None:
                self.active.outcome = Outcome(GoalStatus.STATUS_ABORTED, -1, REPLACED)
            self.active = goal
            self.world.take(goal.command)

    def on_cancel(self, goal):
        goal.cancelled = self.cancels
        if self.cancels and goal is self.active:
            self.end(GoalStatus.STATUS_CANCELED)

    def end(self, status=GoalStatus.STATUS_ABORTED, code=0, text=""):
        """End the goal under way; the robot stays where it is."""
        self.active.outcome, self.active = Outcome(status, code, text), None
        still = hold(BRAKING, self.world.names, self.world.position)
        self.world.take(Command(still, self.world.driver_now))

    def go(self):
        """Leave: the robot stands still, and says so."""
        self.there, self.world.frozen = False, True

    def look(self):
        """Tell the end of what is over."""
        over = self.active and self.world.driver_now >= self.active.command.end
        if over and self.tells_end:
            self.active.outcome = Outcome(GoalStatus.STATUS_SUCCEEDED)
            self.active = None

    def work(self, seconds):
        self.world.look()
        self.executor.look()


class Node:
    """Publishes on topics that a controller hears, or nobody; readers move nothing."""

    def __init__(self):
        self.published, self.heard, self.readers = {}, False, ()

    def create_publisher(self, _, topic, __, **_options):
        messages = self.published.setdefault(topic, [])
        return SimpleNamespace(
            publish=messages.append,
            topic_name=f"/arm/{topic}",
            wait_for_all_acked=lambda _: True,
        )

    def get_subscriptions_info_by_topic(self, _):
        names = (*self.readers, *(["controller"] if self.heard else []))
        return [SimpleNamespace(node_name=name, node_namespace="/arm") for name in names]

    def get_logger(self):
        return NodeLogger("controller")

    def get_name(self):
        return "excitation"

    def get_namespace(self):
        return "/arm"


class NoEfforts:
    """As PointEfforts where nobody asks for any."""

    text = ""

    def prepare(self, *_):
        pass

    def added(self, command):
        return command


class Arm:
    """The executor of the node excitation, the robot and its controller.

    Args:
        given: of the robot, see World.
        cancel_brakes: what the node is told of the controller.

    Attributes:
        problem_of_others: what is wrong with other robots of the cell.
    """

    def __init__(self, *, cancel_brakes=False, **given):
        self.world, self.node = World(**given), Node()
        self.problem_of_others = ""
        self.controller = HandMovedController(self.world)
        watch = SimpleNamespace(
            take=lambda moving=False: None,
            look=lambda moving=False: self.world.look() or True,
            limited=lambda: "",
            now=lambda: self.world.instant,
        )
        self.link = Controller(self.node, "auto", self.controller, cancel_brakes=cancel_brakes)
        self.executor = MotionExecutor(
            self.node, JobSlot(self.node.get_logger()), None,
            require_active=self._require_active, controller=self.link, watch=watch, planner=None,
            preparation=None, arms=SimpleNamespace(problem=lambda: self.problem_of_others),
            efforts=NoEfforts(), changed=lambda: None,
        )  # fmt: skip
        self.controller.executor = self.executor
        self.lifecycle = None  # of the node; None: it is active

    def _require_active(self):
        if self.lifecycle is not None:
            self.lifecycle.require_active()

    @property
    def motion(self):
        return self.world.motion

    @property
    def text(self):
        return self.executor.course.text

    @property
    def on_topic(self):
        return self.node.published["joint_trajectory"]

    @property
    def followed(self):
        return self.node.published["followed_trajectory"]

    def start(self):
        """Begin as the node does."""
        transport = self.link.choose()
        command = self.motion.begin(self.world.instant)
        self.executor.course = Course(None, self.motion, transport=transport)
        self.executor._sender.transport = transport
        self.executor._sender.send(command)

    def pass_time(self, seconds):
        end = self.world.elapsed + round(seconds * 1e9)
        while self.world.elapsed < end:
            self.controller.look()
            self.executor.look()

    def wait_for(self, *phases, longest=12.0):
        end = self.world.elapsed + round(longest * 1e9)
        while self.motion.phase not in phases and self.world.elapsed < end:
            self.pass_time(0.005)
        assert self.motion.phase in phases, self.text
