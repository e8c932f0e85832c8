"""How long does a request to identify take while its recording runs, and does the time grow?

A driver in a process of its own sends states of an arm of seven joints, one every millisecond;
``acquisition`` records them.  Every second ``identification`` is asked for a result of the
recording that runs.  Printed are the answers by error code, and how long they took as the client
sees it, minute by minute.

Run it with real-time priority where others use the machine; the nodes inherit it:

    chrt -r 30 python benchmarks/running_requests.py --output running_requests.json

Usage: running_requests.py [--minutes M] [--every S] [--method ols|wls] [--streaming on|off]
                           [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # of the nodes too

import sys

import numpy as np
from robot_identification.srv import Identify
from soaking.arm import Arm, prepare
from soaking.machine import Machine
from soaking.resources import Usage

from robot_identification.ros.clients.client import Client
from robot_identification.ros.clients.processes import NodeProcesses, command
from robot_identification.ros.clients.verbs import Verbs
from robot_identification.ros.common.middleware import private_domain
from robot_identification.ros.messages.error_codes import CODES

NAMESPACE = "/running"
RATE = 1000.0
FIRST_AFTER = 5.0  # s of motion; before that nothing is determined
MEDIAN_WITHIN, LONGEST_WITHIN = 1.0, 3.0  # s


@dataclass(frozen=True)
class Answer:
    """One answer.

    Attributes:
        asked: time since the driver began, s.
        seconds: that it took.
        code: error code.
        message: of the node.
        samples: that the result is made from.
        error: largest deviation from the truth.
    """

    asked: float
    seconds: float
    code: int
    message: str
    samples: int
    error: float


def main() -> int:
    """Ask, print a table and write a file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--every", type=float, default=1.0, help="time between requests, s")
    parser.add_argument("--method", choices=("ols", "wls"), default="wls")
    parser.add_argument("--streaming", choices=("on", "off"), default="on")
    parser.add_argument("--output", type=Path, help="file for all figures, as json")
    options = parser.parse_args()
    os.environ.update(private_domain())
    with tempfile.TemporaryDirectory() as folder:
        found = run(Path(folder), options)
    if options.output is not None:
        options.output.write_text(json.dumps(found, indent=1) + "\n")
    table(found)
    return 0 if found["passed"] else 1


def run(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Record, ask while the recording runs, and return all figures."""
    arm, machine = prepare(folder, RATE), Machine()
    environment = {"PYTHONPATH": str(Path(__file__).parent)}
    with (
        NodeProcesses(folder, environment) as nodes,
        Client(NAMESPACE, watch=nodes.check) as client,
    ):
        for name, more in (
            ("acquisition", {}),
            ("identification", {"streaming": options.streaming == "on"}),
        ):
            parameters: dict[str, object] = {"robot": str(arm.description), **more}
            nodes.start(name, command(name, parameters=parameters, namespace=NAMESPACE))
        verbs = Verbs(client)
        verbs.require("acquisition", "identification")
        verbs.start_recording()
        samples = round(options.minutes * 60.0 * RATE)
        line = [sys.executable, "-m", "soaking.publisher", NAMESPACE]
        line += [str(arm.motion), "1", str(samples), str(folder / "driver.json")]
        driver = nodes.start("driver", line)
        client.spin(FIRST_AFTER)
        answers, begin = [], time.monotonic()
        while driver.poll() is None:
            answers.append(ask(verbs, arm, options.method, begin - FIRST_AFTER))
            machine.look()
            client.spin(max(begin + options.every * len(answers) - time.monotonic(), 0.0))
        used = Usage.of(nodes.process("identification").pid)
        nodes.stop("driver")
        verbs.stop_recording()
        whole = ask(verbs, arm, options.method, begin - FIRST_AFTER)
    return figures(answers, whole, used, machine, samples)


def ask(verbs: Verbs, arm: Arm, method: str, begin: float) -> Answer:
    """Ask for a result of the recording that runs, and wait for the answer."""
    asked = time.monotonic()
    request = Identify.Request(method=method)
    response = verbs.answers.ask(request)
    seconds = time.monotonic() - asked
    result = response.result
    return Answer(
        asked=asked - begin,
        seconds=seconds,
        code=response.error_code,
        message=response.message,
        samples=result.sources[0].samples if result.sources else 0,
        error=arm.deviations(result)["largest_deviation"] if response.success else float("nan"),
    )


def figures(
    answers: list[Answer], whole: Answer, used: Usage, machine: Machine, samples: int
) -> dict[str, Any]:
    """Return what is printed and written."""
    names = {getattr(CODES, name): name for name in ("OK", "INTERNAL", "ILL_CONDITIONED")}
    names[CODES.DATA_INVALID] = "DATA_INVALID"
    codes = Counter(names.get(answer.code, str(answer.code)) for answer in answers)
    seconds = np.array([answer.seconds for answer in answers])
    minutes = np.array([answer.asked for answer in answers]) // 60.0
    median, longest = float(np.median(seconds)), float(seconds.max())
    return {
        "samples_sent": samples,
        "machine": machine.summary(),
        "answers": len(answers),
        "codes": dict(codes),
        "median_s": median,
        "p99_s": float(np.quantile(seconds, 0.99)),
        "longest_s": longest,
        "by_minute": [
            {
                "minute": int(minute),
                "answers": int(np.count_nonzero(minutes == minute)),
                "median_s": float(np.median(seconds[minutes == minute])),
                "longest_s": float(seconds[minutes == minute].max()),
            }
            for minute in np.unique(minutes)
        ],
        "last_samples": answers[-1].samples,
        "last_error": answers[-1].error,
        "whole": {"seconds": whole.seconds, "samples": whole.samples, "error": whole.error},
        "identification": {"cpu_s": used.seconds, "resident_mb": used.resident},
        "failures": sorted({a.message for a in answers if a.code != CODES.OK})[:10],
        "passed": (
            codes["INTERNAL"] == 0 and median <= MEDIAN_WITHIN and longest <= LONGEST_WITHIN
        ),
    }


def table(found: dict[str, Any]) -> None:
    """Print the figures."""
    on = found["machine"]
    print(
        f"{found['samples_sent']} samples of seven joints at {RATE:g} Hz; {on['cores']} cores with "
        f"a load of {on['load_mean']:.1f}; scheduling {on['scheduling']}, priority {on['priority']}"
    )
    print(f"{found['answers']} answers: {found['codes']}")
    for line in found["failures"]:
        print(f"  {line}")
    print(f"\n{'minute':>8}{'answers':>9}{'median s':>10}{'longest s':>11}")
    for row in found["by_minute"]:
        print(
            f"{row['minute']:8d}{row['answers']:9d}{row['median_s']:10.3f}{row['longest_s']:11.3f}"
        )
    print(
        f"{'all':>8}{found['answers']:9d}{found['median_s']:10.3f}{found['longest_s']:11.3f}"
        f"   99 %: {found['p99_s']:.3f}"
    )
    print(f"\nlast: {found['last_samples']} samples, {found['last_error']:.3g} from the truth")
    print(f"after the end, whole: {found['whole']}; node: {found['identification']}")
    print("passed" if found["passed"] else "FAILED")


if __name__ == "__main__":
    sys.exit(main())
