"""Obstacles of a motion: bodies of the robot and its tools, its cell, other robots."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from robot_identification.collision import engine
from robot_identification.collision.bodies.urdf import read_srdf
from robot_identification.collision.cells import cell as cells
from robot_identification.collision.cells.cell import Arm, Cell
from robot_identification.collision.cells.other_arms import Postures, arm_position, standing_bodies
from robot_identification.collision.cells.postures import outside_of_limits, require_posture
from robot_identification.collision.cells.shapes import FLOOR
from robot_identification.collision.clearance import ClearanceCheck
from robot_identification.collision.pairs import scene_of
from robot_identification.collision.robot_bodies import connected_bodies, robot_bodies
from robot_identification.collision.scene import CollisionBody, Scene
from robot_identification.errors import MissingMeshError, SettingError
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.files.loading import find_robot, is_robot_file, load_robot
from robot_identification.robot.model import RobotModel

_SAMPLED = 300  # postures
_NEAR = 0.1  # m
_WIDEST = 1.0
"""Largest clearance in m, as in the schema of cell files."""
_SHOWN = 4  # pairs


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
        assumed_floor: name of the plane of the base, where nobody says what the robot is mounted
            on; empty where somebody does.
    """

    robot: RobotModel
    scene: Scene
    clearance: float
    remarks: tuple[str, ...] = ()
    assumed_floor: str = ""

    @cached_property
    def check(self) -> ClearanceCheck:
        """Bounds distances of motions."""
        return ClearanceCheck(self.robot, self.scene)

    def sampled(self, off: Array) -> SampledDistances:
        """Return distances in random postures of a robot that may be off them.

        Args:
            off: (joints,) by how much, in rad or m.
        """
        asked = off.tobytes()
        if asked not in self._sampled:
            self._sampled[asked] = self._sample(off)
        return self._sampled[asked]

    @cached_property
    def _sampled(self) -> dict[bytes, SampledDistances]:
        return {}

    def _sample(self, off: Array) -> SampledDistances:
        rng, arrays = np.random.default_rng(0), self.check.arrays
        postures = rng.uniform(*_ranges(self.robot), (_SAMPLED, len(self.robot.joints)))
        spread = np.broadcast_to(off, postures.shape).copy()
        bounds = arrays.gaps(postures, spread, 0.0)
        rows = np.argwhere(bounds < _NEAR)
        place, pair = (rows[:, 0], rows[:, 1]), rows[:, 1]
        exact = bounds.copy()
        distance, exact[place] = self.check.bounds(postures, spread, rows)
        # Of links that would be too near everywhere maps know better, where they are not.
        tight = (exact.max(axis=0) < self.clearance)[pair] & (distance >= self.clearance)
        better = self.check.mapped(postures, spread, rows[tight], _NEAR)
        np.maximum.at(exact, (rows[tight, 0], pair[tight]), better)
        counts = ~np.isin(pair, pair[tight][np.isfinite(better)]) | tight
        looseness = np.full(bounds.shape[1], np.inf)
        beyond = np.maximum(exact[place] - bounds[place], 0.0)
        np.minimum.at(looseness, pair[counts], beyond[counts])
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
        SettingError: a link, a joint or another robot that is named is not there, or the clearance
            is not positive.
    """
    if not engine.available():
        return (
            "obstacles are not checked: the package coal is not installed "
            "(pip install 'robot_identification[collision]')"
        )
    whole = described_cell(source, cell)
    wanted = _clearance(clearance, whole)
    try:
        bodies, remarks = robot_bodies(source, robot, whole)
    except MissingMeshError as error:
        if cell is not None:  # who describes the cell wants it checked
            raise
        return f"obstacles are not checked: {error}"
    if not bodies:
        return (
            "obstacles are not checked: the robot has no collision shapes; give links or "
            "link_radius in the section cell of its robot file"
        )
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
        connected=connected_bodies(source, robot, bodies, whole),
        disabled=() if whole.srdf is None else read_srdf(whole.srdf),
    )
    around = {body.name for body in standing}
    remarks += [
        f"{one.first} and {one.second} are not checked: {one.reason}"
        for one in scene.left_out
        if {one.first, one.second} & around and not one.harmless
    ]
    remarks += _own_pairs(scene, around)
    if whole.mounting is None:
        remarks.append("the robot stands on the plane of its base; say mounting if it does not")
    assumed_floor = FLOOR.name if whole.mounting is None else ""
    return CollisionModel(robot, scene, wanted, tuple(remarks), assumed_floor)


def _own_pairs(scene: Scene, around: Collection[str]) -> Iterator[str]:
    """Give out a remark on the robot's own links that are not checked against each other.

    Those that a joint connects, or an SRDF disables, are none that a reader would expect.

    Args:
        scene: the bodies and pairs.
        around: names of the bodies that are not of the robot.
    """
    links = {body.name: body.link for body in scene.bodies}
    by_reason: dict[str, dict[str, None]] = {}
    for one in scene.left_out:
        if one.judged and not one.harmless and not {one.first, one.second} & set(around):
            pair = " and ".join(sorted((links[one.first], links[one.second])))
            by_reason.setdefault(one.reason, {})[pair] = None
    for reason, pairs in by_reason.items():
        shown = ", ".join(list(pairs)[:_SHOWN])
        more = f" and {len(pairs) - _SHOWN} pairs more" if len(pairs) > _SHOWN else ""
        yield f"not checked against each other: {shown}{more} ({reason})"


def _clearance(given: float | None, cell: Cell) -> float:
    """Return the distance to be kept, in m."""
    if given is None:
        return cells.CLEARANCE if cell.clearance is None else cell.clearance
    if not 0.0 < given <= _WIDEST:
        raise SettingError("clearance", given, f"must be above 0 and at most {_WIDEST:g} m")
    return given


def _arm_bodies(arm: Arm, postures: Postures | None) -> tuple[list[CollisionBody], list[str]]:
    """Return the bodies of another robot, where it stands, and what was assumed."""
    robot = load_robot(arm.robot, closed_loops=True)
    bodies, _ = robot_bodies(arm.robot, robot, described_cell(arm.robot, None))
    remarks = []
    if not bodies:
        remarks.append(f"{arm.name} is not checked: {robot.name} has no collision shapes")
    if arm.joint_states and postures is None:
        remarks.append(
            f"{arm.name} is where the cell file says; what it tells on {arm.joint_states} is not "
            "read here"
        )
    if not arm.joint_states or postures is None:
        beyond = outside_of_limits(robot, arm.position)
        remarks += [f"{arm.name}: the cell file has {one}" for one in beyond]
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
    require_posture("rest", robot, given)
    if not given:
        return None
    low, high = _ranges(robot)
    usual = np.where((low < 0.0) & (high > 0.0), 0.0, (low + high) / 2.0)
    return np.array([given.get(n, q) for n, q in zip(robot.joint_names, usual, strict=True)])
