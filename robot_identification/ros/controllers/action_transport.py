"""The transport by the action FollowJointTrajectory: goals, their answers, and how to brake.

Nothing is sent to a controller that has not accepted the trajectory: what it accepts too late is
cancelled.  A goal in motion is braked by another one that takes its place.  Where the controller
refuses that one, does not answer in time or has gone, there are other ways: to cancel the goal in
motion, and the topic, where somebody has subscribed to it.  A controller that has ended a
trajectory itself stops by itself, and is sent nothing more.

Nothing here knows rclpy or reads a clock.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from enum import Enum

from trajectory_msgs.msg import JointTrajectory

from robot_identification.errors import StaleStateError
from robot_identification.ros.common import qos
from robot_identification.ros.common.joint_states import NANOSECONDS
from robot_identification.ros.controllers.goals import Goal, Wire
from robot_identification.ros.controllers.transport import Report, TopicTransport
from robot_identification.ros.messages.trajectories import message_of
from robot_identification.ros.supervision.clock import Instant
from robot_identification.ros.supervision.phases import Command

ANSWER_WITHIN = 0.2
"""Time, in s, after which braking that nobody has answered goes another way.

Controllers answer within some milliseconds; a robot in motion covers some tenths of its braking
distance meanwhile.
"""

_ENDS_WITHIN = 2.0
"""Time, in s, after the end of a braking trajectory in which the controller must have told it.

