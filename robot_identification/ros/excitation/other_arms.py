"""Other robots of the cell, as their joint states say where they stand."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from rclpy.node import Node
from sensor_msgs.msg import JointState

from robot_identification.collision import engine
from robot_identification.collision.cells.other_arms import Postures
from robot_identification.collision.model import described_cell
from robot_identification.errors import StaleStateError
from robot_identification.robot.files.loading import load_robot
from robot_identification.ros.common import qos
from robot_identification.ros.common.polled_subscription import PolledSubscription
from robot_identification.signals.positions.turns import way_apart

MOVED = 0.01
"""By how much a joint may be off where it stood, in rad or m, before that counts as moving."""

_AT_REST = 0.5
"""For how long a robot must have stood still, in s."""


@dataclass
class WatchedArm:
    """Joint states of one robot that have arrived.

    Those of other joints, as of its gripper or of another robot on the same topic, say nothing.

    Attributes:
        name: of the robot in the cell file.
        topic: of its joint states.
        joints: names of its joints.
        position: the last position of every joint that has told it, in rad or m by name.
        come: when it did, in s by name.
    """

    name: str
    topic: str
    joints: frozenset[str]
    position: dict[str, float] = field(default_factory=dict)
    come: dict[str, float] = field(default_factory=dict)
    _others: str = ""  # joints in the last state that had none of the robot
    _stood: dict[str, float] = field(default_factory=dict)
    _since: float = -math.inf  # of a robot that nobody has seen moving

    def add(self, message: JointState, now: float) -> None:
        """Take in a joint state; one that says nothing of use counts as none."""
        if len(message.name) != len(message.position) or not message.name:
            return
        told = zip(message.name, message.position, strict=True)
        own = {name: position for name, position in told if name in self.joints}
        if not own:
            self._others = ", ".join(message.name)
        if not all(map(math.isfinite, own.values())):
            return
        for name, position in own.items():
            stood = self._stood.setdefault(name, position)
            if way_apart(stood, position) > MOVED:
                self._stood[name], self._since = position, now
            self.position[name], self.come[name] = position, now

    def posture(self, now: float, timeout: float) -> dict[str, float]:
        """Return where the robot stands.

        Args:
            now: the present time, in s.
            timeout: age from which on a state does not count, in s.

        Raises:
            StaleStateError: nobody has said so lately, or it moves.
        """
        who = str(self)
        if not self.come:
            why = "is its driver running?"
            if self._others:
                names = ", ".join(sorted(self.joints))
                why = f"states there are of {self._others}, its joints are {names}"
            raise StaleStateError(f"{who} has not said where it stands: {why}")
        silent, age = self._silent(now)
        if age > timeout:
            raise StaleStateError(
                f"{who} has not said for {age:.1f} s where it stands (joint {silent}); its driver "
                f"must tell it every {timeout:g} s (arm_timeout)"
            )
        if now - self._since < _AT_REST:
            raise StaleStateError(f"{who} moves; wait until it stands still")
        return dict(self.position)

    def departure(self, posture: Mapping[str, float], now: float, timeout: float) -> str:
        """Return how the robot is not where it stood, as far as is known; empty if it is there.

        Args:
            posture: where it stood, as :meth:`posture` has said.
            now: the present time, in s.
            timeout: as there.
        """
        for name, stood in posture.items():
            if way_apart(stood, self.position[name]) > MOVED:
                return f"{self} has moved: {name} from {stood:.3f} to {self.position[name]:.3f}"
        if not self.come or self._silent(now)[1] > timeout:
            return f"{self} does not say any more where it stands"
        return ""

    def _silent(self, now: float) -> tuple[str, float]:
        """Return the joint that has told nothing for longest, and for how long, in s."""
        name = min(self.come, key=self.come.__getitem__)
        return name, now - self.come[name]

    def __str__(self) -> str:
        return f"the other robot {self.name} (joint states on {self.topic})"


_Key = tuple[str, str, frozenset[str]]


class OtherArms:
    """Listens to the other robots that robot file and cell file name with a topic.

    Args:
        node: the node that listens.
        robot: robot file, URDF, or name of the robot that is to move.
        cell: cell file; empty: none.
        timeout: age from which on a state does not count, in s.
        clock: returns a time that never jumps, in s.

    Raises:
        RobotDescriptionError, SettingError: as :meth:`postures`.
    """

    def __init__(
        self,
        node: Node,
        robot: str,
        cell: str,
        *,
        timeout: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._node, self._robot, self._cell = node, robot, cell
        self._timeout, self._clock = timeout, clock
        self._watched: dict[_Key, tuple[WatchedArm, PolledSubscription]] = {}
        self._used: list[tuple[WatchedArm, dict[str, float]]] = []
        self._find()

    def _find(self) -> list[WatchedArm]:
        """Return the robots that the files name now; one that is new is listened to from now on."""
        if not engine.available():  # then nothing is checked
            return []
        told = described_cell(self._robot, self._cell or None).arms
        found = []
        for arm in told:
            if not arm.joint_states:
                continue
            joints = load_robot(arm.robot, closed_loops=True).joint_names
            key = (arm.name, arm.joint_states, frozenset(joints))
            if key not in self._watched:
                where = f"arms: {arm.name}: joint_states"
                qos.require_topic_name(self._node, where, arm.joint_states)
                own = PolledSubscription(
                    self._node, JointState, arm.joint_states, qos.STATES_WATCHED
                )
                self._watched[key] = (WatchedArm(*key), own)
            found.append(self._watched[key][0])
        return found

    def take(self) -> None:
        """Take in the states that have come."""
        for arm, waiting in self._watched.values():
            for message in waiting.take(qos.STATES_WATCHED.depth):
                arm.add(message, self._clock())

    def postures(self) -> Postures:
        """Return where every robot stands that tells it; a motion that begins relies on it.

        Raises:
            RobotDescriptionError: a file is wrong.
            SettingError: a file names a topic that there cannot be.
            StaleStateError: one has not told it lately, or moves.
        """
        found = self._find()
        self.take()
        now = self._clock()
        self._used = [(arm, arm.posture(now, self._timeout)) for arm in found]
        return {arm.name: posture for arm, posture in self._used}

    def problem(self) -> str:
        """Return why a motion must end: a robot is not where it stood; empty if all are."""
        now = self._clock()
        texts = (arm.departure(posture, now, self._timeout) for arm, posture in self._used)
        return next(filter(None, texts), "")
