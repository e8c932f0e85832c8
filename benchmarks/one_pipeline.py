"""Measured robots through every way of identifying: how far apart the parameters are.

EMPS, TX-40 and UR10 with the same settings: the whole recording and streams of blocks of 1, 37 and
100 samples; its two halves together, merged, and streamed as identify-many does.  Differences are
told in standard deviations of the parameters.

Usage: one_pipeline.py FOLDER [--robots NAME...] [--blocks N...]
FOLDER holds emps/bag, tx40/bag and ur10/ur10_exciting_trajectory.db3.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from robot_identification.identification.base import BaseParameters, base_parameters
from robot_identification.identification.identify import identify
from robot_identification.identification.merging import merge_results
from robot_identification.identification.parts import Part, identify_parts
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.streaming import StreamingIdentification
from robot_identification.robot.loading import load_robot
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.recording import RawSamples
from robot_identification.signals.settings import resolve_processing
from robot_identification.storage.bags import read_joint_states
from robot_identification.storage.recordings import read_recordings

BAGS = {"emps": "emps/bag", "tx40": "tx40/bag", "ur10": "ur10/ur10_exciting_trajectory.db3"}


def main() -> int:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--robots", nargs="+", default=list(BAGS), choices=BAGS)
    parser.add_argument("--blocks", nargs="+", type=int, default=[1, 37, 100])
    options = parser.parse_args()
    for name in options.robots:
        print(json.dumps({name: _compared(name, options.folder / BAGS[name], options.blocks)}))
    return 0


def _compared(name: str, bag: Path, blocks: list[int]) -> dict[str, float]:
    """Return by how many standard deviations the ways differ at most."""
    robot = load_robot(name)
    (whole,) = read_recordings([bag], robot)
    usual = ProcessingSettings.of(vars(resolve_processing(robot, [whole], ProcessingSettings())))
    same = replace(usual, decimation_pins="first")
    at_once, base = identify(robot, [whole], overrides=same), base_parameters(robot)
    raw = read_joint_states(bag, robot.joint_names).samples
    found = {
        f"blocks of {size}": _apart(_streamed(robot, base, [raw], same, size)[0].result(), at_once)
        for size in blocks
    }
    halves = [
        replace(whole.between(share, share + 0.5), source=f"half {share}", digest=f"{share}")
        for share in (0.0, 0.5)
    ]
    together = identify(robot, halves, overrides=same)
    merged = merge_results([identify(robot, [one], overrides=same) for one in halves])
    found["merged halves"] = _apart(merged, together)
    middle = len(raw.stamps) // 2
    cut = [_between(raw, 0, middle), _between(raw, middle, len(raw.stamps))]
    streams = _streamed(robot, base, cut, same, 1000)
    processing = resolve_processing(robot, halves, same)
    many = identify_parts(base, processing, [_part(one) for one in streams])
    found["halves as identify-many folds them"] = _apart(many, together)
    return found


def _between(raw: RawSamples, begin: int, end: int) -> RawSamples:
    places = slice(begin, end)
    return RawSamples(raw.stamps[places], raw.position[places], None, raw.effort[places])


def _streamed(
    robot: RobotModel,
    base: BaseParameters,
    runs: list[RawSamples],
    settings: ProcessingSettings,
    size: int,
) -> list[StreamingIdentification]:
    """Return identifications of runs that came in blocks of a size."""
    found = []
    for number, raw in enumerate(runs):
        stream = StreamingIdentification(
            robot, base, f"run {number}", overrides=settings, prompt=False
        )
        for begin in range(0, len(raw.stamps), size):
            stream.push(_between(raw, begin, begin + size))
        stream.finish()
        found.append(stream)
    return found


def _part(stream: StreamingIdentification) -> Part:
    rows = stream.folded()
    return Part((stream.source,), (rows.kept.merged(),), rows.kept.bands[0])


def _apart(one: IdentificationResult, other: IdentificationResult) -> float:
    away = np.abs(one.estimate.values - other.estimate.values) / other.estimate.std
    return float(away.max())


if __name__ == "__main__":
    sys.exit(main())
