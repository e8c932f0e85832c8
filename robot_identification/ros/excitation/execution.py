"""Executor of plans for the excitation node: has the robot follow them, watches and stops it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.task import Future

from robot_identification.action import ExecuteExcitation
from robot_identification.errors import CancelledError, NothingInterruptedError
from robot_identification.msg import ExcitationStatus
from robot_identification.ros.common.jobs import Job, JobSlot, refuse
from robot_identification.ros.common.parameters.declaration import NodeParameters
from robot_identification.ros.controllers.choice import Controller
from robot_identification.ros.excitation.experiments import Course, conclude
from robot_identification.ros.excitation.motion_preparation import MotionPreparation
from robot_identification.ros.excitation.other_arms import OtherArms
from robot_identification.ros.excitation.outline import outline
from robot_identification.ros.excitation.parameters import ExcitationParameters
from robot_identification.ros.excitation.point_efforts import PointEfforts
from robot_identification.ros.excitation.rest import Rest, unanswered
from robot_identification.ros.excitation.sending import CommandSender
from robot_identification.ros.lifecycle.transitions import Ending
from robot_identification.ros.messages.error_codes import CODES
from robot_identification.ros.planning.planner import Planner
from robot_identification.ros.supervision.phases import (
    LEFT_REFERENCE,
    MOVING,
    Command,
    Phase,
    Reason,
)
from robot_identification.ros.supervision.supervisor import MotionSupervisor
from robot_identification.ros.supervision.watch import MotionWatch

WORK = "a motion"
"""Name of the job."""


class MotionExecutor:
    """Moves the robot through the last plan.  One motion at a time; none goes on by itself.

    Args:
        node: the node.
        slot: where the turns of motions come from.
        parameters: of the node.
        require_active: raises NotActiveError where no motion may begin.
        controller: what the robot is moved by.
        watch: the joint states.
        planner: has the last plan.
        preparation: prepares the motion through it.
        arms: know where other robots stand.
        efforts: puts efforts into the points of what is sent.
        changed: called when a motion begins, changes its phase or ends.

    Attributes:
        course: the last motion through the last plan; None before the first.
        speed: share of the planned speed of that motion.
    """

    def __init__(
        self,
        node: Node,
        slot: JobSlot,
        parameters: NodeParameters[ExcitationParameters],
        *,
        require_active: Callable[[], None],
        controller: Controller,
        watch: MotionWatch,
        planner: Planner,
        preparation: MotionPreparation,
        arms: OtherArms,
        efforts: PointEfforts,
        changed: Callable[[], None],
    ) -> None:
        self._node, self._slot, self._parameters = node, slot, parameters
        self._watch, self._planner, self._preparation = watch, planner, preparation
        self._arms, self._efforts, self._changed = arms, efforts, changed
        self._require_active, self._controller = require_active, controller
        self._sender = CommandSender(node, efforts, controller.topic, now=watch.now)
        self.course: Course | None = None
        self.speed = 1.0
        self._job: Job | None = None  # that of the motion under way
        self._over: Any = Future()  # of the motion of the last goal
        self._answered: Any = Future()  # of the controller, to the first trajectory of a motion
        self._share = 0.0

    @property
    def _motion(self) -> MotionSupervisor | None:
        return None if self.course is None else self.course.motion

    async def execute(self, goal: Any, result: Any, job: Job) -> Any:
        """Work off a goal: its motion, to the end."""
        self._over = Future()
        begun = await self.begin(goal, job)
        if self._job is not job or self.course is None:
            return begun
        await self._over
        return conclude(result, self.course)

    async def begin(self, goal: Any, job: Job) -> Any:
        """Begin the plan, or what is left of it; the job ends when the robot is at rest.

        Returns:
            A result that says whether the robot is on its way, and else why not.
        """
        result = ExecuteExcitation.Result()
        try:
            self._require_active()
            await self._newer_state(job)  # the last one may be a little late
            wanted, planned = self._planner.latest(goal.trajectory_hash)
            transport = self._controller.choose()
            since = self._interrupted() if goal.resume else None
            speed = self._parameters.now.speed
            prepared = self._preparation.prepare(wanted, planned, since, speed)
            warnings = [c for c in self._preparation.checked(prepared, transport) if c.advice]
            await self._newer_state(job)  # preparing took time in which no state was taken in
            motion = self._preparation.supervisor_of(prepared)
            command = motion.begin(self._watch.now())
            # What is sent is watched, even if sending fails half-way.
            self.course = Course(planned.plan, motion, speed, since, transport)
            self._sender.transport = transport
            self._job, self.speed, self._share = job, speed, 0.0
            self._sender.send(command)
        except Exception as error:  # noqa: BLE001
            # A fault of ours must reach the caller, and others may ask if nothing moves.
            if self._job is not job:
                job.end()
            return self._slot.failed("start", result, error)
        for check in warnings:
            self._node.get_logger().warning(str(check))
        self._changed()
        await self._answer()
        if motion.reason is not Reason.NO_STOP:  # before the controller has accepted
            asked = motion.reason is Reason.REQUESTED
            told = Course(planned.plan, motion, speed, since, transport).text
            return refuse(result, CODES.CANCELLED if asked else CODES.STATE_STALE, told)
        begins = "" if since is None else f"from experiment {since + 1} on: "
        told = outline(prepared, speed, self._efforts.text)
        result.success, result.message = True, begins + told
        return result

    async def _newer_state(self, job: Job) -> None:
        """Wait for a state from now on.

        Raises:
            CancelledError: the motion was stopped meanwhile.
        """
        await self._watch.newer()
        if job.cancelled():
            raise CancelledError("stopped before anything moved")

    async def _answer(self) -> None:
        """Wait until the controller has said whether it follows, where it says so."""
        if not self._sender.transport.answered:
            self._answered = Future()
            await self._answered

    def forget(self) -> None:
        """Forget the last motion: another plan has taken the place of the one it went through."""
        self.course = None

    def _interrupted(self) -> int:
        if self.course is None:
            raise NothingInterruptedError("nothing was interrupted; ~/start begins the plan")
        return self.course.interrupted()

    def stop(self, why: str = "") -> str:
        """Brake, or keep a motion from beginning; return what is done, for people.

        Args:
            why: what the status says of it; empty: that a stop was requested.
        """
        if self._motion is None or not self._motion.moving:
            if not self._slot.cancel(WORK):
                if self._moves_after_fault():
                    return "nothing more is sent, but the robot moves: use the emergency stop"
                return "nothing moves"
            self._watch.wait_no_longer()
            return "nothing has moved yet"
        self._watch.take(moving=True)
        command = self._motion.stop(self._watch.now(), text=why)
        if command is None:
            return "braking already"
        needless = self._sender.send_or_keep(command)
        self._changed()
        return needless or f"braking: at rest in {command.trajectory.duration:.3f} s"

    def look(self) -> None:
        """Take in joint states and look after the motion under way."""
        moving = self._motion is not None and self._motion.moving
        judged = self._watch.look(moving=moving)
        if self._sender.unsent is not None:
            self._sender.send_or_keep(self._sender.unsent)
        if not moving:
            self._sender.transport.look(self._watch.now())
        if not judged or not moving or self._motion is None:
            return
        before = self._motion.phase
        command = self._tick(self._motion)
        if command is not None:
            self._sender.send_or_keep(command)
        if not self._answered.done() and (self._sender.transport.answered or self._motion.reason):
            self._answered.set_result(None)
        if self._motion.phase is not before:
            if self._motion.phase is Phase.BRAKING and self._motion.reason in LEFT_REFERENCE:
                self._motion.text += self._watch.limited() or self._motion.lateness()
            text = f"{self._motion.phase.name.lower()}: {self._motion.text}"
            self._node.get_logger().info(text)
            self._changed()
            if self._motion.phase not in MOVING:
                self._end()

    def _tick(self, motion: MotionSupervisor) -> Command | None:
        """Brake where watching itself fails: a robot that nobody watches must not move."""
        try:
            now, problem = self._watch.now(), self._arms.problem()
            braking = motion.stop(now, Reason.STATE_STALE, problem) if problem else None
            told = self._sender.transport.look(now)
            if braking is None and told.problem:
                braking = motion.stop(now, Reason.CONTROLLER, told.problem)
            if braking is None and told.again:
                braking = motion.brake_again(now)
            motion.ended = told.ended
            return motion.tick(now) if braking is None else braking
        except Exception as error:  # noqa: BLE001
            import traceback

            self._node.get_logger().error(
                f"watching failed:\n{traceback.format_exc()}", throttle_duration_sec=1.0
            )
            now, fault = self._watch.now(), f"a fault of this node: {error}"
            braking = motion.stop(now, Reason.STATE_STALE, fault)
            return motion.tick(now) if braking is None else braking  # braking must end too

    def _end(self) -> None:
        """Let others plan and move, and give a goal its result."""
        self._sender.transport.leave()
        if self._job is not None:
            self._job.end()
            self._job = None
        if not self._over.done():
            self._over.set_result(None)

    def tell(self, status: ExcitationStatus) -> None:
        """Tell the client of the motion under way, if there is one."""
        if self._job is not None:
            self._job.tell(status)

    def share(self) -> float:
        """Return the share of approach and trajectory that is done, 0 to 1; braking adds none."""
        if self.course is not None and self.course.motion.phase is not Phase.BRAKING:
            self._share = self.course.share_done(self._watch.now().stamp)
        return self._share

    def rest(self, why: str) -> Ending:
        """Brake, and tell when the robot is at rest.

        Args:
            why: as for :meth:`stop`.
        """
        moving = self._motion is not None and self._motion.moving
        self.stop(why)
        return Rest(
            self.course if moving or self._moves_after_fault() else None,
            self._sender.transport,
            busy=lambda: self._slot.works_on(WORK),
            now=self._watch.now,
        ).look

    def _moves_after_fault(self) -> bool:
        """Tell whether a robot that did not come to rest is seen to move still."""
        motion = self._motion
        if motion is None or motion.phase is not Phase.FAULT:
            return False
        return motion.seen_moving(self._watch.now())

    def finish(self) -> None:
        """Brake if something moves, and wait until what was sent has arrived and is answered."""
        if self._motion is not None and self._motion.moving:
            self._watch.take(moving=True)
            braking = self._motion.stop(self._watch.now(), text="the node ends")
            command = braking or self._sender.unsent
            if command is not None:
                self._sender.send_or_keep(command)
        elif self._sender.transport.settled:
            return
        self._sender.transport.wait()
        self._changed()  # who follows the motion hears that the robot was braked
        if not self._sender.transport.settled:
            self._node.get_logger().error(unanswered(self._sender.transport))
