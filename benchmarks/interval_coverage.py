"""How often 95 % intervals hold the truth: the papers' standard deviations and the robust ones.

A robot follows a known motion; its exact efforts get noise, white or coloured (of first order, by
corner frequency, the joints unlike in level), or its positions get white noise, which enters the
regressor.  Recordings pass filter, decimation and thresholds as `identify` does it, with the
settings of the robot file, and weighted least squares.  Printed are the share of runs in which
value +- 1.96 std holds the truth, mean over the parameters and in brackets the least and the
largest of a parameter; the standard deviation claimed over the spread of the estimates; and the
bias over that spread.  Rows that do not change from run to run are computed once.

Beside position noise stands DIDIM, which does not use positions, on the same recordings: the robot
follows the motion under its controller there, and noise is added to what is recorded, not fed back.

Usage: interval_coverage.py [ROBOT ...] [--runs N] [--seed N] [--parallel N]
"""

from __future__ import annotations

import argparse
import os
import sys
import time

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
import scipy.signal

from robot_identification.dynamics.reference import Reference
from robot_identification.dynamics.regressor import Regressor, inverse_dynamics
from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.excitation.motions.random_points import (
    RandomPointsSettings,
    random_points,
)
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.identification.base.parameters import BaseParameters, base_parameters
from robot_identification.identification.didim.run import identify_didim
from robot_identification.identification.didim.settings import DidimSettings
from robot_identification.identification.estimators import least_squares
from robot_identification.identification.rows.bands import BandGrams
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.rows.householder_kernels import fold_rows
from robot_identification.identification.rows.whole import band_stream, decimated_rows
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.identification.statistics.robust_std import robust_std
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.filtered import FilteredSegment, filter_recording
from robot_identification.signals.filters.decimation import Window
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.processing.settings import resolve_processing
from robot_identification.signals.recording import Recording, Segment
from robot_identification.signals.rows import kept_rows

BATCH = 25
DIDIM_SHARE = 0.1  # of the runs that are asked for; each takes a second
# Tolerances so narrow that they do not show beside the noise of the positions' study.
TIGHT = DidimSettings(tolerance_error=1e-4, tolerance_parameters=1e-4, noise_floor=1.0)
CONTROLLED = ("scara",)  # robots for which DIDIM stands beside
SETTLING = 3000  # samples of coloured noise that are thrown away, so that it is stationary


class Study(NamedTuple):
    """A robot, its motion and its noise."""

    parameters: str
    rate: float
    points: int
    effort_noise: float  # standard deviation as a share of the largest effort of each joint
    corners: tuple[float, ...]  # of coloured noise, Hz
    position_noise: tuple[float, ...]  # standard deviations, rad
    share: float  # of the runs that are asked for, where positions are noisy


STUDIES = {
    "scara": Study("scara", 200.0, 30, 0.03, (0.3, 1.0, 3.0, 10.0), (1e-4, 1e-3, 3e-3), 1.0),
    "three_dof": Study("three_dof", 500.0, 40, 0.02, (0.3, 3.0), (1e-4, 1e-3), 1.0),
    "tx40": Study("tx40_simulated", 1000.0, 60, 0.02, (1.0, 10.0), (1e-5, 1e-4), 0.1),
}


@dataclass(frozen=True)
class Scene:
    """All that does not change from run to run."""

    study: Study
    base: BaseParameters
    truth: np.ndarray
    recording: Recording
    processing: Processing
    segment: FilteredSegment
    window: Window
    rows: np.ndarray
    kept: np.ndarray
    efforts: np.ndarray
    noise: np.ndarray
    reference: Reference


def followed(robot: RobotModel, values: np.ndarray, path: Trajectory, rate: float) -> Segment:
    """Return exact samples of a robot that follows a trajectory under its controller."""
    control_rate = robot.controller.rate_hz
    loop = ClosedLoop(robot, values, rate_hz=control_rate, sample_rate_hz=rate)
    steps = int(path.duration * control_rate)
    _, samples = loop.advance(loop.at_rest(np.array(path.positions[0])), path.reference, steps)
    clock = np.arange(len(samples.position)) / rate
    return Segment(clock, np.array(samples.position), None, np.array(samples.effort))


def followed_exactly(
    robot: RobotModel, values: np.ndarray, path: Trajectory, rate: float
) -> Segment:
    """Return exact samples of a robot that is on its trajectory always."""
    clock = np.arange(0.0, path.duration, 1.0 / rate)
    q, qd, qdd = path.sample(clock)
    return Segment(clock, np.array(q), None, inverse_dynamics(robot, values, q, qd, qdd))


