"""External joint efforts on an arm in MuJoCo whose friction the model does not have.

An arm of example-robot-data moves in MuJoCo under its controller, with friction that grows with the
root of the speed beside MuJoCo's own, which is softer than Coulomb's law.  One motion is identified
with Coulomb and viscous friction and calibrated.  Thresholds are learned from free motion of the
given length; other motions are free for the given hours, and in others a force acts on the flange
for 0.3 s, every two seconds or so, in random directions.  Efforts carry noise, a share of the
limits; positions and velocities carry noise too.

Usage: external_efforts.py [--arm NAME] [--hours H] [--pushes N] [--standing N] [--force N]
       [--time-constant S] [--stick-speed V] [--learning S] [--noise SHARE] [--no-velocity]
       [--folder FOLDER] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))

from pushes.arms import ARMS
from pushes.judge import Watched, figures
from pushes.recordings import Recorder

import robot_identification as ri


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arm", choices=sorted(ARMS), default="panda")
    parser.add_argument("--hours", type=float, default=1.0, help="of unseen free motion")
    parser.add_argument("--pushes", type=int, default=200, help="on the moving arm")
    parser.add_argument("--standing", type=int, default=0, help="pushes on the standing arm")
    parser.add_argument("--force", type=float, default=10.0, help="N")
    parser.add_argument("--time-constant", type=float, default=0.01, help="s")
    parser.add_argument("--learning", type=float, default=120.0, help="s of free motion")
    parser.add_argument("--stick-speed", type=float, default=0.0, help="rad/s; 0: the default")
    parser.add_argument("--noise", type=float, default=0.005)
    parser.add_argument("--no-velocity", action="store_true")
    parser.add_argument("--folder", type=Path, help="keeps recordings, so that they are made once")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(options.folder or Path(folder), options)
    print(json.dumps(found) if options.json else "\n".join(f"{k:34} {v}" for k, v in found.items()))
    fine = found["false_contacts"] <= 1.0 and found["seen_within_30_ms"] == 1.0
    return 0 if fine and found["effort_error_all_joints"] < 0.1 else 1


def measure(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Return what is counted."""
    name = f"{options.arm}_{options.force:g}"
    recorder = Recorder(options.arm, folder / name, force=options.force, noise=options.noise)
    settings = ri.ExternalEffortSettings(
        time_constant=options.time_constant,
        learning_time=options.learning,
        stick_speed=(options.stick_speed,),
    )
    watched = Watched(recorder, settings, velocity=not options.no_velocity)
    counted = figures(
        watched, hours=options.hours, pushes=options.pushes, standing=options.standing
    )
    return {"arm": options.arm, **counted}


if __name__ == "__main__":
    sys.exit(main())
