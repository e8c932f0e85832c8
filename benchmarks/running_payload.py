"""Payloads that arms in MuJoCo pick up while they move, by the running estimate.

Arms of example-robot-data move from one random point to the next, in MuJoCo and under their own
controllers, with friction that the model does not have: MuJoCo's is softer than Coulomb's law and
has a term with the root of the speed besides, and it is larger by 30 % on a cold arm, which warms
up with a time constant of 20 minutes.  A model is identified from 30 s of the warm arm, with
Coulomb and viscous friction, and calibrated.  Then the arm is cold, moves until its residual is
learned, and picks up bodies and lays them down: 0.2 to 5 kg, equally likely on a logarithmic scale,
homogeneous boxes before the flange.  Positions and efforts carry noise, of the efforts 0.5 % of
their limits where ``--noise`` says nothing else.  After that it moves for the given hours, one half
bare and the other with 2 kg.

Beside each share of good estimates stands the one that an estimator may expect that knows the arm
exactly, with all of its friction, and sees the same noise (``payloads/bounds.py``).

Usage: running_payload.py [--arm NAME ...] [--models N] [--picks N] [--hours H] [--seed N]
       [--noise SHARE] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))

import numpy as np
from payloads.arms import ARMS, EFFORT_NOISE, RATE, Arm, Samples, random_body
from payloads.bounds import covariance, shares

import robot_identification as ri
from robot_identification.calibration.running_payload.watch import PayloadWatch
from robot_identification.robot.bodies import Body

FITTED = 30.0  # s
BARE, LOADED, JUDGED = (5.0, 8.0), 8.0, 5.0  # s
LIGHTEST, HEAVIEST = 0.2, 5.0  # kg
BLOCK = 25  # samples that come at once
NEAR, WITHIN = 0.03, 5e-3  # of the mass; m, of the centre
QUANTITIES = ("mass", "x", "y", "z")
INSIDE = 1.959963984540054


@dataclass
class Tally:
    """What was counted of an arm."""

    errors: list[Any] = field(default_factory=list)  # kg, m; of mass and centre
    std: list[Any] = field(default_factory=list)
    masses: list[float] = field(default_factory=list)
    possible: list[tuple[float, float]] = field(default_factory=list)  # mass, centre
    delays: list[float] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    false_in_picks: int = 0
    false: int = 0
    contacts: int = 0
    hours: float = 0.0
    seconds: float = 0.0
    watched: float = 0.0


class Watched:
    """A stream of joint states."""

    def __init__(self, watch: PayloadWatch, tally: Tally) -> None:
        self.watch, self.tally = watch, tally
        self.contact = False

    def take(self, samples: Samples) -> list[tuple[float, Any]]:
        """Return states, each with the time at which it was told, after the beginning."""
        stamps = 10**18 + np.rint(1e9 * samples.time).astype(np.int64)
        found = []
        before = time.process_time()
        for first in range(0, len(stamps), BLOCK):
            part = slice(first, first + BLOCK)
            now = samples.time[part][-1] - samples.time[0]
            states = self.watch.push(stamps[part], samples.position[part], samples.effort[part])
            found += [(now, state) for state in states]
        self.tally.seconds += time.process_time() - before
        for _, state in found:
            contact = state.status == CONTACT
            self.tally.contacts += contact and not self.contact
            self.contact = contact
        self.tally.watched += len(stamps) / RATE
        return found


def calibrated(arm: Arm) -> Any:
    """Return the calibrated parameters of the warm arm."""
    fit = arm.move(FITTED)
    recording = ri.Recording.from_arrays(arm.robot, fit.time, fit.position, fit.effort)
    return ri.calibrate(arm.robot, ri.identify(arm.robot, recording))


def measure(name: str, seed: int, picks: int, hours: float, noise: float, tally: Tally) -> None:
    """Count for one model of an arm."""
    with tempfile.TemporaryDirectory() as folder:
        arm = Arm(name, Path(folder), seed, noise)
        parameters = calibrated(arm)
        watch = PayloadWatch(arm.robot, parameters.values, arm.mounting, parameters.spread)
        watched = Watched(watch, tally)
        arm.cool()
        while watch.free is None:
            watched.take(arm.move(5.0))
        rng = np.random.default_rng(1000 + seed)
        changes = 0
        for number in range(picks):
            changes = pick(arm, watched, rng, changes, first=number == 0)
        arm.carry(None)
        watched.take(arm.move(10.0))
        for body in (None, random_body(rng, 2.0)):
            if hours:
                arm.carry(body)
                before = watched.take(arm.move(10.0))[-1][1].changes
                for part in arm.moves(1800.0 * hours):
                    after = watched.take(part)[-1][1].changes
                tally.false += after - before
        tally.hours += hours


def pick(arm: Arm, watched: Watched, rng: np.random.Generator, changes: int, *, first: bool) -> int:
    """Lay down what is carried, pick up another body, and judge the estimate."""
    mass = float(np.exp(rng.uniform(np.log(LIGHTEST), np.log(HEAVIEST))))
    body, tally = random_body(rng, mass), watched.tally
    arm.carry(None)
    bare = watched.take(arm.move(float(rng.uniform(*BARE))))
    expected = changes + (0 if first else 1)
    tally.false_in_picks += max(0, bare[-1][1].changes - expected)
    before = bare[-1][1].changes
    arm.carry(body)
    motion = arm.move(LOADED)
    loaded = watched.take(motion)
    judged = motion.position[: round(JUDGED * RATE)]
    least = covariance(arm.robot, arm.mounting, body, judged, arm.noise, RATE)
    tally.possible.append(shares(least, mass, NEAR, WITHIN))
    seen = [when for when, state in loaded if state.changes > before]
    tally.delays.append(seen[0] if seen else np.inf)
    tally.false_in_picks += max(0, loaded[-1][1].changes - before - 1)
    judge(body, next(state for when, state in loaded if when >= JUDGED), tally)
    return loaded[-1][1].changes


def judge(body: Body, state: Any, tally: Tally) -> None:
    """Compare an estimate with the truth."""
    tally.masses.append(body.mass)
    tally.statuses.append(int(state.status))
    tally.errors.append(state.body.estimate.values[:4] - [body.mass, *body.centre])
    tally.std.append(state.body.estimate.std[:4])


def summary(name: str, tally: Tally) -> dict[str, Any]:
    """Return the figures of an arm."""
    errors, std = np.array(tally.errors), np.array(tally.std)
    mass = np.abs(errors[:, 0]) / np.array(tally.masses)
    centre = np.linalg.norm(errors[:, 1:], axis=1)
    centre[np.isnan(centre)] = np.inf
    delays, possible = np.array(tally.delays), np.mean(tally.possible, axis=0)
    inside = np.abs(errors) <= INSIDE * std
    return {
        "arm": name,
        "picks": len(errors),
        "mass_error_median": round(float(np.median(mass)), 4),
        "mass_within_3_percent": round(float(np.mean(mass <= NEAR)), 4),
        "mass_of_an_efficient_one": round(float(possible[0]), 4),
        "mass_error_largest": round(float(mass.max()), 4),
        "centre_error_median_mm": round(1e3 * float(np.median(centre)), 2),
        "centre_within_5_mm": round(float(np.mean(centre <= WITHIN)), 4),
        "centre_of_an_efficient_one": round(float(possible[1]), 4),
        "centre_error_largest_mm": round(1e3 * float(centre.max()), 2),
        "seen_within_1_s": round(float(np.mean(delays <= 1.0)), 4),
        "delay_median_s": round(float(np.median(delays)), 2),
        "delay_longest_s": round(float(delays.max()), 2),
        "said_to_be_carried": round(float(np.mean(np.array(tally.statuses) == CARRIED)), 4),
        **{
            f"inside_95_{quantity}": round(float(np.mean(inside[:, k])), 4)
            for k, quantity in enumerate(QUANTITIES)
        },
        "inside_95": round(float(np.mean(inside)), 4),
        "false_changes_between_picks": tally.false_in_picks,
        "hours": tally.hours,
        "false_changes": tally.false,
        "false_contacts": tally.contacts,
        "share_of_a_core": round(tally.seconds / tally.watched, 4),
    }


CARRIED = int(ri.PayloadStatus.CARRIED)
CONTACT = int(ri.PayloadStatus.CONTACT)


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arm", choices=sorted(ARMS), nargs="+", default=sorted(ARMS))
    parser.add_argument("--models", type=int, default=4)
    parser.add_argument("--picks", type=int, default=40, help="of each model")
    parser.add_argument("--hours", type=float, default=2.0, help="of the first model")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--noise", type=float, default=EFFORT_NOISE, help="of the effort limits")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = []
    for name in options.arm:
        tally = Tally()
        for number in range(options.models):
            hours = options.hours if number == 0 else 0.0
            measure(name, options.seed + number, options.picks, hours, options.noise, tally)
            print(name, number, "done", file=sys.stderr)
        found.append(summary(name, tally))
    if options.json:
        print(json.dumps(found))
    else:
        for key in found[0]:
            print(f"{key:30}", *(f"{one[key]!s:>10}" for one in found))
    fine = all(
        one["mass_within_3_percent"] == one["centre_within_5_mm"] == one["seen_within_1_s"] == 1.0
        and 0.93 <= one["inside_95"] <= 0.97
        and one["false_changes"] == one["false_contacts"] == 0
        for one in found
    )
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
