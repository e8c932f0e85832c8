"""Measured bags of which samples are lost: what the loss costs.

Of the bags of EMPS, TX-40 and UR10 the first half is identified, and the second, of which nothing
is lost, is predicted.  From the first half samples are taken out, singly or in bursts of two to
five, or in five gaps of 200 ms, and it is written as a bag and read again.  Printed is, for the bag
as a whole and for the stream that the live nodes make of it, the worst of some seeds: the error on
the second half as a multiple of the one without loss, and by how many standard deviations (robust
ones) the parameters differ, in the root mean square and at most.  The settings are the usual ones
of the robot.  Cross-validation tells nothing here: blocks with other losses differ.

Usage: lost_samples.py FOLDER [--robots NAME...] [--losses LOSS...] [--seeds N] [--nodes]
FOLDER holds emps/bag, tx40/bag and ur10/ur10_exciting_trajectory.db3.  With --nodes the first bag
of every loss is replayed through the live nodes too (bag_replay.py).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from one_pipeline import BAGS, same_settings

from robot_identification.errors import RobotIdentificationError
from robot_identification.files.bags.joint_states.reading import read_joint_states
from robot_identification.files.bags.recordings import read_recordings
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.identify import identify
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.rows.growing import StreamingIdentification
from robot_identification.identification.validate import validate
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.raw_samples import RawSamples
from robot_identification.signals.recording import Recording

SHARES = (0.002, 0.01, 0.02, 0.05, 0.1, 0.2)
GAPS, GAP = 5, 0.2  # number and length in s
BLOCK = 100  # samples that a stream is handed at a time


@dataclass(frozen=True)
class Loss:
    """A way of losing samples.

    Attributes:
        name: of it.
        share: of the samples that are lost.
        shortest: run of samples that are lost together.
        longest: likewise.
    """

    name: str
    share: float
    shortest: int = 1
    longest: int = 1

    @property
    def title(self) -> str:
        """How much is lost, and how."""
        if self.name == "gaps":
            return f"{GAPS} gaps of {1e3 * GAP:g} ms"
        return f"{100.0 * self.share:g} % {self.name}"

    def kept(self, stamps: npt.NDArray[np.int64], seed: int) -> npt.NDArray[np.intp]:
        """Return the places of the samples that are left."""
        rng, count = np.random.default_rng(seed), len(stamps)
        there = np.ones(count, dtype=np.bool_)
        if self.name == "gaps":
            length = round(GAP * 1e9 / float(np.median(np.diff(stamps))))
            for tenth in rng.choice(np.arange(1, 10), GAPS, replace=False):
                first = int(tenth * count / 10)
                there[first : first + length] = False
        while self.name != "gaps" and np.count_nonzero(~there) < self.share * count:
            length = int(rng.integers(self.shortest, self.longest + 1))
            first = int(rng.integers(1, count - length - 1))
            there[first : first + length] = False
        return np.flatnonzero(there)


_LOSSES = (
    *(Loss("single", share) for share in SHARES),
    *(Loss("bursts", share, 2, 5) for share in SHARES),
    Loss("gaps", 0.0),
)
LOSSES = {loss.title: loss for loss in _LOSSES}


class Comparison:
    """A robot and its bag in two halves, identified without loss.

    Args:
        name: of the robot.
        bag: its bag.
        folder: for bags with losses.
    """

    def __init__(self, name: str, bag: Path, folder: Path) -> None:
        self.robot = load_robot(name)
        self._folder = folder
        self.raw = read_joint_states(bag, self.robot.joint_names).samples
        middle = len(self.raw.stamps) // 2
        self.first = self.raw.at(slice(0, middle))
        self._unseen = self._recording(self.raw.at(slice(middle, None)), "second half")
        self._whole = self._both(self.first, "first half")

    def cost(self, loss: Loss, seed: int) -> list[dict[str, float | str]]:
        """Return what a loss costs the bag as a whole, and its stream."""
        left = self.first.at(loss.kept(self.first.stamps, seed))
        try:
            found = self._both(left, f"{loss.name} {loss.share:g} {seed}")
        except RobotIdentificationError as refusal:
            return [{"refused": str(refusal)}] * 2
        return [self._compared(one, whole) for one, whole in zip(found, self._whole, strict=True)]

    def _both(self, raw: RawSamples, name: str) -> list[IdentificationResult]:
        at_once = identify(self.robot, [self._recording(raw, name)])
        stream = StreamingIdentification(
            self.robot, base_parameters(self.robot), name, prompt=False
        )
        for begin in range(0, len(raw.stamps), BLOCK):
            stream.push(raw.at(slice(begin, begin + BLOCK)))
        stream.finish()
        return [at_once, stream.result()]

    def _recording(self, raw: RawSamples, name: str) -> Recording:
        path = self._folder / name.replace(" ", "_")
        write_joint_states(path, self.robot.joint_names, raw)
        (recording,) = read_recordings([path], self.robot)
        return recording

    def _compared(
        self, one: IdentificationResult, whole: IdentificationResult
    ) -> dict[str, float | str]:
        std = whole.estimate.std_robust
        away = (one.estimate.values - whole.estimate.values) / std
        rows = [sum(result.estimate.rows) for result in (one, whole)]
        return {
            "ratio": self._error(one) / self._error(whole),
            "error": self._error(one),
            "rms": float(np.sqrt(np.mean(away**2))),
            "largest": float(np.abs(away).max()),
            "rows": 1.0 - rows[0] / rows[1],
        }

    def _error(self, result: IdentificationResult) -> float:
        """Return the error on the second half, processed as the first was."""
        same = ProcessingSettings.of({k: v["value"] for k, v in _settings(result).items()})
        predicted = validate(self.robot, result.estimate.values, [self._unseen], identified=same)
        return predicted.relative_error.total


def _settings(result: IdentificationResult) -> dict[str, Any]:
    names = ProcessingSettings.table()
    return {name: entry for name, entry in result.settings.items() if name in names}


def worst(costs: Sequence[dict[str, float | str]]) -> str:
    """Return the worst of some seeds as columns of a table."""
    refused = [one for one in costs if "refused" in one]
    if refused:
        return f"{len(refused)} of {len(costs)} refused | | | | "
    most = {key: max(float(one[key]) for one in costs) for key in costs[0]}
    return (
        f"{most['ratio']:.3f} | {most['error']:.4f} | {most['rms']:.2f} | {most['largest']:.2f} | "
        f"{100.0 * most['rows']:.1f} %"
    )


def _replayed(name: str, robot: RobotModel, bag: Path) -> dict[str, dict[str, Any]]:
    """Return how far what the live nodes make of a bag is from what the command line does."""
    from bag_replay import through_nodes

    (recording,) = read_recordings([bag], robot)
    return through_nodes(name, bag, same_settings(robot, recording), [BLOCK])


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--robots", nargs="+", default=list(BAGS), choices=BAGS)
    parser.add_argument("--losses", nargs="+", default=list(LOSSES), choices=LOSSES)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--nodes", action="store_true", help="through the live nodes too")
    options = parser.parse_args()
    columns = "error | of | rms std | largest std | rows lost"
    print(f"| robot | lost | as a whole: {columns} | streamed: {columns} |")
    print("|---" * 12 + "|")
    for name in options.robots:
        with tempfile.TemporaryDirectory() as folder:
            compared = Comparison(name, options.folder / BAGS[name], Path(folder))
            for loss in map(LOSSES.__getitem__, options.losses):
                costs = [compared.cost(loss, seed) for seed in range(options.seeds)]
                both = [worst([one[way] for one in costs]) for way in (0, 1)]
                print(f"| {name} | {loss.title} | {' | '.join(both)} |", flush=True)
                if options.nodes:
                    bag = Path(folder) / f"{loss.name}_{loss.share:g}_0"
                    print(name, bag.name, _replayed(name, compared.robot, bag), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
