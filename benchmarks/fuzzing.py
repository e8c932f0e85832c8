"""Fuzz the parsers: damaged files are read or refused, within two seconds each, never otherwise.

    python benchmarks/fuzzing.py [--parser NAME ...] [--executions N] [--seed S] [--processes P]
                                 [--seconds T] [--bags N] [--findings FOLDER]

A third of the inputs of each parser is damaged behind the outer syntax: valid YAML or XML, or a
serialised message of the right size.  Inputs that reach new lines of the parser join those that
others are made from; two inputs in twenty are traced for that, so the coverage is a lower bound.
What is read must be a robot, a trajectory and so on, with the numbers of the file.

Executions are counted in parts of 10 000, each with a seed of its own and its outcome in FOLDER.
What is there already is not run again, so that a run may be broken off and go on later; with a
limit of time nothing is kept.

``--bags N`` damages N bags of each format in one to twenty bytes instead, and compares what is read
with what was written.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))

import fuzzed_bags
from fuzz_runs import OUTCOMES, SYNTAX, Outcome, coverage, fuzz
from fuzzed_parsers import parsers

_PART = 10_000


def main() -> None:
    """Fuzz what the options say, print one line each, and exit with 1 where something was found."""
    options = _options()
    options.findings.mkdir(parents=True, exist_ok=True)
    found = 0
    if options.bags:
        for format_ in fuzzed_bags.FORMATS:
            counts, slowest = fuzzed_bags.damage(format_, options.bags, seed=options.seed)
            print(f"{format_:22} {options.bags} bags: {_words(counts)}; slowest {slowest:.2f} s")
            found += counts["hang"] + counts["crash"]
            if format_ in fuzzed_bags.CHECKED:
                found += counts["silently different"]
    else:
        for name in options.parser or sorted(parsers()):
            found += _run(name, options)
    sys.exit(bool(found))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parser", action="append", choices=sorted(parsers()))
    parser.add_argument("--executions", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seconds", type=float, help="stop a parser after this time")
    parser.add_argument("--bags", type=int, default=0, help="damage bags instead, this many each")
    parser.add_argument("--findings", type=Path, default=Path("fuzzing_findings"))
    return parser.parse_args()


def _run(name: str, options: argparse.Namespace) -> int:
    """Fuzz a parser; return the number of findings, which are written beside one another."""
    count = -(-options.executions // _PART)
    work = [
        (name, options.seed + part, options.seconds and options.seconds / count, options.findings)
        for part in range(count)
    ]
    if options.processes == 1:
        outcomes = list(map(_part, work))
    else:
        with ProcessPoolExecutor(options.processes) as pool:
            outcomes = list(pool.map(_part, work))
    counts = sum((outcome.counts for outcome in outcomes), start=Counter())
    covered = set().union(*(outcome.covered for outcome in outcomes))
    ran, entered, lines = coverage(parsers()[name]().modules, covered)
    findings = sum(len(outcome.findings) for outcome in outcomes)
    total = {what: counts[what, "bytes"] + counts[what, "structured"] for what in OUTCOMES}
    structured = sum(counts[what, "structured"] for what in OUTCOMES)
    passed = 1.0 - total[SYNTAX] / max(1, counts.total())
    print(
        f"{name:18} {counts.total()} executions ({structured} made behind the syntax, "
        f"{100 * passed:.0f} % passed it): {_words(total)}; {findings} findings; slowest "
        f"{max(outcome.slowest for outcome in outcomes):.2f} s; "
        f"{sum(outcome.seconds for outcome in outcomes):.0f} s; lines {ran} of {entered} in what "
        f"was entered ({100 * ran / entered:.0f} %), of {lines} in all ({100 * ran / lines:.0f} %)",
        flush=True,
    )
    return findings


def _part(work: tuple[str, int, float | None, Path]) -> Outcome:
    """Return the outcome of one part, which is in the folder or comes there."""
    name, seed, seconds, folder = work
    record = folder / f"{name}-{seed}.json"
    if record.exists():
        return Outcome.of(json.loads(record.read_text()))
    with tempfile.TemporaryDirectory() as place:
        outcome = fuzz(parsers()[name](), _PART, Path(place), seed=seed, seconds=seconds)
    for number, data, told in outcome.findings:
        path = folder / f"{name}-{seed}-{number}.input"
        path.write_bytes(data)
        print(f"{path}: {told}", file=sys.stderr)
    if seconds is None:
        record.write_text(json.dumps(outcome.record()))
    return outcome


def _words(counts: dict) -> str:
    return ", ".join(f"{key} {count}" for key, count in counts.items())


if __name__ == "__main__":
    main()
