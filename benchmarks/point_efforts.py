"""Follow a motion with efforts in its points, under the law of joint_trajectory_controller.

The simulated TX-40 follows an excitation trajectory; it is identified from noisy joint states and
calibrated.  Then it follows another trajectory: as it is, with efforts in the points by the
calibrated parameters, and by the true ones.  Trajectories go through messages, the robot and the
efforts are those of the nodes, in one process.  Printed are root mean squares of the error of the
true and of the measured position, over everything, and within and outside of 20 ms around reversals
of a joint, from 0.3 s after the start on; the largest error then and before; and the number of
points.

Usage: point_efforts.py [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import numpy as np

import robot_identification as ri
from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.dynamics.simulation.sensors import Sensors, SensorSettings
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.files.plans.trajectories import read_trajectory
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.values import load_values
from robot_identification.ros.messages.trajectories import message_of, trajectory_of
from robot_identification.ros.simulation.robot import RobotSimulator
from robot_identification.share import share_directory

ROBOT = ri.load_robot("tx40")
TRUTH = load_values("tx40_simulated", ROBOT)
RATE = 500.0
NOISE = {
    "position_noise": (1e-5,) * 6,
    "effort_noise": (0.8, 0.8, 0.4, 0.2, 0.2, 0.12),
}
AROUND = 0.02  # s
SETTLED = 1.0  # s at rest before the motion begins
START = 0.3  # s in which the robot leaves where it was held without efforts
GOAL = 20.0


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    folder = share_directory() / "config" / "trajectories"
    motion = read_trajectory(folder / "tx40_validation.yaml")
    fed = {
        "without": motion,
        "calibrated": ri.with_efforts(ROBOT, calibrated(), motion),
        "truth": ri.with_efforts(ROBOT, TRUTH, motion),
    }
    found: dict[str, Any] = {name: followed(one, motion) for name, one in fed.items()}
    ratio = found["without"]["true"]["all"] / found["calibrated"]["true"]["all"]
    if options.json:
        print(json.dumps({**found, "ratio": ratio}))
    else:
        for name, entry in found.items():
            print(f"{name}: {entry['points']} points")
            for kind in ("true", "measured"):
                cells = "  ".join(f"{key} {1e3 * v:.4f}" for key, v in entry[kind].items())
                print(f"  {kind:8} rms in mrad: {cells}")
        print(f"without over calibrated: {ratio:.1f} (goal: {GOAL:g})")
    return 0 if ratio >= GOAL else 1


def calibrated() -> ri.CalibratedParameters:
    """Return what is known after an identification with noise."""
    settings = ri.SimulationSettings(**NOISE)
    run = ri.simulate(ROBOT, "tx40", parameters="tx40_simulated", settings=settings)
    return ri.calibrate(ROBOT, ri.identify(ROBOT, run), space="base", consistent=True)


def followed(fed: Trajectory, motion: Trajectory) -> dict[str, Any]:
    """Return the errors of a robot that follows a motion.

    Args:
        fed: what it is sent.
        motion: what it is to follow.
    """
    sent = trajectory_of(message_of(fed, 0))
    loop = ClosedLoop(ROBOT, TRUTH, sample_rate_hz=RATE)
    count = int((SETTLED + motion.duration) * RATE)
    time = np.arange(count) / RATE - SETTLED
    wanted, speed, _ = motion.sample(time)
    near = reversals(speed)
    entry: dict[str, Any] = {"points": len(sent.times)}
    for kind, noise in (("true", (0.0,) * 6), ("measured", NOISE["position_noise"])):
        settings = SensorSettings(noise, *[(0.0,) * 6] * 3)
        robot = RobotSimulator(loop, Sensors(ROBOT, settings, seed=1), motion.positions[0])
        robot.follow(sent, SETTLED)
        error = robot.produce(count).position - wanted
        begun = np.abs(error[(time >= 0.0) & (time < START)]).max()
        error, close = error[time >= START], near[time >= START]
        entry[kind] = {
            "all": rms(error),
            "reversals": rms(error[close]),
            "elsewhere": rms(error[~close]),
            "largest": float(np.abs(error).max()),
            "largest at the start": float(begun),
        }
    return entry


def reversals(speed: Array) -> Any:
    """Tell (samples, joints) which samples are close to a change of the sign of a velocity."""
    turned = np.zeros(speed.shape, dtype=bool)
    turned[1:] = np.sign(speed[1:]) != np.sign(speed[:-1])
    width = round(AROUND * RATE)
    kernel = np.ones(2 * width + 1)
    columns = [np.convolve(one, kernel, mode="same") > 0.5 for one in turned.T]
    return np.stack(columns, axis=1)


def rms(values: Array) -> float:
    """Return a root mean square."""
    return float(np.sqrt(np.mean(np.square(values))))


if __name__ == "__main__":
    sys.exit(main())
