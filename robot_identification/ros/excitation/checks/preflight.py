"""Checks before a robot may move: description, nodes, driver, clocks, parameters, obstacles.

`~/preview` and `~/start` make the same checks; what refuses one refuses the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robot_identification.errors import (
    InputError,
    NotActiveError,
    NotCertifiedError,
    SettingError,
    StaleStateError,
)
from robot_identification.robot.model import Array, EffortMeaning, Joint, JointType, RobotModel
from robot_identification.ros.common.joint_states import JointStateReader
from robot_identification.ros.controllers.transport import Transport
from robot_identification.ros.excitation.checks.check import Check
from robot_identification.ros.excitation.checks.nodes import nodes_check
from robot_identification.ros.excitation.parameters import ExcitationParameters
from robot_identification.ros.planning.planning import Machine, limit_sources, wider_limits
from robot_identification.ros.planning.preparation import Prepared
from robot_identification.ros.robots.view import RobotsView
from robot_identification.ros.supervision.driver import MOST_TIMEOUT, DriverView
from robot_identification.signals.held_joints import HeldJoints

_LEAST_RATE = 100.0  # Hz
_MOST_JITTER = 0.5  # as a share of the period
_AHEAD = 0.005  # s; clocks that are synchronised over a network agree to better than that
_NO_EFFORT = 1e-9  # N m, N or A
_MOST_DISPUTED = 0.1  # of the states; a driver alone sends a wrong one now and then
_BEHIND = 0.5  # as a share of the timeout


def preflight(
    prepared: Prepared,
    driver: DriverView,
    transport: Transport,
    values: ExcitationParameters,
    robots: RobotsView,
) -> tuple[Check, ...]:
    """Return every check of a motion, in the order in which they are told; the controller is last.

    Args:
        prepared: the motion.
        driver: what the joint states show.
        transport: what trajectories would go by.
        values: parameters of the node.
        robots: which robot this node and the others have.
    """
    robot = prepared.machine.described
    return (
        robot_check(prepared.machine, robots),
        nodes_check(replace(robots.own, digest=robot.digest), robots.others),
        limits_check(prepared.machine),
        driver_check(driver, robot),
        effort_check(driver.messages, robot),
        *held_joints_check(driver.held, robot),
        clock_check(driver.delays, driver.timeout),
        parameters_check(values),
        obstacles_check(prepared, acknowledged=values.acknowledge_unchecked),
        controller_check(transport, values.interface),
    )


def require(checks: Sequence[Check]) -> None:
    """Refuse a motion by the first check that does.

    Raises:
        RobotIdentificationError: why it may not begin.
    """
    for check in checks:
        if check.refusal is not None:
            raise check.refusal


def lifecycle_check(require_active: Callable[[], None]) -> tuple[Check, ...]:
    """Return a warning where the node is not active; of one that is there is nothing to tell.

    Args:
        require_active: raises NotActiveError where no motion may begin.
    """
    try:
        require_active()
    except NotActiveError as error:
        return (Check("node", error.state, str(error)),)
    return ()


def robot_check(machine: Machine, robots: RobotsView) -> Check:
    """Return which robot is to move, by which file, and where its limits stand.

    Args:
        machine: the robot.
        robots: where this node has it from; refused where a topic describes another by now.
    """
    robot, own = machine.described, robots.own
    file = robot.file or own.given
    topic = f" from {robots.topic}" if robots.topic else ""
    told = f"{robot.name}, described by {file}{topic}{limit_sources(machine)}"
    return Check("robot", told, refusal=robots.refusal)


def limits_check(machine: Machine) -> Check:
    """Return the limits of every joint, with a warning where a URDF has smaller ones."""
    joints = "; ".join(map(_limits_of, machine.described.joints))
    return Check("limits", joints, wider_limits(machine).removeprefix("; "))


def _limits_of(joint: Joint) -> str:
    limits, unit = joint.limits, "m" if joint.type is JointType.PRISMATIC else "rad"
    return (
        f"{joint.name} {limits.lower:g} to {limits.upper:g} {unit}, {limits.velocity:g} {unit}/s, "
        f"{limits.acceleration:g} {unit}/s2"
    )


def driver_check(driver: DriverView, robot: RobotModel) -> Check:
    """Return rate and jitter of the joint states, and the age at which they count as stale."""
    source = "state_timeout" if driver.timeout_given else "by rate and jitter"
    stale = f"stale after {driver.timeout:.3g} s ({source})"
    if math.isnan(driver.period):
        return Check("driver", f"{driver.topic}, too few states to tell the rate; {stale}")
    rate, share = 1.0 / driver.period, driver.jitter / driver.period
    told = f"{driver.topic} at {rate:.4g} Hz, jitter {1e3 * driver.jitter:.2g} ms; {stale}"
    cutoff = robot.processing.cutoff_hz or 0.0
    advice = ""
    if rate < _LEAST_RATE or rate <= 2.0 * cutoff:
        wanted = max(_LEAST_RATE, 2.0 * cutoff)
        advice = f"more than {wanted:g} Hz are wanted to identify: raise the rate of the driver"
    elif share > _MOST_JITTER:
        advice = "the stamps are irregular: have the driver stamp states when they are measured"
    if not driver.timeout_given and driver.timeout >= MOST_TIMEOUT:
        advice = f"{advice}; " * bool(advice) + "states are rare: give state_timeout by intent"
    if not driver.disputed:
        return Check("driver", told, advice)
    dispute = _dispute(driver)
    if driver.disputed > _MOST_DISPUTED:
        return Check("driver", f"{told}; {dispute}", advice, StaleStateError(dispute))
    return Check("driver", told, f"{advice}; " * bool(advice) + dispute)


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
            "nothing can be identified without: have the driver send it, or give effort_topic of "
            "acquisition",
        )
    if not efforts.size:
        return Check(name, "no joint states", "start the driver")
    most = np.abs(efforts).max(axis=0)
    pairs = zip(robot.joint_names, most, strict=True)
    told = ", ".join(f"{joint} {value:.3g}" for joint, value in pairs)
    return Check(name, f"up to {told}", _implausible(most, robot))


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


def parameters_check(values: ExcitationParameters) -> Check:
    """Return the parameters that differ from the defaults."""
    differing = [
        f"{name} {_plain(value)} (default {_plain(one.default)})"
        for name, one in values.table().items()
        if name != "robot" and (value := getattr(values, name)) != one.default
    ]
    return Check("parameters", ", ".join(differing) or "all as by default")


def _plain(value: Any) -> str:
    """Return the value of a parameter as a parameter file has it."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(_plain, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value) or '""'


def obstacles_check(prepared: Prepared, *, acknowledged: bool) -> Check:
    """Return the smallest distances; refuse where none are known and nobody has agreed to that."""
    name = "obstacles"
    if prepared.machine.surroundings.checked:
        return Check(name, prepared.obstacles)
    if acknowledged:
        return Check(
            name,
            prepared.obstacles,
            "nothing checks what is in the way (acknowledge_unchecked): look yourself",
        )
    problem = (
        f"{prepared.obstacles}; if nothing is in the way of the motion, set the parameter "
        "acknowledge_unchecked to true"
    )
    return Check(name, prepared.obstacles, refusal=NotCertifiedError(name, problem))


def controller_check(transport: Transport, interface: str) -> Check:
    """Return what trajectories go by; refuse where nobody would take them."""
    listeners = transport.listeners
    if listeners:
        return Check("controller", f"{', '.join(listeners)} by {transport.name}")
    problem = (
        f"nobody takes trajectories on {transport.name}: start the controller, or give its name "
        "(launch argument controller), its action (controller_action) or its topic "
        "(joint_trajectory)"
    )
    return Check("controller", problem, refusal=SettingError("interface", interface, problem))
