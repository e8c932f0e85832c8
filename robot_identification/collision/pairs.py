"""Pairs of bodies that must keep apart, without those that cannot or that never come near.

Left out are bodies of one link, links that a joint connects, what an SRDF disables, and, of bodies
with few joints between them, those that are nearer than what is wanted nearly everywhere, those
that overlap in the rest posture where one is given, and those that are shown never to touch,
whatever their joints do.
Of what stands in the cell only that is left out from which the first joint cannot take its link, or
which is shown to be farther away than what is wanted, whatever the joints do.
Everything that is left out is told.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations

import numpy as np

from robot_identification.collision.arrays import SceneArrays
from robot_identification.collision.engine import Distances
from robot_identification.collision.scene import CollisionBody, Indices, LeftOut, Scene
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.model import RobotModel

ALWAYS = 0.95
"""Share of random postures in which a pair that is left out is nearer than what is wanted."""

_POSTURES = 400
_NEAR_JOINTS = 3
_SHOWN_JOINTS = 2
_NEVER = 1e-3  # m
_HALVINGS = 14


def scene_of(
    robot: RobotModel,
    bodies: Sequence[CollisionBody],
    ranges: tuple[Array, Array],
    *,
    wanted: float,
    rest: Array | None = None,
    connected: Collection[frozenset[str]] = (),
    disabled: Sequence[LeftOut] = (),
) -> Scene:
    """Return the bodies with the pairs that must keep apart.

    Args:
        robot: the robot.
        bodies: of the robot, and around it.
        ranges: (joints,) smallest and largest positions, in rad or m.
        wanted: distance to be kept, in m.
        rest: (joints,) a posture in which the robot touches nothing but itself where it must;
            None: none is known.
        connected: pairs of links of the robot that a joint connects.
        disabled: pairs of links that need not keep apart.

    Returns:
        The scene; the same one where it was asked for before, because a node asks at every start.

    Raises:
        MissingPackageError: coal is not installed.
    """
    low, high = ranges
    links = frozenset(connected)
    return _scene_of(
        _Question(robot, tuple(bodies), low, high, wanted, rest, links, tuple(disabled))
    )


@by_value
@dataclass(frozen=True)
class _Question:
    """Content of a scene; two are equal where all of it has the same content."""

    robot: RobotModel = field(compare=False)
    bodies: tuple[CollisionBody, ...] = field(compare=False)
    low: Array = field(compare=False)
    high: Array = field(compare=False)
    wanted: float = field(compare=False)
    rest: Array | None = field(compare=False)
    connected: frozenset[frozenset[str]]
    disabled: tuple[LeftOut, ...]
    digest: bytes = field(init=False)

    def __post_init__(self) -> None:
        content = hashlib.sha256()
        no_rest = np.full(1, np.nan)
        rest = no_rest if self.rest is None else self.rest
        for array in (self.low, self.high, rest, self.wanted):
            content.update(np.asarray(array, dtype=np.float64).tobytes())
        for joint in self.robot.joints:
            content.update(f"{joint.antecedent} {joint.type} ".encode())
            content.update(joint.rotation.tobytes() + joint.translation.tobytes())
        for body in self.bodies:
            named = body.name, body.link, body.joint, body.of_robot, type(body.shape).__name__
            content.update(repr(named).encode())
            for values in (body.rotation, body.translation, *vars(body.shape).values()):
                content.update(np.asarray(values, dtype=np.float64).tobytes())
        object.__setattr__(self, "digest", content.digest())


@lru_cache(maxsize=8)
def _scene_of(asked: _Question) -> Scene:
    robot, bodies = asked.robot, asked.bodies
    off = {frozenset((one.first, one.second)): one for one in asked.disabled}
    told: dict[frozenset[str], LeftOut] = {}
    pairs = []
    for a, b in combinations(range(len(bodies)), 2):
        first, second = (a, b) if bodies[a].joint >= bodies[b].joint else (b, a)
        if bodies[first].joint == bodies[second].joint:
            continue
        links = frozenset((bodies[first].link, bodies[second].link))
        if links in off:
            told[links] = off[links]
        elif links in asked.connected and bodies[second].of_robot:
            told[links] = LeftOut(min(links), max(links), "a joint connects them")
        else:
            pairs.append((first, second))
    scene = Scene(tuple(bodies), np.array(pairs, dtype=np.int64))
    kept, more = _kept(robot, scene, (asked.low, asked.high), asked.wanted, asked.rest)
    return Scene(tuple(bodies), scene.pairs[kept], (*told.values(), *more))


def _kept(
    robot: RobotModel, scene: Scene, ranges: tuple[Array, Array], wanted: float, rest: Array | None
) -> tuple[Indices, list[LeftOut]]:
    """Return which pairs stay, and why others do not."""
    arrays, exact = SceneArrays.of(robot, scene), Distances(scene)
    between = np.array([_joints_between(robot, scene, pair) for pair in arrays.pairs])
    near = np.flatnonzero(between <= _NEAR_JOINTS)
    kept = np.ones(len(scene.pairs), dtype=bool)
    if not near.size:
        return np.flatnonzero(kept), []
    rng = np.random.default_rng(0)
    postures = rng.uniform(*ranges, (_POSTURES, len(robot.joints)))
    postures = np.vstack([sum(ranges) / 2.0 if rest is None else rest, postures])
    rows = np.stack(np.meshgrid(np.arange(len(postures)), near, indexing="ij"), axis=-1)
    distance = exact.at(rows.reshape(-1, 2), *arrays.frames(postures))[0].reshape(-1, near.size)
    told: list[LeftOut] = []
    for column, pair in enumerate(near):
        own = [scene.bodies[i] for i in scene.pairs[pair]]
        of_robot = own[1].of_robot
        reason, harmless = "", False
        nearer = float((distance[1:, column] < wanted).mean())
        # What stands in the cell may be near nearly everywhere, as the walls of a narrow one are:
        # only where the first joint alone cannot change it is it no obstacle, but what holds it.
        if nearer > ALWAYS if of_robot else nearer == 1.0 and between[pair] == 1:
            reason = f"always nearer than {wanted:g} m"
        elif rest is not None and of_robot and distance[0, column] <= 0.0:
            reason = "they touch in the rest posture"
        elif between[pair] <= _SHOWN_JOINTS:
            # A robot may be built with less than what is wanted between its own links.
            least = _NEVER if of_robot else wanted
            harmless = bool(distance[:, column].min() > least) and _never_nearer(
                arrays, exact, int(pair), ranges, least
            )
            reason = f"they are never nearer than {least:g} m" if harmless else ""
        if reason:
            kept[pair] = False
            told.append(LeftOut(own[0].name, own[1].name, reason, harmless, judged=True))
    return np.flatnonzero(kept), told


def _joints_between(robot: RobotModel, scene: Scene, pair: Indices) -> int:
    """Return how many joints there are between two bodies."""
    count = 0
    for body in pair[:2]:
        k = scene.bodies[body].joint
        while k != pair[2]:
            count, k = count + 1, robot.joints[k].antecedent
    return count


def _never_nearer(
    arrays: SceneArrays, exact: Distances, pair: int, ranges: tuple[Array, Array], least: float
) -> bool:
    """Show that two bodies keep a distance, by halving boxes of the few joints between them."""
    low, high = (np.array(x)[None] for x in ranges)
    chain = arrays.between(pair)
    for _ in range(_HALVINGS):
        q, h = (low + high) / 2.0, np.zeros_like(low)
        h[:, chain] = (high - low)[:, chain] / 2.0
        rows = np.column_stack([np.arange(len(q)), np.full(len(q), pair)])
        distance, normals, points = exact.at(rows, *arrays.frames(q))
        if (distance <= least).any():
            return False
        unsure = distance - arrays.travel(q, h, rows, normals, points) <= least
        if not unsure.any():
            return True
        alone = [np.where(np.arange(h.shape[1]) == joint, h, 0.0) for joint in chain]
        shares = [arrays.travel(q, one, rows, normals, points)[unsure] for one in alone]
        widest = np.array(chain)[np.argmax(shares, axis=0)]
        low, high = low[unsure], high[unsure]
        rows = np.arange(len(low))
        middle = (low + high)[rows, widest] / 2.0
        upper, lower = low.copy(), high.copy()
        upper[rows, widest] = lower[rows, widest] = middle
        low, high = np.vstack([low, upper]), np.vstack([lower, high])
    return False
