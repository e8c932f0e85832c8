"""Limits of joints: which are known and from where, which are needed, which go beyond the URDF."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np

from robot_identification.errors import MissingLimitError
from robot_identification.robot.joint import Joint, JointLimits, JointType
from robot_identification.robot.model import RobotModel

Limit = Literal["position", "velocity", "acceleration", "jerk", "effort"]

URDF = "URDF"
SOFT = "URDF, soft limits"
DEFAULTS = "joint_defaults"
OWN = "robot file, the joint itself"


@dataclass(frozen=True)
class StatedLimit:
    """A limit of a joint, and where it stands.

    Attributes:
        joint: name of the joint.
        limit: field of :class:`JointLimits`, such as ``lower`` or ``velocity``.
        value: in rad or m, their time derivatives, or N m or N.
        source: ``URDF``, ``URDF, soft limits``, ``joint_defaults`` or ``robot file, the joint
            itself``, the name of a joint_limits.yaml, or empty for a robot that was made in Python.
        urdf: what the URDF gives, soft limits apart; None where it gives none, or there is no
            URDF.
    """

    joint: str
    limit: str
    value: float
    source: str
    urdf: float | None

    @property
    def wider(self) -> bool:
        """Whether the limit goes beyond that of the URDF."""
        if self.urdf is None:
            return False
        return self.value < self.urdf if self.limit == "lower" else self.value > self.urdf


def stated_limits(robot: RobotModel) -> tuple[StatedLimit, ...]:
    """Return every limit that a robot has, with its source, joint by joint."""
    return tuple(
        StatedLimit(
            joint.name,
            field.name,
            value,
            joint.limit_sources.get(field.name, ""),
            getattr(joint.urdf_limits, field.name),
        )
        for joint in robot.joints
        for field in fields(JointLimits)
        if (value := getattr(joint.limits, field.name)) is not None
    )


def limits_by_joint(limits: Sequence[StatedLimit]) -> dict[str, dict[str, dict[str, object]]]:
    """Return joint -> limit -> its value, its source and what the URDF gives."""
    found: dict[str, dict[str, dict[str, object]]] = {}
    for one in limits:
        found.setdefault(one.joint, {})[one.limit] = {
            "value": one.value,
            "source": one.source,
            "urdf": one.urdf,
        }
    return found


def sources_in_words(stated: Sequence[StatedLimit]) -> str:
    """Return where limits stand, for people: every source with its limits.

    A limit that a source gives for some of the joints only is followed by their names.

    Args:
        stated: limits with their sources; those without one are left out.
    """
    limited: dict[str, list[str]] = {}
    given: dict[str, dict[str, list[str]]] = {}
    for one in stated:
        kind = "position" if one.limit in ("lower", "upper") else one.limit
        for joints in (
            limited.setdefault(kind, []),
            *([given.setdefault(one.source, {}).setdefault(kind, [])] if one.source else []),
        ):
            if one.joint not in joints:
                joints.append(one.joint)
    return "; ".join(
        f"{source}: "
        + ", ".join(
            kind if joints == limited[kind] else f"{kind} of {' and '.join(joints)}"
            for kind, joints in kinds.items()
        )
        for source, kinds in given.items()
    )


def with_limits(
    joint: Joint, limits: JointLimits, source: str, stated: Iterable[str] = ()
) -> Joint:
    """Return a joint with other limits that know where they come from.

    Args:
        joint: the joint.
        limits: its new limits.
        source: where those stand that differ from the joint's.
        stated: fields that the source states besides, whether they differ or not.
    """
    own = set(stated)
    sources: Mapping[str, str] = {
        **joint.limit_sources,
        **{
            field.name: source
            for field in fields(JointLimits)
            if getattr(limits, field.name) is not None
            and (
                field.name in own
                or getattr(limits, field.name) != getattr(joint.limits, field.name)
            )
        },
    }
    return replace(joint, limits=limits, limit_sources=sources)


def require_limits(robot: RobotModel, kinds: Iterable[Limit]) -> None:
    """Refuse a robot that lacks a limit, or whose position limits leave a joint no range.

    Exporters of URDFs that know no limits write 0 for both.

    Args:
        robot: the robot.
        kinds: the limits that every joint must have.

    Raises:
        MissingLimitError: with every limit that is missing, and the joints that lack it.
    """
    missing = {
        kind: tuple(joint.name for joint in robot.joints if not _has(joint.limits, kind))
        for kind in kinds
    }
    found = [(kind, joints) for kind, joints in missing.items() if joints]
    if found:
        (kind, joints), *others = found
        raise MissingLimitError(joints[0], kind, *joints[1:], others=dict(others))


def tighter(limits: JointLimits, defaults: JointLimits) -> JointLimits:
    """Return limits that defaults complete, and narrow where they are narrower.

    Args:
        limits: of a joint.
        defaults: for every joint.
    """
    found: dict[str, float | None] = {}
    for field in fields(JointLimits):
        own, default = getattr(limits, field.name), getattr(defaults, field.name)
        choose = max if field.name == "lower" else min
        known = [value for value in (own, default) if value is not None]
        found[field.name] = choose(known) if known else None
    return replace(limits, **found)


def wider_than_urdf(robot: RobotModel, kind: Limit) -> tuple[str, ...]:
    """Return where a robot file widens a limit of the URDF, each in words for people.

    Args:
        robot: the robot.
        kind: the limit.
    """
    names = ("lower", "upper") if kind == "position" else (kind,)
    return tuple(
        f"{one.joint} {one.limit if kind == 'position' else 'limit'} {one.value:g}, "
        f"in the URDF {one.urdf:g}"
        for one in stated_limits(robot)
        if one.limit in names and one.wider
    )


def _has(limits: JointLimits, kind: Limit) -> bool:
    if kind == "position":
        return limits.lower is not None and limits.upper is not None and limits.lower < limits.upper
    return getattr(limits, kind) is not None


_WIDE = 40.0  # rad; more turns than joints have, and fewer than limits in degrees would be


def wide_ranges(robot: RobotModel) -> Iterator[str]:
    """Give out position limits, those of a URDF apart, that are probably in degrees."""
    for joint in robot.joints:
        for name in ("lower", "upper"):
            value = getattr(joint.limits, name)
            known = value is not None and joint.limit_sources.get(name) not in (URDF, SOFT)
            if known and abs(value) > _WIDE and joint.type is JointType.REVOLUTE:
                turns = abs(value) / (2.0 * np.pi)
                yield (
                    f"limits: {name} of {joint.name} is {value:g} rad, {turns:.0f} turns; in "
                    f"degrees? {np.radians(value):.6g} rad would be that many"
                )
