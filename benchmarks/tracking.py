"""Commission a simulated TX-40 through its nodes, and see it follow with the identified model.

All through services and topics of nodes in processes of their own: ~/plan, ~/start, a recording,
~/identify (weighted least squares) and ~/calibrate on the base space with a prior whose masses,
inertias and drive inertias are 30 % too large and that knows no friction.  The simulated robot has
friction that its robot file does not know: Stribeck and load friction.  Then the robot follows
another plan five times: with its drives alone, and fed forward by the node `computed_torque` with
the prior, with what the node `calibration` publishes after an identification with Coulomb and
viscous friction alone and after one that chose the friction laws by the data, and with the truth.
The errors are of measured positions, sensor noise included.  Every seed makes other plans and other
noise.

Usage: tracking.py [--seeds N] [--first SEED] [--too-large FACTOR] [--truth NAME] [--plot PNG]
       [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))

from robot_identification import msg
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.files.atomic import write_bytes_atomically
from robot_identification.files.parameters import with_law_of
from robot_identification.identification.estimators.choice import DEFAULT
from robot_identification.identification.friction.options import AUTO, COULOMB_VISCOUS
from robot_identification.report.figures.style import png
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.model import RobotModel
from robot_identification.ros.clients.client import RequestRefusedError
from robot_identification.ros.clients.motion import follow
from robot_identification.ros.clients.verbs import Verbs
from robot_identification.ros.clients.work_requests import data_of
from robot_identification.ros.demo.commissioning import (
    follow_calibrated,
    heavy_prior,
    write_prior,
)
from robot_identification.ros.demo.session import Session
from robot_identification.ros.demo.tracking import Errors, Tracking
from robot_identification.ros.messages.trajectories import trajectory_of
from tracking_plot import rms_table, tracking_figure

ROBOT, TRUTH, KNOWN = "tx40", "tx40_stribeck_load", "tx40_simulated"
PRIOR, PLAIN, LAW = "prior", "Coulomb and viscous", "identified law"
USUAL = ("Ia", "Fv", "Fc", "off")
STALE_AFTER, LEAD = 3.0, 2.0  # s: a busy machine delays states and efforts
GOAL = 5.0
ATTEMPTS = 5


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="the first of them")
    parser.add_argument("--too-large", type=float, default=1.3)
    parser.add_argument("--truth", default=TRUTH, help="true parameters; default: %(default)s")
    parser.add_argument("--plot", type=Path, help="of the first seed")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    robot = load_robot(ROBOT)
    found = []
    for seed in range(options.first, options.first + options.seeds):
        runs, said = measure(robot, options.truth, seed, options.too_large)
        table = rms_table(robot.joint_names, drawn(runs))
        ratios = {
            f"{name}_over_identified": table[label]["total"] / table[LAW]["total"]
            for name, label in (("prior", PRIOR), ("coulomb_viscous", PLAIN))
        }
        found.append({"seed": seed, "rms": table, **ratios, **said})
        if not options.json:
            show(found[-1])
        if options.plot is not None and seed == options.first:
            draw(options.plot, robot, runs)
    if options.json:
        print(json.dumps(found))
    return 0 if min(entry["coulomb_viscous_over_identified"] for entry in found) >= GOAL else 1


def plan(verbs: Verbs, robot: RobotModel, **fields: Any) -> Trajectory:
    """Return an exciting trajectory that the nodes have planned."""
    return trajectory_of(verbs.plan(**fields).trajectory).reordered(robot.joint_names)


def recorded(verbs: Verbs) -> str:
    """Record while the robot executes the last plan; return the identifier of the recording.

    A motion that was stopped, because a busy machine delayed the states, is begun anew.
    """
    for _ in range(ATTEMPTS):
        with verbs.recorded() as recording:
            status = follow(verbs)
        if status.state == msg.ExcitationStatus.FINISHED:
            return recording.name
    raise RequestRefusedError("excitation/start", status.text)


def measure(
    robot: RobotModel, truth: str, seed: int, too_large: float
) -> tuple[dict[str, Errors], dict[str, Any]]:
    """Return the errors of every run, and what the nodes said of plan, fit and calibration."""
    real = with_law_of(truth, robot)
    values = load_values(truth, real)
    settings = {
        "simulated_robot": {"seed": seed, "parameters_file": truth},
        "excitation": {"state_timeout": STALE_AFTER, "start_lead": LEAD},
        "identification": {"streaming": False},
    }
    with (
        tempfile.TemporaryDirectory() as folder,
        Session(
            Path(folder), settings, others=("excitation", "calibration"), description=ROBOT
        ) as session,
    ):
        tracking = Tracking(
            session.client, session.nodes, robot, ROBOT, session.namespace, lead=LEAD
        )
        session.wait_until_ready()
        session.verbs.wait_until_idle()
        tracking.wait_until_ready()
        begin = {"starts": 1, "start_position": [0.0] * len(robot.joints)}
        other = plan(session.verbs, robot, seed=1000 + seed, **begin)
        exciting = plan(session.verbs, robot, seed=seed, **begin)
        recording = recorded(session.verbs)
        runs = {"drives alone": tracking.approach_and_follow(other)}
        known = load_values(KNOWN, robot)
        path = Path(folder) / "prior.yaml"
        prior = heavy_prior(robot, known, too_large)
        write_prior(path, robot, prior)
        tracking.use(prior)
        runs[PRIOR] = tracking.approach_and_follow(other)
        said: dict[str, Any] = {}
        for label, friction in ((PLAIN, COULOMB_VISCOUS), (LAW, AUTO)):
            answer = session.verbs.identify(
                DEFAULT, data_of([recording]), friction=friction, output=f"{friction}.yaml"
            )
            result, chosen = answer.result, {"result": answer.written[0], "space": "base"}
            calibrated, runs[label] = follow_calibrated(session, tracking, path, other, **chosen)
            said[label] = {
                "relative_error": result.relative_error_total,
                "error_increase": calibrated.parameters.error_increase,
                "terms": list(calibrated.parameters.terms),
                "warnings": [*result.warnings, *calibrated.warnings],
            }
        tracking.use(values, real)
        runs["truth"] = tracking.approach_and_follow(other)
    late = {label: run.late for label, run in runs.items() if not run.tells_of_model}
    return runs, {
        "exciting_seconds": exciting.duration,
        "other_seconds": other.duration,
        "identified": said,
        "late": late,
    }


def show(entry: dict[str, Any]) -> None:
    """Print what came of a seed."""
    print(
        f"seed {entry['seed']}: identified from {entry['exciting_seconds']:.1f} s, followed "
        f"another motion of {entry['other_seconds']:.1f} s"
    )
    for label, errors in entry["rms"].items():
        cells = "  ".join(f"{name} {1e3 * value:7.3f}" for name, value in errors.items())
        print(f"  {label:24} rms in mrad: {cells}")
    for label, said in entry["identified"].items():
        print(f"  {label}: relative error {said['relative_error']:.4f}")
        further = [name for name in said["terms"] if not name.startswith(USUAL)]
        if further:
            print(f"  {label}: {' '.join(further)}")
        for warning in said["warnings"]:
            print(f"    {warning}")
    for label, share in entry["late"].items():
        print(f"  {label}: {100.0 * share:.0f} % of the efforts came too late; the machine is busy")
    print(
        f"  over {LAW}: {PRIOR} {entry['prior_over_identified']:.1f}, {PLAIN} "
        f"{entry['coulomb_viscous_over_identified']:.1f} (goal: {GOAL:g})"
    )
    sys.stdout.flush()


def drawn(runs: Mapping[str, Errors]) -> dict[str, tuple[Array, Array]]:
    """Return time and error of every run."""
    return {label: (run.time, run.error) for label, run in runs.items()}


def draw(path: Path, robot: RobotModel, runs: Mapping[str, Errors]) -> None:
    """Write the plot of the errors."""
    shown = {label: run for label, run in runs.items() if label in (PRIOR, PLAIN, LAW)}
    title = "TX-40 (simulated): position less reference, model fed forward"
    write_bytes_atomically(path, png(tracking_figure(robot, drawn(shown), title)))


if __name__ == "__main__":
    sys.exit(main())
