"""Experiments: one joint moves, the effort of one joint is read, the others hold.

A joint with Coulomb friction that holds takes up part of the effort by stiction, so that its motor
says nothing about what moves in front of it.  Such a joint creeps while its effort is read: slowly,
in one direction during a step forth and back and in the other during the next, which also tells its
friction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_identification.excitation.motions.braking import stopping_places
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.one_joint.motions import (
    damped_step,
    hold,
    joined,
    of_joint,
    quintic_step,
    ramp_time,
    sweep,
    together,
)
from robot_identification.excitation.one_joint.settings import OneJointSettings
from robot_identification.identification.one_joint.conversion import rubs
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.joint import JointType
from robot_identification.robot.model import RobotModel

_HALVINGS = 5
_LEAST_TRAVEL = {JointType.REVOLUTE: 0.01, JointType.PRISMATIC: 0.002}


@by_value
@dataclass(frozen=True)
class Motion:
    """Motion of an experiment, wherever it begins.

    Attributes:
        moving: index of the joint that steps.
        measured: index of the joint whose effort tells, behind the moving one or the same.
        equation: equations of Lin 1992 that hold where nothing creeps.
        relative: positions of all joints from the first posture on, back to it at the end.
        lower: (joints,) smallest positions to begin at, so that limits hold while braking too.
        upper: (joints,) largest positions to begin at.
    """

    moving: int
    measured: int
    equation: str
    relative: Trajectory
    lower: Array
    upper: Array

    @property
    def creeps(self) -> bool:
        """Whether the measured joint creeps."""
        return self.moving != self.measured and bool(
            np.ptp(self.relative.positions[:, self.measured]) > 0.0
        )

    @property
    def joints(self) -> tuple[int, ...]:
        """Joints that must be able to move."""
        return (self.moving, self.measured) if self.creeps else (self.moving,)

    def samples(self, count: int) -> tuple[Array, Array, Array]:
        """Return relative positions, velocities and accelerations (count, joints), evenly."""
        return self.relative.sample(np.linspace(0.0, self.relative.duration, count))


@by_value
@dataclass(frozen=True)
class Experiment:
    """A motion from a posture.

    Attributes:
        motion: what moves.
        posture: (joints,) where it begins and ends, in rad or m.
    """

    motion: Motion
    posture: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "posture", read_only(self.posture))

    @property
    def trajectory(self) -> Trajectory:
        """The motion as positions of the joints, from rest to rest."""
        relative = self.motion.relative
        return Trajectory(
            relative.joint_names,
            relative.times,
            relative.positions + self.posture,
            relative.velocities,
            relative.accelerations,
        )


class MotionLibrary:
    """Motions of every pair of joints inside the limits of a robot.

    Args:
        robot: the robot.
        limits: of its motion; postures stay inside of them.
        settings: how it is moved.
    """

    def __init__(self, robot: RobotModel, limits: MotionLimits, settings: OneJointSettings) -> None:
        self._robot = robot
        self._limits = limits
        self._settings = settings
        self._fast = limits.tightened(velocity=settings.share, acceleration=settings.share)
        self._found: dict[tuple[int, int], Motion | str] = {}

    def motion(self, moving: int, measured: int) -> Motion | str:
        """Return the motion, or in words why there is none.

        Args:
            moving: index of the joint that steps.
            measured: index of the joint whose effort is read.
        """
        key = (moving, measured)
        if key not in self._found:
            self._found[key] = self._build(moving, measured)
        return self._found[key]

    def _build(self, moving: int, measured: int) -> Motion | str:
        for joint in {moving, measured if rubs(self._robot, measured) else moving}:
            if why := self._settings.why_held(self._robot.joint_names[joint]):
                return why
        wanted = self._travels()
        for halving in range(_HALVINGS + 1):
            travels = wanted / 2.0**halving
            relative = self._relative(moving, measured, travels)
            low, high = (
                places.min(axis=0, initial=0.0) if i == 0 else places.max(axis=0, initial=0.0)
                for i, places in enumerate(stopping_places(self._limits, relative))
            )
            lower, upper = self._limits.lower - low, self._limits.upper - high
            if (lower <= upper).all():
                return Motion(
                    moving, measured, self._equation(moving, measured), relative,
                    read_only(lower), read_only(upper),
                )  # fmt: skip
            if travels[moving] / 2.0 < _LEAST_TRAVEL[self._robot.joints[moving].type]:
                break
        joint = int(np.argmax(lower - upper))
        width = float(self._limits.upper[joint] - self._limits.lower[joint])
        return f"{self._robot.joint_names[joint]} has a range of {width:.3g} only"

    def slow_speed(self, joint: int) -> float:
        """Return the speed of slow motion and of creeping of a joint, in rad/s or m/s."""
        return float(self._settings.slow * self._limits.velocity[joint])

    def _travels(self) -> Array:
        chosen = self._settings
        wanted = [
            chosen.stroke if joint.type is JointType.PRISMATIC else chosen.travel
            for joint in self._robot.joints
        ]
        return np.array(wanted)

    def _relative(self, moving: int, measured: int, travels: Array) -> Trajectory:
        step = self._step(moving, float(travels[moving]))
        names = self._robot.joint_names
        if moving == measured:
            parts = [step]
            if any(not t.kind.stores_energy for t in self._robot.joints[moving].joint_terms):
                parts += self._slow(moving, float(travels[moving]))
            return together(names, {moving: joined(parts)})
        if not rubs(self._robot, measured):
            return together(names, {moving: step})
        single = of_joint(self._fast, measured)
        # The joint comes to its speed before the step begins and leaves it when the step has ended.
        speed = min(self.slow_speed(measured), float(travels[measured]) / step.duration)
        ramp = ramp_time(speed, single)
        creep = sweep(speed * (step.duration + ramp), speed, single)
        back = sweep(-speed * (step.duration + ramp), speed, single)
        lead = hold(ramp)
        return together(
            names,
            {
                moving: joined([lead, step, lead, lead, step, lead]),
                measured: joined([creep, back]),
            },
        )

    def _step(self, joint: int, travel: float) -> Trajectory:
        """Return a step forth and back with rest around."""
        single, rest = of_joint(self._fast, joint), hold(self._settings.pause)

        def step(way: float) -> Trajectory:
            if self._settings.profile == "damped":
                return damped_step(way, self._settings.sigma, single)
            return quintic_step(way, single)

        return joined([rest, step(travel), rest, step(-travel), rest])

    def _slow(self, joint: int, travel: float) -> list[Trajectory]:
        """Return slow motion in both directions."""
        single = of_joint(self._fast, joint)
        speed = self.slow_speed(joint)
        return [sweep(travel, speed, single), sweep(-travel, speed, single)]

    def _equation(self, moving: int, measured: int) -> str:
        slides = [j.type is JointType.PRISMATIC for j in self._robot.joints]
        if slides[moving]:
            return "60" if slides[measured] else "59"
        if slides[measured]:
            return "57, 61"
        return "58" if moving == measured else "56"
