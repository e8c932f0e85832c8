"""How many deliberate mistakes `identify` names in its first five lines, and how many falsely.

Measured recordings of a UR10 and a TX-40 (where `../shared/data` has them) and simulated ones of a
SCARA get one mistake each, in the data or in the description of the robot.  Counted is whether one
of the first five lines that `identify` prints names the joint and the cause.  Sound recordings
follow: wholes, halves, quarters, added noise, and simulated motions of more robots; counted are the
findings called mistakes.

Usage: deliberate_mistakes.py [--robots NAME ...] [--quick] [--markdown FILE] [--verbose]
"""

from __future__ import annotations

import argparse
import os
import sys

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

import robot_identification as ri
from robot_identification.cli.tables import results as tables
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import RobotIdentificationError
from robot_identification.excitation.motions.random_points import (
    RandomPointsSettings,
    random_points,
)
from robot_identification.excitation.simulated_recording import SimulationSettings
from robot_identification.identification.identify import identify
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.model import EffortMeaning, PositionMeaning, RobotModel
from robot_identification.signals.recording import Recording

LINES = 5
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
MEASURED = {
    "ur10": "ur10/ur10_exciting_trajectory.db3",
    "tx40": "tx40/bag",
    "emps": "emps/bag",
}
MADE_UP = {"three_dof": "three_dof", "puma560": "puma560", "tx40_simulated": "tx40_simulated"}
SCARA_EFFORTS = (2.0, 0.15)  # N m, root mean squares
FRICTIONLESS = ("puma560", "three_dof")  # made-up robots
NOISE = 0.02  # of simulated efforts, over the largest of each joint


class Run(NamedTuple):
    """A recording and the robot that it is taken to be of."""

    robot: RobotModel
    recording: Recording


class Mistake(NamedTuple):
    """A run with one mistake.

    Attributes:
        name: what was done.
        joint: name of the joint; empty: the whole robot.
        words: of which one must be in the line that names it.
        run: with the mistake.
    """

    name: str
    joint: str
    words: tuple[str, ...]
    run: Run


def first_lines(run: Run) -> list[str]:
    """Return what `identify` prints first."""
    out = io.StringIO()
    with redirect_stdout(out):
        try:
            result = identify(run.robot, [run.recording])
            tables.print_findings(tables.console(), result.findings)
            tables.print_result(result)
        except RobotIdentificationError as error:
            print(f"robot-identification identify: {' '.join(str(error).split())}")
            print("\n".join(error.findings))
    return out.getvalue().splitlines()[:LINES]


def changed(
    run: Run,
    position: Callable[[Array], Array] | None = None,
    effort: Callable[[Array], Array] | None = None,
) -> Run:
    """Return a run with other signals; functions take and return (samples, joints)."""
    segments = tuple(
        replace(
            segment,
            velocity=None,
            position=np.array(segment.position) if position is None else position(segment.position),
            effort=np.array(segment.effort) if effort is None else effort(segment.effort),
        )
        for segment in run.recording.segments
    )
    return Run(run.robot, replace(run.recording, segments=segments))


