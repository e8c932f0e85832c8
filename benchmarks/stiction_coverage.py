"""How often intervals hold the truth where joints stick, by the window of the velocity thresholds.

A simulated robot follows random motions under its controller, with exact Coulomb friction: joints
stick at every reversal.  Positions and efforts get the noise of `simulated_robot`
(config/simulated_robot.yaml, config/simulations), another one in every run, and pass filter,
decimation and thresholds as `identify` does it, with settings derived from the data: what the robot
file recommends is set aside.  Weighted least squares; intervals from `std_robust`.

Printed for every window: the share of runs in which value +- 1.96 standard deviations holds the
truth, mean over parameters, motions and runs, then the least of a parameter, the same for three
standard deviations with the parameters that are worst, the root mean square error of the parameters
over that of the first window, the share of rows that stay, and the mean of every motion.

Usage: stiction_coverage.py [ROBOT ...] [--windows W ...] [--runs N] [--motions N] [--robot-file]
"""

from __future__ import annotations

import argparse
import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import yaml

from robot_identification.dynamics.regressor import Regressor
from robot_identification.dynamics.simulation.fixed_step import ClosedLoop, SimulatedSamples
from robot_identification.dynamics.simulation.sensors import Sensors, SensorSettings
from robot_identification.excitation.motions.random_points import (
    RandomPointsSettings,
    random_points,
)
from robot_identification.identification.base.parameters import BaseParameters, base_parameters
from robot_identification.identification.estimators import least_squares
from robot_identification.identification.rows.whole import (
    FactorStream,
    band_stream,
    decimated_rows,
)
from robot_identification.identification.statistics.robust_std import robust_std
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.share import share_directory
from robot_identification.signals.conditioning import joint_side_recording
from robot_identification.signals.filtered import filter_recording
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.processing.settings import resolve_processing
from robot_identification.signals.raw_samples import RawSamples
from robot_identification.signals.recording import Recording
from robot_identification.signals.rows import kept_rows

WINDOWS = (1.0, 0.2, 0.5, 1.5, 2.0, 3.0, 5.0)
POSITION_NOISE = POSITION_STEP = 1e-5  # rad, as config/simulated_robot.yaml says
POINTS, DRAWS, SHARE = 30, 10, 0.7  # of the motions; share of speeds and of position ranges


class Subject(NamedTuple):
    """A robot, what is true of it, and how it is identified."""

    robot: RobotModel
    base: BaseParameters
    full: np.ndarray
    truth: np.ndarray
    sensors: SensorSettings

    @classmethod
    def of(cls, name: str, *, robot_file: bool) -> Subject:
        """Return a robot of which a simulation is shipped; its file may say how to identify it."""
        described = load_robot(name)
        robot = described if robot_file else replace(described, processing=ProcessingSettings())
        base = base_parameters(robot)
        full = load_values(f"{name}_simulated", robot)
        joints = len(robot.joints)
        simulation = share_directory() / "config" / "simulations" / f"{name}.yaml"
        node = yaml.safe_load(simulation.read_text())["/**/simulated_robot"]["ros__parameters"]
        sensors = SensorSettings(
            position_noise=(POSITION_NOISE,) * joints,
            effort_noise=tuple(node["effort_noise"]),
            position_resolution=(POSITION_STEP,) * joints,
            effort_resolution=(0.0,) * joints,
        )
        return cls(robot, base, full, base.values(full[base.columns]), sensors)

    def motion(self, seed: int, rate: float, speed: float) -> SimulatedSamples:
        """Return exact samples of the robot along a random motion under its controller."""
        settings = RandomPointsSettings(
            points=POINTS, draws=DRAWS, seed=seed, speed=speed, reach=SHARE
        )
        path = random_points(self.robot, settings).trajectory
        loop = ClosedLoop(self.robot, self.full, sample_rate_hz=rate)
        return loop.run(path.reference, float(path.times[-1]))

    def recorded(self, samples: SimulatedSamples, seed: int) -> Recording:
        """Return what the sensors make of samples, on the joint side."""
        measured = Sensors(self.robot, self.sensors, seed).measure(samples)
        stamps = 10**9 + np.rint(1e9 * samples.time).astype(np.int64)
        raw = RawSamples(stamps, measured.position, None, measured.effort)
        return joint_side_recording(raw, self.robot, source="simulated")


