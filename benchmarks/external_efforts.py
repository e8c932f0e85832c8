"""External joint efforts on an arm in MuJoCo whose friction the model does not have.

An arm of example-robot-data moves in MuJoCo under its controller, with friction that grows with the
root of the speed beside MuJoCo's own, which is softer than Coulomb's law.  One motion is identified
with Coulomb and viscous friction and calibrated.  Thresholds are learned from free motion of the
given length; other motions are free for the given hours, and in others 10 N act on the last link
for 0.3 s at random moments, in random directions.  Efforts carry noise, a share of the effort
limits; positions and velocities carry noise too.

Usage: external_efforts.py [--arm NAME] [--hours H] [--pushes N] [--force N] [--time-constant S]
       [--stick-speed V] [--learning S] [--noise SHARE] [--no-velocity] [--verbose] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))

import numpy as np
import yaml

import robot_identification as ri
from mujoco_arms import ARMS
from robot_identification.dynamics.external_efforts.watch import ExternalEffortWatch
from robot_identification.dynamics.simulation.mujoco import MujocoLoop
from robot_identification.excitation.motions.random_points import (
    RandomPointsSettings,
    random_points,
)
from robot_identification.files.mujoco_models import mujoco_robot
from robot_identification.robot.files.loading import load_robot

RATE = 1000.0
POSITION_NOISE, VELOCITY_NOISE = 1e-5, 1e-3
ROOT_FRICTION = 0.3  # of the Coulomb friction, at 1 rad/s
PUSH = 0.3  # s
SETTLING = 1.0  # s before a motion
SEEN_WITHIN = 0.03  # s
Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass
class Push:
    """A force on the last link, while it lasts."""

    begin: float
    force: Floats


class Arm:
    """The arm in MuJoCo, its sensors, and somebody who pushes."""

    def __init__(self, name: str, folder: Path, noise: float) -> None:
        import mujoco

        self.mujoco, arm = mujoco, ARMS[name]
        path, values = arm.write(folder)
        self.robot = load_robot(path)
        document, drives = yaml.safe_load(path.read_text()), yaml.safe_load(values.read_text())
        document["joint_defaults"]["root_friction"] = True
        joints = len(self.robot.joints)
        coulomb = arm.drives.get("Fc", (2.0,) * joints)
        drives["parameters"] |= {f"Fr{j + 1}": ROOT_FRICTION * coulomb[j] for j in range(joints)}
        rough = folder / "rough.yaml"
        rough.write_text(yaml.safe_dump(document))
        values.write_text(yaml.safe_dump(drives))
        true = load_robot(rough)
        model, given = mujoco_robot(true, rough, values=str(values))
        self.loop = MujocoLoop(true, model, given)
        self.dofs = [int(model.joint(joint).dofadr[0]) for joint in self.robot.joint_names]
        self.body = model.nbody - 1
        limits = [joint.limits.effort or 50.0 for joint in self.robot.joints]
        self.effort_noise = noise * np.array(limits)
        self.push: Push | None = None
        self.felt: list[Floats] = []
        self.at = arm.motion
        self.seed = 0

    def motion(self, seed: int, *, speed: float = 0.8) -> Any:
        """Return a motion of about 20 s."""
        settings = RandomPointsSettings(points=12, draws=1, reach=0.35, seed=seed, speed=speed)
        return random_points(self.robot, settings, np.zeros(len(self.robot.joints))).trajectory

    def _on_passive(self, model: Any, data: Any) -> None:
        """Add the push to the passive forces, as MuJoCo asks for them."""
        push = self.push
        if push is None or not push.begin <= data.time - SETTLING < push.begin + PUSH:
            return
        jacobian = np.zeros((3, model.nv))
        self.mujoco.mj_jac(model, data, jacobian, None, data.xpos[self.body], self.body)
        effort = jacobian.T @ push.force
        data.qfrc_passive[:] += effort
        self.felt.append(effort[self.dofs])

    def moved(self, trajectory: Any, push: Push | None = None) -> tuple[Floats, ...]:
        """Return times, positions, velocities and efforts of a motion, as sensors give them."""
        self.push, self.felt = push, []
        self.seed += 1
        rng = np.random.default_rng(self.seed)
        self.mujoco.set_mjcb_passive(None if push is None else self._on_passive)
        try:
            begin = self.loop.settled(trajectory.sample([0.0])[0][0], SETTLING)
            steps = round(trajectory.duration * RATE)
            _, got = self.loop.advance(begin, trajectory.reference, steps)
        finally:
            self.mujoco.set_mjcb_passive(None)
        shape = got.position.shape
        return (
            got.time,
            got.position + POSITION_NOISE * rng.normal(size=shape),
            got.velocity + VELOCITY_NOISE * rng.normal(size=shape),
            got.effort + self.effort_noise * rng.normal(size=shape),
        )


class Watched:
    """Motions one after the other, as a stream of joint states."""

    def __init__(self, arm: Arm, watch: ExternalEffortWatch, *, velocity: bool) -> None:
        self.arm, self.watch, self.velocity = arm, watch, velocity
        self.now, self.seconds, self.samples = 10**18, 0.0, 0

    def take(self, samples: tuple[Floats, ...]) -> tuple[Any, Floats, list[Any]]:
        """Return the time of the observed samples, their efforts, and contacts that begin."""
        times, q, qd, tau = samples
        self.now += 10 * 10**9  # a pause, behind which the observer begins anew
        stamps = self.now + np.rint(1e9 * times).astype(np.int64)
        found, efforts, events = [], [], []
        before = time.process_time()
        for first in range(0, len(times), 10):
            part = slice(first, first + 10)
            rates = qd[part] if self.velocity else None
            block = self.watch.push(stamps[part], q[part], rates, tau[part])
            found.append(block.observed.stamps)
            efforts.append(block.observed.effort)
            events += [event for event in block.events if not event.ended]
        self.seconds += time.process_time() - before
        self.samples += len(times)
        begun, self.now = self.now, int(stamps[-1])
        seen = (np.concatenate(found) - begun) * 1e-9
        begins = [replace(event, stamp=(event.stamp - begun) * 1e-9) for event in events]
        return seen, np.concatenate(efforts), begins


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arm", choices=sorted(ARMS), default="ur5")
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--pushes", type=int, default=40)
    parser.add_argument("--force", type=float, default=10.0)
    parser.add_argument("--time-constant", type=float, default=0.01)
    parser.add_argument("--learning", type=float, default=60.0)
    parser.add_argument("--stick-speed", type=float, default=0.0, help="rad/s; 0: the default")
    parser.add_argument("--noise", type=float, default=0.005)
    parser.add_argument("--no-velocity", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="show false contacts")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder), options)
    print(json.dumps(found) if options.json else "\n".join(f"{k:34} {v}" for k, v in found.items()))
    fine = found["false_contacts"] <= 1.0 and found["seen_within_30_ms"] == 1.0
    return 0 if fine and found["effort_error"] < 0.1 else 1


def measure(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Return what was counted."""
    arm = Arm(options.arm, folder, options.noise)
    fitted = arm.moved(arm.motion(0))
    recording = ri.Recording.from_arrays(arm.robot, *fitted[:2], fitted[3])
    result = ri.identify(arm.robot, recording)
    calibrated = ri.calibrate(arm.robot, result)
    settings = ri.ExternalEffortSettings(
        time_constant=options.time_constant,
        learning_time=options.learning,
        stick_speed=(options.stick_speed,),
    )
    watch = ExternalEffortWatch(
        arm.robot,
        calibrated.values,
        settings,
        residual_std=result.estimate.residual_std,
        rate_hz=float(result.settings["rate_hz"]["value"]),
    )
    watched = Watched(arm, watch, velocity=not options.no_velocity)
    seed = 1
    while watch.thresholds is None:
        watched.take(arm.moved(arm.motion(seed)))
        seed += 1
    false, free = 0, 0.0
    while free < 3600.0 * options.hours:
        motion = arm.motion(1000 + seed)
        seed += 1
        begun = watched.take(arm.moved(motion))[2]
        if options.verbose:
            for contact in begun:
                print(contact, file=sys.stderr)
        false += len(begun)
        free += motion.duration
    return {
        "arm": options.arm,
        "held_out_hours": round(free / 3600.0, 3),
        "false_contacts": false,
        "thresholds": np.round(watch.thresholds, 2).tolist(),
        **pushed(arm, watched, options),
        "share_of_a_core_at_1_khz": round(watched.seconds / watched.samples * RATE, 4),
    }


