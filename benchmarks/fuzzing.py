"""Fuzz the parsers: damaged files are read or refused, within two seconds each, never otherwise.

    python benchmarks/fuzzing.py [--parser NAME ...] [--executions N] [--seed S] [--processes P]
                                 [--seconds T] [--bags N] [--findings FOLDER]

A third of the inputs of each parser is damaged behind the outer syntax: valid YAML or XML, or a
serialised message of the right size.  Inputs that reach new lines of the parser join those that
others are made from; one input in twenty is traced for that, so the coverage is a lower bound.
What is read must be a robot, a trajectory and so on, with the numbers of the file.

``--bags N`` damages N bags of each format in one to twenty bytes instead, and compares what is read
with what was written.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))

import fuzzed_bags
from fuzz_runs import Outcome, fuzz, lines_of
from fuzzed_parsers import parsers

_SEED_STEP = 1_000_003


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
    began = time.monotonic()
    share = -(-options.executions // options.processes)
    work = [
        (name, share, options.seed + _SEED_STEP * number, options.seconds)
        for number in range(options.processes)
    ]
    if options.processes == 1:
        outcomes = [_one(work[0])]
    else:
        with ProcessPoolExecutor(options.processes) as pool:
            outcomes = list(pool.map(_one, work))
    counts = sum((outcome.counts for outcome in outcomes), start=Outcome().counts)
    lines = lines_of(parsers()[name]().modules)
    covered = set().union(*(outcome.covered for outcome in outcomes)) & lines
    findings = [finding for outcome in outcomes for finding in outcome.findings]
    for number, data, told in findings:
        place = options.findings / f"{name}-{options.seed}-{number}"
        place.write_bytes(data)
        print(f"{place}: {told}", file=sys.stderr)
    structured = sum(n for (_, kind), n in counts.items() if kind == "structured")
    print(
        f"{name:12} {counts.total()} executions ({structured} behind the syntax): "
        f"{_words(counts)}; {len(findings)} findings; slowest "
        f"{max(outcome.slowest for outcome in outcomes):.2f} s; lines {len(covered)} of "
        f"{len(lines)} ({100 * len(covered) / len(lines):.0f} %); "
        f"{time.monotonic() - began:.0f} s",
        flush=True,
    )
    return len(findings)


def _one(work: tuple[str, int, int, float | None]) -> Outcome:
    name, executions, seed, seconds = work
    with tempfile.TemporaryDirectory() as folder:
        return fuzz(parsers()[name](), executions, Path(folder), seed=seed, seconds=seconds)


def _words(counts: dict) -> str:
    return ", ".join(
        f"{' '.join(key) if isinstance(key, tuple) else key} {count}"
        for key, count in sorted(counts.items())
    )


if __name__ == "__main__":
    main()
