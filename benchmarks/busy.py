"""How long does a second client wait for the answer BUSY?

The identification node works on one long request; a client of its own asks again and again for
another, and for a validation.  Printed are the delays of the answers as the client sees them.

Usage: busy.py [--calls N] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from robot_identification.srv import Identify, Validate

from robot_identification import msg
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.robot.files.loading import load_robot
from robot_identification.ros.clients.client import Client
from robot_identification.ros.clients.verbs import Verbs
from robot_identification.ros.demo.session import Session
from robot_identification.ros.messages.error_codes import CODES
from robot_identification.signals.raw_samples import RawSamples

SECONDS = 5.0
REPEATED = 400
ROBOT = "tx40"


def record(session: Session) -> None:
    """Have a recording of the simulated robot: the current one, that the others ask about."""
    with session.verbs.recorded():
        session.client.spin(SECONDS)


def long_bags(folder: Path) -> list[str]:
    """Return a bag of a made-up motion under many names: reading it takes a while."""
    joints = len(load_robot(ROBOT).joints)
    time = np.arange(0.0, SECONDS, 1e-3)[:, None]
    q = np.sin((1.0 + 0.3 * np.arange(joints)) * time)
    tau = np.random.default_rng(0).normal(size=q.shape)
    stamps = np.rint(1e9 * (1.0 + time[:, 0])).astype(np.int64)
    names = load_robot(ROBOT).joint_names
    write_joint_states(folder / "bag", names, RawSamples(stamps, q, None, tau))
    links = [folder / f"bag_{number}" for number in range(REPEATED)]
    for link in links:
        link.symlink_to(folder / "bag")
    return [str(link) for link in links]


def begun(session: Session, bags: list[str]) -> object:
    """Return the future of a long request."""
    request = Identify.Request(data=msg.DataSelection(bags=bags))
    future = session.verbs.begun.ask(request)
    session.client.spin(0.2)
    return future


def measure(session: Session, bags: list[str], calls: int) -> list[float]:
    """Return the delays of the answers BUSY in s."""
    delays: list[float] = []
    with Client(session.namespace) as other:
        verbs = Verbs(other).answers
        verbs.require("identification")
        while len(delays) < calls:
            future = begun(session, bags)
            while not future.done() and len(delays) < calls:  # type: ignore[attr-defined]
                request = (Identify, Validate)[len(delays) % 2].Request()
                started = time.perf_counter()
                answer = verbs.ask(request)
                seconds = time.perf_counter() - started
                if answer.error_code == CODES.BUSY:
                    delays.append(seconds)
                session.client.spin()
            session.verbs.answers.cancel("identification")
            session.client.wait_for(future.done, 60.0, "end")  # type: ignore[attr-defined]
    return delays


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        Session(Path(folder), description=ROBOT) as session,
    ):
        session.wait_until_ready()
        record(session)
        bags = long_bags(Path(folder))
        delays = 1e3 * np.array(measure(session, bags, arguments.calls))
    found = {
        "answers": len(delays),
        "median_ms": round(float(np.median(delays)), 2),
        "p99_ms": round(float(np.percentile(delays, 99)), 2),
        "p99_9_ms": round(float(np.percentile(delays, 99.9)), 2),
        "worst_ms": round(float(delays.max()), 2),
        "load": round(os.getloadavg()[0], 1),
        "cores": os.cpu_count(),
    }
    if arguments.json:
        print(json.dumps(found))
    else:
        print("\n".join(f"{key:10} {value}" for key, value in found.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
