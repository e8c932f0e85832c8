"""How long base parameters take: an arm of seven joints, a tree of thirty.

Limits: 0.2 s and 5 s, after the compiled code was loaded once.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

import numpy as np

from robot_identification.identification.base.parameters import BaseParameters, base_parameters
from robot_identification.identification.base.report import base_report
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.geometry import placement
from robot_identification.robot.joint import GeometricParameters, Joint, JointType
from robot_identification.robot.model import RobotModel

WAYS = [
    (model, method) for model in ("dynamic", "simplified", "energy") for method in ("qr", "svd")
]
QUARTER = np.pi / 2


def robot_of(
    name: str, antecedents: Sequence[int], rng: np.random.Generator, *, oblique: bool
) -> RobotModel:
    """Return a robot with random placements; a fifth of the joints of a tree are prismatic."""
    joints = []
    for i, antecedent in enumerate(antecedents):
        angles = rng.choice([0.0, QUARTER, -QUARTER], size=3)
        if oblique and rng.random() < 0.3:
            angles = rng.uniform(-3.0, 3.0, size=3)
        geometry = GeometricParameters(
            alpha=float(angles[0]) if oblique else (0.0, QUARTER, -QUARTER)[min(i, 1 + i % 2)],
            theta=float(angles[1]),
            d=float(rng.choice([0.0, 0.1, 0.25])),
            r=float(rng.choice([0.0, 0.3, 0.4])),
            gamma=float(angles[2]) if oblique else 0.0,
        )
        rotation, translation = placement(geometry)
        slides = oblique and rng.random() < 0.2
        kind = JointType.PRISMATIC if slides else JointType.REVOLUTE
        joints.append(
            Joint(
                f"joint_{i + 1}", f"link_{i + 1}", kind, antecedent, rotation, translation, geometry
            )
        )
    return RobotModel(name, "base", tuple(joints), np.array([0.0, 0.0, -9.81]))


def measured(robot: RobotModel, way: tuple[str, str]) -> tuple[BaseParameters, float]:
    """Return the base parameters and the shortest of three times, in s."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        base = base_parameters(robot, *way)
        times.append(time.perf_counter() - start)
    return base, min(times)


def main() -> int:
    """Print times, ranks and gaps; return 1 where a limit is missed."""
    for way in WAYS:
        base_parameters(load_robot("three_dof"), *way)
    rng = np.random.default_rng(0)
    arm = robot_of("arm of 7", [i - 1 for i in range(7)], rng, oblique=False)
    antecedents = [int(rng.integers(max(-1, i - 6), i)) for i in range(30)]
    tree = robot_of("tree of 30", antecedents, rng, oblique=True)
    missed = False
    print(f"{'robot':<12}{'model':<12}{'method':<8}{'columns':>8}{'rank':>6}{'gap':>10}{'s':>9}")
    for robot, limit in ((arm, 0.2), (tree, 5.0)):
        for way in WAYS:
            base, seconds = measured(robot, way)
            missed |= seconds > limit
            print(
                f"{robot.name:<12}{way[0]:<12}{way[1]:<8}{len(base.columns):>8}{base.rank:>6}"
                f"{base.gap:>10.1e}{seconds:>9.4f}"
            )
        start = time.perf_counter()
        base_report(base)
        seconds = time.perf_counter() - start
        print(f"{robot.name:<12}{'report with every relation in symbols':<46}{seconds:>9.4f}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
