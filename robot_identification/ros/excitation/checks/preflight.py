"""Checks before a robot may move: all of them, and those of description, parameters, obstacles.

`~/preview` and `~/start` make the same checks; what refuses one refuses the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from robot_identification.errors import (
    NotActiveError,
    NotCertifiedError,
    SettingError,
)
from robot_identification.robot.joint import Joint, JointType
from robot_identification.ros.controllers.transport import Transport
from robot_identification.ros.excitation.checks.check import Check
from robot_identification.ros.excitation.checks.driver import (
    clock_check,
    driver_check,
    effort_check,
    held_joints_check,
)
from robot_identification.ros.excitation.checks.nodes import nodes_check
from robot_identification.ros.excitation.parameters import ExcitationParameters
from robot_identification.ros.planning.planning import Machine, limit_sources, wider_limits
from robot_identification.ros.planning.preparation import Prepared
from robot_identification.ros.robots.view import RobotsView
from robot_identification.ros.supervision.driver import DriverView


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
