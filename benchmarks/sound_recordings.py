"""How many mistakes `identify` names falsely in sound recordings that no rule was made on.

Parts of the measured recordings of EMPS, TX-40 and UR10 (where `../shared/data` has them) that
begin and end elsewhere than those of `deliberate_mistakes.py`, and at half the rate; simulated
motions of robots of this package, and of arms of the package example-robot-data, none of which had
a part in the rules.  Simulated efforts have what a model lacks: friction that falls with speed,
ripple of the gears, and the steps and noise of sensors at usual levels.

Usage: sound_recordings.py [--only WORD ...] [--verbose]
"""

from __future__ import annotations

import argparse
import os
import sys

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from xml.etree import ElementTree as ET

import numpy as np
from deliberate_mistakes import MEASURED, Run, _at_joints, first_lines, measured, simulated_scara

from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.excitation.motions.random_points import (
    RandomPointsSettings,
    random_points,
)
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.urdf.prior import urdf_prior
from robot_identification.robot.files.values import load_values
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.recording import Recording

EXAMPLES = "cmeel.prefix/share/example-robot-data/robots"
ARMS = {
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "ur3": "ur_description/urdf/ur3_robot.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "kinova": "kinova_description/robots/kinova.urdf",
    "z1": "z1_description/urdf/z1.urdf",
    "xarm7": "xarm_description/urdf/xarm7.urdf",
    "so101": "so_arm_description/urdf/so101.urdf",
}
"""URDFs of example-robot-data."""

FINGERS = ("finger", "gripper", "Gripper", "jaw")

TRUTHS = {"stanford": "stanford", "ur10": "ur10_simulated", "tx40": "tx40_simulated"}
RANGE, SPEED, ACCELERATION = 2.5, 2.0, 8.0  # where a URDF states none: rad or m, per s, per s^2

# Shares of the root mean square of a joint's efforts without friction, chosen as drives have them.
COULOMB, VISCOUS, INERTIA, OFFSET = 0.15, 0.15, 0.3, 0.02
STRIBECK = 0.2  # of Coulomb friction, gone at a twentieth of the largest speed
RIPPLE = ((100.0, 0.01), (2.0, 0.003))  # periods per turn, share of the root mean square

# Two cuts that no quarter or third from the beginning has, and at half the rate.
CUTS = {
    "1/8 to 3/8": (0.125, 0.375),
    "3/8 to 5/8": (0.375, 0.625),
    "5/8 to 7/8": (0.625, 0.875),
    "1/6 to 1/2": (1 / 6, 0.5),
    "1/2 to 5/6": (0.5, 5 / 6),
}
QUARTERS = {f"quarter {i + 1}": (0.25 * i, 0.25 * (i + 1)) for i in range(4)}


class Sensors(NamedTuple):
    """What is recorded: rate in Hz, counts per turn, steps of the efforts over their range, noise.

    Noise is a share of the root mean square of a joint's efforts.
    """

    rate: float
    counts: float
    steps: float
    noise: float


GOOD = Sensors(500.0, 2.0**20, 4096.0, 0.01)
USUAL = Sensors(125.0, 2.0**17, 2048.0, 0.03)
COARSE = Sensors(250.0, 2.0**14, 512.0, 0.06)


def waypoints(robot: RobotModel, seed: int, rate: float) -> tuple[Array, Array, Array, Array]:
    """Return clock, positions, velocities and accelerations through random points."""
    settings = RandomPointsSettings(points=16, draws=2, reach=0.6, speed=0.7, seed=seed)
    path = random_points(robot, settings).trajectory
    clock = np.arange(0.0, path.duration, 1.0 / rate)
    return clock, *path.sample(clock)


def pauses(robot: RobotModel, seed: int, rate: float) -> tuple[Array, Array, Array, Array]:
    """Return the same from point to point, with a stop at each, at half the speed."""
    settings = RandomPointsSettings(
        points=12, draws=2, reach=0.5, speed=0.5, through=0.0, seed=seed
    )
    path = random_points(robot, settings).trajectory
    clock = np.arange(0.0, path.duration, 1.0 / rate)
    return clock, *path.sample(clock)


