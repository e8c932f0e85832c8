"""Settings derived from a recording beside the best of a grid of cut-offs and rates.

Recordings are the measured ones of EMPS, TX-40 and UR10 (where they are; their files' own settings
are taken away), halves and quarters of them, and simulated ones of six robots with 2 % of noise on
the efforts.  Each is disturbed: noise of the positions, jittering and doubled stamps, samples
that are held, quantised positions, positions that slip, other rates.  The parameters are identified
from the disturbed recording with derived settings and with each of a grid, and judged by the error
of the efforts that they predict for a recording that had no part in the fit and is not disturbed,
processed in one way for all: errors of different rates do not compare, as a lower one averages more
noise away.  The last column is the error that `validate` tells on the other, equally disturbed,
recording with each setting's own filters, over the best of the grid.

Noise and slips are multiples of a thousandth of the standard deviation of a joint's position.

Usage: derived_settings.py [NAME ...] [--data FOLDER] [--output TABLE.md]
"""

from __future__ import annotations

import argparse
import os
import sys

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import RobotIdentificationError
from robot_identification.excitation.motions.random_points import (
    RandomPointsSettings,
    random_points,
)
from robot_identification.files.bags.recordings import read_recordings
from robot_identification.identification.identify import identify
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.result_settings import settings_of
from robot_identification.identification.validate import validate
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.raw_samples import RawSamples

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
CUTOFFS = (1.5, 3.0, 6.0, 12.0, 25.0, 50.0, 100.0)
RATES = (1.0, 4.0)  # times the cut-off
USUAL, WORST = 1.25, 1.6  # error over the best of the grid: what is aimed at
UNIT = 1e-3  # of noise and slips, in standard deviations of the position
EFFORT_NOISE = 0.02  # of the largest effort of a joint
BAGS = {
    "emps": ("emps/bag", ProcessingSettings(cutoff_hz=40.0, rate_hz=40.0)),
    "tx40": ("tx40/bag", ProcessingSettings(cutoff_hz=50.0, rate_hz=50.0)),
    "ur10": ("ur10/ur10_exciting_trajectory.db3", ProcessingSettings(cutoff_hz=10.0, rate_hz=20.0)),
}
TRUTHS = {
    "scara": "scara",
    "three_dof": "three_dof",
    "stanford": "stanford",
    "puma560": "puma560",
    "tx40_simulated": "tx40_simulated",
    "ur10_simulated": "ur10_simulated",
}
SIMULATED = ProcessingSettings(cutoff_hz=40.0, rate_hz=40.0)

Disturb = Callable[[RawSamples], RawSamples]
Stamps = npt.NDArray[np.int64]


class Pair(NamedTuple):
    """Samples to identify from, others to judge by, and how these are processed."""

    robot: RobotModel
    fitted: RawSamples
    unseen: RawSamples
    judged: ProcessingSettings


class Case(NamedTuple):
    """A recording: which, and what is done to it."""

    name: str
    pair: Callable[[], Pair]
    disturb: Disturb


def with_noise(factor: float) -> Disturb:
    """Return white noise of the positions."""

    def disturb(raw: RawSamples) -> RawSamples:
        draw = np.random.default_rng(1).standard_normal(raw.position.shape)
        return replace(raw, position=raw.position + factor * UNIT * raw.position.std(axis=0) * draw)

    return disturb


def with_jitter(share: float) -> Disturb:
    """Return stamps that are wrong by a standard deviation, as a share of the period."""

    def disturb(raw: RawSamples) -> RawSamples:
        period = float(np.median(np.diff(raw.stamps)))
        wrong = share * period * np.random.default_rng(2).standard_normal(len(raw.stamps))
        stamps = raw.stamps + np.rint(np.clip(wrong, -0.45 * period, 0.45 * period)).astype(
            np.int64
        )
        return replace(raw, stamps=stamps)

    return disturb


def with_doubled_stamps(raw: RawSamples) -> RawSamples:
    """Return stamps that jitter and are rounded to half a period: some are there twice."""
    period = float(np.median(np.diff(raw.stamps)))
    late = np.random.default_rng(3).uniform(0.0, 1.25 * period, len(raw.stamps))
    stamps = np.rint(np.rint((raw.stamps + late) / (0.5 * period)) * 0.5 * period)
    return replace(raw, stamps=np.maximum.accumulate(stamps.astype(np.int64)))


def held(raw: RawSamples) -> RawSamples:
    """Return samples of which every other one repeats the one before it."""
    places = np.arange(len(raw.stamps)) // 2 * 2
    return replace(raw, position=raw.position[places])


def quantised(steps: int) -> Disturb:
    """Return positions in so many steps of a turn, or of the travel of a sliding joint."""

    def disturb(raw: RawSamples) -> RawSamples:
        step = np.minimum(2.0 * np.pi, np.ptp(raw.position, axis=0)) / steps
        return replace(raw, position=step * np.rint(raw.position / step))

    return disturb