A controller that is paused, or whose speed is scaled, would go on with it whenever it is let go.
"""

_PAUSE = 0.02


class Way(Enum):
    """How a robot is braked."""

    GOAL = "the braking trajectory"
    CANCEL = "the request to cancel"
    TOPIC = "the braking trajectory on the topic"


class ActionTransport:
    """The action of a controller: it accepts or rejects, and tells the end.

    Args:
        wire: sends the goals.
        topic: the last way to brake.
        cancel_brakes: the controller brakes within the limits when a goal is cancelled; this way
            goes first then.
        accepted: called with every trajectory that the controller has accepted; with how the robot
            is to brake where a controller has cancelled or aborted one.
    """

    def __init__(
        self,
        wire: Wire,
        topic: TopicTransport,
        *,
        cancel_brakes: bool,
        accepted: Callable[[JointTrajectory], None],
    ) -> None:
        self._wire, self._topic, self._tell = wire, topic, accepted
        others = (Way.CANCEL, Way.GOAL) if cancel_brakes else (Way.GOAL, Way.CANCEL)
        self._order = (*others, Way.TOPIC)
        self._goal: Goal | None = None  # what the robot is to follow
        self._braking: Goal | None = None
        self._start = 0
        self._news: list[tuple[Goal, JointTrajectory]] = []  # sent, and not answered yet
        self._unwanted: list[Goal] = []  # to be cancelled if they are accepted
        self._given_up: list[Goal] = []  # the same, of a server that has gone: not waited for
        self._presumed: JointTrajectory | None = None  # how the robot brakes if a goal is cancelled
        self._ways: list[Way] | None = None  # those that are left; None: nothing is braked
        self._way: Way | None = None  # the one whose answer is awaited
        self._asked: Instant | None = None
        self._brakes_for = math.inf  # how long after that the braking trajectory may last, in s
        self._said: list[str] = []

    @property
    def name(self) -> str:
        """What trajectories go by, for people."""
        return f"the action {self._wire.name}"

    @property
    def listeners(self) -> tuple[str, ...]:
        """Name of the server, as long as there is one."""
        return (self._wire.name,) if self._wire.ready() else ()

    @property
    def text(self) -> str:
        """What the controller has said of the last trajectory, for people."""
        braked = None if self._braking is None else self._braking.outcome
        if self._goal is None or self._said:
            ended = [] if braked is None or braked.succeeded else [f"it has ended: {braked}"]
            return "; ".join(self._said + ended)
        if self._goal.accepted is None:
            return f"{self.name} has not accepted it yet"
        outcome = self._goal.outcome
        said = "accepted" if outcome is None else str(outcome)
        return f"{self.name}: {said}" if self._goal.accepted else ""

    @property
    def answered(self) -> bool:
        """Whether the controller has said if it follows the last trajectory."""
        return self._goal is None or self._goal.accepted is not None

    @property
    def settled(self) -> bool:
        """Whether everything that was sent has been answered."""
        return self._way is None and not self._unwanted

    def require_free(self) -> None:
        """Make sure that a motion may begin.

        Raises:
            StaleStateError: the controller owes an answer from before.
        """
        self._cancel_unwanted()
        if self._unwanted:
            raise StaleStateError(
                f"{self.name} has not answered what was sent before; it may still begin that: "
                "restart the controller"
            )

    def follow(self, command: Command) -> None:
        """Send a trajectory of the motion, in place of the one before."""
        self._goal, self._start = self._send(command), command.start
        self._ways = self._way = self._braking = self._presumed = None
        self._said = []

    def _send(self, command: Command) -> Goal:
        message = message_of(command.sent, command.stamp)
        goal = self._wire.send(message)
        self._news.append((goal, message))
        return goal

    def brake(self, command: Command, now: Instant) -> str:
        """Have the robot brake, in the first way, or after :attr:`.Report.again` in the next.

        Returns:
            Why nothing is sent; empty where something is.
        """
        if self._ways is None:
            if why := self._needless():
                if self._goal is not None and self._goal.accepted:
                    self._tell(message_of(command.sent, command.stamp))
                self._ways, self._said = [], [why]
                return why
            self._ways = list(self._order)
        while self._ways:
            if self._possible(self._ways[0]):
                self._go(self._ways[0], command)
                self._way, self._asked = self._ways.pop(0), now
                return ""
            self._ways.pop(0)
        self._way = None
        self._said.append(f"nobody takes a braking trajectory, neither {self.name} nor the topic")
        return self._said[-1]

    def _needless(self) -> str:
        """Return why a controller is not to be sent anything; empty: it is."""
        goal = self._goal
        if goal is None or goal.accepted is False:
            return "nothing more is sent, the robot stays where it stands"
        if goal.accepted is None:
            self._unwanted.append(goal)
            return (
                f"{self.name} had not accepted the trajectory: nothing more is sent, the robot "
                "stays where it stands"
            )
        if goal.outcome is not None and not goal.outcome.succeeded:
            return "the controller stops by itself, nothing more is sent"
        return ""

    def _possible(self, way: Way) -> bool:
        if way is Way.TOPIC:
            return bool(self._topic.listeners)
        ended = self._goal is None or self._goal.outcome is not None
        return self._wire.ready() and not (way is Way.CANCEL and ended)

    def _go(self, way: Way, command: Command) -> None:
        if way is Way.GOAL:
            self._braking = self._send(command)
            self._brakes_for = command.sent.duration + _ENDS_WITHIN
        elif way is Way.TOPIC:
            self._topic.follow(command)
            self._said.append(f"it is on {self._topic.name}")
        elif self._goal is not None:
            self._presumed = message_of(command.sent, command.stamp)
            self._goal.cancel()

    def look(self, now: Instant) -> Report:
        """Take in what the controller has said since the last look; return how the motion goes."""
        self._take_in()
        self._cancel_unwanted()
        if self._ways is not None:
            self._end_braking(now)
            return Report(again=self._look_after_braking(now))
        if self._goal is None:
            return Report()
        ended = self._goal.outcome is not None
        return Report(ended=ended, problem=self._problem(self._goal, now))

    def _take_in(self) -> None:
        """Tell what was accepted, and is not to be cancelled for that."""
        unwanted = (*self._unwanted, *self._given_up)
        for goal, message in self._news:
            if goal.accepted and goal not in unwanted:
                self._tell(message)
        self._news = [(goal, m) for goal, m in self._news if goal.accepted is None]

    def _cancel_unwanted(self) -> None:
        """Cancel what was accepted too late; wait no more for a server that seems to have gone.

        One that only stood still may accept what it finds when it goes on.
        """
        if not self._wire.ready():
            self._given_up += self._unwanted
            self._unwanted = []
        for goal in (*self._unwanted, *self._given_up):
            if goal.accepted:
                goal.cancel()
                self._said.append("it was accepted too late, and cancelled")
        self._unwanted = [goal for goal in self._unwanted if goal.accepted is None]
        self._given_up = [goal for goal in self._given_up if goal.accepted is None]

    def _problem(self, goal: Goal, now: Instant) -> str:
        """Return why the motion must be stopped; empty: nothing is known against it."""
        outcome = goal.outcome
        if goal.accepted is False:
            return f"{self.name} has rejected the trajectory; the controller's log may say why"
        if outcome is not None:
            return "" if outcome.succeeded else f"{self.name} has ended the trajectory: {outcome}"
        if not self._wire.ready():
            return f"{self.name} has gone"
        if goal.accepted is None and now.stamp >= self._start:
            return (
                f"{self.name} has not accepted the trajectory before its start; a larger "
                "start_lead gives it more time"
            )
        return ""

    def _look_after_braking(self, now: Instant) -> str:
        """Return why braking goes another way; empty where it does not."""
        taken = self._taken()
        if taken or self._way is None:
            self._way = None
            return ""
        if taken is None and self._wire.ready() and not self._late(now):
            return ""
        why = "was rejected" if taken is False else "was not answered"
        if taken is None and self._way is Way.GOAL and self._braking is not None:
            self._unwanted.append(self._braking)
        self._said.append(f"{self._way.value} {why}")
        self._way = None
        return self._said[-1]

    def _taken(self) -> bool | None:
        """Return whether the controller brakes as it was asked to; None: it has not answered."""
        if self._way is Way.GOAL and self._braking is not None:
            if self._braking.accepted:
                self._said.append(f"{self.name} has accepted {Way.GOAL.value}")
            return self._braking.accepted
        if self._way is Way.CANCEL and self._goal is not None:
            over = self._goal.outcome is not None
            if over or self._goal.cancelled:
                self._said.append(f"{self.name} has cancelled the trajectory")
                if self._presumed is not None:
                    self._tell(self._presumed)
                    self._presumed = None
            return over or self._goal.cancelled
        return True

    def _end_braking(self, now: Instant) -> None:
        """Cancel braking that the controller keeps for later: nothing resumes by itself."""
        goal = self._braking
        if goal is None or not goal.accepted or goal.outcome is not None:
            return
        if self._waited(now) > self._brakes_for:
            goal.cancel()
            self._brakes_for = math.inf
            self._said.append(f"{self.name} has not told the end of braking, which was cancelled")

    def _late(self, now: Instant) -> bool:
        """Tell whether an answer is overdue."""
        return self._waited(now) > ANSWER_WITHIN

    def _waited(self, now: Instant) -> float:
        """Return the time since braking was asked for, in s, by the clock of the controller."""
        if self._asked is None:
            return 0.0
        if now.simulated:
            return (now.stamp - self._asked.stamp) / NANOSECONDS
        return now.seconds_since(self._asked)

    def leave(self) -> None:
        """Take note that the motion is over; a trajectory that was never ended is cancelled."""
        if self._goal is not None and self._ways is None and self._goal.outcome is None:
            self._goal.cancel()
            self._said.append(f"{self.name} has not told the end, and was cancelled")

    def wait(self) -> None:
        """Wait until what was sent is answered, or some seconds."""
        end = time.monotonic() + qos.ARRIVED_WITHIN.nanoseconds / NANOSECONDS
        while not self.settled and time.monotonic() < end:
            self._wire.work(_PAUSE)
