"""What `--friction auto` chooses on simulated robots whose friction is known, and what it is worth.

Robots of this package and arms of example-robot-data follow random motions; their efforts are
those of their parameters with Coulomb and viscous friction of usual size, with one law more at all
joints, at about half of them, or at none, and with noise, white or coloured.  Printed for every law
and length of the recording: the share of joints with it that get it, the share of joints that get
a term that they do not have, and three relative errors of efforts on another motion without noise:
of the model with Coulomb and viscous friction, of that which is chosen, and of the true law with
known shapes, each identified from the same recording.

A joint with one of the laws that cover low speeds (Fr, Fs, Ft) may get another one of them in its
place: over the speeds of a motion these are alike, and which one it is is no matter for the error.
The second share in the column of what is found counts these.

With `--diagnose` the same robots are identified with Coulomb and viscous friction.  Counted are the
joints whose law matters, as the true one lowers the error of their efforts on blocks left out, at
all speeds, by a twentieth; those of them of which `diagnose` says that they have another law, those
of which it names the true one, or one that is alike (as above); and, of all joints without another
law, those of which it says that they have one.

Usage: friction_choice.py [--robots NAME ...] [--laws LAW ...] [--seconds S ...] [--runs N]
    [--diagnose]
"""

from __future__ import annotations

import argparse
import os
import sys

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import scipy.signal
from deliberate_mistakes import _at_joints
from sound_recordings import ARMS, _example, limited, waves, without_fingers

from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.excitation.motions.random_points import (
    RandomPointsSettings,
    random_points,
)
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.diagnosis.diagnosis import diagnose
from robot_identification.identification.estimators.choice import fit
from robot_identification.identification.estimators.estimator import Choice
from robot_identification.identification.friction.choice import friction_of
from robot_identification.identification.friction.options import AUTO, STATED
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.urdf.prior import urdf_prior
from robot_identification.robot.files.values import load_values
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.robot.terms.joint_terms import DEFAULT_TERMS, term_named
from robot_identification.signals.processing.settings import resolve_processing
from robot_identification.signals.recording import Recording

TRUTHS = {
    "scara": "scara",
    "three_dof": "three_dof",
    "puma560": "puma560",
    "stanford": "stanford",
    "tx40": "tx40_simulated",
    "ur10": "ur10_simulated",
}
RATE, ROWS = 200.0, 50.0  # of samples and of rows, Hz
NOISE = 0.03  # standard deviation over the root mean square of a joint's efforts
MEMORIES = (0.0, 0.8, 0.95)  # correlations of the noise from row to row
FRICTION = 0.15  # Coulomb and viscous friction at the largest speed, over the efforts of bodies
LOW_SPEED = {"Fr", "Fs", "Ft"}
LAWS = {
    "none": (),
    "Fva": ("Fva",),
    "Fr": ("Fr",),
    "Fs": ("Fs",),
    "Ft": ("Ft",),
    "Fl": ("Fl",),
    "Fl Fs": ("Fl", "Fs"),
    "Fl Fr": ("Fl", "Fr"),
    "none, creeping": (),
    "Fl, creeping": ("Fl",),
}
SIZES = {"Fva": 0.06, "Fr": 0.12, "Fs": 0.1, "Ft": FRICTION}
"""Sizes of laws at the largest speed, over the root mean square of the efforts of bodies."""
LOAD = 0.1
MATTERS = 0.95  # error with the true law over that without
CREEP = 0.02  # s, in which a joint creeps at its largest speed before it slides
SHAPES = (1 / 24, 1 / 6)  # speeds of shapes over the largest speed, drawn between these


class Arm(NamedTuple):
    """A robot and its values without friction."""

    robot: RobotModel
    values: dict[str, float]


