"""Commission an arm that this package does not ship, with a sound driver and with a poor one.

The URDF is that of example-robot-data; MuJoCo computes the motion.  The nodes are started by
``ros2 launch``, and ``robot-identification run`` plans, rehearses, runs, identifies, validates on
a second motion and calibrates.  The poor driver loses joint states and delays them at random, in
the node `fault_injector`.  Printed is the error of the torques predicted for the second motion,
with each driver, and their ratio.

Needs the command ``ros2`` with ``launch``.

Usage: commissionings.py [--arm NAME] [--seeds N ...] [--lost SHARE] [--jitter S] [--rate HZ]
       [--noise SHARE] [--duration S] [--driver sound|poor|both] [--json]
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))

import yaml
from clearances.arms import PACKAGES
from commissioned.arms import ARMS

from robot_identification.robot.files.loading import load_robot
from robot_identification.ros.clients.processes import NodeProcesses, command
from robot_identification.ros.common.middleware import private_domain

GOAL = 1.3
POSITION_NOISE = 1e-5
ROBOT, CONTROLLER = "mujoco_robot", "/arm_controller"


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arm", choices=sorted(ARMS), default="xarm7")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(10)))
    parser.add_argument("--lost", type=float, default=0.02, help="share of the states")
    parser.add_argument("--jitter", type=float, default=0.02, help="longest delay, s")
    parser.add_argument("--rate", type=float, default=250.0, help="of the joint states, Hz")
    parser.add_argument("--noise", type=float, default=0.005, help="share of the effort limits")
    parser.add_argument("--duration", type=float, default=15.0, help="of the motions, s")
    parser.add_argument("--driver", choices=("sound", "poor", "both"), default="both")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if shutil.which("ros2") is None:
        parser.error("there is no ros2 command: source an installed ROS 2")
    os.environ.update(private_domain())
    # A copy of a URDF has lost the meshes beside it.
    os.environ["ROS_PACKAGE_PATH"] = str(PACKAGES)
    found = []
    for seed in options.seeds:
        drivers = ("sound", "poor") if options.driver == "both" else (options.driver,)
        entry = {"seed": seed, **{driver: commission(seed, driver, options) for driver in drivers}}
        found.append(entry)
        if not options.json:
            print(text(entry), flush=True)
    if options.json:
        print(json.dumps(found))
    return 1 if any(ratio(entry) > GOAL for entry in found) else 0


def commission(seed: int, driver: str, options: argparse.Namespace) -> dict[str, Any]:
    """Commission the arm once; return the error on unseen data, or what kept it from that."""
    with tempfile.TemporaryDirectory() as text, NodeProcesses(Path(text)) as processes:
        folder = Path(text)
        arm = ARMS[options.arm].described(options.arm, folder)
        robot, drives = arm.write(folder)
        states = "/joint_states" if driver == "sound" else "/joint_states_in"
        processes.start(ROBOT, robot_command(robot, drives, seed, states, options))
        if driver == "poor":
            faults = faults_file(folder, seed, options)
            line = command("fault_injector", parameters={"faults": str(faults)})
            processes.start("fault_injector", line)
        processes.start("launch", launch_command(robot, drives, arm.path))
        output = folder / "run"
        walked = subprocess.run(
            [
                *("robot-identification", "run", "--yes", "--wait", "600", "--output", str(output)),
                *("--seed", str(2 * seed), "--duration", str(options.duration)),
                *("--rehearsal-speed", "0.5", "--json"),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if walked.returncode:
            said = walked.stderr.strip().splitlines() or [walked.stdout]
            return {
                "failed": f"exit code {walked.returncode}: {said[-1]}",
                "log": {name: processes.output(name)[-1500:] for name in processes.names},
            }
        return verdict(json.loads((output / "run.json").read_text()))


def robot_command(
    robot: Path, drives: Path, seed: int, states: str, options: argparse.Namespace
) -> list[str]:
    """Return the command that starts the arm."""
    parameters = {
        "robot": str(robot),
        "parameters_file": str(drives),
        "rate": options.rate,
        "seed": seed,
        "position_noise": [POSITION_NOISE],
        "effort_noise": [0.0],
        "effort_noise_fraction": options.noise,
        "position_resolution": [0.0],
        "initial_position": list(ARMS[options.arm].home),
    }
    remappings = {"joint_states": states}
    return command(ROBOT, parameters=parameters, remappings=remappings, namespace=CONTROLLER)


def launch_command(robot: Path, drives: Path, urdf: Path) -> list[str]:
    """Return the command that starts the nodes; efforts of plans are checked with a prior."""
    prior, settings = robot.parent / "prior.yaml", robot.parent / "settings.yaml"
    known = yaml.safe_load(drives.read_text())["parameters"]
    offsets = {f"off{joint}": 0.0 for joint in range(1, len(load_robot(robot).joints) + 1)}
    prior.write_text(yaml.safe_dump({"urdf": str(urdf), "parameters": {**offsets, **known}}))
    excitation = {"ros__parameters": {"parameters_file": str(prior)}}
    settings.write_text(yaml.safe_dump({"/**/excitation": excitation}))
    return [
        *("ros2", "launch", "robot_identification", "live.launch.py"),
        *(f"robot:={robot}", f"controller:={CONTROLLER}", f"params_file:={settings}"),
    ]


def faults_file(folder: Path, seed: int, options: argparse.Namespace) -> Path:
    """Write what the poor driver does to the joint states; return the file."""
    path = folder / "faults.yaml"
    faults = [
        {"kind": "drop", "probability": options.lost},
        {"kind": "delay", "by": options.jitter},
    ]
    path.write_text(yaml.safe_dump({"seed": seed, "faults": faults}))
    return path


def verdict(run: dict[str, Any]) -> dict[str, Any]:
    """Return what a run has found."""
    errors = run["validate"]["relative_error"]
    return {
        "held_out": errors["total"],
        "worst_joint": max(error for name, error in errors.items() if name != "total"),
        "parameters": len(run["identify"]["parameters"]),
    }


def ratio(entry: dict[str, Any]) -> float:
    """Return the error with the poor driver over that with the sound one.

    NaN where only one was asked for; infinite where a run has failed.
    """
    if not {"sound", "poor"} <= entry.keys():
        return math.nan
    if any("failed" in entry[driver] for driver in ("sound", "poor")):
        return math.inf
    return float(entry["poor"]["held_out"] / entry["sound"]["held_out"])


def text(entry: dict[str, Any]) -> str:
    """Return a row for people."""
    parts = [f"seed {entry['seed']}"]
    for driver in ("sound", "poor"):
        found = entry.get(driver)
        if found is None:
            continue
        told = found.get("failed") or (
            f"held out {100.0 * found['held_out']:.2f} %, worst joint "
            f"{100.0 * found['worst_joint']:.2f} %"
        )
        parts.append(f"{driver}: {told}")
    return "; ".join([*parts, f"ratio {ratio(entry):.3f}"])


if __name__ == "__main__":
    sys.exit(main())
