"""Measured robots through every way of identifying: how far apart the parameters are.

EMPS, TX-40 and UR10 with the same settings: the whole recording and streams of blocks of 1, 37 and
100 samples; its two halves together, merged, and streamed as identify-many does.  Differences are
told in standard deviations of the parameters.  With --nodes the bags are replayed through the live
nodes too, in bursts of as many messages (bag_replay.py).

Usage: one_pipeline.py FOLDER [--robots NAME...] [--blocks N...] [--nodes]
FOLDER holds emps/bag, tx40/bag and ur10/ur10_exciting_trajectory.db3.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from robot_identification.files.bags.joint_states.reading import read_joint_states
from robot_identification.files.bags.recordings import read_recordings
from robot_identification.identification.base.parameters import BaseParameters, base_parameters
from robot_identification.identification.identify import identify
from robot_identification.identification.merging import merge_results
from robot_identification.identification.parts import Part, identify_parts
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.rows.growing import StreamingIdentification
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.processing.settings import resolve_processing
from robot_identification.signals.raw_samples import RawSamples
from robot_identification.signals.recording import Recording

BAGS = {"emps": "emps/bag", "tx40": "tx40/bag", "ur10": "ur10/ur10_exciting_trajectory.db3"}


def main() -> int:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--robots", nargs="+", default=list(BAGS), choices=BAGS)
    parser.add_argument("--blocks", nargs="+", type=int, default=[1, 37, 100])
    parser.add_argument("--nodes", action="store_true", help="through the live nodes too")
    options = parser.parse_args()
    for name in options.robots:
        found = _compared(name, options.folder / BAGS[name], options.blocks, options.nodes)
        print(json.dumps({name: found}), flush=True)
    return 0


def _compared(name: str, bag: Path, blocks: list[int], nodes: bool) -> dict[str, Any]:
    """Return by how many standard deviations the ways differ at most."""
    robot = load_robot(name)
    (whole,) = read_recordings([bag], robot)
    same = same_settings(robot, whole)
    at_once, base = identify(robot, [whole], overrides=same), base_parameters(robot)
    raw = read_joint_states(bag, robot.joint_names).samples
    found: dict[str, Any] = {
        f"blocks of {size}": apart(_streamed(robot, base, [raw], same, size)[0].result(), at_once)
        for size in blocks
    }
    halves = [
        replace(whole.between(share, share + 0.5), source=f"half {share}", digest=f"{share}")
        for share in (0.0, 0.5)
    ]
    together = identify(robot, halves, overrides=same)
    merged = merge_results([identify(robot, [one], overrides=same) for one in halves])
    found["merged halves"] = apart(merged, together)
    middle = len(raw.stamps) // 2
    cut = [_between(raw, 0, middle), _between(raw, middle, len(raw.stamps))]
    streams = _streamed(robot, base, cut, same, 1000)
    processing = resolve_processing(robot, halves, same)
    many = identify_parts(base, processing, [_part(one) for one in streams])
    found["halves as identify-many folds them"] = apart(many, together)
    if nodes:
        from bag_replay import through_nodes

        found["through the nodes"] = through_nodes(name, bag, same, blocks)
    return found


def same_settings(robot: RobotModel, recording: Recording) -> ProcessingSettings:
    """Return the usual settings for a recording, as a stream can follow them."""
    usual = resolve_processing(robot, [recording], ProcessingSettings())
    return replace(ProcessingSettings.of(vars(usual)), decimation_pins="first")


def apart(one: IdentificationResult, other: IdentificationResult) -> float:
    """Return by how many standard deviations of the other the parameters differ at most."""
    away = np.abs(one.estimate.values - other.estimate.values) / other.estimate.std
    return float(away.max())


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


if __name__ == "__main__":
    sys.exit(main())