@lru_cache(maxsize=16)
def arm(name: str) -> Arm:
    """Return a robot with limits, with the terms of a joint whose file says nothing."""
    if name in TRUTHS:
        robot = limited(load_robot(name))
        values = load_values(TRUTHS[name], robot)
    else:
        path = _example(ARMS[name])
        if path is None:
            sys.exit(f"{name}: example-robot-data is not installed")
        with TemporaryDirectory() as folder:
            path = without_fingers(path, Path(folder))
            robot = limited(load_robot(path, effort_meaning="joint_torque"))
            values = np.array(urdf_prior(path, robot))
    known = dict(zip(robot.all_parameter_names, values.tolist(), strict=True))
    bodies = {n: v for n, v in known.items() if not n.startswith(("F", "off"))}
    joints = tuple(replace(j, terms=DEFAULT_TERMS, shapes={}) for j in robot.joints)
    plain = replace(robot, joints=joints, couplings=(), loads=None, processing=ProcessingSettings())
    return Arm(_at_joints(plain), bodies)


@lru_cache(maxsize=64)
def motion(name: str, seed: int, seconds: float) -> tuple[Array, Array, Array, Array]:
    """Return clock, positions, velocities and accelerations; odd seeds are sums of waves."""
    robot = arm(name).robot
    if seed % 2:
        clock, *moved = waves(robot, seed, RATE)
    else:
        settings = RandomPointsSettings(points=40, draws=2, reach=0.6, speed=0.7, seed=seed)
        path = random_points(robot, settings).trajectory
        clock = np.arange(0.0, path.duration, 1.0 / RATE)
        moved = list(path.sample(clock))
    kept = clock <= seconds
    return clock[kept], *(one[kept] for one in moved)  # type: ignore[return-value]


class Truth(NamedTuple):
    """A robot with its friction."""

    robot: RobotModel
    values: Array


def truth(name: str, law: Sequence[str], share: float, seed: int) -> Truth:
    """Return a robot with a law at a share of its joints."""
    plain, values = arm(name)
    rng = np.random.default_rng([seed, len(law), int(10 * share)])
    _, q, qd, qdd = motion(name, 2, 30.0)
    alone = np.array([values.get(n, 0.0) for n in plain.all_parameter_names])
    size = np.sqrt(np.mean(inverse_dynamics(plain, alone, q, qd, qdd) ** 2, axis=0))
    size = np.maximum(size, 0.05 * size.max())
    top = np.abs(qd).max(axis=0)
    values, joints = dict(values), []
    count = len(plain.joints)
    with_law = np.arange(count) < round(share * count)
    rng.shuffle(with_law)
    for k, joint in enumerate(plain.joints):
        factor = rng.uniform(0.5, 1.5, 4)
        values[f"Fc{k + 1}"] = factor[0] * FRICTION * size[k]
        values[f"Fv{k + 1}"] = factor[1] * FRICTION * size[k] / top[k]
        if not values.get(f"Ia{k + 1}"):
            values[f"Ia{k + 1}"] = factor[2] * 0.3 * size[k] / np.abs(qdd[:, k]).max()
        terms, shapes = set(joint.terms), {}
        for own in law if with_law[k] else ():
            terms.add(own)
            speed = top[k] * np.exp(rng.uniform(*np.log(SHAPES)))
            if own in ("Fs", "Ft"):
                shapes[own] = (speed, 1.0)[: len(_kind(own).shapes)]
            if own == "Ft":
                terms.discard("Fc")
                values.pop(f"Fc{k + 1}")
            scale = {"Fva": top[k], "Fr": np.sqrt(top[k])}.get(own, 1.0)
            amount = LOAD if own == "Fl" else SIZES[own] * size[k] / scale
            values[f"{own}{k + 1}"] = rng.uniform(0.6, 1.4) * amount
        joints.append(replace(joint, terms=frozenset(terms), shapes=shapes))
    robot = replace(plain, joints=tuple(joints))
    return Truth(robot, np.array([values.get(n, 0.0) for n in robot.all_parameter_names]))


def _kind(name: str):  # noqa: ANN202
    term = term_named(name)
    assert term is not None  # noqa: S101
    return term.kind


