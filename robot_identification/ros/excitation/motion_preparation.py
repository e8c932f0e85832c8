"""Preparation of a motion before it begins: certified from where the robot stands, and checked.

Nothing moves here.  A preview and a start prepare the same and refuse for the same reasons.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from robot_identification.ros.common.parameters.declaration import NodeParameters
from robot_identification.ros.controllers.choice import Controller
from robot_identification.ros.controllers.transport import Transport
from robot_identification.ros.excitation.checks.check import Check
from robot_identification.ros.excitation.checks.preflight import (
    lifecycle_check,
    preflight,
    require,
)
from robot_identification.ros.excitation.markers import MarkerPublisher
from robot_identification.ros.excitation.other_arms import OtherArms
from robot_identification.ros.excitation.outline import preview_text
from robot_identification.ros.excitation.parameters import ExcitationParameters
from robot_identification.ros.excitation.point_efforts import PointEfforts
from robot_identification.ros.planning.planner import Planner
from robot_identification.ros.planning.planning import PlanningJob
from robot_identification.ros.planning.preparation import Prepared, prepare
from robot_identification.ros.planning.worker import Planned
from robot_identification.ros.robots.view import RobotsWatch
from robot_identification.ros.supervision.braking import BrakingLimits
from robot_identification.ros.supervision.phases import Command, MotionSettings
from robot_identification.ros.supervision.supervisor import MotionSupervisor
from robot_identification.ros.supervision.watch import MotionWatch

_POINT = 1e-4
"""Time, in s, granted to make and send one point of a trajectory, a quarter of which it takes.

A trajectory of very many points, as with efforts in them, would else be sent after its start: a
controller jumps to where its reference is by then.
"""


class MotionPreparation:
    """Prepares motions through plans: certifies, checks, and makes what supervises them.

    Args:
        parameters: of the node.
        settings: returns how a motion that begins now is watched.
        require_active: raises NotActiveError where no motion may begin.
        controller: what the robot is moved by.
        watch: the joint states.
        planner: has the last plan.
        markers: shows what is about to move.
        arms: know where other robots stand.
        efforts: puts efforts into the points of what is sent.
        robots: knows which robot this node and the others have.
    """

    def __init__(
        self,
        parameters: NodeParameters[ExcitationParameters],
        *,
        settings: Callable[[], MotionSettings],
        require_active: Callable[[], None],
        controller: Controller,
        watch: MotionWatch,
        planner: Planner,
        markers: MarkerPublisher,
        arms: OtherArms,
        efforts: PointEfforts,
        robots: RobotsWatch,
    ) -> None:
        self._parameters, self._settings = parameters, settings
        self._require_active, self._controller = require_active, controller
        self._watch, self._planner, self._robots = watch, planner, robots
        self._markers, self._arms, self._efforts = markers, arms, efforts

    async def preview(self) -> str:
        """Check what a start would do from where the robot stands; return it for people.

        As before a start, a state that is a little late is waited for: nothing moves meanwhile.

        Raises:
            RobotIdentificationError: why it would be refused.
        """
        await self._watch.newer()
        speed = self._parameters.now.speed
        transport = self._controller.choose()
        prepared = self.prepare(*self._planner.latest(), None, speed)
        checks = self.checked(prepared, transport)
        await self._watch.newer()  # preparing took time in which no state was taken in
        self.supervisor_of(prepared).check(self._watch.now())
        return preview_text(prepared, speed, checks, self._efforts.text)

    def prepare(
        self, wanted: PlanningJob, planned: Planned, since: int | None, speed: float
    ) -> Prepared:
        """Certify a motion from where the robot stands, compute its efforts, and show it.

        Args:
            wanted: what the plan was made for.
            planned: the plan.
            since: place of the experiment to begin with; None: the whole plan.
            speed: share of the planned speed.

        Raises:
            RobotIdentificationError: it cannot begin as things are now.
        """
        tracking = tuple(self._settings().tracking_error.tolist())
        arms = self._arms.postures()
        sources = replace(wanted.sources, tracking_error=tracking, arms=arms)
        position = self._watch.fresh().position
        prepared = prepare(
            replace(wanted, sources=sources),
            planned.plan,
            position,
            since=since,
            speed=speed,
            approach_speed=self._parameters.now.approach_speed,
        )
        self._efforts.prepare(prepared.motions, position)
        around = prepared.machine.surroundings.collisions
        picture = self._markers.picture(around, prepared.motions, prepared.nearest)
        self._markers.publish(picture)
        return prepared

    def checked(self, prepared: Prepared, transport: Transport) -> tuple[Check, ...]:
        """Return the checks of a motion before it begins; refuse it where one of them does."""
        driver = self._watch.seen()
        values, robots = self._parameters.now, self._robots.view()
        checks = preflight(prepared, driver, transport, values, robots)
        require(checks)
        return (*lifecycle_check(self._require_active), *checks)

    def supervisor_of(self, prepared: Prepared) -> MotionSupervisor:
        """Return what supervises a motion; its start leaves time to send its longest part."""
        sent = (self._efforts.added(Command(motion, 0)).trajectory for motion in prepared.motions)
        points = max(len(trajectory.times) for trajectory in sent)
        return MotionSupervisor(
            limits=BrakingLimits(
                planned=prepared.machine.limits,
                declared=prepared.machine.declared,
                time=prepared.braking_time,
                lag_time=self._parameters.now.braking_lag_time,
            ),
            states=self._watch.states,
            settings=self._settings(),
            run=prepared.run,
            approach=prepared.approach,
            sending=_POINT * points,
        )