def waves(robot: RobotModel, seed: int, rate: float) -> tuple[Array, Array, Array, Array]:
    """Return the same of a sum of five waves, three periods of 10 s."""
    rng = np.random.default_rng(seed)
    clock = np.arange(0.0, 30.0, 1.0 / rate)
    count = len(robot.joints)
    orders = 2.0 * np.pi * 0.1 * np.arange(1, 6)
    sizes = rng.standard_normal((2, 5, count)) / orders[:, None]
    angle = np.outer(clock, orders)
    q = np.sin(angle) @ sizes[0] + np.cos(angle) @ sizes[1]
    v = (np.cos(angle) * orders) @ sizes[0] - (np.sin(angle) * orders) @ sizes[1]
    a = -(np.sin(angle) * orders**2) @ sizes[0] - (np.cos(angle) * orders**2) @ sizes[1]
    lower, upper, fastest = (
        np.array([getattr(joint.limits, name) for joint in robot.joints])
        for name in ("lower", "upper", "velocity")
    )
    scale = 0.6 * np.minimum((upper - lower) / np.ptp(q, axis=0), fastest / np.abs(v).max(axis=0))
    middle = 0.5 * (upper + lower) - scale * 0.5 * (q.max(axis=0) + q.min(axis=0))
    return clock, middle + scale * q, scale * v, scale * a


MOTIONS = {"waypoints": waypoints, "pauses": pauses, "waves": waves}


def limited(robot: RobotModel) -> RobotModel:
    """Return a robot with limits of everything; those of turning without end are narrowed."""
    joints = []
    for joint in robot.joints:
        own = joint.limits
        lower = -RANGE if own.lower is None else max(own.lower, -RANGE)
        upper = RANGE if own.upper is None else min(own.upper, RANGE)
        limits = replace(
            own,
            lower=lower,
            upper=upper,
            velocity=min(own.velocity or SPEED, SPEED),
            acceleration=ACCELERATION,
            effort=None,
        )
        joints.append(replace(joint, limits=limits))
    return replace(robot, joints=tuple(joints))


def made_up(name: str, robot: RobotModel, values: Array, motion: str, sensors: Sensors) -> Run:
    """Return a made-up recording of a robot with friction, ripple, steps and noise.

    Args:
        name: of the robot, which with the motion seeds everything that is drawn.
        robot: with limits.
        values: (full columns,) parameters; drives that have none get some.
        motion: one of MOTIONS.
        sensors: what is recorded.
    """
    seed = sum(f"{name} {motion}".encode())
    if 2.0 * (robot.processing.cutoff_hz or 0.0) >= sensors.rate:
        robot = replace(robot, processing=ProcessingSettings())
    clock, q, qd, qdd = MOTIONS[motion](robot, seed, sensors.rate)
    bodies = np.array(inverse_dynamics(robot, values, q, qd, qdd))
    size = np.sqrt(np.mean(bodies**2, axis=0))
    size = np.maximum(size, 0.05 * size.max())
    fastest, hardest = np.abs(qd).max(axis=0), np.abs(qdd).max(axis=0)
    rng = np.random.default_rng(seed)
    effort = bodies
    for joint, own in enumerate(robot.joints):
        terms, v = {term.name for term in own.joint_terms}, qd[:, joint]
        given = np.abs(v) > 0.0
        missing = {t: not _value(robot, values, f"{t}{joint + 1}") for t in terms}
        share = rng.uniform(0.5, 1.5, 4)
        slow = np.exp(-((v / (0.05 * fastest[joint])) ** 2)) * given
        extra = np.zeros(len(clock))
        if missing.get("Fc"):
            extra += share[0] * COULOMB * np.sign(v) * (1.0 + STRIBECK * slow)
        if missing.get("Fv"):
            extra += share[1] * VISCOUS * v / fastest[joint]
        if missing.get("Ia"):
            extra += share[2] * INERTIA * qdd[:, joint] / hardest[joint]
        if missing.get("off"):
            extra += share[3] * OFFSET
        for order, part in RIPPLE:
            extra += part * np.sin(order * q[:, joint] + rng.uniform(0.0, 2.0 * np.pi))
        effort[:, joint] += size[joint] * extra
    size = np.sqrt(np.mean(effort**2, axis=0))
    effort = effort + sensors.noise * size * rng.standard_normal(effort.shape)
    step = 2.0 * np.abs(effort).max(axis=0) / sensors.steps
    turn = 2.0 * np.pi / sensors.counts
    recorded = Recording.from_arrays(
        _at_joints(robot), clock, turn * np.rint(q / turn), step * np.rint(effort / step),
        source=f"{name} {motion}",
    )  # fmt: skip
    return Run(robot, recorded)


