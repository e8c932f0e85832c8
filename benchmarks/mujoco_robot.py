"""Arms of example-robot-data whose motion MuJoCo computes, identified through the nodes.

Each seed draws two motions and the noise.  The first motion is recorded by the node `acquisition`
and identified by the node `identification` (weighted least squares); the torques of the second one
are predicted.  Positions carry white noise of 1e-5 rad, efforts a share of the effort limits.  The
parameters are compared with those of MuJoCo's model: armature, damping, frictionloss, and the
bodies of the URDF.

Usage: mujoco_robot.py [--arms NAME ...] [--seeds N] [--noise SHARE ...] [--friction-time S ...]
       [--speed FACTOR] [--ours] [--json]

With --ours the same robots, motions and noise go through the node `simulated_robot` instead.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))

import numpy as np
from mujoco_nodes import MUJOCO, deviations, identified

from mujoco_arms import ARMS

GOAL = 0.02
OURS = "simulated_robot"
POSITION_NOISE = 1e-5
KINDS = ("Ia", "Fv", "Fc")
WELL_KNOWN = 0.05  # relative standard deviation


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arms", nargs="+", choices=sorted(ARMS), default=sorted(ARMS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--noise", type=float, nargs="+", default=[0.005, 0.01])
    parser.add_argument(
        "--friction-time", type=float, nargs="+", default=[0.0], help="0: MuJoCo's own, 0.02 s"
    )
    parser.add_argument("--speed", type=float, default=1.0, help="of simulated time")
    parser.add_argument("--ours", action="store_true", help="our simulation in place of MuJoCo")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = []
    if not options.json:
        show_head()
    for name, friction_time, noise, seed in itertools.product(
        options.arms, options.friction_time, options.noise, range(options.seeds)
    ):
        found.append(measure(name, seed, noise, friction_time, options))
        if not options.json:
            show(found[-1])
    if options.json:
        print(json.dumps(found))
    return 0 if max(entry["held_out"] for entry in found) < GOAL else 1


def measure(
    name: str, seed: int, noise: float, friction_time: float, options: argparse.Namespace
) -> dict[str, Any]:
    """Return what came of one identification."""
    arm = ARMS[name]
    node, own = (OURS, {}) if options.ours else (MUJOCO, {"friction_time": friction_time})
    with tempfile.TemporaryDirectory() as folder:
        found = identified(
            arm,
            Path(folder),
            seed,
            node=node,
            position_noise=[POSITION_NOISE],
            position_resolution=[0.0],
            effort_noise=[0.0],
            effort_noise_fraction=noise,
            real_time_factor=options.speed,
            **own,
        )
        table = deviations(found, arm.truth(Path(folder)))
    trusted = [(v, t, s) for v, t, s in table.values() if s < WELL_KNOWN * abs(v)]
    entry: dict[str, Any] = {
        "arm": name,
        "seed": seed,
        "noise": noise,
        "friction_time": friction_time,
        "seconds": found.exciting,
        "fitted": found.result.relative_error_total,
        "held_out": found.held_out_total,
        "worst_joint": max(found.held_out),
        "all_samples": found.all_samples,
        "well_known": len(trusted),
        "within_3_std": float(np.mean([abs(v - t) <= 3.0 * s for v, t, s in trusted])),
        "deviation": float(np.median([abs(v / t - 1.0) for v, t, _ in trusted])),
    }
    for kind in KINDS:
        entry[kind] = {
            key: v / t - 1.0
            for key, (v, t, s) in table.items()
            if key.startswith(kind) and s < WELL_KNOWN * abs(v)
        }
    return entry


def show_head() -> None:
    """Print the head of the table."""
    print(
        f"{'arm':6} {'Tf ms':>6} {'noise %':>7} {'seed':>4} {'s':>5} {'fit %':>6} {'held %':>6} "
        f"{'worst %':>7} {'all %':>6} {'known':>5} {'3 std':>6} {'med %':>6} "
        f"{'Ia %':>6} {'Fv %':>6} {'Fc %':>6}"
    )


def show(entry: dict[str, Any]) -> None:
    """Print a row, with the largest deviation of armature, damping and friction in percent."""
    worst = [100.0 * max(map(abs, entry[kind].values()), default=0.0) for kind in KINDS]
    print(
        f"{entry['arm']:6} {1e3 * entry['friction_time']:6.1f} {100 * entry['noise']:7.1f} "
        f"{entry['seed']:4} {entry['seconds']:5.1f} {100 * entry['fitted']:6.2f} "
        f"{100 * entry['held_out']:6.2f} {100 * entry['worst_joint']:7.2f} "
        f"{100 * entry['all_samples']:6.2f} {entry['well_known']:5} "
        f"{entry['within_3_std']:6.2f} {100 * entry['deviation']:6.2f} "
        + " ".join(f"{value:6.2f}" for value in worst),
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
