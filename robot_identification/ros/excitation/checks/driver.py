"""Checks of the driver before a robot may move: rate, efforts, clock, joints that stand still."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robot_identification.errors import InputError, SettingError, StaleStateError
from robot_identification.robot.arrays import Array
from robot_identification.robot.drives import drive_gains
from robot_identification.robot.joint import Joint
from robot_identification.robot.model import EffortMeaning, RobotModel
from robot_identification.ros.common.joint_states import JointStateReader
from robot_identification.ros.excitation.checks.check import Check
from robot_identification.ros.supervision.driver import MOST_TIMEOUT, DriverView
from robot_identification.signals.positions.held_joints import HeldJoints

_LEAST_RATE = 100.0  # Hz
_MEASURED = 0.99  # share of a rate at which a driver that means it is measured at least
_MOST_JITTER = 0.5  # as a share of the period
_AHEAD = 0.005  # s; clocks that are synchronised over a network agree to better than that
_NO_EFFORT = 1e-9  # N m, N or A
_MOST_DISPUTED = 0.1  # of the states; a driver alone sends a wrong one now and then
_BEHIND = 0.5  # as a share of the timeout


def driver_check(driver: DriverView, robot: RobotModel) -> Check:
    """Return rate and jitter of the joint states, and the age at which they count as stale."""
    source = "state_timeout" if driver.timeout_given else "by rate and jitter"
    stale = f"stale after {driver.timeout:.3g} s ({source})"
    if math.isnan(driver.period):
        return Check("driver", f"{driver.topic}, too few states to tell the rate; {stale}")
    rate, share = 1.0 / driver.period, driver.jitter / driver.period
    told = f"{driver.topic} at {rate:.4g} Hz, jitter {1e3 * driver.jitter:.2g} ms; {stale}"
    cutoff = robot.processing.cutoff_hz or 0.0
    advice, dispute = [], _dispute(driver) if driver.disputed else ""
    if rate < _MEASURED * _LEAST_RATE or rate <= 2.0 * cutoff:
        wanted = max(_LEAST_RATE, 2.0 * cutoff)
        advice.append(
            f"more than {wanted:g} Hz are wanted to identify: raise the rate of the driver"
        )
    elif share > _MOST_JITTER:
        advice.append(
            "the stamps are irregular: have the driver stamp states when they are measured"
        )
    if not driver.timeout_given and driver.timeout >= MOST_TIMEOUT:
        advice.append("states are rare: give state_timeout by intent")
    if driver.disputed > _MOST_DISPUTED:
        refusal = StaleStateError(dispute)
        return Check("driver", f"{told}; {dispute}", "; ".join(advice), refusal)
    return Check("driver", told, "; ".join([*advice, *([dispute] if dispute else [])]))


def _dispute(driver: DriverView) -> str:
    """Return what is to be said of states that exclude each other."""
    told = (
        f"{100 * driver.disputed:.2g} % of the joint states tell positions that no motion explains "
        "beside those of the others"
    )
    if len(driver.publishers) < 2:
        return f"{told}: look at the driver, and for others that publish {driver.topic}"
    return (
        f"{told}: {' and '.join(driver.publishers)} publish {driver.topic}; stop what is not the "
        "driver of the robot"
    )


def effort_check(messages: Sequence[Any], robot: RobotModel) -> Check:
    """Return whether joint states have efforts that can be true.

    Args:
        messages: the last joint states.
        robot: the robot.
    """
    reader, name = JointStateReader(robot.joint_names, "joint_states"), "effort"
    try:
        efforts = np.array([reader.read_effort(m, i) for i, m in enumerate(messages)])
    except InputError as error:
        return Check(
            name,
            f"of no use: {error}",
            "nothing can be identified without, unless effort_topic of acquisition names where "
            "they are: have the driver send them, or give that",
        )
    if not efforts.size:
        return Check(name, "no joint states", "start the driver")
    most = np.abs(efforts).max(axis=0)
    pairs = zip(robot.joints, most, strict=True)
    told = ", ".join(f"{joint.name} {value:.3g}{_unit(joint, robot)}" for joint, value in pairs)
    advice = filter(None, (_implausible(most, robot), _inconvertible(robot)))
    return Check(name, f"up to {told}", "; ".join(advice))


def _unit(joint: Joint, robot: RobotModel) -> str:
    """Return the unit of recorded efforts of a joint, behind a space; empty: nobody has said."""
    if robot.effort_meaning is None:
        return ""
    current = robot.effort_meaning is EffortMeaning.CURRENT
    return " A" if current else f" {joint.rate_units[1]}"


def _inconvertible(robot: RobotModel) -> str:
    """Return why efforts of a robot are no torques or forces yet; empty where they are."""
    if robot.effort_meaning is not EffortMeaning.CURRENT:
        return ""
    try:
        drive_gains(robot)
    except SettingError as error:
        return f"the motion can be recorded, but nothing can be identified from it: {error}"
    return ""


def _implausible(most: Array, robot: RobotModel) -> str:
    """Return what is wrong with the largest (joints,) efforts of a robot at rest."""
    if most.max() < _NO_EFFORT:
        return "all are zero: does the driver measure them?"
    if robot.effort_meaning is not EffortMeaning.JOINT_TORQUE:
        return ""
    beyond = [
        f"{joint.name} (limit {joint.limits.effort:g})"
        for joint, value in zip(robot.joints, most, strict=True)
        if joint.limits.effort is not None and value > joint.limits.effort
    ]
    if not beyond:
        return ""
    return f"more than {', '.join(beyond)} can have: are they joint torques (effort_meaning)?"


def held_joints_check(stands: Mapping[str, float], robot: RobotModel) -> tuple[Check, ...]:
    """Return whether joints stand where the robot file holds them; nothing where it holds none.

    Args:
        stands: where they stand, in rad or m by name.
        robot: the robot.
    """
    if not robot.fixed_joints:
        return ()
    held = HeldJoints(robot.fixed_joints)
    for name, position in stands.items():
        held.add(name, position)
    told = [f"{n} {stands[n]:.4g}" if n in stands else f"{n} not told" for n in robot.fixed_joints]
    return (Check("fixed joints", ", ".join(told), "; ".join(held.lines())),)


def clock_check(delays: Array, timeout: float) -> Check:
    """Return by how much the stamps of the states are off the clock of the node.

    Args:
        delays: (states,) times from the stamp to the moment at which a state was taken in, in s.
        timeout: age in s at which a state counts as stale.
    """
    name = "clock"
    if not len(delays):
        return Check(name, "no joint states", "start the driver")
    least, median = float(delays.min()), float(np.median(delays))
    told = (
        f"states are taken in {1e3 * least:.3g} ms after their stamps at least, {1e3 * median:.3g} "
        "ms in the median"
    )
    if least < -_AHEAD:
        return Check(name, told, f"the driver's clock is ahead: {_SYNCHRONISE}")
    if least > _BEHIND * timeout:
        return Check(name, told, f"the driver's clock is behind, or states wait: {_SYNCHRONISE}")
    return Check(name, told)


_SYNCHRONISE = "synchronise both machines (chrony), or start both with the same use_sim_time"
