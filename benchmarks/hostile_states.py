"""Hostile joint states and clocks: nothing beyond a limit is ever published.

Sequences of joint states that are wrong in every way (values, stamps, gaps, clocks that step) meet
a robot somewhere in a minute of motion: in the state machine alone, and through the node
excitation in a process of its own.  What is published is judged by SciPy's polynomials.

Usage: hostile_states.py [--robot NAME] [--sequences N] [--node N] [--workers N] [--seed N]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))

from hostile import machine, node

ROUNDING = 1.0 + 1e-6


def main() -> int:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--robot", default="tx40")
    parser.add_argument("--sequences", type=int, default=1000, help="in the state machine")
    parser.add_argument("--node", type=int, default=0, help="sequences through the node")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found, begin = {}, time.monotonic()
    if options.sequences:
        found["state machine"] = machine.worst(
            options.robot, options.sequences, options.seed, options.workers
        )
    if options.node:
        found["node"] = node.worst(options.robot, options.node, options.seed, options.workers)
    found["seconds"] = round(time.monotonic() - begin, 1)
    print(json.dumps(found, indent=2))
    parts = [part for part in found.values() if isinstance(part, dict)]
    return int(any(max(part["shares"].values()) > ROUNDING for part in parts))


if __name__ == "__main__":
    sys.exit(main())
