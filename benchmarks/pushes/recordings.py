"""Motions of an arm in MuJoCo, free or pushed: simulated once and kept; noise is added later."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pushes.arms import Bench, bench
from robot_identification.dynamics.reference import hold
from robot_identification.excitation.motions.random_points import (
    RandomPointsSettings,
    random_points,
)
from robot_identification.robot.geometry import forward_kinematics

RATE = 1000.0
POSITION_NOISE, VELOCITY_NOISE = 1e-5, 1e-3
PUSH, SLOT = 0.3, 2.0  # s that a push lasts, and in which there is one
SETTLING = 1.0  # s before a motion
SPEEDS = 0.3, 0.9  # shares of the limits, of which each motion has one
HELD = 10.0  # s that a posture is held
Floats = np.ndarray[Any, np.dtype[np.float64]]


class Samples(NamedTuple):
    """What sensors give, and what acts on the joints from outside."""

    time: Floats
    position: Floats
    velocity: Floats
    effort: Floats
    begins: Floats
    external: Floats


@dataclass(frozen=True)
class Kind:
    """A kind of recordings: name, first seed, whether the arm moves, whether it is pushed."""

    name: str
    seed: int
    moves: bool = True
    pushed: bool = False


FIT = Kind("fit", 0)
LEARNING = Kind("learning", 1)
FREE = Kind("free", 1000)
PUSHED = Kind("pushed", 500_000, pushed=True)
STANDING = Kind("standing", 700_000, moves=False, pushed=True)


class Recorder:
    """Simulates the recordings of an arm, each only once.

    Args:
        name: of the arm.
        folder: in which recordings are kept.
        force: with which the flange is pushed, in N.
        noise: deviation of the efforts, a share of their limits.
    """

    def __init__(self, name: str, folder: Path, *, force: float, noise: float) -> None:
        import mujoco

        self._mujoco, self._folder, self._force = mujoco, folder, force
        folder.mkdir(parents=True, exist_ok=True)
        self.bench: Bench = bench(name, folder)
        limits = [joint.limits.effort or 50.0 for joint in self.bench.robot.joints]
        self._noise = noise * np.array(limits)
        robot, model = self.bench.robot, self.bench.model
        last = model.joint(robot.joint_names[self.bench.flange.joint])
        self._body = int(model.jnt_bodyid[last.id])
        self._dofs = [int(model.joint(joint).dofadr[0]) for joint in robot.joint_names]
        self._point = self._flange_in_body()
        self._pushes: list[tuple[float, Floats, list[Floats]]] = []

    def _flange_in_body(self) -> Floats:
        """Return the (3,) flange in the frame of MuJoCo's last body, in m."""
        robot, model, flange = self.bench.robot, self.bench.model, self.bench.flange
        data, found = self._mujoco.MjData(model), []
        for posture in np.random.default_rng(0).uniform(-1.0, 1.0, (2, len(robot.joints))):
            for name, position in zip(robot.joint_names, posture, strict=True):
                data.joint(name).qpos = position
            self._mujoco.mj_kinematics(model, data)
            frame = forward_kinematics(robot, posture)[flange.joint]
            place = frame[:3, :3] @ flange.translation + frame[:3, 3]
            body = data.xmat[self._body].reshape(3, 3)
            found.append(body.T @ (place - data.xpos[self._body]))
        np.testing.assert_allclose(*found, atol=1e-5)
        return found[0]

    def recordings(self, kind: Kind) -> Iterator[Samples]:
        """Yield recordings of a kind, without end."""
        number = 0
        while True:
            path = self._folder / f"{kind.name}_{number}.npz"
            if not path.exists():
                clean = self._simulated(kind, kind.seed + number)
                small = {name: array.astype(np.float32) for name, array in clean._asdict().items()}
                part = path.with_suffix(".part.npz")
                np.savez(part, **small | {"position": clean.position})
                part.rename(path)
                print(f"{path.name}: {clean.time[-1]:.0f} s", file=sys.stderr, flush=True)
            with np.load(path) as kept:
                clean = Samples(*(kept[name].astype(float) for name in Samples._fields))
            yield self._measured(clean, kind.seed + number)
            number += 1

    def _measured(self, clean: Samples, seed: int) -> Samples:
        """Return samples with the noise of sensors."""
        rng, shape = np.random.default_rng(seed), clean.position.shape
        return clean._replace(
            position=clean.position + POSITION_NOISE * rng.normal(size=shape),
            velocity=clean.velocity + VELOCITY_NOISE * rng.normal(size=shape),
            effort=clean.effort + self._noise * rng.normal(size=shape),
        )

    def _simulated(self, kind: Kind, seed: int) -> Samples:
        rng = np.random.default_rng([seed, 1])
        if kind.moves:
            settings = RandomPointsSettings(
                points=12, draws=1, reach=0.35, seed=seed, speed=rng.uniform(*SPEEDS)
            )
            motion = random_points(self.bench.robot, settings, self.bench.middle).trajectory
            start, reference, duration = self.bench.middle, motion.reference, motion.duration
        else:
            ends = np.array([(j.limits.lower, j.limits.upper) for j in self.bench.robot.joints])
            half = 0.35 * (ends[:, 1] - ends[:, 0]) / 2.0
            start = self.bench.middle + half * rng.uniform(-1.0, 1.0, len(half))
            reference, duration = hold(start), HELD
        count = len(np.arange(SLOT, duration - SLOT, SLOT)) if kind.pushed else 0
        self._pushes = [(begin, force, []) for begin, force in islice(self._drawn(rng), count)]
        self._mujoco.set_mjcb_passive(self._push if kind.pushed else None)
        try:
            begin = self.bench.loop.settled(start, SETTLING)
            _, got = self.bench.loop.advance(begin, reference, round(duration * RATE))
        finally:
            self._mujoco.set_mjcb_passive(None)
        return Samples(
            got.time,
            got.position,
            got.velocity,
            got.effort,
            np.array([begin for begin, _, _ in self._pushes]),
            np.array([_settled(felt) for _, _, felt in self._pushes]),
        )

    def _drawn(self, rng: np.random.Generator) -> Iterator[tuple[float, Floats]]:
        """Yield beginnings and forces of pushes, without end."""
        for slot in itertools.count(SLOT, SLOT):
            force = rng.normal(size=3)
            force *= self._force / np.linalg.norm(force)
            yield round(slot + rng.uniform(0.0, SLOT - 2.0 * PUSH), 3), force

    def forces(self, kind: Kind, number: int, count: int) -> Floats:
        """Return the (pushes, 3) forces of a recording, along the axes of the base."""
        rng = np.random.default_rng([kind.seed + number, 1])
        rng.uniform(size=None if kind.moves else len(self.bench.robot.joints))
        return np.array([force for _, force in islice(self._drawn(rng), count)]).reshape(-1, 3)

    def _push(self, model: Any, data: Any) -> None:
        """Add the push to the passive forces, as MuJoCo asks for them."""
        now = data.time - SETTLING
        for begin, force, felt in self._pushes:
            if begin <= now < begin + PUSH:
                turn, jacobian = data.xmat[self._body].reshape(3, 3), np.zeros((3, model.nv))
                point = data.xpos[self._body] + turn @ self._point
                self._mujoco.mj_jac(model, data, jacobian, None, point, self._body)
                effort = jacobian.T @ force
                data.qfrc_passive[:] += effort
                felt.append(effort[self._dofs])


def _settled(felt: list[Floats]) -> Floats:
    """Return the mean effort of a push behind its first sixth, where it is judged."""
    return np.mean(felt[len(felt) // 6 :], axis=0)