@lru_cache(maxsize=2)
def scene(name: str, controlled: bool = False) -> Scene:
    """Return the motion of a robot, under a controller or exact, its efforts, and its rows."""
    study = STUDIES[name]
    robot = load_robot(name)
    base = base_parameters(robot)
    settings = RandomPointsSettings(points=study.points, draws=10, seed=1)
    trajectory = random_points(robot, settings).trajectory
    values = load_values(study.parameters, robot)
    samples = followed if controlled else followed_exactly
    segment = samples(robot, values, trajectory, study.rate)
    recording = Recording(robot.joint_names, 1.0 / study.rate, (segment,))
    processing = resolve_processing(robot, [recording], ProcessingSettings())
    (filtered,) = filter_recording(recording, processing)
    regressor = Regressor(robot, base.base_columns, spare=1)
    decimator = processing.decimator(filtered.period)
    (window,) = decimator.blocks(filtered.samples, filtered.samples)
    return Scene(
        study,
        base,
        base.values(values[base.columns]),
        recording,
        processing,
        filtered,
        window,
        decimated_rows(regressor, filtered, window, decimator),
        kept_rows(robot, filtered, processing),
        np.array([joint.rows.stop for joint in regressor.joint_rows]),
        study.effort_noise * np.abs(segment.effort).max(axis=0),
        trajectory.reference,
    )


def coloured(
    shape: tuple[int, int], corner: float, rate: float, rng: np.random.Generator
) -> np.ndarray:
    """Return noise of unit standard deviation, white where the corner is infinite."""
    white = rng.standard_normal((shape[0], shape[1] + SETTLING))
    memory = np.exp(-2.0 * np.pi * corner / rate)
    noise = scipy.signal.lfilter([np.sqrt(1.0 - memory**2)], [1.0, -memory], white, axis=1)
    return np.ascontiguousarray(noise[:, SETTLING:])


