"""Obstacles of a motion: bodies of the robot and its tools, its cell, other robots."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path

import numpy as np

from robot_identification.collision import engine
from robot_identification.collision.bodies.urdf import connected_links, read_srdf, urdf_bodies
from robot_identification.collision.cells import cell as cells
from robot_identification.collision.cells.cell import Arm, Attached, Cell
from robot_identification.collision.cells.other_arms import Postures, arm_position, standing_bodies
from robot_identification.collision.cells.shapes import FLOOR, capsule_between
from robot_identification.collision.clearance import ClearanceCheck
from robot_identification.collision.pairs import scene_of
from robot_identification.collision.scene import STATIC, CollisionBody, Scene
from robot_identification.errors import MissingMeshError, SettingError
from robot_identification.robot.arrays import by_value
from robot_identification.robot.files.loading import (
    find_robot,
    is_robot_file,
    load_robot,
    source_urdf,
)
from robot_identification.robot.files.schema import suggestion
from robot_identification.robot.files.urdf import read_urdf_of
from robot_identification.robot.files.urdf_tree import LinkFrame
from robot_identification.robot.model import Array, RobotModel, read_only
from robot_identification.robot.mounting import urdf_frames

_SAMPLED = 300  # postures
_NEAR = 0.1  # m
_WIDEST = 1.0
"""Largest clearance in m, as in the schema of cell files."""


@by_value
@dataclass(frozen=True)
class SampledDistances:
    """Distances in random postures, for a search.

    A certificate follows the search: nothing shows that they hold everywhere.

    Attributes:
        looseness: (pairs,) by how much exact distances exceed those of enclosing shapes at least,
            in m, where a pair is near; 0 for a pair that never is.
        largest: (pairs,) largest distance, in m; no more than a lower bound of it where a pair is
            far apart somewhere.
    """

    looseness: Array
    largest: Array

    def __post_init__(self) -> None:
        for name in ("looseness", "largest"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


@dataclass(frozen=True)
class CollisionModel:
    """A robot and what it must not touch.

    Attributes:
        robot: the robot.
        scene: bodies and pairs.
        clearance: distance in m that motions keep.
        remarks: what was assumed, for people.
    """

    robot: RobotModel
    scene: Scene
    clearance: float
    remarks: tuple[str, ...] = ()

    @cached_property
    def check(self) -> ClearanceCheck:
        """Bounds distances of motions."""
        return ClearanceCheck(self.robot, self.scene)

    @cached_property
    def sampled(self) -> SampledDistances:
        """Distances in random postures."""
        rng, arrays = np.random.default_rng(0), self.check.arrays
        postures = rng.uniform(*_ranges(self.robot), (_SAMPLED, len(self.robot.joints)))
        bounds = arrays.gaps(postures, np.zeros_like(postures), 0.0)
        rows = np.argwhere(bounds < _NEAR)
        place = rows[:, 0], rows[:, 1]
        exact = bounds.copy()
        exact[place] = self.check.at(postures, rows)[0]
        looseness = np.full(bounds.shape[1], np.inf)
        np.minimum.at(looseness, rows[:, 1], np.maximum(exact[place] - bounds[place], 0.0))
        looseness[np.isinf(looseness)] = 0.0
        return SampledDistances(looseness, exact.max(axis=0))


def described_cell(source: str | Path, cell: str | Path | None) -> Cell:
    """Return what a robot file and a cell file say together.

    Args:
        source: the robot file, URDF or name of a robot.
        cell: the cell file, which counts where both say something; None: none.

    Raises:
        UnknownRobotError, RobotDescriptionError, MissingPackageError: a file is wrong.
    """
    own = cells.declared_cell(find_robot(source)) if is_robot_file(source) else Cell()
    return own if cell is None else cells.read_cell(cell).beside(own)


def load_collision_model(
    source: str | Path,
    robot: RobotModel,
    *,
    cell: str | Path | None = None,
    clearance: float | None = None,
    arms: Postures | None = None,
) -> CollisionModel | str:
    """Return what a robot must not touch, or why that is not known.

    Args:
        source: the robot file, URDF or name that the robot was loaded from.
        robot: the robot; its position limits are those within which pairs are judged.
        cell: a cell file, beside what the robot file says; None: none.
        clearance: distance in m to be kept, in place of what the files say.
        arms: where other robots stand whose topics say so; None: nobody has listened to these,
            and the positions of the cell file count.

    Raises:
        UnknownRobotError, RobotDescriptionError: a file is wrong.
        MissingMeshError: there is a cell file, and a mesh of the robot is not there.
        SettingError: a link, a joint or another robot that is named is not there.
    """
    if not engine.available():
        return (
            "obstacles are not checked: the package coal is not installed "
            "(pip install 'robot_identification[collision]')"
        )
    whole = described_cell(source, cell)
    try:
        bodies, remarks = _robot_bodies(source, robot, whole)
    except MissingMeshError as error:
        if cell is not None:  # who describes the cell wants it checked
            raise
        return f"obstacles are not checked: {error}"
    if not bodies:
        return (
            "obstacles are not checked: the robot has no collision shapes; give links or "
            "link_radius in the section cell of its robot file"
        )
    wanted = _clearance(clearance, whole)
    mounting = (FLOOR,) if whole.mounting is None else whole.mounting
    standing = [*mounting, *whole.standing]
    for arm in whole.arms:
        others, assumed = _arm_bodies(arm, arms)
        standing += others
        remarks += assumed
    scene = scene_of(
        robot,
        [*bodies, *standing],
        _ranges(robot),
        wanted=wanted,
        rest=_rest(robot, whole.rest),
        connected=_connected(source, robot, bodies, whole),
        disabled=() if whole.srdf is None else read_srdf(whole.srdf),
    )
    around = {body.name for body in standing}
    remarks += [
        f"{one.first} and {one.second} are not checked: {one.reason}"
        for one in scene.left_out
        if {one.first, one.second} & around and not one.harmless
    ]
    if whole.mounting is None:
        remarks.append("the robot stands on the plane of its base; say mounting if it does not")
    return CollisionModel(robot, scene, wanted, tuple(remarks))


def _clearance(given: float | None, cell: Cell) -> float:
    """Return the distance to be kept, in m."""
    if given is None:
        return cells.CLEARANCE if cell.clearance is None else cell.clearance
    if not 0.0 < given <= _WIDEST:
        raise SettingError("clearance", given, f"must be above 0 and at most {_WIDEST:g} m")
    return given


def _robot_bodies(
    source: str | Path, robot: RobotModel, cell: Cell
) -> tuple[list[CollisionBody], list[str]]:
    """Return the bodies of a robot and of its tools, and what was assumed."""
    urdf, frames, remarks = source_urdf(source), urdf_frames(source, robot), []
    bodies: list[CollisionBody] = []
    if urdf is not None:
        description = read_urdf_of(urdf, robot)
        own = tuple(j for j in description.robot.joint_names if j in robot.joint_names)
        if len(own) == len(robot.joints):
            bodies += urdf_bodies(description, urdf, robot)
            told = next(iter(description.links.values())).element.remarks
            remarks += [text for text in told if text not in description.robot.warnings]
    bodies += [_attached(one, robot, frames, i) for i, one in enumerate(cell.links)]
    if cell.link_radius is not None:
        shaped = {body.joint for body in bodies}
        missing = [j for j in range(len(robot.joints)) if j not in shaped]
        bodies += _capsules(robot, missing, cell.link_radius)
        if missing:
            remarks.append(
                f"links without a shape are capsules of radius {cell.link_radius:g} m from joint "
                "to joint"
            )
    if bodies:
        first, taken = len(bodies), {*_frames_of(robot, frames), *(body.link for body in bodies)}
        tools = [_named_apart(one, taken) for one in cell.tools]
        bodies += [_attached(one, robot, frames, first + i) for i, one in enumerate(tools)]
    return bodies, remarks


def _named_apart(tool: Attached, links: Collection[str]) -> Attached:
    """Return a tool that has no name of a link.

    A joint connects links by their names, and an SRDF disables pairs of names; neither is said of
    what a link carries, which may strike the link before it.
    """
    return replace(tool, name=f"{tool.name} (tool)") if tool.name in links else tool


def _connected(
    source: str | Path, robot: RobotModel, bodies: Sequence[CollisionBody], cell: Cell
) -> set[frozenset[str]]:
    """Return the pairs of links that a joint of the robot connects.

    Shapes that the cell file gives a link count as that link; tools do not.
    """
    urdf, shape_of = source_urdf(source), {one.name: one.link for one in cell.links}
    links = {body.link: shape_of.get(body.link, body.link) for body in bodies}
    if urdf is None:
        names = (*(joint.link for joint in robot.joints), robot.base_link)
        pairs = {frozenset((joint.link, names[joint.antecedent])) for joint in robot.joints}
    else:
        description = read_urdf_of(urdf, robot)
        pairs = connected_links(description, set(links.values()))
    return {
        frozenset(two) for two in combinations(links, 2) if {links[one] for one in two} in pairs
    }


def _frames_of(robot: RobotModel, frames: Mapping[str, LinkFrame]) -> dict[str, LinkFrame]:
    """Return where all links of a robot are, by name.

    Args:
        robot: the robot.
        frames: of the links of its URDF, where it has one.
    """
    links = {
        joint.link: LinkFrame(i, np.eye(3), np.zeros(3)) for i, joint in enumerate(robot.joints)
    }
    return {robot.base_link: LinkFrame(STATIC, np.eye(3), np.zeros(3)), **links, **frames}


def _attached(
    one: Attached, robot: RobotModel, frames: Mapping[str, LinkFrame], number: int
) -> CollisionBody:
    """Return a body that is fixed in a link."""
    known = _frames_of(robot, frames)
    if one.link not in known:
        hint = suggestion(one.link, known) or f"; there are {', '.join(known)}"
        raise SettingError("link", one.link, f"{robot.name} has no link of this name{hint}")
    frame = known[one.link]
    return CollisionBody(
        name=f"{one.name} [{number}]",
        link=one.name,
        joint=frame.joint,
        shape=one.shape,
        rotation=frame.rotation @ one.rotation,
        translation=frame.translation + frame.rotation @ one.translation,
    )


def _capsules(robot: RobotModel, links: Sequence[int], radius: float) -> list[CollisionBody]:
    """Return capsules from the origins of links to those of the links that they carry."""
    bodies = []
    for j in links:
        ends = [joint.translation for joint in robot.joints if joint.antecedent == j]
        for number, end in enumerate(ends or [np.zeros(3)]):
            shape, turn, place = capsule_between(np.zeros(3), np.array(end), radius)
            name = robot.joints[j].link
            bodies.append(CollisionBody(f"{name} <{number}>", name, j, shape, turn, place))
    return bodies


def _arm_bodies(arm: Arm, postures: Postures | None) -> tuple[list[CollisionBody], list[str]]:
    """Return the bodies of another robot, where it stands, and what was assumed."""
    robot = load_robot(arm.robot, closed_loops=True)
    bodies, _ = _robot_bodies(arm.robot, robot, described_cell(arm.robot, None))
    remarks = []
    if not bodies:
        remarks.append(f"{arm.name} is not checked: {robot.name} has no collision shapes")
    if arm.joint_states and postures is None:
        remarks.append(
            f"{arm.name} is where the cell file says; what it tells on {arm.joint_states} is not "
            "read here"
        )
    return standing_bodies(arm, robot, bodies, arm_position(arm, robot, postures)), remarks


def _ranges(robot: RobotModel) -> tuple[Array, Array]:
    """Return the position ranges of all joints; a turn each way where they have none."""
    low = [-np.pi if j.limits.lower is None else j.limits.lower for j in robot.joints]
    high = [np.pi if j.limits.upper is None else j.limits.upper for j in robot.joints]
    return np.array(low), np.array(high)


def _rest(robot: RobotModel, given: Mapping[str, float]) -> Array | None:
    """Return the rest posture: 0, or the middle of ranges without it, where nothing is given.

    None where no position is given at all: in a posture of which nobody says that it is free, what
    touches may be a collision, as the hand of an arm that is folded.
    """
    for name in given:
        if name not in robot.joint_names:
            hint = suggestion(name, robot.joint_names) or ""
            raise SettingError("rest", name, f"{robot.name} has no joint of this name{hint}")
    if not given:
        return None
    low, high = _ranges(robot)
    usual = np.where((low < 0.0) & (high > 0.0), 0.0, (low + high) / 2.0)
    return np.array([given.get(n, q) for n, q in zip(robot.joint_names, usual, strict=True)])