@dataclass(frozen=True)
class Outcome:
    """One estimate: distances from the truth, in all, and as many standard deviations.

    Attributes:
        errors: (parameters,) estimate less truth.
        sigmas: (parameters,) their sizes over the robust standard deviations.
        rows: share of the rows that stay.
    """

    errors: np.ndarray
    sigmas: np.ndarray
    rows: float


def outcomes(
    subject: Subject, recording: Recording, stated: ProcessingSettings, windows: Sequence[float]
) -> Iterator[Outcome]:
    """Give out the estimate with each window, from rows that are made once."""
    robot, base = subject.robot, subject.base
    processing = resolve_processing(robot, [recording], stated)
    (segment,) = filter_recording(recording, processing)
    decimator = processing.decimator(segment.period)
    (window,) = decimator.blocks(segment.samples, segment.samples)
    regressor = Regressor(robot, base.base_columns, spare=1)
    rows = decimated_rows(regressor, segment, window, decimator)
    for width in windows:
        kept = kept_rows(robot, segment, with_window(processing, width))
        factors, bands = (
            FactorStream(robot, base.base_columns),
            band_stream(robot, base.base_columns),
        )
        factors.add(rows, kept)
        bands.add(rows, kept)
        folded = factors.factors()
        found = least_squares.weighted(folded, base.names)
        std = robust_std(bands.grams(), folded, found.values, found.weights)
        errors = found.values - subject.truth
        yield Outcome(errors, np.abs(errors) / std, float(kept.mean()))


def with_window(processing: Processing, width: float) -> Processing:
    """Return settings with another window of the velocity thresholds."""
    return replace(processing, velocity_threshold_window=width)


def line(subject: Subject, found: list[list[Outcome]], first: list[list[Outcome]]) -> str:
    """Return the figures of one window, for outcomes by motion and run."""
    sigmas = np.array([[one.sigmas for one in runs] for runs in found])
    errors, before = (
        np.array([one.errors for runs in of for one in runs]) for of in (found, first)
    )
    inside, wide = sigmas < 1.96, (sigmas < 3.0).mean(axis=(0, 1))
    ratio = np.sqrt((errors**2).mean(axis=0) / (before**2).mean(axis=0))
    worst = ", ".join(f"{subject.base.names[i]} {wide[i]:.2f}" for i in np.argsort(wide)[:3])
    rows = np.mean([one.rows for runs in found for one in runs])
    motions = " ".join(f"{share:.3f}" for share in inside.mean(axis=(1, 2)))
    return (
        f"{inside.mean():.3f} {inside.mean(axis=(0, 1)).min():.2f}   {wide.mean():.3f} ({worst})   "
        f"errors x{np.median(ratio):.2f}   rows {rows:.2f}   motions {motions}"
    )


def main() -> None:
    """Print the table of every robot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robots", nargs="*", default=["tx40", "ur10"], metavar="ROBOT")
    parser.add_argument("--windows", type=float, nargs="+", default=list(WINDOWS))
    parser.add_argument("--runs", type=int, default=25, help="of every motion, with other noise")
    parser.add_argument("--motions", type=int, default=4)
    parser.add_argument("--rate", type=float, default=1000.0, help="of the samples, Hz")
    parser.add_argument("--speed", type=float, default=SHARE, help="share of the limits")
    parser.add_argument("--cutoff", type=float, help="of the position filter, Hz")
    parser.add_argument("--decimated", type=float, help="rate after decimation, Hz")
    parser.add_argument("--robot-file", action="store_true", help="with the settings of its file")
    options = parser.parse_args()
    stated = ProcessingSettings(cutoff_hz=options.cutoff, rate_hz=options.decimated)
    for name in options.robots:
        subject = Subject.of(name, robot_file=options.robot_file)
        found: list[list[list[Outcome]]] = [[] for _ in options.windows]
        for motion in range(options.motions):
            samples = subject.motion(1 + motion, options.rate, options.speed)
            print(f"{name}, motion {motion}: {samples.time[-1]:.0f} s", flush=True)
            runs = [
                list(outcomes(subject, subject.recorded(samples, run), stated, options.windows))
                for run in range(options.runs)
            ]
            for own, of_window in zip(found, zip(*runs, strict=True), strict=True):
                own.append(list(of_window))
        for width, own in zip(options.windows, found, strict=True):
            print(f"{name}, {width:g} steps: {line(subject, own, found[0])}", flush=True)


if __name__ == "__main__":
    main()