def rows_with_noisy_efforts(
    at: Scene, corner: float, runs: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Return the rows of some runs."""
    joints = len(at.efforts)
    noise = coloured((runs * joints, at.segment.samples), corner, at.study.rate, rng)
    decimator = at.processing.decimator(at.segment.period)
    seen = decimator.decimate_window(noise, at.window) / decimator.gain
    for own in seen.reshape(runs, joints, -1):
        rows = at.rows.copy()
        rows[at.efforts] += at.noise[:, None] * own
        yield rows


def folded(at: Scene, rows: np.ndarray) -> tuple[list[JointFactor], BandGrams]:
    """Return the factors and the bands of rows."""
    bands = band_stream(at.base.robot, at.base.base_columns)
    bands.add(rows, at.kept)
    factors = []
    begins = [0, *(at.efforts[:-1] + 1)]
    columns = [joint.columns for joint in Regressor(at.base.robot, at.base.base_columns).joint_rows]
    for k, (begin, end) in enumerate(zip(begins, at.efforts + 1, strict=True)):
        triangle = np.zeros((end - begin, end - begin))
        fold_rows(triangle, np.ascontiguousarray(rows[begin:end]), at.kept[k])
        factors.append(JointFactor(str(k), columns[k], triangle, int(at.kept[k].sum())))
    return factors, bands.grams()


def estimate(
    at: Scene, factors: Sequence[JointFactor], bands: BandGrams
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return values, standard deviations of the papers, and robust ones."""
    found = least_squares.weighted(factors, at.base.names)
    robust = robust_std(bands, factors, found.values, found.weights)
    return found.values, found.std, robust


def effort_batch(name: str, corner: float, runs: int, seed: list[int]) -> np.ndarray:
    """Return (runs, 3, parameters) values and standard deviations, for noise on the efforts."""
    at, rng = scene(name), np.random.default_rng(seed)
    noisy = rows_with_noisy_efforts(at, corner, runs, rng)
    return np.array([estimate(at, *folded(at, rows)) for rows in noisy])


def noisy_positions(at: Scene, std: float, rng: np.random.Generator) -> Recording:
    """Return a recording with noise; its efforts have a hundredth of that of the other cases."""
    (exact,) = at.recording.segments
    noisy = Segment(
        exact.time,
        exact.position + std * rng.standard_normal(exact.position.shape),
        None,
        exact.effort + 0.01 * at.noise * rng.standard_normal(exact.effort.shape),
    )
    return replace(at.recording, segments=(noisy,))


def position_batch(
    name: str, std: float, runs: int, seed: list[int], *, controlled: bool = False
) -> np.ndarray:
    """Return (runs, 3, parameters) values and standard deviations, for noise on the positions."""
    at, rng = scene(name, controlled), np.random.default_rng(seed)
    found = []
    for _ in range(runs):
        recording = noisy_positions(at, std, rng)
        processing = resolve_processing(at.base.robot, [recording], ProcessingSettings())
        rows = WholeRows.of(at.base, [recording], processing, blocks=False).rows("together")
        found.append(estimate(at, rows.merged(), rows.bands[0]))
    return np.array(found)


def didim_batch(name: str, std: float, runs: int, seed: list[int]) -> np.ndarray:
    """Return (runs, 3, parameters) values and standard deviations of DIDIM."""
    at, rng = scene(name, True), np.random.default_rng(seed)
    found = []
    for _ in range(runs):
        recording = noisy_positions(at, std, rng)
        result = identify_didim(at.base.robot, [recording], [at.reference], settings=TIGHT)
        found.append([getattr(result.estimate, n) for n in ("values", "std", "std_robust")])
    return np.array(found)


def line(found: np.ndarray, truth: np.ndarray) -> str:
    """Return the figures of the runs of one case."""
    values, *claimed = np.moveaxis(found, 1, 0)
    spread = values.std(axis=0)
    bias = np.abs(values.mean(axis=0) - truth) / spread
    texts = []
    for std in claimed:
        inside = (np.abs(values - truth) < 1.96 * std).mean(axis=0)
        ratio = np.median(std.mean(axis=0) / spread)
        texts.append(f"{inside.mean():.3f} [{inside.min():.3f} {inside.max():.3f}]  x{ratio:5.2f}")
    return "   ".join([*texts, f"{np.median(bias):6.2f} {bias.max():6.2f}"])


class Case(NamedTuple):
    """One line of the table."""

    label: str
    batch: Callable[[int, list[int]], np.ndarray]
    share: float  # of the runs that are asked for


def cases(name: str) -> list[Case]:
    """Return all cases of a robot."""
    study = STUDIES[name]
    efforts = {"white effort": np.inf, **{f"effort, {f:g} Hz": f for f in study.corners}}
    found = [Case(label, partial(effort_batch, name, f), 1.0) for label, f in efforts.items()]
    for std in study.position_noise:
        label = f"position, {std:g} rad"
        found.append(Case(label, partial(position_batch, name, std), study.share))
        if name in CONTROLLED:
            controlled = partial(position_batch, name, std, controlled=True)
            found.append(Case("  in closed loop", controlled, study.share))
    if name in CONTROLLED:
        found.append(Case("  the same, DIDIM", partial(didim_batch, name, std), DIDIM_SHARE))
    return found


def main() -> None:
    """Print the table of every robot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robots", nargs="*", default=list(STUDIES), metavar="ROBOT")
    parser.add_argument("--runs", type=int, default=2000, help="runs of a case")
    parser.add_argument("--seed", type=int, default=2025)
    parser.add_argument("--parallel", type=int, default=2, help="processes")
    options = parser.parse_args()
    for name in options.robots:
        at = scene(name)
        print(
            f"{name}: {at.base.rank} parameters, "
            f"{at.segment.samples * at.segment.period:.0f} s at {at.study.rate:g} Hz, "
            f"{int(at.kept.sum())} rows at {at.processing.rate_hz:g} Hz"
        )
        print(
            f"  {'noise':<24s}{'runs':>5s}  {'std: covers, claimed/true':<34s}"
            f"{'std_robust: covers, claimed/true':<34s}bias/spread median, largest"
        )
        with ProcessPoolExecutor(options.parallel) as pool:
            for number, case in enumerate(cases(name)):
                begin = time.monotonic()
                batches = max(1, round(options.runs * case.share / BATCH))
                seeds = [[options.seed, number, part] for part in range(batches)]
                found = np.concatenate(list(pool.map(case.batch, [BATCH] * batches, seeds)))
                seconds = time.monotonic() - begin
                runs = f"{case.label:<24s}{len(found):>5d}"
                print(f"  {runs}  {line(found, at.truth)}   ({seconds:.0f} s)")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