def _value(robot: RobotModel, values: Array, name: str) -> float:
    names = robot.all_parameter_names
    return float(values[names.index(name)]) if name in names else 0.0


def cut_elsewhere() -> Iterator[tuple[str, Run]]:
    """Give out parts of measured recordings, and these at half the rate."""
    for name in MEASURED:
        run = measured(name)
        if run is None:
            print(f"{name}: no data, left out")
            continue
        for part, (begin, end) in (CUTS | (QUARTERS if name == "tx40" else {})).items():
            cut = run._replace(recording=run.recording.between(begin, end))
            yield f"{name}, {part}", cut
        longest = max(run.recording.segments, key=lambda s: len(s.time))
        thin = slice(None, None, 2)
        every_other = Recording.from_arrays(
            _at_joints(run.robot), longest.time[thin], longest.position[thin],
            longest.effort[thin], source=name,
        )  # fmt: skip
        yield f"{name}, half the rate", run._replace(recording=every_other)


def simulated() -> Iterator[tuple[str, Run]]:
    """Give out made-up recordings of robots of this package and of published arms."""
    for seed, noise in ((11, 0.01), (12, 0.02), (13, 0.05), (14, 0.1)):
        yield f"scara, seed {seed}, noise {100 * noise:g} %", simulated_scara(seed, noise)
    chosen = [(m, s) for m in MOTIONS for s in (GOOD, USUAL, COARSE)]
    for name, truth in TRUTHS.items():
        robot = limited(load_robot(name))
        for motion, sensors in chosen[::2]:
            run = made_up(name, robot, load_values(truth, robot), motion, sensors)
            yield f"{name}, {motion}, {sensors.rate:g} Hz, noise {100 * sensors.noise:g} %", run
    for place, (name, file) in enumerate(ARMS.items()):
        path = _example(file)
        if path is None:
            print(f"{name}: example-robot-data is not installed, left out")
            continue
        with TemporaryDirectory() as folder:
            path = without_fingers(path, Path(folder))
            robot = limited(load_robot(path, effort_meaning="joint_torque"))
            values = np.array(urdf_prior(path, robot))
        for motion, sensors in chosen[place % 2 :: 2]:
            run = made_up(name, robot, values, motion, sensors)
            yield f"{name}, {motion}, {sensors.rate:g} Hz, noise {100 * sensors.noise:g} %", run


def without_fingers(path: Path, folder: Path) -> Path:
    """Return a copy of a URDF in which fingers hold still."""
    root = ET.parse(path)  # noqa: S314 -- a file of an installed package
    for joint in root.iter("joint"):
        if any(word in joint.get("name", "") for word in FINGERS):
            joint.set("type", "fixed")
            for own in joint.findall("mimic"):
                joint.remove(own)
    copy = folder / path.name
    root.write(copy)
    return copy


def _example(file: str) -> Path | None:
    try:
        package = metadata.distribution("example-robot-data")
    except metadata.PackageNotFoundError:
        return None
    return Path(str(package.locate_file(f"{EXAMPLES}/{file}")))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], help="words of which a name has one")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args(arguments)
    total, alarmed, refused, false = 0, 0, 0, 0
    for source in (cut_elsewhere(), simulated()):
        for name, run in source:
            if options.only and not any(word in name for word in options.only):
                continue
            lines = first_lines(run)
            found = [line for line in lines if line.startswith("mistake")]
            total, false, alarmed = total + 1, false + len(found), alarmed + bool(found)
            refusal = lines[0].startswith("robot-identification") if lines else False
            refused += refusal
            print(f"{'FALSE' if found else 'refused' if refusal else 'sound':8}{name}", flush=True)
            for line in lines if options.verbose else found or lines[:refusal]:
                print(f"        {line[:240]}", flush=True)
    print(f"{total} sound recordings: {alarmed} with {false} mistakes named falsely; "
          f"{refused} refused")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
