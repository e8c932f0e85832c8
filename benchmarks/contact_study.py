"""Motions in MuJoCo with contacts: what is certified touches nothing, stopped or not.

MuJoCo moves an arm among random boxes, and looks for contacts of the bodies that the certificate
keeps apart.  Random motions that the certificate passes are prepared, approached, watched and
braked by the code of the node excitation, in the time of the simulation; or (``--nodes``) plans go
through the nodes themselves, by DDS.  Every third motion is stopped at a random moment.  At the end
of each cell the arm is sent into something, so that it is seen that contacts would have been
counted.

Usage: contact_study.py [--arms NAME...] [--motions N] [--cell-lasts N] [--seed N] [--nodes]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))

import numpy as np
from contacts import machine, node
from contacts.arms import ARMS, places
from contacts.tally import Tally


def main() -> int:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arms", nargs="+", default=["ur10", "xarm7"], choices=ARMS)
    parser.add_argument("--motions", type=int, default=30, help="of each arm")
    parser.add_argument("--cell-lasts", type=int, default=10, help="motions in one cell")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--nodes", action="store_true", help="plans, through the nodes")
    options = parser.parse_args()
    found = {}
    for name in options.arms:
        with tempfile.TemporaryDirectory() as folder:
            found[name] = _study(name, options, Path(folder))
        print(json.dumps({name: vars(found[name])}, indent=2), flush=True)
    return int(any(one.contacts or one.faults for one in found.values()))


def _study(name: str, options: argparse.Namespace, folder: Path) -> Tally:
    rng, tally = np.random.default_rng(options.seed), Tally()
    cells = -(-options.motions // options.cell_lasts)
    for place in islice(places(name, folder, rng), cells):
        wanted = min(options.cell_lasts, options.motions - tally.motions)
        if options.nodes:
            node.moved(place, rng, wanted, tally, folder)
        else:
            machine.moved(place, rng, wanted, tally)
        print(name, vars(tally), file=sys.stderr, flush=True)
    return tally


if __name__ == "__main__":
    sys.exit(main())
