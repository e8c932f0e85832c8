"""The node that plans exciting trajectories, has the robot follow them, and stops it.

One thread does everything that matters to a robot in motion: it takes in joint states and looks
after the motion two hundred times a second.  Plans are made in a process of their own.  The node is
managed: a motion begins only while it is active, and it is inactive only when the robot is at rest.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from std_srvs.srv import Trigger

from robot_identification.action import ExecuteExcitation
from robot_identification.action import PlanExcitation as PlanAction
from robot_identification.errors import NotActiveError, RobotIdentificationError
from robot_identification.ros.common import qos
from robot_identification.ros.common.actions import JobAction
from robot_identification.ros.common.jobs import Job, JobSlot
from robot_identification.ros.common.process import run
from robot_identification.ros.excitation import execution as executor
from robot_identification.ros.excitation.parameters import ExcitationParameters
from robot_identification.ros.excitation.works import ExcitationWorks
from robot_identification.ros.lifecycle.node import ManagedNode, checked_when_configured
from robot_identification.ros.messages.error_codes import code_name, error_code
from robot_identification.srv import PlanExcitation

_PLAN = "a plan"  # name of the job


class ExcitationNode(ManagedNode[ExcitationParameters, ExcitationWorks]):
    """Services and actions of the node; what they ask for is done by its works."""

    def __init__(self) -> None:
        super().__init__("excitation", ExcitationParameters)
        self._slot = JobSlot(self.get_logger())
        self.start()
        self._create_services()
        self._create_actions()

    def load(self) -> ExcitationWorks:
        """Return robot, watch, planner and executor, for the parameters as they are now."""
        source = self.settled_robot()
        return ExcitationWorks(
            self, self._slot, self.declared, self.lifecycle, source, self.diagnostics
        )

    def refuse_change(self, values: Mapping[str, Any]) -> str:
        """Return why parameters cannot change now; empty where they can."""
        return self._works().refuse_change(values)

    def parameters_changed(self) -> None:
        """Judge joint states by the parameters as they are now."""
        if self.works is not None:
            self.works.judge()

    def _works(self) -> ExcitationWorks:
        """Return the works.

        Raises:
            NotActiveError: the node is not configured.
        """
        if self.works is None:
            raise NotActiveError(self.get_fully_qualified_name(), self.lifecycle.state)
        return self.works

    def _create_services(self) -> None:
        group = ReentrantCallbackGroup()  # answers that take time leave the others their turn
        for kind, name, callback in (
            (PlanExcitation, "~/plan", self._on_plan),
            (Trigger, "~/preview", self._on_preview),
            (Trigger, "~/start", self._on_start),
            (Trigger, "~/continue", self._on_continue),
            (Trigger, "~/stop", self._on_stop),
            (Trigger, "~/cancel", self._on_cancel),
        ):
            self.create_service(
                kind, name, callback, qos_profile=qos.SERVICES, callback_group=group
            )

    def _create_actions(self) -> None:
        self._actions = [
            JobAction(
                self,
                PlanAction,
                "~/plan",
                slot=self._slot,
                work=_PLAN,
                perform=self._plan,
                on_cancel=self._cancel_plan,
            ),
            JobAction(
                self,
                ExecuteExcitation,
                "~/execute",
                slot=self._slot,
                work=executor.WORK,
                perform=self._execute,
                feedback=lambda status: self._works().feedback(status),
                on_cancel=self._stop,
            ),
        ]

    # Planning

    async def _on_plan(
        self, request: PlanExcitation.Request, response: PlanExcitation.Response
    ) -> PlanExcitation.Response:
        job = self._slot.take(_PLAN)
        if job is None:
            return self._slot.refuse(response)
        try:
            return await self._plan(request, response, job)
        finally:
            job.end()

    async def _plan(self, request: Any, response: Any, job: Job) -> Any:
        """Work off a request or a goal: their fields are the same."""
        try:
            works = self._works()
        except NotActiveError as error:
            return self._slot.failed("plan", response, error)
        return await works.planner.plan(request, response, job)

    def _cancel_plan(self) -> bool:
        return self.works is not None and self.works.planner.cancel()

    def _on_cancel(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if not self._cancel_plan():
            return _answer(response, False, "nothing is being planned; ~/stop stops a motion")
        return _answer(response, True, "the plan is being cancelled")

    # Motion

    async def _on_preview(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Certify what ~/start would do from where the robot stands; nothing moves."""
        if self._slot.busy:
            return _answer(response, False, f"BUSY: {self._slot.busy}")
        try:
            return _answer(response, True, await self._works().preparation.preview())
        except RobotIdentificationError as error:
            return _answer(response, False, f"{code_name(error_code(error))}: {error}")
        except Exception as error:  # noqa: BLE001
            # A fault of ours must reach the caller, not end the node that watches the robot.
            failed = self._slot.failed("preview", ExecuteExcitation.Result(), error)
            return _answer(response, False, f"{code_name(failed.error_code)}: {failed.message}")

    async def _on_start(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return await self._begin(response, resume=False)

    async def _on_continue(
        self, _: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        """Go on with the experiment that a stop has interrupted, from its beginning."""
        return await self._begin(response, resume=True)

    async def _begin(self, response: Trigger.Response, *, resume: bool) -> Trigger.Response:
        job = self._slot.take(executor.WORK)
        if job is None:
            return _answer(response, False, f"BUSY: {self._slot.busy}")
        goal = ExecuteExcitation.Goal(resume=resume)
        try:
            works = self._works()
        except NotActiveError as error:
            job.end()
            begun = self._slot.failed("start", ExecuteExcitation.Result(), error)
        else:
            begun = await works.executor.begin(goal, job)
        name = "" if begun.success else f"{code_name(begun.error_code)}: "
        return _answer(response, begun.success, name + begun.message)

    async def _execute(self, goal: Any, result: Any, job: Job) -> Any:
        """Work off a goal: its motion, to the end."""
        try:
            works = self._works()
        except NotActiveError as error:
            return self._slot.failed("start", result, error)
        done = await works.executor.execute(goal, result, job)
        done.status = works.status_message()
        return done

    def _on_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return _answer(response, True, self._stop())

    def _stop(self) -> str:
        return "nothing moves" if self.works is None else self.works.executor.stop()

    def finish(self) -> None:
        """Brake if something moves, then end."""
        if self.works is not None:
            self.works.executor.finish()
            self.works.close()
        for action in self._actions:
            action.destroy()


def _answer(response: Trigger.Response, success: bool, message: str) -> Trigger.Response:
    response.success, response.message = success, message
    return response


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(
        ExcitationNode,
        arguments,
        name="excitation",
        finish=ExcitationNode.finish,
        made=checked_when_configured,
    )


if __name__ == "__main__":
    sys.exit(main())