def creeping(q: Array, qd: Array) -> Array:
    """Return what is in place of the sign of the speed where joints creep before they slide.

    A bristle bends with the motion until it slides (P. R. Dahl, AIAA Journal 14(12), 1976).
    """
    steps = np.diff(q, axis=0, prepend=q[:1])
    rest = np.exp(-np.abs(steps) / (CREEP * np.abs(qd).max(axis=0)))
    found = np.sign(qd)
    for now in range(1, len(q)):
        side = np.sign(steps[now])
        found[now] = side + (found[now - 1] - side) * rest[now]
    return found


def recording(
    name: str, true: Truth, seed: int, seconds: float, memory: float, *, creeps: bool = False
) -> Recording:
    """Return what is measured along a motion; without noise where the memory is below zero."""
    clock, q, qd, qdd = motion(name, seed, seconds)
    effort = np.array(inverse_dynamics(true.robot, true.values, q, qd, qdd))
    if creeps:
        known = dict(zip(true.robot.all_parameter_names, true.values.tolist(), strict=True))
        coulomb = np.array([known.get(f"Fc{k + 1}", 0.0) for k in range(effort.shape[1])])
        effort += coulomb * (creeping(q, qd) - np.sign(qd))
    if memory >= 0.0:
        rng = np.random.default_rng([seed, int(100 * memory)])
        step = memory ** (ROWS / RATE)
        white = rng.standard_normal((len(clock) + 2000, effort.shape[1]))
        noise = scipy.signal.lfilter([np.sqrt(1 - step**2)], [1.0, -step], white, axis=0)[2000:]
        effort += NOISE * np.sqrt(np.mean(effort**2, axis=0)) * noise
    return Recording.from_arrays(arm(name).robot, clock, q, effort, source=name)


class Outcome(NamedTuple):
    """Terms chosen and true, joint by joint, and errors: plain, chosen, true law."""

    chosen: list[set[str]]
    true: list[set[str]]
    errors: tuple[float, float, float]


