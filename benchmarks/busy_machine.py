"""Run a command on a machine that serves nobody in time: busy processes, and processes that stall.

Beside the command run some processes for each core that do nothing but compute.  With ``--stalls``
one of the command's processes after the other, drawn at random, stands still (SIGSTOP) for 0.1 to
2 s.  Processes that somebody else has stopped, as some tests do, are left alone.  The exit code is
that of the command.

Usage: busy_machine.py [--busy N] [--stalls] [--pause S] [--seed N] COMMAND...

For example:

    benchmarks/busy_machine.py --busy 4 .venv/bin/python -m pytest test/ros
    benchmarks/busy_machine.py --busy 0 --stalls .venv/bin/python -m pytest test/ros
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import numpy as np

SHORTEST, LONGEST = 0.1, 2.0  # s


def processes() -> dict[int, tuple[int, str]]:
    """Return parent and state of every process."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent, *_ = path.read_text().rpartition(")")[2].split()
            found[int(path.parent.name)] = int(parent), state
    return found


def running_below(root: int) -> list[int]:
    """Return a process and all that descend from it, but for those that stand still or ended."""
    table, chosen = processes(), [root]
    for one in chosen:
        chosen += [number for number, (parent, _) in table.items() if parent == one]
    return sorted(one for one in chosen if one in table and table[one][1] not in "TtZX")


def stall_one(root: int, rng: np.random.Generator) -> bool:
    """Have one of the processes stand still for a while; return whether there was one."""
    candidates = running_below(root)
    if not candidates:
        return False
    chosen = int(rng.choice(candidates))
    with suppress(ProcessLookupError):
        os.kill(chosen, signal.SIGSTOP)
        try:
            time.sleep(rng.uniform(SHORTEST, LONGEST))
        finally:
            os.kill(chosen, signal.SIGCONT)
    return True


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--busy", type=int, default=4, help="processes for each core")
    parser.add_argument("--stalls", action="store_true")
    parser.add_argument("--pause", type=float, default=1.0, help="longest time between two stalls")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    rng, stalls = np.random.default_rng(arguments.seed), 0
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # nobody stays busy
    with ExitStack() as stack:
        for _ in range(arguments.busy * (os.cpu_count() or 1)):
            busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            stack.enter_context(busy)
            stack.callback(busy.kill)
        command = subprocess.Popen(arguments.command)
        stack.callback(command.terminate)  # where this one is ended before it
        while command.poll() is None:
            if arguments.stalls:
                stalls += stall_one(command.pid, rng)
            time.sleep(rng.uniform(0.0, arguments.pause))
    print(f"{stalls} stalls, load {os.getloadavg()[0]:.1f}", file=sys.stderr)
    return int(command.returncode)


if __name__ == "__main__":
    sys.exit(main())
