"""How often 95 % intervals hold the truth with every friction law, those of its shapes too.

A robot follows a known motion; its joints have Coulomb and viscous friction and one law more, which
its robot file states, with open shapes where the law has any.  The exact efforts get noise, white
or coloured, another one in every run; `identify` estimates parameters and shapes by weighted least
squares.  Printed are the share of runs in which value +- 1.96 standard deviations holds the truth,
for the papers' standard deviation and for the robust one, mean over all parameters and shapes, and
in brackets the least and the largest of one; the same for the law's own parameters alone and for
its shapes; and how many runs held a shape that the noise did not let them tell.

Usage: friction_coverage.py [LAW ...] [--robot NAME] [--runs N] [--corner HZ]
"""

from __future__ import annotations

import argparse
import os
import sys
import time

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from interval_coverage import coloured

from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.excitation.motions.random_points import (
    RandomPointsSettings,
    random_points,
)
from robot_identification.identification.base.parameters import BaseParameters, base_parameters
from robot_identification.identification.estimators.choice import fit
from robot_identification.identification.estimators.estimator import Choice
from robot_identification.identification.friction.choice import friction_of
from robot_identification.identification.friction.options import STATED
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.robot.terms.joint_terms import DEFAULT_TERMS
from robot_identification.signals.filtered import FilteredSegment, filter_recording
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.processing.settings import resolve_processing
from robot_identification.signals.recording import Recording, Segment

RATE, ROWS, CUTOFF = 200.0, 50.0, 20.0  # Hz
NOISE = 0.02  # standard deviation over the largest effort of each joint


class Law(NamedTuple):
    """A law: its term, its size over that of Coulomb friction, what it replaces, its shape."""

    term: str
    size: float
    replaces: str = ""
    shape: tuple[float, ...] = ()  # the speed over the largest one, then the exponent
    stated: bool = False  # whether the robot file states the exponent


LAWS = {
    "asymmetric": Law("Fva", 0.3),
    "root": Law("Fr", 1.0),
    "stribeck": Law("Fs", 1.0, shape=(0.08, 1.0)),
    "smooth": Law("Ft", 1.0, "Fc", (0.08,)),
    "load": Law("Fl", 0.1),
    "gravity": Law("Fg", 0.1),
    "spring": Law("Ks", 1.0),
}


@dataclass(frozen=True)
class Scene:
    """A robot with a law, what is true of it, and its motion.

    Attributes:
        robot: as its file states it, with open shapes.
        full: true parameters.
        shapes: true shapes, by name.
        processing: settings.
        segment: filtered motion with exact efforts.
    """

    robot: RobotModel
    full: Array
    shapes: dict[str, float]
    processing: Processing
    segment: FilteredSegment


def scene(name: str, law: Law) -> Scene:
    """Return a robot whose joints all have a law."""
    robot = replace(load_robot(name), processing=ProcessingSettings())
    values = dict(zip(robot.all_parameter_names, load_values(name, robot), strict=True))
    settings = RandomPointsSettings(points=40, draws=5, seed=1)
    path = random_points(robot, settings).trajectory
    clock = np.arange(0.0, path.duration, 1.0 / RATE)
    q, qd, qdd = path.sample(clock)
    top = np.abs(qd).max(axis=0)
    size = np.sqrt(np.mean(inverse_dynamics(robot, load_values(name, robot), q, qd, qdd) ** 2, 0))
    joints, exact, shapes = [], [], {}
    for k, joint in enumerate(robot.joints):
        coulomb = 0.15 * size[k]
        values[f"Fc{k + 1}"] = values.get(f"Fc{k + 1}") or coulomb
        values[f"Fv{k + 1}"] = values.get(f"Fv{k + 1}") or coulomb / top[k]
        scale = {"Fva": 1 / top[k], "Fr": 1 / np.sqrt(top[k]), "Ks": 1.0}.get(law.term, 1.0)
        follows = law.term in ("Fl", "Fg")
        values[f"{law.term}{k + 1}"] = law.size * (1.0 if follows else coulomb * scale)
        terms = (DEFAULT_TERMS | {law.term}) - {law.replaces}
        values.pop(f"{law.replaces}{k + 1}", None)
        known = {law.term: (law.shape[0] * top[k], *law.shape[1:])} if law.shape else {}
        for own, value in zip(("speed", "exponent"), known.get(law.term, ()), strict=False):
            shapes[f"{law.term}{k + 1}.{own}"] = float(value)
        exact.append(replace(joint, terms=frozenset(terms), shapes=known))
        joints.append(replace(joint, terms=frozenset(terms), shapes={}))
    true = replace(robot, joints=tuple(exact), couplings=())
    full = np.array([values.get(name, 0.0) for name in true.all_parameter_names])
    effort = inverse_dynamics(true, full, q, qd, qdd)
    recording = Recording(
        robot.joint_names, 1.0 / RATE, (Segment(clock, np.array(q), None, effort),)
    )
    overrides = ProcessingSettings(cutoff_hz=CUTOFF, rate_hz=ROWS)
    processing = resolve_processing(true, [recording], overrides)
    (segment,) = filter_recording(recording, processing)
    return Scene(replace(true, joints=tuple(joints)), full, shapes, processing, segment)


