"""Compile the numerical code ahead: nodes and commands then start quickly from the first time."""

from __future__ import annotations

import argparse
import contextlib
import io
import multiprocessing
import os
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from robot_identification.cli.tables import progress
from robot_identification.cli.tables import results as tables
from robot_identification.parallel.orphans import end_with

_ROBOT = "tx40"
_VALUES = "tx40_simulated"
_SMALL = ("scara", "--rows", "14", "--starts", "1", "--duration", "8")
_QUICK = ("--rows", "8", "--starts", "1", "--duration", "4")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command; there are none."""


def run(options: argparse.Namespace) -> None:
    """Run the command: plan, simulate and identify once in every way; forget the results.

    Compiled code does not depend on the robot.
    """
    begin = time.monotonic()
    with (
        progress.bar("compiling", quiet=options.json) as report,
        ProcessPoolExecutor(
            len(_PARTS), multiprocessing.get_context("spawn"), end_with, (os.getpid(),)
        ) as processes,
    ):
        parts = [processes.submit(part) for part in _PARTS]
        for done, part in enumerate(parts, 1):
            part.result()
            report("compiling", done / len(parts))
    seconds = time.monotonic() - begin
    if options.json:
        tables.print_json({"seconds": seconds})
    else:
        print(f"compiled code is there, after {seconds:.0f} s")


def _estimate() -> None:
    """Identify from what is in memory, in every way, and observe external efforts."""
    from robot_identification.dynamics.external_efforts.momentum_observer import MomentumObserver
    from robot_identification.identification.base.parameters import base_parameters
    from robot_identification.robot.files.loading import load_robot
    from robot_identification.ros.identification.warming import warm_up

    robot = load_robot(_ROBOT)
    warm_up(base_parameters(robot))
    MomentumObserver(robot, [0.0] * len(robot.all_parameter_names))


def _move() -> None:
    """Plan a motion, simulate it, and identify and plan by the energy model."""
    with tempfile.TemporaryDirectory(prefix="robot_identification_") as folder:
        plan, bag = str(Path(folder) / "plan.yaml"), str(Path(folder) / "bag")
        _command("excite", _ROBOT, *_QUICK, "--prior", _VALUES, "-o", plan)
        _command("simulate", _ROBOT, "--trajectory", plan, "--parameters", _VALUES, "-o", bag)
        _command("identify", _ROBOT, bag, "--method", "energy")
        _command("excite", *_SMALL, "--model", "energy", "-o", str(Path(folder) / "energy.yaml"))


_PARTS = (_estimate, _move)


def _command(*arguments: str) -> None:
    from robot_identification.cli.main import parser

    options = parser().parse_args(arguments)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        options.run(options)
