"""Input of planning: the robot as its files describe it now, with margins to brake in.

Plans keep a share of the limits; the rest is for the controller.  Position limits are narrowed by
two ways: between the order to brake and braking proper the acceleration falls to zero, and the
robot moves on; and it brakes from where it is, which may be off its reference by as much as the
limit of the tracking error.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from robot_identification.collision.cells.other_arms import Postures
from robot_identification.collision.model import load_collision_model
from robot_identification.errors import SettingError
from robot_identification.excitation.certification.certificate import (
    Certificate,
)
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.motions.braking import release_time
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.one_joint.plan import OneJointPlan
from robot_identification.excitation.one_joint.settings import OneJointSettings
from robot_identification.excitation.plan import Plan
from robot_identification.excitation.plan_settings import PlanSettings
from robot_identification.files.parameters import with_law_of
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.loading import load_robot, with_joint_limits
from robot_identification.robot.files.values import load_values
from robot_identification.robot.joint import Joint
from robot_identification.robot.limits import (
    Limit,
    sources_in_words,
    stated_limits,
    wider_than_urdf,
)
from robot_identification.robot.model import RobotModel

AnyPlan = Plan | OneJointPlan
"""A plan of either method."""


@dataclass(frozen=True)
class Sources:
    """Files that describe a robot.

    Attributes:
        robot: robot file, URDF, or the name of a robot of the package.
        joint_limits: joint_limits.yaml that completes its limits; empty: none.
        prior: values of its standard parameters, to check efforts with; empty: none.
        velocity_share: share of the limits of velocity that motions use.
        acceleration_share: share of those of acceleration and jerk that motions and braking use.
        tracking_error: largest tracking error of every joint, in rad or m; empty: none.
        held: names of joints that do not move; they need no room to brake in.
        cell: cell file, beside what the robot file says of its cell; empty: none.
        clearance: distance in m that motions keep; 0: as the files say.
        arms: where other robots stand whose topics say so; None: as the cell file says.
        effort_meaning: what efforts are; empty: what the robot file says.
    """

    robot: str
    joint_limits: str = ""
    prior: str = ""
    velocity_share: float = 0.95
    acceleration_share: float = 0.6
    tracking_error: tuple[float, ...] = ()
    held: tuple[str, ...] = ()
    cell: str = ""
    clearance: float = 0.0
    arms: Postures | None = None
    effort_meaning: str = ""


@dataclass(frozen=True)
class PlanningJob:
    """A plan to be made: where the robot is described, and how to plan."""

    sources: Sources
    settings: PlanSettings | OneJointSettings


@dataclass(frozen=True)
class Machine:
    """A robot that may be moved.

    Attributes:
        robot: with the narrowed limits that plans, approach and braking keep.
        limits: these limits.
        described: with the limits of the robot itself.
        declared: these limits.
        surroundings: prior model and obstacles.
        release: time from the order to brake to braking proper, in s.
    """

    robot: RobotModel
    limits: MotionLimits
    described: RobotModel
    declared: MotionLimits
    surroundings: Surroundings
    release: float

    def braking_time(self, certificate: Certificate) -> float:
        """Return the longest time from the order to brake to rest, in s.

        While the acceleration falls from its limit to zero, the velocity grows by as much as
        braking takes away in three quarters of that time.
        """
        return 1.75 * self.release + certificate.braking_time


def load_machine(sources: Sources) -> Machine:
    """Read the files.

    Raises:
        UnknownRobotError: there is no such robot.
        RobotDescriptionError: a file is wrong.
        MissingLimitError: a joint lacks a limit of position, velocity or acceleration.
        SettingError: the tracking error leaves a joint no room.
    """
    robot = described(sources)
    prior = load_values(sources.prior, robot, complete=True) if sources.prior else None
    limits = MotionLimits.of(robot)
    margin = _braking_room(limits, sources)
    joints = tuple(
        _narrowed(joint, sources, 0.0 if joint.name in sources.held else float(room))
        for joint, room in zip(robot.joints, margin, strict=True)
    )
    inner = replace(robot, joints=joints)
    return Machine(
        inner,
        MotionLimits.of(inner),
        robot,
        limits,
        _surroundings(sources, robot, prior),
        release_time(limits),
    )


def _surroundings(sources: Sources, robot: RobotModel, prior: Array | None) -> Surroundings:
    """Return what is known besides the limits, for a robot that may be off its reference."""
    collisions = load_collision_model(
        sources.robot,
        robot,
        cell=sources.cell or None,
        clearance=sources.clearance or None,
        arms=sources.arms,
    )
    off = np.array(sources.tracking_error) if sources.tracking_error else None
    return Surroundings.around(collisions, prior=prior, off=off)


def joints_without_room(sources: Sources) -> tuple[str, ...]:
    """Return the names of the joints whose ranges braking alone would take up.

    Raises:
        UnknownRobotError, RobotDescriptionError, MissingLimitError: as :func:`load_machine`.
    """
    robot = described(sources)
    limits = MotionLimits.of(robot)
    cramped = limits.half_range <= _braking_room(limits, sources)
    return tuple(name for name, none in zip(robot.joint_names, cramped, strict=True) if none)


def _braking_room(limits: MotionLimits, sources: Sources) -> Array:
    """Return (joints,) what the way to rest takes of the position range at both ends."""
    room: Array = release_time(limits) * limits.velocity + np.array(sources.tracking_error or 0.0)
    return room


def described(sources: Sources) -> RobotModel:
    """Return the robot with its true limits, and with the friction law of its prior."""
    robot = load_robot(sources.robot, effort_meaning=sources.effort_meaning or None)
    if sources.prior:
        robot = with_law_of(sources.prior, robot)
    return with_joint_limits(robot, sources.joint_limits) if sources.joint_limits else robot


def _narrowed(joint: Joint, sources: Sources, room: float) -> Joint:
    def less(value: float | None, share: float) -> float | None:
        return None if value is None else share * value

    given = joint.limits
    if given.lower is None or given.upper is None:
        return joint
    if 2.0 * room >= given.upper - given.lower:
        raise SettingError(
            "tracking_error_limit",
            list(sources.tracking_error),
            f"{joint.name} can move from {given.lower:g} to {given.upper:g}, and braking needs "
            f"{room:.3g} at both ends: give a smaller one",
        )
    limits = replace(
        given,
        lower=given.lower + room,
        upper=given.upper - room,
        velocity=less(given.velocity, sources.velocity_share),
        acceleration=less(given.acceleration, sources.acceleration_share),
        jerk=less(given.jerk, sources.acceleration_share),
    )
    told = {
        name: f"{source}, narrowed by the node"
        if getattr(limits, name) != getattr(given, name)
        else source
        for name, source in joint.limit_sources.items()
    }
    return replace(joint, limits=limits, limit_sources=told)


def wider_limits(machine: Machine) -> str:
    """Return where limits go beyond those of the URDF, for people; empty if nowhere."""
    kinds = get_args(Limit)
    wider = [text for kind in kinds for text in wider_than_urdf(machine.described, kind)]
    return f"; limits wider than in the URDF: {'; '.join(wider)}" if wider else ""


def limit_sources(machine: Machine) -> str:
    """Return where the limits stand, for people; empty if nobody knows."""
    sources = sources_in_words(stated_limits(machine.described))
    return f"; limits from {sources}" if sources else ""
