"""Start of a node until it is ready, its compiled code cached.

The executable of the node is started in a process of its own, with its shipped parameters, and
ended when it prints that it is ready: interpreter, imports, base parameters and one run of
everything that it has compiled code for are part of it.  Each has run once before the first one
that counts.  Beside it: how long imports alone take.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from goals.measuring import Options, Row, Verdict
from robot_identification.ros.clients.processes import NodeProcesses, command
from robot_identification.ros.common.middleware import private_domain

TITLE = "start of a node"
NODES = ("acquisition", "identification", "calibration", "excitation")
_LIMIT, _READY = 240.0, "ready"
_PARAMETERS = {"robot": "tx40"}
_IMPORTS = {
    "import of rclpy and numpy": "import rclpy, numpy",
    "import of numba and scipy": "import numba, scipy.linalg, scipy.signal",
    "import of the identification node": "import robot_identification.ros.identification.node",
}


def measure(options: Options) -> Row:
    """Measure the row."""
    row = Row(TITLE)
    rounds = 1 if options.quick else 3
    names = NODES[:1] if options.quick else NODES
    for name in names:
        started(name)  # compiled
    seconds: dict[str, list[float]] = {name: [] for name in names}
    imports: dict[str, list[float]] = {name: [] for name in _IMPORTS}
    for _ in range(rounds):
        for name in names:
            seconds[name].append(started(name))
        for name, line in _IMPORTS.items():
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", line], check=True)
            imports[name].append(time.perf_counter() - begin)
    for name, values in imports.items():
        row.add_spread("", name, values, "s")
    for name, values in seconds.items():
        row.add_spread(name, "start until ready, by the clock", values, "s")
        reached = row.figures[-1].value
        bound = "imports, and loading compiled code from its cache"
        row.verdicts.append(
            Verdict(name, "s until ready", 2.0, reached, at_least=False, bound=bound)
        )
    return row


def started(name: str) -> float:
    """Return how long a node takes until it says that it is ready, in s.

    Raises:
        TimeoutError: if it takes minutes.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        NodeProcesses(Path(folder), private_domain()) as nodes,
    ):
        begin = time.perf_counter()
        nodes.start(name, command(name, parameters=_PARAMETERS))
        while _READY not in nodes.output(name):
            nodes.check()
            if time.perf_counter() - begin > _LIMIT:
                raise TimeoutError(f"{name} is not ready after {_LIMIT:g} s")
            time.sleep(0.01)
        return time.perf_counter() - begin
