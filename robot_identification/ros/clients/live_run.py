"""A live run over the services of the nodes: what is asked of them, one after the other."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

from robot_identification.errors import RobotDescriptionError, UnknownRobotError
from robot_identification.identification.didim.loop import declared_controller
from robot_identification.identification.estimators.choice import DIDIM
from robot_identification.msg import ExcitationStatus as Status
from robot_identification.robot.drives import require_effort_conversion
from robot_identification.robot.files.loading import load_robot
from robot_identification.ros.clients.asking import Report
from robot_identification.ros.clients.motion import ON_THEIR_WAY, MotionStoppedError, follow
from robot_identification.ros.clients.verbs import Verbs


@dataclass(frozen=True)
class Move:
    """A motion that reached its end.

    Attributes:
        trajectory_hash: of the plan that was followed.
        speed: share of the planned speed.
        seconds: duration of the trajectory at that speed.
        recording: identifier of its recording; empty where it was not recorded.
    """

    trajectory_hash: str
    speed: float
    seconds: float
    recording: str = ""


class LiveRun:
    """Plans that are previewed, followed and recorded.

    Args:
        verbs: of the nodes.

    Attributes:
        verbs: as given.
    """

    def __init__(self, verbs: Verbs) -> None:
        self.verbs = verbs

    def planned(self, expected: str = "") -> str:
        """Return the hash of the plan that the next start executes; empty where there is none.

        Args:
            expected: the hash that it should have.  Where another one is told, later messages
                decide: the first ones may have been on their way since before that plan was made.
        """
        for _ in range(ON_THEIR_WAY):
            found = str(self.verbs.next_status().trajectory_hash)
            if found == expected:
                break
        return found

    def require_identification(self, method: str = "") -> None:
        """Refuse a robot of whose motion the node identification could make nothing.

        It asks before anything moves; where the file of the robot is not on this machine, or is
        not what the node has read any more, only the pre-flight of the motion tells.

        Args:
            method: of the identification; empty: none is asked for.

        Raises:
            SettingError: nobody has said what efforts mean, a drive gain is missing, or DIDIM has
                no controller to simulate.
        """
        said = self.verbs.robot_in_use("identification")
        if said is None:
            return
        try:
            robot = load_robot(
                said.file, effort_meaning=said.effort_meaning or None, closed_loops=True
            )
        except (RobotDescriptionError, UnknownRobotError):
            return
        if robot.digest == said.digest:
            require_effort_conversion(robot)
            if method == DIDIM.name:
                declared_controller(robot)

    def preview(self, speed: float) -> str:
        """Return what a start at a speed would do, and a line for each check; nothing moves.

        Args:
            speed: share of the planned speed.

        Raises:
            RequestRefusedError: it would be refused.
        """
        with self.verbs.changed("excitation", "speed", speed):
            return str(self.verbs.preview().message)

    def move(self, report: Report, speed: float, *, record: bool, refresh: bool = True) -> Move:
        """Have the robot follow the plan, and wait for its end; an interruption brakes it.

        Args:
            report: told how far the motion is.
            speed: share of the planned speed.
            record: whether to record meanwhile.
            refresh: whether the recording may refresh `identified_parameters` meanwhile.

        Raises:
            RequestRefusedError: the start, or the recording, is refused.
            MotionStoppedError: the motion was stopped before its end.
            OtherSpeedError: somebody else has set another speed meanwhile; it was braked.
            CancelledError: it was interrupted; the message says what became of the robot.
            NodeGoneError: the node does not say anything any more.
        """
        with ExitStack() as during:
            if not refresh:
                during.enter_context(self.verbs.changed("identification", "streaming", False))
            during.enter_context(self.verbs.changed("excitation", "speed", speed))
            recording = during.enter_context(self.verbs.recorded()) if record else None
            status = follow(self.verbs, report, speed=speed)
            if status.state != Status.FINISHED:
                raise MotionStoppedError(status)
        name = "" if recording is None else recording.name
        return Move(status.trajectory_hash, speed, status.duration, name)