def column(joint: int, change: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return the function that changes the signal of one joint."""

    def use(values: Array) -> Array:
        found = np.array(values)
        found[:, joint] = change(found[:, joint])
        return found

    return use


def exchanged(first: int, second: int) -> Callable[[Array], Array]:
    """Return the function that exchanges the signals of two joints."""

    def use(values: Array) -> Array:
        found = np.array(values)
        found[:, [first, second]] = found[:, [second, first]]
        return found

    return use


def with_joint(run: Run, joint: int, **changes: object) -> Run:
    """Return a run whose robot has another joint."""
    joints = list(run.robot.joints)
    joints[joint] = replace(joints[joint], **changes)
    return run._replace(robot=replace(run.robot, joints=tuple(joints)))


def held(period: float, seconds: float) -> Callable[[Array], Array]:
    """Return the function that holds a signal from where it changes fastest."""

    def use(values: Array) -> Array:
        inner = slice(len(values) // 4, 3 * len(values) // 4)
        begin = inner.start + int(np.argmax(np.abs(np.gradient(values[inner]))))
        values[begin : begin + round(seconds / period)] = values[begin]
        return values

    return use


def spiky(count: int, size: float, seed: int) -> Callable[[Array], Array]:
    """Return the function that adds spikes, of a size over the largest value."""

    def use(values: Array) -> Array:
        rng = np.random.default_rng(seed)
        places = rng.choice(len(values), count, replace=False)
        values[places] += rng.choice([-1.0, 1.0], count) * size * np.abs(values).max()
        return values

    return use


def pushed(period: float, seconds: float) -> Callable[[Array], Array]:
    """Return the function that adds a push in the middle, as large as the root mean square."""

    def use(values: Array) -> Array:
        begin = len(values) // 2
        values[begin : begin + round(seconds / period)] += np.sqrt(np.mean(values**2))
        return values

    return use


def mistakes(run: Run) -> Iterator[Mistake]:
    """Give out the mistakes that are tried on a robot: those of data, then of the description."""
    robot, period = run.robot, run.recording.period
    names, count = robot.joint_names, len(robot.joints)
    inner, last = count // 2, count - 1
    degrees = 180.0 / np.pi

    def one(name: str, joint: int | None, words: Sequence[str], changed_run: Run) -> Mistake:
        whose = "" if joint is None else names[joint]
        return Mistake(f"{name}{f' of {whose}' if whose else ''}", whose, tuple(words), changed_run)

    for joint in sorted({0, 1, inner, last}):
        flipped = changed(run, effort=column(joint, np.negative))
        yield one("efforts negated", joint, ["effort sign"], flipped)
    yield one("all efforts negated", None, ["effort sign"], changed(run, effort=np.negative))
    flipped = changed(run, position=column(inner, np.negative))
    yield one("positions negated", inner, ["position sign"], flipped)
    halved = changed(run, effort=column(1, lambda x: 0.5 * x))
    yield one("efforts halved (gear ratio)", 1, ["effort factor"], halved)
    thousand = changed(run, effort=column(inner, lambda x: 1000.0 * x))
    yield one("efforts in N mm", inner, ["effort factor", "effort beyond limits"], thousand)
    for joint in sorted({1, inner}):
        turned = changed(run, position=column(joint, lambda x: degrees * x))
        yield one("positions in degrees", joint, ["position unit"], turned)
    turned = changed(run, position=lambda x: degrees * x)
    yield one("all positions in degrees", None, ["position unit"], turned)
    doubled = changed(run, position=column(inner, lambda x: 2.0 * x))
    yield one("positions doubled (gear ratio)", inner, ["position factor"], doubled)
    pair = [names[inner - 1], names[inner]]
    swapped = changed(run, effort=exchanged(inner - 1, inner))
    yield one(f"efforts exchanged with {pair[0]}", inner, ["swapped"], swapped)
    both = exchanged(inner - 1, inner)
    yield one(f"joint exchanged with {pair[0]}", inner, ["swapped"], changed(run, both, both))
    for seconds in (0.02, 0.04):
        late = round(seconds / period)
        moved = changed(run, effort=lambda x, late=late: np.roll(x, late, axis=0))
        yield one(f"efforts {1e3 * seconds:.0f} ms late", None, ["time shift"], moved)
    cut = changed(run, effort=column(inner, lambda x: np.clip(x, *(0.7 * np.abs(x).max() * _BOTH))))
    yield one("efforts cut off at 70 %", inner, ["saturated"], cut)
    zero = changed(run, effort=column(inner, np.zeros_like))
    yield one("efforts zero", inner, ["zero"], zero)
    constant = changed(run, effort=column(inner, lambda x: np.full_like(x, 3.0)))
    yield one("efforts constant", inner, ["effort constant"], constant)
    for seconds in (0.2, 0.4):
        stuck = changed(run, position=column(inner, held(period, seconds)))
        yield one(f"position stuck for {seconds:g} s", inner, ["position stuck"], stuck)
    stuck = changed(run, effort=column(last, held(period, 0.4)))
    yield one("efforts stuck for 0.4 s", last, ["effort stuck"], stuck)
    spikes = changed(run, effort=column(inner, spiky(20, 2.0, 1)))
    yield one("20 spikes in the efforts", inner, ["effort spikes"], spikes)
    spikes = changed(run, position=column(last, spiky(5, 0.5, 2)))
    yield one("5 spikes in the positions", last, ["position spikes"], spikes)
    coarse = changed(run, effort=column(inner, lambda x: np.round(x / x.std()) * x.std()))
    yield one("efforts coarse", inner, ["effort quantised"], coarse)
    small = changed(run, effort=column(inner, lambda x: x * (np.abs(x) > 0.15 * np.abs(x).max())))
    yield one("small efforts cut off", inner, ["dead zone"], small)
    drifting = changed(
        run, effort=column(1, lambda x: x + x.std() * np.linspace(-0.5, 0.5, len(x)))
    )
    yield one("an offset that drifts", 1, ["drift"], drifting)
    touched = changed(run, effort=column(1, pushed(period, 1.0)))
    yield one("a contact of a second", 1, ["acts for a while"], touched)
    if robot.joints[inner].terms >= {"Fc"} and run.recording.source not in FRICTIONLESS:
        without = with_joint(run, inner, terms=robot.joints[inner].terms - {"Fc"})
        yield one("no Coulomb friction in the model", inner, ["missing term"], without)

    def sprung(values: Array, motion: Array) -> Array:
        found = np.array(values)
        stiffness = values[:, inner].std() / motion[:, inner].std()
        found[:, inner] += stiffness * motion[:, inner]
        return found

    spring = replace(
        run.recording,
        segments=tuple(
            replace(s, effort=sprung(s.effort, s.position)) for s in run.recording.segments
        ),
    )
    words = ["torque of position"]
    yield one("a spring at the joint", inner, words, run._replace(recording=spring))
    if np.linalg.norm(robot.gravity) > 0.0 and _bears(robot):
        size = float(np.linalg.norm(robot.gravity))
        for axis, name in (([0.0, 0.0, size], "up"), ([size, 0.0, 0.0], "along x")):
            other = run._replace(robot=replace(robot, gravity=np.array(axis)))
            yield one(f"gravity points {name}", None, ["gravity direction"], other)
        tilt = size * np.array([0.0, np.sin(0.35), -np.cos(0.35)])
        other = run._replace(robot=replace(robot, gravity=tilt))
        yield one("base tilted by 20 degrees", None, ["gravity direction"], other)
    if robot.couplings:
        other = run._replace(robot=replace(robot, couplings=()))
        yield one("coupling not declared", last, ["missing coupling"], other)


_BOTH = np.array([-1.0, 1.0])


def _bears(robot: RobotModel) -> bool:
    """Tell whether gravity acts on any joint: the axes of a SCARA are along it."""
    turned = np.eye(3)
    for joint in robot.joints:
        turned = turned @ joint.rotation
        if abs(abs(float(turned[:, 2] @ robot.gravity)) - np.linalg.norm(robot.gravity)) > 1e-6:
            return True
    return False


def measured(name: str) -> Run | None:
    """Return a measured recording, None where it is not at hand."""
    path = DATA / MEASURED[name]
    if not path.exists():
        return None
    robot = load_robot(name)
    return Run(robot, ri.read_bags(robot, [path])[0])


def simulated_scara(seed: int = 1, noise: float = NOISE) -> Run:
    """Return a simulated recording of the SCARA under its controller."""
    robot = load_robot("scara")
    sensors = tuple(noise * size for size in SCARA_EFFORTS)
    settings = SimulationSettings(effort_noise=sensors, seed=seed)
    return Run(robot, ri.simulate(robot, "scara", settings=settings).recording())


def followed(name: str, seed: int, noise: float = NOISE) -> Run:
    """Return a made-up recording of a robot on a random motion, with noise on its efforts."""
    robot = load_robot(name.removesuffix("_simulated"))
    settings = RandomPointsSettings(points=20, draws=3, seed=seed)
    path = random_points(robot, settings).trajectory
    clock = np.arange(0.0, path.duration, 0.004)
    q, qd, qdd = path.sample(clock)
    effort = inverse_dynamics(robot, load_values(MADE_UP[name], robot), q, qd, qdd)
    rng = np.random.default_rng(seed)
    effort = effort + noise * np.abs(effort).max(axis=0) * rng.standard_normal(effort.shape)
    return Run(robot, Recording.from_arrays(_at_joints(robot), clock, q, effort, source=name))


def _at_joints(robot: RobotModel) -> RobotModel:
    """Return a robot whose recordings are on the joint side already."""
    return replace(
        robot,
        effort_meaning=EffortMeaning.JOINT_TORQUE,
        position_meaning=PositionMeaning.JOINT,
    )


def sound(quick: bool) -> Iterator[tuple[str, Run]]:
    """Give out sound recordings with their names."""
    rng = np.random.default_rng(7)
    for name in MEASURED:
        run = measured(name)
        if run is None:
            continue
        parts = {"": (0.0, 1.0), "first half": (0.0, 0.5), "second half": (0.5, 1.0)}
        if name != "tx40":
            parts |= {f"quarter {i + 1}": (0.25 * i, 0.25 * (i + 1)) for i in range(4)}
        for part, (begin, end) in parts.items():
            cut = run._replace(recording=run.recording.between(begin, end))
            yield f"{name} {part or 'whole'}", cut
        for share in (0.01, 0.05):
            noisy = changed(
                run,
                effort=lambda x, s=share: x + s * x.std(axis=0) * rng.standard_normal(x.shape),
            )
            yield f"{name} with {100 * share:g} % noise", noisy
    for seed in range(1, 3 if quick else 7):
        for noise in (0.005, 0.03):
            yield f"scara, seed {seed}, noise {100 * noise:g} %", simulated_scara(seed, noise)
    for name in MADE_UP:
        for seed in range(1, 2 if quick else 4):
            yield f"{name}, seed {seed}", followed(name, seed)


def _run_of(name: str) -> Run | None:
    """Return the recording of a robot that gets mistakes, None where it is not at hand."""
    if name in MADE_UP:
        return followed(name, 11)
    return simulated_scara() if name == "scara" else measured(name)


def is_named(mistake: Mistake, lines: Sequence[str]) -> bool:
    """Tell whether one of the lines names joint and cause."""
    return any(
        (not mistake.joint or mistake.joint in line) and any(word in line for word in mistake.words)
        for line in lines
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robots", nargs="*", default=["ur10", "tx40", "scara"])
    parser.add_argument("--quick", action="store_true", help="fewer sound recordings")
    parser.add_argument("--no-sound", action="store_true")
    parser.add_argument("--markdown", type=Path, help="file for the tables")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args(arguments)
    rows: dict[str, dict[str, bool]] = {}
    for name in options.robots:
        run = _run_of(name)
        if run is None:
            print(f"{name}: no data, left out")
            continue
        for mistake in mistakes(run):
            lines = first_lines(mistake.run)
            hit = is_named(mistake, lines)
            rows.setdefault(name, {})[mistake.name] = hit
            print(f"{'named  ' if hit else 'MISSED '} {name}: {mistake.name}", flush=True)
            if options.verbose or not hit:
                print("\n".join(f"          {line[:200]}" for line in lines))
    false: list[tuple[str, str]] = []
    total = 0
    for name, run in sound(options.quick) if not options.no_sound else ():
        found = [line for line in first_lines(run) if line.startswith("mistake")]
        total += 1
        false += [(name, line) for line in found]
        print(f"{'sound  ' if not found else 'FALSE  '} {name}", flush=True)
        print("\n".join(f"          {line[:200]}" for line in found), end="\n" if found else "")
    named = sum(sum(own.values()) for own in rows.values())
    tried = sum(len(own) for own in rows.values())
    print(f"{named} of {tried} mistakes named; {len(false)} named falsely in {total} sound ones")
    if options.markdown:
        options.markdown.write_text(_table(rows, false, total), "utf-8")
    return 0


def _table(rows: dict[str, dict[str, bool]], false: Sequence[tuple[str, str]], total: int) -> str:
    text = ["| robot | mistake | named |", "|---|---|---|"]
    for robot, own in rows.items():
        text += [f"| {robot} | {name} | {'yes' if hit else 'no'} |" for name, hit in own.items()]
    text.append("")
    text.append(f"{total} sound recordings, {len(false)} mistakes named falsely.")
    text += [f"- {name}: {line}" for name, line in false]
    return "\n".join(text) + "\n"


if __name__ == "__main__":
    sys.exit(main())
