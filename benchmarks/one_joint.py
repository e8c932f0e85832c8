"""One joint at a time beside weighted least squares on an optimised motion of the same duration.

    python benchmarks/one_joint.py [ROBOT...]
    python benchmarks/one_joint.py --dds [--repeat N] [ROBOT...]

Every robot is simulated under its declared controller (stick and slip); positions get noise of
1e-5 rad or m, efforts noise of 2 % of their root mean square.  Printed are the error of the base
parameters as a fraction of their norm, the error of the efforts that they predict on another
motion, and which share of the parameters lies within three stated deviations of the truth.

With --dds simulated robot, excitation, acquisition and identification run in processes of their own
and in real time; both motions are planned once, and executed and recorded N times, through services
and topics.  Both then have the same noise of the efforts, 2 % of the root mean square on the gentle
motion.  An optimised motion of more than 150 s would take very long to plan: one of half the
duration is executed twice.  A gentle motion that is stopped, because a busy machine delays the
states, is continued.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import math
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import yaml
from robot_identification.msg import ExcitationStatus, IdentificationResult

from robot_identification.dynamics.regressor import Regressor
from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.excitation.motions.random_points import (
    RandomPointsSettings,
    random_points,
)
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.one_joint.plan import plan_one_joint
from robot_identification.excitation.plan import plan
from robot_identification.excitation.plan_settings import PlanSettings, default_model
from robot_identification.excitation.search.points import PointSettings
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.identify import identify
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.model import RobotModel
from robot_identification.ros.clients.client import RequestRefusedError
from robot_identification.ros.clients.motion import follow
from robot_identification.ros.clients.verbs import Verbs
from robot_identification.ros.clients.work_requests import data_of
from robot_identification.ros.demo.session import Session
from robot_identification.signals.recording import Recording, Segment

VALUES = {"tx40": "tx40_simulated", "ur10": "ur10_simulated"}
OFFLINE = ("scara", "stanford", "puma560", "tx40", "ur10")
LIVE = ("stanford", "puma560", "tx40", "ur10")
POSITION_NOISE, EFFORT_NOISE = 1e-5, 0.02
RATE = 500.0
LONGEST = 150.0
ATTEMPTS = 20
# Nothing depends on when states and efforts come on a busy machine.
PATIENT = {"state_timeout": 5.0, "start_lead": 2.0}
TRACKING_ERROR = {"scara": 0.5}  # rad or m; its controller is slow


class Truth:
    """A robot whose parameters are known, and how far an estimate is from them."""

    def __init__(self, name: str) -> None:
        self.robot = load_robot(name)
        self.values = load_values(VALUES.get(name, name), self.robot)
        self.base = base_parameters(self.robot)
        self.truth = self.base.values(self.values[self.base.columns])
        other = random_points(self.robot, RandomPointsSettings(draws=1, seed=99)).trajectory
        motion = other.sample(np.arange(0.0, other.duration, 0.01))
        W = Regressor(self.robot, self.base.base_columns).dense(*motion)
        self._W = W.reshape(-1, self.base.rank)

    def say(self, label: str, values: Array, std: Array, rows: int) -> None:
        """Print how far an estimate is off."""
        error = values - self.truth
        print(
            f"  {label:31s} parameters {np.linalg.norm(error) / np.linalg.norm(self.truth):.2e}  "
            f"efforts {np.linalg.norm(self._W @ error) / np.linalg.norm(self._W @ self.truth):.2e}"
            f"  within three deviations {np.mean(np.abs(error) <= 3.0 * std):.2f}  rows {rows}",
            flush=True,
        )


def record(
    robot: RobotModel, values: Array, trajectory: Trajectory, rng: np.random.Generator
) -> Recording:
    """Return what sensors say while the declared controller follows a trajectory."""
    loop = ClosedLoop(robot, values)
    run = loop.run(trajectory.reference, trajectory.duration)
    position = run.position + POSITION_NOISE * rng.normal(size=run.position.shape)
    effort = run.effort + noise_of(run.effort) * rng.normal(size=run.effort.shape)
    return Recording(
        robot.joint_names,
        loop.sample_period,
        (Segment(np.array(run.time), position, None, effort),),
    )


def noise_of(effort: Array) -> Array:
    """Return the standard deviation of the noise of efforts (samples, joints)."""
    return EFFORT_NOISE * np.sqrt(np.mean(effort**2, axis=0))


def compare(name: str) -> None:
    """Print the table of one robot, simulated in this process."""
    known = Truth(name)
    robot, values = known.robot, known.values
    gentle = plan_one_joint(robot)
    duration = gentle.trajectory.duration
    begin = time.monotonic()
    points = PointSettings(starts=1)
    quick = plan(robot, PlanSettings(model=default_model(robot), points=points, duration=duration))
    print(
        f"{name}: {known.base.rank} base parameters, {len(gentle.schedule)} experiments in "
        f"{duration:.0f} s (planned in {gentle.seconds:.1f} s, worst condition "
        f"{gentle.condition_number:.1f}); optimised motion of {quick.trajectory.duration:.0f} s "
        f"(planned in {time.monotonic() - begin:.0f} s)",
        flush=True,
    )
    for seed in range(3):
        rng = np.random.default_rng(seed)
        one = record(robot, values, gentle.trajectory, rng)
        many = record(robot, values, quick.trajectory, rng)
        for label, recording, method in (
            ("one joint, recursion", one, "one-joint"),
            ("one joint, WLS", one, "wls"),
            ("optimised, WLS", many, "wls"),
        ):
            estimate = identify(robot, [recording], method=method).estimate
            label = f"seed {seed} {label}"
            known.say(label, estimate.values, estimate.std_robust, sum(estimate.rows))


def compare_live(name: str, repeat: int) -> None:
    """Print the table of one robot that runs, as its nodes do, in processes of their own."""
    known = Truth(name)
    gentle = plan_one_joint(known.robot).trajectory
    loop = ClosedLoop(known.robot, known.values)
    noise = noise_of(loop.run(gentle.reference, gentle.duration).effort)
    with tempfile.TemporaryDirectory() as folder:
        settings = {node: {"robot": name} for node in ("acquisition", "identification")}
        settings["simulated_robot"] = {
            "robot": name,
            "parameters_file": str(complete(known, Path(folder))),
            "rate": RATE,
            "position_noise": [POSITION_NOISE],
            "position_resolution": [0.0],
            "effort_noise": noise.tolist(),
        }
        limit = [TRACKING_ERROR.get(name, 0.15)]
        settings["excitation"] = {"robot": name, "tracking_error_limit": limit, **PATIENT}
        with Session(Path(folder), settings, others=("excitation",)) as session:
            session.wait_until_ready()
            session.verbs.wait_until_idle()
            measure(session.verbs, known, repeat)


def complete(known: Truth, folder: Path) -> Path:
    """Write a value for every parameter, as the simulated robot wants it."""
    named = dict(zip(known.robot.all_parameter_names, known.values.tolist(), strict=True))
    values = {name: named[name] for name in known.robot.standard_names}
    path = folder / "truth.yaml"
    path.write_text(yaml.safe_dump({"robot": known.robot.name, "parameters": values}))
    return path


def measure(verbs: Verbs, known: Truth, repeat: int) -> None:
    """Plan, execute and identify both motions of a robot through its nodes."""
    name = known.robot.name
    one = verbs.plan(method="one-joint")
    print(f"{name}: {one.message}; planned in {one.seconds:.1f} s", flush=True)
    for parameter, reason in zip(one.missing_parameters, one.missing_reasons, strict=True):
        print(f"  {parameter}: {reason}", flush=True)
    for _ in range(repeat):
        gentle, stops = executed(verbs, resume=True)
        for label, method in (("one joint, recursion", "one-joint"), ("one joint, WLS", "wls")):
            said(known, f"{label}, {stops} stops", partial(asked, verbs, [gentle], method))
    parts = math.ceil(one.duration / LONGEST)
    many = verbs.plan(method="points", duration=one.duration / parts, starts=1)
    print(f"{name}: {parts} times {many.message}; planned in {many.seconds:.0f} s", flush=True)
    for _ in range(repeat):
        runs = [executed(verbs, resume=False) for _ in range(parts)]
        stops = sum(stops for _, stops in runs)
        quick = [recording for recording, _ in runs]
        said(known, f"optimised, WLS, {stops} stops", partial(asked, verbs, quick, "wls"))


def executed(verbs: Verbs, *, resume: bool) -> tuple[str, int]:
    """Record a whole motion; return the recording, and how often the motion was stopped.

    Args:
        verbs: of the nodes.
        resume: go on after a stop, in place of beginning anew.
    """
    with verbs.recorded() as recording:
        for attempt in range(ATTEMPTS):
            end = follow(verbs, resume=resume and attempt > 0)
            if end.state == ExcitationStatus.FINISHED:
                break
            print(f"  {end.text}", flush=True)
        else:
            raise RequestRefusedError("excitation/start", end.text)
    return recording.name, attempt


def asked(verbs: Verbs, recordings: list[str], method: str) -> IdentificationResult:
    """Identify from recordings and return the result."""
    return verbs.identify(method, data_of(recordings)).result


def said(known: Truth, label: str, ask: Callable[[], IdentificationResult]) -> None:
    """Ask for an identification and print how far it is off, or why there is none."""
    try:
        result = ask()
    except RequestRefusedError as error:
        print(f"  {label:31s} {error}", flush=True)
        return
    order = {parameter.name: parameter for parameter in result.parameters}
    values = np.array([order[name].value for name in known.base.names])
    std = np.array([order[name].std_robust for name in known.base.names])
    known.say(label, values, std, sum(result.rows))
    lost = [line for line in result.warnings if "lost" in line or "missing" in line]
    for line in lost:
        print(f"  {line}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("robots", nargs="*", metavar="ROBOT")
    parser.add_argument("--dds", action="store_true", help="through ROS, in real time")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="executions with --dds")
    options = parser.parse_args()
    for robot_name in options.robots or (LIVE if options.dds else OFFLINE):
        if options.dds:
            compare_live(robot_name, options.repeat)
        else:
            compare(robot_name)
