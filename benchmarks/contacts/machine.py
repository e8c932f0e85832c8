"""Motions under supervision in MuJoCo, as the node excitation does it, without ROS and clocks."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from contacts.arms import TRACKING, Place
from contacts.tally import Tally
from made_up_plans import random_plan
from robot_identification.dynamics.simulation.mujoco import MujocoLoop
from robot_identification.dynamics.simulation.sensors import Sensors, SensorSettings
from robot_identification.errors import NotCertifiedError
from robot_identification.excitation.certification.certificate import certify
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.files.mujoco_models import mujoco_robot
from robot_identification.ros.planning.planning import PlanningJob, Sources, load_machine
from robot_identification.ros.planning.preparation import Prepared, prepare
from robot_identification.ros.simulation.robot import RobotSimulator
from robot_identification.ros.supervision.braking import BrakingLimits
from robot_identification.ros.supervision.phases import Phase, Reason
from watched_motion import BEGIN, STEP, World

NANOSECONDS = 1e9
PERIOD = STEP / NANOSECONDS
STOPPED_EVERY = 3
REACH = 1.2  # rad, of what is wanted next from where the robot is
APPROACH_SPEED = 0.5


class Simulated(World):
    """A motion of a robot that MuJoCo moves, in the time of the simulation."""

    def __init__(self, robot: RobotSimulator, prepared: Prepared) -> None:
        machine = prepared.machine
        braking = BrakingLimits(machine.limits, machine.declared, prepared.braking_time, 1.0)
        self._robot, self._begin = robot, robot.next_sample * PERIOD
        super().__init__(prepared.approach, limits=braking, run=prepared.run)

    def follow(self) -> None:
        """Have MuJoCo compute the next sample."""
        self.position = self._robot.produce(1).position[0]

    def take(self, command: object) -> object:
        """Have the robot take a command."""
        if super().take(command) is not None:
            start = self._begin - PERIOD + (command.start - BEGIN) / NANOSECONDS
            self._robot.follow(command.sent, None if command.at_once else start)
        return command


class Robot:
    """An arm in a cell, in MuJoCo."""

    def __init__(self, place: Place, rng: np.random.Generator) -> None:
        self.place, self.rng = place, rng
        robot = place.model.robot
        model, drives = mujoco_robot(
            robot, place.robot, values=place.values, scene=place.model.scene
        )
        self.loop = MujocoLoop(robot, model, drives, sample_rate_hz=1.0 / PERIOD, contacts=True)
        joints = len(robot.joints)
        self.position = place.free(rng)
        sensors = Sensors(robot, SensorSettings(*[(0.0,) * joints] * 4), 0)
        self._simulator = RobotSimulator(self.loop, sensors, self.position)
        sources = Sources(place.robot, cell=str(place.cell), tracking_error=(TRACKING,) * joints)
        self._job, self._machine = PlanningJob(sources, None), load_machine(sources)

    def move(self, tally: Tally) -> bool:
        """Follow a random motion that is certified; every third one is stopped."""
        trajectory = self._drawn()
        if trajectory is None:
            return False
        certificate = certify(
            self._machine.robot, trajectory, start=trajectory.positions[0],
            surroundings=self._machine.surroundings,
        )  # fmt: skip
        plan = SimpleNamespace(trajectory=trajectory, certificate=certificate)
        if not certificate.passed:
            tally.not_certified += 1
            return False
        try:
            prepared = prepare(self._job, plan, self.position, approach_speed=APPROACH_SPEED)
        except NotCertifiedError:
            tally.no_way += 1
            return False
        self._follow(prepared, tally)
        return True

    def _drawn(self) -> Trajectory | None:
        """Return a random motion about a free posture near the robot."""
        limits = self._machine.limits
        whole = random_plan(self._machine.robot, self.rng, points=int(self.rng.integers(3, 8)))
        share = self.rng.uniform(0.05, 0.4)
        wanted = np.clip(
            self.position + self.rng.uniform(-REACH, REACH, len(self.position)),
            limits.lower, limits.upper,
        )  # fmt: skip
        middle = self.place.free_near(wanted)
        return Trajectory(
            whole.joint_names,
            whole.times,
            (1.0 - share) * middle + share * whole.positions,
            share * whole.velocities,
            share * whole.accelerations,
        )

    def _follow(self, prepared: Prepared, tally: Tally) -> None:
        world = Simulated(self._simulator, prepared)
        ways = [way for way in (prepared.approach, prepared.run) if way is not None]
        whole = sum(way.duration for way in ways)
        tally.motions += 1
        tally.went_around += len(ways) == 2 and len(ways[0].times) > 2
        stop = tally.motions % STOPPED_EVERY == 0
        world.begin()
        if stop:
            world.pass_time(self.rng.uniform(0.0, whole))
            tally.while_approaching += world.motion.phase is Phase.APPROACHING
            tally.stopped += world.stop() is not None
        while world.motion.moving:
            world.pass_time(0.1)
        tally.seconds_in_motion += world.elapsed / NANOSECONDS
        motion = world.motion
        if motion.phase is Phase.FAULT or motion.reason not in (Reason.NO_STOP, Reason.REQUESTED):
            tally.faults.append(motion.text)
        self.position = np.array(world.position)

    def told(self) -> tuple[int, float]:
        """Return contacts, and the smallest distance met."""
        return self.loop.contacts.count, self.loop.contacts.smallest

    def collide(self) -> None:
        """Send the arm to where something stands, without asking for a certificate."""
        way = self.place.collision(self.rng, self.position)
        self._simulator.follow(way, None)
        self._simulator.produce(round(way.duration / PERIOD) + 100)


def moved(place: Place, rng: np.random.Generator, wanted: int, tally: Tally) -> None:
    """Move an arm in a cell, and then into something."""
    robot = Robot(place, rng)
    until, tried = tally.motions + wanted, 0
    while tally.motions < until and tried < 20 * wanted:
        robot.move(tally)
        tried += 1
    tally.take(robot)
