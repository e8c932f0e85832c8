"""Fetch published recordings of real robots: public address, licence, digest.

``datasets list`` shows them, ``datasets fetch NAME`` downloads one into a cache folder, tests
whether it is what was published, and makes a bag of it where it is none.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from robot_identification.cli.tables.printing import console, print_json, print_table
from robot_identification.files.datasets.fetching import (
    FetchedDataset,
    cache_folder,
    fetch_dataset,
    find_dataset,
    size_text,
)
from robot_identification.files.datasets.table import DATASETS, Dataset


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    lists = actions.add_parser("list", help="show what there is, its licence, and what is here")
    fetch = actions.add_parser("fetch", help="download one and make a bag of it")
    fetch.add_argument("name", metavar="NAME", choices=DATASETS, help=", ".join(DATASETS))
    for action in (lists, fetch):
        action.add_argument(
            "--to",
            type=Path,
            metavar="FOLDER",
            help="folder with a folder for each data set; default: robot_identification/datasets "
            "in XDG_CACHE_HOME or ~/.cache",
        )
        action.add_argument(
            "--json",
            action="store_true",
            default=argparse.SUPPRESS,
            help="print the result as JSON",
        )


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    if options.action == "list":
        _list(options)
    else:
        _fetch(options)


def _list(options: argparse.Namespace) -> None:
    here = {name: find_dataset(name, options.to) for name in DATASETS}
    folder = (options.to or cache_folder()).absolute()
    if options.json:
        print_json(
            {
                "folder": str(folder),
                "datasets": [_entry(dataset, here[name]) for name, dataset in DATASETS.items()],
            }
        )
        return
    out = console()
    rows = [
        (name, size_text(dataset.size), "yes" if here[name] else "no", dataset.title)
        for name, dataset in DATASETS.items()
    ]
    print_table(out, f"published recordings, in {folder}", ("name", "size", "here", "from"), rows)
    for name, dataset in DATASETS.items():
        out.print(f"{name}: {dataset.source}; {dataset.licence}", markup=False, soft_wrap=True)


def _fetch(options: argparse.Namespace) -> None:
    fetched = fetch_dataset(
        options.name, options.to, tell=lambda line: print(line, file=sys.stderr, flush=True)
    )
    if options.json:
        print_json({**_entry(fetched.dataset, fetched), "downloaded": list(fetched.downloaded)})
        return
    was = "fetched" if fetched.downloaded else "already there"
    out = console()
    for line in (
        f"{was}: {fetched.folder}",
        f"robot-identification identify {fetched.dataset.robot} {fetched.recording}",
    ):
        out.print(line, markup=False, soft_wrap=True)


def _entry(dataset: Dataset, fetched: FetchedDataset | None) -> dict[str, Any]:
    """Return what is told of a data set as plain data."""
    return {
        "name": dataset.name,
        "title": dataset.title,
        "robot": dataset.robot,
        "source": dataset.source,
        "licence": dataset.licence,
        "size": dataset.size,
        "files": [
            {
                "name": file.name,
                "address": file.address,
                "size": file.size,
                "sha256": file.sha256,
                "licence": file.licence or dataset.licence,
            }
            for file in dataset.files
        ],
        "fetched": fetched is not None,
        "recording": None if fetched is None else str(fetched.recording),
    }
