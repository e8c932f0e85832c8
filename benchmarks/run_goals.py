"""Measure every row of the goals beside its peers, in turn, in one run.

Prints medians, quartiles and ratios; writes benchmarks/results.json with a description of the
machine and the commit, and the table of docs/performance.md.  Linear algebra has one thread unless
a row says otherwise.  Only ratios count where other work shares the machine.

Usage: run_goals.py [--only ROW ...] [--rounds N] [--quick] [--growth] [--no-write]
"""

from __future__ import annotations

import os

# Two, so that a peer that asks for two gets them; everything else is limited to one below.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "2"

import argparse
import importlib
import json
import sys
import time
import warnings
from pathlib import Path

from goals import tables
from goals.machine import description, peaks
from goals.measuring import Options, Row
from threadpoolctl import threadpool_limits

ROWS = (
    "regressor",
    "least_squares",
    "accuracy",
    "decimation",
    "closed_loop",
    "didim",
    "live",
    "excitation",
    "start_up",
    "bags",
)
_HERE = Path(__file__).resolve().parent
RESULTS = _HERE / "results.json"
PAGE = _HERE.parent / "docs" / "performance.md"


def main() -> int:
    """Measure the rows, print and write them."""
    options = _options()
    found = peaks()
    machine = description(found)
    print(tables.machine_text(machine), flush=True)
    settings = Options(1 if options.quick else options.rounds, options.quick, found)
    seconds: dict[str, float] = {}
    for name in options.only or ROWS:
        begin = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of a peer that is imported
            goal = importlib.import_module(f"goals.{name}")  # only loaded libraries are limited
            with threadpool_limits(1):
                row = goal.measure(settings)
        seconds[name] = time.perf_counter() - begin
        print(tables.row_text(row), flush=True)
        print(f"({seconds[name]:.0f} s)\n", flush=True)
        if not options.quick and not options.no_write:
            _write(machine, {name: row}, seconds)  # what is measured outlives what follows
    if options.growth:
        importlib.import_module("goals.growth").main()
    return 0


def _write(machine: dict[str, object], rows: dict[str, Row], seconds: dict[str, float]) -> None:
    """Write the rows that were measured in place of those of earlier runs."""
    before = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    entries = dict(before.get("rows", {}))
    for name, row in rows.items():
        entries[name] = tables.row_data(row) | {"seconds": seconds[name], "machine": machine}
    ordered = {name: entries[name] for name in ROWS if name in entries}
    RESULTS.write_text(json.dumps({"rows": ordered}, indent=1) + "\n", encoding="utf-8")
    tables.update_page(PAGE, ordered)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=ROWS, metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--rounds", type=int, default=7, help="rounds of short runs")
    parser.add_argument("--quick", action="store_true", help="see that it runs; write nothing")
    parser.add_argument("--growth", action="store_true", help="cost over samples and joints too")
    parser.add_argument("--no-write", action="store_true", help="print only")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