def pushed(arm: Arm, watched: Watched, options: argparse.Namespace) -> dict[str, Any]:
    """Return how soon pushes are seen, and how well they are measured."""
    rng = np.random.default_rng(7)
    delays, errors, sizes = [], [], []
    for number in range(options.pushes):
        motion = arm.motion(5000 + number)
        begin = round(rng.uniform(0.2, 0.8) * motion.duration, 3)
        force = rng.normal(size=3)
        force *= options.force / np.linalg.norm(force)
        samples = arm.moved(motion, Push(begin, force))
        seen, effort, events = watched.take(samples)
        after = [e.stamp - begin for e in events if begin <= e.stamp < begin + PUSH]
        delays.append(min(after, default=np.inf))
        late = (seen > begin + 0.1) & (seen < begin + PUSH - 0.001)
        true = np.mean(arm.felt[len(arm.felt) // 3 :], axis=0)
        errors.append(np.linalg.norm(effort[late].mean(axis=0) - true))
        sizes.append(np.linalg.norm(true))
    waited = np.sort(delays)
    return {
        "pushes": options.pushes,
        "seen_within_30_ms": float(np.mean(waited <= SEEN_WITHIN)),
        "seen": float(np.mean(np.isfinite(waited))),
        "delay_median_ms": round(1e3 * float(np.median(waited)), 1),
        "delay_longest_ms": round(1e3 * float(waited[-1]), 1),
        "effort_error": round(
            float(np.sqrt(np.mean(np.square(errors)) / np.mean(np.square(sizes)))), 3
        ),
        "effort_error_median": round(float(np.median(np.divide(errors, sizes))), 3),
    }


if __name__ == "__main__":
    sys.exit(main())
