"""Ours and peers on the published UR10 bag: same bag, URDF, filters, decimation and split.

Both fit the first part of the bag, without a velocity threshold, and predict the rest; the rest is
filtered and decimated once for all, and every model is judged by the same rows: all of them, and
those where the joint moves.  Rows:

  ours, ols / wls          as `robot-identification identify` computes it, every row kept
  ours, wls, thresholds    likewise, without slow rows: thresholds from the data, the default
  ours, wls, friction auto every row kept, friction terms chosen by blocks left out of the fit
  figaroh, ols / wls       its own filter and differences with the same cut-off and order, its own
                           decimation by the same factor
  ..., our signals         our filtered positions and their derivatives handed in, its decimation
  flobaroid, ols           its own filters with the same cut-off and order, every sample; its model
                           has no drive inertias and a smoothed sign of the velocity
  flobaroid, consistent    likewise, by its semidefinite programs and its refit of friction

"deviation" compares the models themselves: the root mean square of the difference between the
efforts that both predict at random states, over that of the efforts; "parameters" how many of
the base parameters, expressed in our names, lie within three of our robust standard deviations of
ours.  Each runs in a process of its own; seconds without import, peak resident memory with it.

Usage: figaroh_ur10.py BAG URDF [--held-out FRACTION] [--repeat N] [--peer-python PYTHON]
           [--flobaroid-source FOLDER --flobaroid-python PYTHON] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from robot_identification.dynamics.regressor import Regressor
from robot_identification.files.bags.recordings import read_recordings
from robot_identification.identification.base.parameters import BaseParameters, base_parameters
from robot_identification.identification.identify import identify
from robot_identification.identification.result import IdentificationResult
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.filtered import filter_recording
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.processing.settings import resolve_processing
from robot_identification.signals.recording import Recording
from robot_identification.signals.rows import kept_rows

PEERS = Path(__file__).with_name("peers")
FIGAROH, FLOBAROID = PEERS / "figaroh_identify.py", PEERS / "flobaroid_identify.py"
MOVING = 0.05  # rad/s
STATES = 400
CUTOFF, ORDER, FACTOR = 10.0, 4, 3


@dataclass(frozen=True)
class Row:
    """What one program reached."""

    name: str
    parameters: int
    held_out: float
    held_out_moving: float
    deviation: float
    near: int
    seconds: float
    import_seconds: float
    megabytes: float


def main() -> None:
    """Run all of them and print the table."""
    options = _options()
    robot = load_robot(options.urdf, effort_meaning="joint_torque")
    recording = _recording(robot, options.bag)
    fit = recording.between(0.0, 1.0 - options.held_out)
    rest = recording.between(1.0 - options.held_out, 1.0)
    settings = _settings(recording)
    processing = resolve_processing(robot, [recording], settings)
    judge = Judge(robot, rest, processing)
    results = {method: _identify(options, method, settings) for method in ("ols", "wls")}
    rows = [judge.ours(f"ours, {name}", *outcome) for name, outcome in results.items()]
    default = replace(settings, velocity_threshold=None)
    rows.append(judge.ours("ours, wls, thresholds", *_identify(options, "wls", default)))
    chosen = _identify(options, "wls", settings, friction="auto")
    rows.append(judge.ours("ours, wls, friction auto", *chosen))
    for method, (result, _) in results.items():
        for filtered in (False, True):
            name = f"figaroh, {method}" + (", our signals" if filtered else "")
            given = judge.inputs(fit, filtered=filtered, wls=method == "wls", urdf=options.urdf)
            run = _peer(options.peer_python, FIGAROH, given, options.repeat)
            rows.append(judge.theirs(name, result, run))
    if options.flobaroid_source:
        rows += _flobaroid(options, judge, results["ols"][0], fit)
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
    else:
        _show(rows, judge.base.rank)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bag", type=Path)
    parser.add_argument("urdf", type=Path)
    parser.add_argument("--held-out", type=float, default=0.25)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--peer-python", default=sys.executable, help="with figaroh installed")
    parser.add_argument("--flobaroid-source", type=Path, help="where FloBaRoID is checked out")
    parser.add_argument("--flobaroid-python", default=sys.executable, help="with what it needs")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--ours", help=argparse.SUPPRESS)
    parser.add_argument("--friction", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ours:
        _identify_here(options)
        sys.exit()
    return options


def _recording(robot: RobotModel, bag: Path) -> Recording:
    (recording,) = read_recordings([bag], robot)
    return recording


def _settings(recording: Recording) -> ProcessingSettings:
    return ProcessingSettings(
        cutoff_hz=CUTOFF,
        filter_order=ORDER,
        rate_hz=1.0 / recording.period / FACTOR,
        velocity_threshold=(0.0,),
    )


def _identify(
    options: argparse.Namespace,
    method: str,
    settings: ProcessingSettings,
    friction: str = "stated",
) -> tuple[IdentificationResult, dict[str, float]]:
    """Identify here for the result, and in processes of their own for time and memory."""
    robot = load_robot(options.urdf, effort_meaning="joint_torque")
    recording = _recording(robot, options.bag)
    result = identify(
        robot,
        [recording],
        method=method,
        overrides=settings,
        friction=friction,
        held_out_fraction=options.held_out,
    )
    command = [sys.executable, __file__, str(options.bag), str(options.urdf), "--ours", method]
    command += ["--held-out", str(options.held_out), "--friction", friction]
    return result, _median([json.loads(_run(command)) for _ in range(options.repeat)])


def _identify_here(options: argparse.Namespace) -> None:
    begin = time.perf_counter()
    robot = load_robot(options.urdf, effort_meaning="joint_torque")
    recording = _recording(robot, options.bag)
    fit = recording.between(0.0, 1.0 - options.held_out)
    settings = _settings(recording)
    identify(robot, [fit], method=options.ours, overrides=settings, friction=options.friction)
    seconds = time.perf_counter() - begin
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "imported": 0.0, "memory": memory}))


def _flobaroid(
    options: argparse.Namespace, judge: Judge, result: IdentificationResult, fit: Recording
) -> list[Row]:
    """Return the rows of FloBaRoID."""
    rows = []
    for name, filtered, consistent in (
        ("flobaroid, ols", False, False),
        ("flobaroid, ols, our signals", True, False),
        ("flobaroid, consistent", False, True),
    ):
        given = judge.inputs(fit, filtered=filtered, wls=False, urdf=options.urdf)
        given |= {"source": str(options.flobaroid_source.resolve()), "consistent": consistent}
        run = _peer(options.flobaroid_python, FLOBAROID, given, options.repeat)
        rows.append(judge.theirs(name, result, run))
    return rows


def _peer(python: str, script: Path, given: Mapping[str, Any], repeat: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(source, **given)
        runs = []
        for _ in range(repeat):
            _run([python, str(script), str(source), str(target)])
            with np.load(target) as archive:
                runs.append({name: archive[name] for name in archive.files})
    return runs[-1] | _median(runs)


def _median(runs: list[Mapping[str, Any]]) -> dict[str, float]:
    return {
        name: statistics.median(float(run[name]) for run in runs)
        for name in ("seconds", "imported", "memory")
    }


def _run(command: list[str]) -> str:
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


class Judge:
    """Compares models on motions that none has seen."""

    def __init__(self, robot: RobotModel, rest: Recording, processing: Processing) -> None:
        self.base: BaseParameters = base_parameters(robot)
        self._robot, self._processing = robot, processing
        (self._segment,) = filter_recording(rest, processing)
        self._decimator = processing.decimator(self._segment.period)
        self._measured = self._decimated(self._segment.effort)
        self._kept = kept_rows(robot, self._segment, processing)
        kept_instants = self._decimator.kept(self._segment.samples)
        self._moving = self._kept & (np.abs(self._segment.velocity[:, kept_instants]) > MOVING)
        self._regressor = Regressor(robot, self.base.base_columns)
        rng = np.random.default_rng(0)
        scale = np.array([np.pi, 1.0, 2.0])[:, None, None]
        self._random: Array = scale * rng.uniform(-1.0, 1.0, (3, STATES, len(robot.joints)))

    def inputs(self, fit: Recording, *, filtered: bool, wls: bool, urdf: Path) -> dict[str, Any]:
        """Return what the peer is given."""
        (segment,) = filter_recording(fit, self._processing)
        (raw,) = fit.segments
        signals = (
            {
                "train_time": segment.time,
                "train_position": segment.position.T,
                "train_velocity": segment.velocity.T,
                "train_acceleration": segment.acceleration.T,
                "train_effort": segment.effort.T,
            }
            if filtered
            else {
                "train_time": raw.time,
                "train_position": raw.position,
                "train_effort": raw.effort,
            }
        )
        return signals | {
            "urdf": str(urdf),
            "joints": list(self._robot.joint_names),
            "filtered": filtered,
            "wls": wls,
            "rate": 1.0 / fit.period,
            "cutoff": CUTOFF,
            "order": ORDER,
            "factor": FACTOR,
            "test_position": self._segment.position.T,
            "test_velocity": self._segment.velocity.T,
            "test_acceleration": self._segment.acceleration.T,
            "random_position": self._random[0],
            "random_velocity": self._random[1],
            "random_acceleration": self._random[2],
        }

    def ours(self, name: str, result: IdentificationResult, usage: Mapping[str, float]) -> Row:
        """Judge a result of ours."""
        values = result.estimate.values
        motion = self._segment.position.T, self._segment.velocity.T, self._segment.acceleration.T
        regressor = self._regressor
        if result.friction is not None:
            base = base_parameters(result.friction.applied(self._robot))
            regressor = Regressor(base.robot, base.base_columns)
        efforts: Array = regressor.dense(*motion) @ values
        return self._row(name, result, usage, len(values), efforts, None)

    def theirs(self, name: str, result: IdentificationResult, run: Mapping[str, Any]) -> Row:
        """Judge a run of the peer beside a result of ours."""
        count, test, random = int(run["parameters"]), run["test_effort"], run["random_effort"]
        return self._row(name, result, run, count, test, random)

    def _row(
        self,
        name: str,
        result: IdentificationResult,
        usage: Mapping[str, Any],
        parameters: int,
        test: Array,
        random: Array | None,
    ) -> Row:
        predicted = self._decimated(np.ascontiguousarray(test.T))
        deviation, near = 0.0, self.base.rank
        if random is not None:
            ours = self._efforts(self._random, result.estimate.values)
            deviation = float(np.linalg.norm(random - ours) / np.linalg.norm(ours))
            dense = self._regressor.dense(*self._random).reshape(-1, self.base.rank)
            theirs = np.linalg.lstsq(dense, random.reshape(-1), rcond=None)[0]
            std = result.estimate.std_robust
            near = int(np.sum(np.abs(theirs - result.estimate.values) < 3.0 * std))
        return Row(
            name,
            parameters,
            self._error(predicted, self._kept),
            self._error(predicted, self._moving),
            deviation,
            near,
            float(usage["seconds"]),
            float(usage["imported"]),
            float(usage["memory"]) / 1e6,
        )

    def _efforts(self, motion: Any, values: Array) -> Array:
        efforts: Array = self._regressor.dense(*motion) @ values
        return efforts

    def _decimated(self, efforts: Array) -> Array:
        windows = self._decimator.blocks(efforts.shape[1], 1024)
        parts = [
            self._decimator.decimate_window(np.ascontiguousarray(efforts[:, w.inputs]), w)
            for w in windows
        ]
        joined: Array = np.hstack(parts) / self._decimator.gain
        return joined

    def _error(self, predicted: Array, rows: Any) -> float:
        measured = self._measured[rows]
        return float(np.linalg.norm(measured - predicted[rows]) / np.linalg.norm(measured))


def _show(rows: list[Row], rank: int) -> None:
    print(f"{'':29}{'error on held-out rows':>24}{'':>12}{'parameters':>14}{'':>10}{'':>10}")
    print(f"{'':29}{'all':>12}{'moving':>12}{'deviation':>12}{'near':>14}{'seconds':>10}{'MB':>10}")
    for row in rows:
        near = f"{row.near} of {rank}" if row.deviation else f"{row.parameters}"
        print(
            f"{row.name:29}{row.held_out:12.4f}{row.held_out_moving:12.4f}"
            f"{row.deviation:12.4f}{near:>14}{row.seconds:10.3f}{row.megabytes:10.0f}"
        )
    print("Error and deviation are fractions.  Seconds: median, without importing.")


if __name__ == "__main__":
    main()
