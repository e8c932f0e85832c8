"""Averages over periods: are the standard deviations honest, and is drift told?

A simulated robot follows a random Fourier series (base frequency 0.2 Hz, five harmonics) in closed
loop, with the noise of its sensors, between a run-in and a run-out.

Deviations: for 2, 3, 5 and 10 periods, the geometric mean over the base parameters of the standard
deviations, times the root of the number of periods, beside that of 2 periods; for 2 and 10, the
standard deviations over the spread of so many draws of the noise, and the distance to the truth in
both kinds of standard deviations (root mean square).

Drift: the robot is simulated anew for every period, with viscous and Coulomb friction (couplings
included) that fall by so much, in equal steps, from the first period to the last, and every period
is taken from its own simulation: what the controller makes of the change is in it.  Printed is in
how many recordings drift is told: friction of all joints, of one joint in turn, and of none.

Usage: periodic_study.py [ROBOT ...] [--draws N] [--runs N] [--change C]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))

from functools import lru_cache

import numpy as np

from periodic_motions import REST, START, periodic_trajectory
from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.identify import identify
from robot_identification.identification.periodic.recordings import (
    PeriodicRecording,
    periodic_recording,
)
from robot_identification.identification.periodic.settings import periodic_processing
from robot_identification.identification.result import IdentificationResult
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.periodic.average import average_periods
from robot_identification.signals.periodic.periods import PeriodicMotion
from robot_identification.signals.raw_samples import RawSamples
from robot_identification.signals.recording import Recording

PERIOD, HARMONICS, RATE, RAMP = 5.0, 5, 1000.0, 1.0
MOTION = PeriodicMotion(PERIOD, planned_harmonics=HARMONICS)
POSITION_NOISE = 2e-5  # rad: an encoder of 17 bits at the joint
EFFORT_NOISE = {  # N m, as in config/simulations
    "tx40": (0.8, 0.8, 0.4, 0.2, 0.2, 0.12),
    "ur10": (1.65, 1.65, 0.75, 0.27, 0.27, 0.27),
}
PERIODS = (2, 3, 5, 10)
DRIFTING = 5


@lru_cache(maxsize=64)
def simulated(
    name: str, periods: int, factors: tuple[float, ...] | None = None
) -> tuple[Array, Array, Array]:
    """Return times, positions and efforts without noise.

    Args:
        name: of the robot.
        periods: of its motion.
        factors: (joints,) of the friction; None: the true one.
    """
    robot = load_robot(name)
    values = np.array(load_values(f"{name}_simulated", robot))
    if factors is not None:
        for place, parameter in enumerate(robot.all_parameter_names):
            if parameter.startswith(("Fv", "Fc")):
                values[place] *= factors[int(parameter[-1]) - 1]
    trajectory, _ = periodic_trajectory(
        robot, periods, period=PERIOD, harmonics=HARMONICS, ramp=RAMP, seed=1
    )
    loop = ClosedLoop(robot, values, sample_rate_hz=RATE)
    samples = loop.run(trajectory.reference, trajectory.duration)
    return samples.time, samples.position, samples.effort


def recorded(robot: RobotModel, motion: tuple[Array, Array, Array], seed: int) -> Recording:
    """Return a recording with noise, on the joint side."""
    rng = np.random.default_rng(seed)
    time_, position, effort = motion
    raw = RawSamples(
        START + np.rint(time_ * 1e9).astype(np.int64),
        position + POSITION_NOISE * rng.standard_normal(position.shape),
        None,
        effort + np.array(EFFORT_NOISE[robot.name]) * rng.standard_normal(effort.shape),
    )
    return build_recording(raw, robot.joint_names, source=robot.name)


def drifting(name: str, change: float, joint: int | None) -> tuple[Array, Array, Array]:
    """Return samples of a robot whose friction changes from period to period."""
    joints = len(load_robot(name).joints)
    time_, position, effort = (np.array(part) for part in simulated(name, DRIFTING))
    for period in range(DRIFTING):
        factors = np.ones(joints)
        own = slice(None) if joint is None else joint
        factors[own] += change * period / (DRIFTING - 1)
        _, moved, needed = simulated(name, DRIFTING, tuple(factors.tolist()))
        begin = REST + RAMP + period * PERIOD if period else 0.0
        end = REST + RAMP + (period + 1) * PERIOD if period < DRIFTING - 1 else np.inf
        here = (time_ >= begin - 1e-9) & (time_ < end - 1e-9)
        position[here], effort[here] = moved[here], needed[here]
    return time_, position, effort


def told(robot: RobotModel, recording: Recording) -> PeriodicRecording:
    """Return what the periods of a recording tell."""
    average = average_periods(recording, MOTION)
    processing = periodic_processing(robot, [average], ProcessingSettings())
    nothing = np.ones(len(robot.joints))
    return periodic_recording(robot, recording.source, average, processing, nothing)


def deviations(name: str, draws: int) -> None:
    """Print how standard deviations fall, and how they compare with the spread."""
    robot = load_robot(name)
    base = base_parameters(robot)
    truth = base.values(load_values(f"{name}_simulated", robot)[base.columns])
    first: Array | None = None
    for periods in PERIODS:
        count = draws if periods in (PERIODS[0], PERIODS[-1]) else 5
        motion = simulated(name, periods)
        results: list[IdentificationResult] = [
            identify(robot, [recorded(robot, motion, seed)], periodic=MOTION)
            for seed in range(count)
        ]
        values = np.array([result.estimate.values for result in results])
        std = np.mean([result.estimate.std for result in results], axis=0)
        robust = np.mean(
            [std if (own := result.estimate.std_robust) is None else own for result in results],
            axis=0,
        )
        scaled = std * np.sqrt(periods)
        first = scaled if first is None else first
        ratio = scaled / first
        used = {one.periods for result in results for one in result.periodic}
        line = (
            f"{name}: {periods} periods ({count} draws, {sorted(used)} used): std x root of "
            f"periods, over that of {PERIODS[0]}: {np.exp(np.mean(np.log(ratio))):.3f} "
            f"({ratio.min():.3f} to {ratio.max():.3f})"
        )
        if count == draws:
            share = std / values.std(axis=0, ddof=1)
            away = (values - truth) / std, (values - truth) / robust
            line += (
                f"; std over spread {np.exp(np.mean(np.log(share))):.3f} ({share.min():.2f} to "
                f"{share.max():.2f}); distance to the truth {np.sqrt(np.mean(away[0] ** 2)):.2f} "
                f"std, {np.sqrt(np.mean(away[1] ** 2)):.2f} std_robust"
            )
        print(line, flush=True)


def drift(name: str, runs: int, change: float) -> None:
    """Print in how many recordings drift is told."""
    robot = load_robot(name)
    joints = len(robot.joints)
    cases = {
        "none": [simulated(name, DRIFTING)],
        "all joints": [drifting(name, change, None)],
        "one joint in turn": [drifting(name, change, joint) for joint in range(joints)],
    }
    for number, (case, motions) in enumerate(cases.items()):
        found = [
            told(robot, recorded(robot, motions[run % len(motions)], 1000 * (number + 1) + run))
            for run in range(runs)
        ]
        missed = [run % joints + 1 for run, one in enumerate(found) if not one.drifts]
        used = {one.periods for one in found}
        line = f"{name}: friction of {case} changes by {change:.0%}" if number else f"{name}: none"
        print(
            f"{line}: drift told in {sum(one.drifts for one in found)} of {runs} recordings "
            f"({sorted(used)} periods used)"
            + (f"; missed in joints {missed}" if number == 2 and missed else ""),
            flush=True,
        )


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robots", nargs="*", default=list(EFFORT_NOISE), metavar="ROBOT")
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--change", type=float, default=-0.05)
    options = parser.parse_args()
    for name in options.robots:
        begin = time.monotonic()
        drift(name, options.runs, options.change)
        deviations(name, options.draws)
        print(f"{name}: {time.monotonic() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
