"""Check before a motion whether the other nodes have the same robot and take it alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from robot_identification.errors import SettingError
from robot_identification.ros.excitation.checks.check import Check
from robot_identification.ros.robots.in_use import NodesInUse, Statement

NAME = "nodes"
_DIGITS = 12  # of a hash, for people


def nodes_check(own: Statement, others: NodesInUse) -> Check:
    """Return which nodes have the robot that is to move; refuse a motion where one has another.

    What identifies, calibrates or feeds forward another robot makes results of no use, or efforts
    that this robot must not have.

    Args:
        own: of the node that moves the robot, with its description as it is now.
        others: the nodes of the namespace, this one among them.
    """
    told = [one for one in others.statements if one.node != own.node]
    same = [one.name for one in told if not _is_another(own, one)]
    another = [one for one in told if _is_another(own, one)]
    parts = [f"{', '.join(same)} have {own.robot}, {own.digest[:_DIGITS]}"] if same else []
    parts += [f"{one.name} has {_robot_of(one)}" for one in another]
    parts += [f"{node.rpartition('/')[2]} has not said which robot" for node in others.silent]
    value = "; ".join(parts) or "no other node of this package runs in this namespace"
    if another:
        return Check(NAME, value, refusal=_refusal(own, another))
    advice = [*_contradictions([own, *told]), *map(_unknown, others.silent)]
    return Check(NAME, value, "; ".join(advice))


def _is_another(own: Statement, other: Statement) -> bool:
    return (own.robot, own.digest) != (other.robot, other.digest)


def _robot_of(one: Statement) -> str:
    return f"{one.robot}, {one.digest[:_DIGITS] or 'without a hash'} ({one.given})"


def _refusal(own: Statement, another: Sequence[Statement]) -> SettingError:
    nodes = "; ".join(f"{one.node} has {_robot_of(one)}" for one in another)
    return SettingError(
        "robot",
        own.given,
        f"{own.node} is to move {own.robot}, {own.digest[:_DIGITS]}, and {nodes}: restart "
        f"{', '.join(one.node for one in another)} with the robot of {own.name}, or that one with "
        "theirs; files that were changed are read when a node starts",
    )


def _contradictions(statements: Sequence[Statement]) -> Iterator[str]:
    """Yield what to do where nodes take the same robot in different ways."""
    for title, parameter, field in (
        ("efforts are", "give all nodes the same effort_meaning", "effort_meaning"),
        ("joint states come from", "remap joint_states alike", "joint_states"),
    ):
        said: dict[str, list[str]] = {}
        for one in statements:
            if value := getattr(one, field):
                said.setdefault(value, []).append(one.name)
        if len(said) > 1:
            told = ", ".join(f"{value} to {' and '.join(who)}" for value, who in said.items())
            yield f"{title} {told}: {parameter}"


def _unknown(node: str) -> str:
    return (
        f"nothing is known of the robot of {node}: look at its parameter robot, or wait until it "
        "is ready"
    )