def outcome(
    name: str, law: Sequence[str], share: float, seed: int, seconds: float, *, creeps: bool
) -> Outcome:
    """Identify one robot and predict another motion."""
    true = truth(name, law, share, seed)
    memory = MEMORIES[seed // 2 % len(MEMORIES)]
    robot = arm(name).robot
    overrides = ProcessingSettings(cutoff_hz=20.0, rate_hz=ROWS)
    choice = Choice("wls")

    def rows(model: RobotModel, at: int, length: float, noise: float) -> WholeRows:
        made = recording(name, true, at, length, noise, creeps=creeps)
        processing = resolve_processing(model, [made], overrides)
        return WholeRows.of(base_parameters(model), [made], processing, blocks=False)

    other = 1000 + seed
    found, errors = [], []
    for model, friction in ((robot, STATED), (robot, AUTO), (true.robot, STATED)):
        own = friction_of(friction, rows(model, seed, seconds, memory), choice, model)
        values = fit(choice, own.source).estimate.values
        unseen = rows(own.base.robot, other, 30.0, -1.0)
        unseen = replace(unseen, base=own.base, processing=replace(
            unseen.processing, velocity_threshold=(0.0,) * len(robot.joints)))  # fmt: skip
        factors = unseen.rows("none").merged()
        squares = sum(f.residual_norm(values) ** 2 / f.effort_norm**2 for f in factors)
        errors.append(float(np.sqrt(squares / len(factors))))
        found.append([set(j.terms) - DEFAULT_TERMS for j in own.base.robot.joints])
    return Outcome(found[1], found[2], (errors[0], errors[1], errors[2]))


class Told(NamedTuple):
    """Joints with a law that matters, and joints without another law, by what is said of them."""

    matter: int
    noticed: int
    named: int
    alike: int
    without: int
    false: int


def told(
    name: str, law: Sequence[str], share: float, seed: int, seconds: float, *, creeps: bool
) -> Told:
    """Diagnose one robot."""
    true = truth(name, law, share, seed)
    robot, memory = arm(name).robot, MEMORIES[seed // 2 % len(MEMORIES)]
    made = recording(name, true, seed, seconds, memory, creeps=creeps)
    overrides = ProcessingSettings(cutoff_hz=20.0, rate_hz=ROWS)
    findings = diagnose(robot, [made], overrides=overrides).findings
    said = {one.joints[0]: one.problem for one in findings if one.cause == "friction law"}
    known = true.robot.loaded_by(true.values) if true.robot.follows_load else true.robot
    has_law = any(set(own.terms) - DEFAULT_TERMS for own in true.robot.joints)
    models = (robot, known) if has_law else ()
    before, after = [left_out(model, made, overrides) for model in models] or ([], [])
    found = Counter[str]()
    for k, joint in enumerate(true.robot.joints):
        have, line = set(joint.terms) - DEFAULT_TERMS, said.get(joint.name, "")
        if not have:
            found.update(without=1, false=bool(line))
        elif after[k] < MATTERS * before[k]:
            alike = have | (LOW_SPEED if have & LOW_SPEED else set())
            named, like = (any(f"{t}{k + 1}" in line for t in own) for own in (have, alike))
            found.update(matter=1, noticed=bool(line), named=named, alike=like)
    return Told(*(found[name] for name in Told._fields))


def left_out(model: RobotModel, made: Recording, overrides: ProcessingSettings) -> Array:
    """Return (joints,) errors on blocks left out, at all speeds."""
    every = replace(overrides, velocity_threshold=(0.0,) * len(model.joints))
    processing = resolve_processing(model, [made], every)
    found = fit(Choice("wls"), WholeRows.of(base_parameters(model), [made], processing))
    assert found.fit_without is not None  # noqa: S101
    squares = np.zeros((2, len(model.joints)))
    for block, factors in enumerate(found.measured):
        values = found.fit_without(block)
        squares += np.transpose([(f.residual_norm(values), f.effort_norm) for f in factors]) ** 2
    return np.sqrt(squares[0] / squares[1])


def line(found: Sequence[Outcome]) -> str:
    """Return the figures of one law and length."""
    had = got = alike = joints = false = 0
    for one in found:
        for chosen, true in zip(one.chosen, one.true, strict=True):
            joints += 1
            had += len(true)
            got += len(chosen & true)
            low = bool(true & LOW_SPEED)
            alike += sum(t in chosen or (t in LOW_SPEED and bool(chosen & LOW_SPEED)) for t in true)
            false += bool(chosen - true - (LOW_SPEED if low else set()))
    plain, chosen, true = np.median([one.errors for one in found], axis=0)
    shares = f"{got / had:6.2f} {alike / had:6.2f}" if had else "     -      -"
    ratio = np.median([one.errors[1] / one.errors[2] for one in found])
    return (
        f"{joints:6d} {shares} {false:5d} {false / joints:6.3f}   "
        f"{plain:.4f} {chosen:.4f} {true:.4f}  x{ratio:.2f}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--robots", nargs="+", default=["scara", "puma560", "tx40", "panda"])
    parser.add_argument("--laws", nargs="+", default=list(LAWS), choices=list(LAWS))
    parser.add_argument("--shares", nargs="+", type=float, default=[1.0, 0.5])
    parser.add_argument("--seconds", nargs="+", type=float, default=[14.0, 28.0])
    parser.add_argument("--runs", type=int, default=6, help="of every robot")
    parser.add_argument("--diagnose", action="store_true", help="in place of the choice")
    parser.add_argument("--first", type=int, default=10, help="seed")
    options = parser.parse_args(arguments)
    head = "    n  found  alike false  share   plain chosen  true   over true"
    if options.diagnose:
        head = "matter noticed  named   alike without  false"
    print(f"{'law':14s} joints  s {head}")
    for law in options.laws:
        for share in options.shares if LAWS[law] else [0.0]:
            for seconds in options.seconds:
                study = told if options.diagnose else outcome
                found = [
                    study(
                        name,
                        LAWS[law],
                        share,
                        options.first + run,
                        seconds,
                        creeps="creeping" in law,
                    )
                    for name in options.robots
                    for run in range(options.runs)
                ]
                if options.diagnose:
                    figures = " ".join(f"{sum(one):6d}" for one in zip(*found, strict=True))
                else:
                    figures = line(found)
                print(f"{law:14s} {share:5.0%} {seconds:3.0f} {figures}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