def run(at: Scene, base: BaseParameters, rng: np.random.Generator, corner: float) -> Array | None:
    """Return (3, parameters and shapes) estimates and deviations; None where a shape is held."""
    exact = at.segment.effort
    noise = NOISE * np.abs(exact).max(axis=1, keepdims=True)
    noisy = exact + noise * coloured((len(exact), exact.shape[1]), corner, RATE, rng)
    source = WholeRows.of_segments(base, ["run"], [[at.segment.with_effort(noisy)]], at.processing)
    choice = Choice("wls")
    friction = friction_of(STATED, source, choice, base.robot)
    found = friction.completed(fit(choice, friction.source)).estimate
    shapes = {} if friction.law is None else {one.name: one for one in friction.law.shapes}
    if set(shapes) != set(at.shapes):
        return None
    told = [shapes[name] for name in at.shapes]
    values = np.append(found.values, [one.value for one in told])
    spread = [one.std for one in told]
    robust = found.std if found.std_robust is None else found.std_robust
    return np.array([values, np.append(found.std, spread), np.append(robust, spread)])


def line(found: Array, truth: Array, own: Array) -> str:
    """Return the figures of a law.

    Args:
        found: (runs, 3, parameters) estimates and both deviations.
        truth: (parameters,) what is true.
        own: (parameters,) which belong to the law itself.
    """
    values, texts = found[:, 0], []
    for std in (found[:, 1], found[:, 2]):
        inside = (np.abs(values - truth) < 1.96 * std).mean(axis=0)
        texts.append(f"{inside.mean():.3f} [{inside.min():.3f} {inside.max():.3f}]")
        texts.append(f"{inside[own].mean():.3f} [{inside[own].min():.3f}]")
    bias = np.abs(values.mean(axis=0) - truth) / values.std(axis=0)
    return "   ".join([*texts, f"{bias.max():.2f} {bias[own].max():.2f}"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("laws", nargs="*", default=list(LAWS), metavar="LAW")
    parser.add_argument("--robot", default="three_dof")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--corner", type=float, default=np.inf, help="of coloured noise, Hz")
    options = parser.parse_args(arguments)
    print(f"{'law':12s} runs held  std, its own     robust, its own   largest bias/spread, its own")
    for name in options.laws:
        begin, rng = time.monotonic(), np.random.default_rng(options.seed)
        at = scene(options.robot, LAWS[name])
        base = base_parameters(at.robot)
        every = [run(at, base, rng, options.corner) for _ in range(options.runs)]
        told = [one for one in every if one is not None]
        truth = np.append(base.values(at.full[base.columns]), list(at.shapes.values()))
        terms = [base.leading_names[i].startswith(LAWS[name].term) for i in range(base.rank)]
        own = np.append(terms, [True] * len(at.shapes)).astype(bool)
        held = len(every) - len(told)
        print(
            f"{name:12s} {len(every):4d} {held:4d}  {line(np.array(told), truth, own)}   "
            f"({time.monotonic() - begin:.0f} s)",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