def slipping(raw: RawSamples) -> RawSamples:
    """Return positions that are off by ten units between a third and a half of the recording."""
    position = raw.position.copy()
    count = len(position)
    position[count // 3 : count // 2] += 10.0 * UNIT * raw.position.std(axis=0)
    return replace(raw, position=position)


def slower(factor: int) -> Disturb:
    """Return one in so many samples."""
    return lambda raw: raw.at(slice(None, None, factor))


def as_it_is(raw: RawSamples) -> RawSamples:
    """Return the samples."""
    return raw


def after(first: Disturb, second: Disturb) -> Disturb:
    """Return two disturbances, one after the other."""
    return lambda raw: second(first(raw))


@cache
def measured(name: str, folder: Path) -> tuple[RobotModel, RawSamples]:
    """Return a robot without settings of its own, and its samples on the joint side."""
    robot = load_robot(name)
    (recording,) = read_recordings([folder / BAGS[name][0]], robot)
    (segment,) = recording.segments
    stamps = np.rint(np.arange(len(segment.time)) * recording.period * 1e9).astype(np.int64)
    samples = RawSamples(stamps, segment.position, None, segment.effort)
    return replace(robot, processing=ProcessingSettings()), samples


def shared(name: str, folder: Path, begin: float, end: float) -> Pair:
    """Return a part of a measured recording to fit; the half that it is not of is unseen."""
    robot, raw = measured(name, folder)
    count = len(raw.stamps)
    other = (0.5, 1.0) if end <= 0.5 else (0.0, 0.5)
    part, rest = (raw.at(slice(int(a * count), int(b * count))) for a, b in ((begin, end), other))
    return Pair(robot, part, rest, BAGS[name][1])


@cache
def simulated(name: str, rate: float, points: int) -> Pair:
    """Return two motions of a simulated robot, with noise of the efforts."""
    robot = replace(load_robot(name.removesuffix("_simulated")), processing=ProcessingSettings())
    values = load_values(TRUTHS[name], robot)
    found = []
    for seed in (1, 2):
        path = random_points(robot, RandomPointsSettings(points=points, draws=4, seed=seed))
        clock = np.arange(0.0, path.trajectory.duration, 1.0 / rate)
        q, qd, qdd = path.trajectory.sample(clock)
        effort = inverse_dynamics(robot, values, q, qd, qdd)
        noise = np.random.default_rng(3 + seed).standard_normal(effort.shape)
        effort = effort + EFFORT_NOISE * np.abs(effort).max(axis=0) * noise
        stamps = np.rint(clock * 1e9).astype(np.int64)
        found.append(RawSamples(stamps, np.array(q), None, effort))
    return Pair(robot, found[0], found[1], SIMULATED)


def cases(folder: Path) -> Iterator[Case]:
    """Return the recordings."""
    halves = {"first half": (0.0, 0.5), "second half": (0.5, 1.0)}
    quarters = {"second quarter": (0.25, 0.5), "third quarter": (0.5, 0.75)}
    for name in BAGS:
        if not (folder / BAGS[name][0]).exists():
            print(f"{name}: no data in {folder}", file=sys.stderr)
            continue

        def part(begin: float, end: float, name: str = name) -> Callable[[], Pair]:
            return lambda: shared(name, folder, begin, end)

        for title, (begin, end) in {**halves, **(quarters if name != "ur10" else {})}.items():
            yield Case(f"{name}, {title}", part(begin, end), as_it_is)
        first = part(0.0, 0.5)
        for factor in (0.3, 1.0, 3.0, 10.0):
            yield Case(f"{name}, noise x{factor:g}", first, with_noise(factor))
        yield Case(f"{name}, jitter 10 %", first, with_jitter(0.1))
        yield Case(f"{name}, doubled stamps", first, with_doubled_stamps)
        yield Case(f"{name}, quantised", first, quantised(4096))
        yield Case(f"{name}, slipping", first, slipping)
    yield from _of_simulations()


def _of_simulations() -> Iterator[Case]:
    def motion(name: str, rate: float = 1000.0, points: int = 10) -> Callable[[], Pair]:
        return lambda: simulated(name, rate, points)

    quiet = with_noise(0.1)
    for name in TRUTHS:
        yield Case(f"{name}, 1 kHz", motion(name), quiet)
    for rate in (50.0, 100.0, 5000.0):
        yield Case(f"puma560, {rate:g} Hz", motion("puma560", rate), quiet)
        yield Case(f"scara, {rate:g} Hz", motion("scara", rate), quiet)
    for name in ("ur10_simulated", "stanford"):
        yield Case(f"{name}, noise x3", motion(name), with_noise(3.0))
        yield Case(f"{name}, jitter 30 %", motion(name), after(quiet, with_jitter(0.3)))
        yield Case(f"{name}, doubled stamps", motion(name), after(quiet, with_doubled_stamps))
    yield Case("tx40_simulated, held", motion("tx40_simulated"), after(quiet, held))
    yield Case("three_dof, held", motion("three_dof"), after(quiet, held))
    yield Case("three_dof, noise x10", motion("three_dof"), with_noise(10.0))
    yield Case("puma560, 1000 steps", motion("puma560"), quantised(1000))
    yield Case("scara, slipping", motion("scara"), after(quiet, slipping))
    yield Case("puma560, 100 Hz, noise x3", motion("puma560", 100.0), with_noise(3.0))


class Outcome(NamedTuple):
    """What a setting gives: the result, and its errors, common and own."""

    result: IdentificationResult | None
    error: float
    own: float


class Bench:
    """A case: recordings made ready."""

    def __init__(self, case: Case) -> None:
        self.pair = case.pair()
        self._names = self.pair.robot.joint_names
        self._fitted = build_recording(case.disturb(self.pair.fitted), self._names)
        self._disturbed = build_recording(case.disturb(self.pair.unseen), self._names)
        self._unseen = build_recording(self.pair.unseen, self._names)
        allowed = 0.4 / self._unseen.period  # 0.8 of half the sampling rate
        judged = self.pair.judged
        self._judged = replace(judged, cutoff_hz=min(judged.cutoff_hz or allowed, allowed))

    @property
    def sampling(self) -> float:
        """Sampling rate, in Hz."""
        return 1.0 / self._fitted.period

    def outcome(self, settings: ProcessingSettings) -> Outcome:
        """Return what settings give; errors are infinite where they leave nothing to fit."""
        robot = self.pair.robot
        try:
            result = identify(robot, [self._fitted], overrides=settings)
            values = result.estimate.values
            common = validate(robot, values, [self._unseen], overrides=self._judged)
            own = validate(robot, values, [self._disturbed], identified=settings_of(result))
        except RobotIdentificationError:
            return Outcome(None, np.inf, np.inf)
        return Outcome(result, common.relative_error.total, own.relative_error.total)


def row(case: Case) -> tuple[str, float, bool]:
    """Return a line of the table, the error over the best of the grid, and whether it is warned of.

    The last is whether a noise rule that is overruled is warned of.
    """
    bench = Bench(case)
    derived = bench.outcome(ProcessingSettings())
    grid = {
        (cutoff, factor * cutoff): bench.outcome(
            ProcessingSettings(cutoff_hz=cutoff, rate_hz=factor * cutoff)
        )
        for cutoff in CUTOFFS
        if cutoff < 0.45 * bench.sampling
        for factor in RATES
    }
    best = min(grid, key=lambda place: grid[place].error)
    least, least_own = grid[best].error, min(outcome.own for outcome in grid.values())
    if derived.result is None:
        return f"| {case.name} | refused | | | {least:.4f} | | | |", np.inf, False
    settings, warnings = derived.result.settings, derived.result.warnings
    share = _noise(str(settings["cutoff_hz"]["reason"]))
    told = [line for line in warnings if "cut-off" in line]
    warned = share <= 10.0 or any("too much noise" in line for line in told)
    values = (settings["cutoff_hz"]["value"], settings["rate_hz"]["value"])
    ratio = derived.error / least
    cells = (
        case.name,
        f"{values[0]:.3g} / {values[1]:.3g}",
        f"{share:.2g} %",
        f"{derived.error:.4f}",
        f"{least:.4f}",
        f"{best[0]:g} / {best[1]:g}",
        f"{ratio:.2f}",
        f"{derived.own / least_own:.2f}",
        "yes" if told else "",
    )
    return f"| {' | '.join(cells)} |", ratio, warned


def _noise(reason: str) -> float:
    """Return what part of the acceleration is noise below the cut-off, in percent."""
    words = reason.split()
    return float(words[words.index("%", len(words) - 5) - 1]) if "noise" in reason else 0.0


def main() -> int:
    """Run the study; 1 where a derived setting is worse than aimed at, or not warned of."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only cases with it in their name")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--output", type=Path, metavar="TABLE.md")
    options = parser.parse_args()
    columns = ("recording", "cut-off / rate, Hz", "noise", "error", "best of the grid", "at, Hz",
               "error / best", "with own filters", "warned")  # fmt: skip
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    print("\n".join(lines))
    failed = 0
    for case in cases(options.data):
        if options.names and not any(name in case.name for name in options.names):
            continue
        line, ratio, warned = row(case)
        lines.append(line)
        print(line, flush=True)
        failed += ratio > USUAL or not warned
    if options.output is not None:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{failed} of {len(lines) - 2} worse than {USUAL:g} or not warned of")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
