"""How many small faults of the modules on which results and safety depend do tests find?

One change is made to a module at a time: a sign, a comparison, a number, a condition.  The tests
that belong to the module should then fail; a mutant with which they pass has survived.  Those that
cannot be told from the module by any behaviour are explained in mutation/explained.yaml.

Usage: mutants.py [--sample N] [--seed N] [--module TEXT]... [--json FILE]
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import os
import random
import sys
import time
from pathlib import Path

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import yaml
from mutation.mutants import Mutant, mutants_of, places_of
from mutation.runs import Nursery
from mutation.targets import TARGETS

EXPLAINED = Path(__file__).with_name("mutation") / "explained.yaml"


def main() -> int:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, metavar="N", help="mutants of each module; all")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--module", action="append", help="only modules whose names contain this")
    parser.add_argument("--tests", metavar="EXPRESSION", help="only these tests, as pytest's -k")
    parser.add_argument("--json", type=Path, help="file for the survivors")
    asked = parser.parse_args()
    chosen = [m for m in TARGETS if not asked.module or any(part in m for part in asked.module)]
    if len(chosen) > 1:  # what is slow to import, once for all
        for name in ("numba", "scipy.linalg", "scipy.signal"):
            importlib.import_module(name)
    told = [_in_a_process(module, TARGETS[module], asked) for module in chosen]
    if asked.json:
        asked.json.write_text(json.dumps(told, indent=1))
    return int(any(entry is None or entry["survived"] for entry in told))


def _in_a_process(
    module: str, tests: tuple[str, ...], asked: argparse.Namespace
) -> dict[str, object] | None:
    """Return what became of the mutants of a module; None where its tests fail as it is."""
    sys.stdout.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.close(reading)
            selection = ["-k", asked.tests] if asked.tests else []

            def study(nursery: Nursery) -> None:
                found = _study(module, nursery, asked)
                with os.fdopen(writing, "w") as pipe:
                    json.dump(found, pipe)

            Nursery(f"robot_identification.{module}", [*selection, *tests], study)
            status = 0
        except SystemExit as refusal:
            print(refusal)
        finally:
            sys.stdout.flush()
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def _study(module: str, nursery: Nursery, asked: argparse.Namespace) -> dict[str, object]:
    begin = time.monotonic()
    places = places_of(nursery.path)
    if asked.sample is not None:
        random.Random(f"{asked.seed} {module}").shuffle(places)  # noqa: S311
    chosen = itertools.islice(mutants_of(nursery.path, places), asked.sample)
    reasons = _reasons(module)
    survivors: list[dict[str, object]] = []
    count = explained = left_out = 0
    for mutant in chosen:
        count += 1
        print(f"{module} {count}", end="\r", file=sys.stderr, flush=True)
        if (mutant.old, mutant.new) in reasons:
            explained += 1
            continue
        outcome = nursery.outcome(mutant.source, mutant.lines)
        left_out += outcome == "left out"
        if outcome in {"survived", "not run"}:
            survivors.append(_entry(mutant, outcome))
            print(f"  {nursery.path.name}:{mutant.line} {outcome}")
            print(f"    - {mutant.old}\n    + {mutant.new}", flush=True)
    counted = count - explained - left_out
    killed = counted - len(survivors)
    print(
        f"{module}: {killed} of {counted} killed ({100.0 * killed / max(counted, 1):.0f} %), "
        f"{explained} explained, {left_out} left out, at {len(places)} places; "
        f"{time.monotonic() - begin:.0f} s",
        flush=True,
    )
    return {
        "module": module,
        "killed": killed,
        "mutants": counted,
        "explained": explained,
        "left_out": left_out,
        "survived": survivors,
    }


def _entry(mutant: Mutant, outcome: str) -> dict[str, object]:
    return {"line": mutant.line, "old": mutant.old, "new": mutant.new, "outcome": outcome}


def _reasons(module: str) -> dict[tuple[str, str], str]:
    """Return why mutants of a module cannot be found, by the lines before and after."""
    entries = yaml.safe_load(EXPLAINED.read_text(encoding="utf-8")) or {}
    return {(e["old"], e["new"]): e["why"] for e in entries.get(module, ())}


if __name__ == "__main__":
    sys.exit(main())
