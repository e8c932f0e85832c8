"""Write parameters for controllers and simulators: URDF, xacro, MuJoCo, ROS 2 and Pinocchio."""

from __future__ import annotations

import argparse
from pathlib import Path

from robot_identification.api.calibration import export, exported_friction
from robot_identification.cli.options import common as shared
from robot_identification.cli.tables import results as tables
from robot_identification.errors import SettingError
from robot_identification.files.export.outputs import KINDS, PLAIN

_HELP = {
    "urdf": "URDF with masses, inertias, damping and friction",
    "xacro": "xacro file with properties and macros per link and joint",
    "mujoco": "MJCF file with armature, damping and frictionloss per joint",
    "controller": "parameter file of ROS 2 with everything, couplings included",
    "armature": "YAML table of what Pinocchio does not read from a URDF",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_robot(parser)
    parser.add_argument("parameters", type=Path, metavar="PARAMETERS", help="standard parameters")
    add_outputs(parser)


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add the options that name what to write."""
    for kind in KINDS:
        parser.add_argument(f"--{kind}", type=Path, metavar="OUT", help=_HELP[kind])
    parser.add_argument(
        "--original",
        type=Path,
        metavar="URDF",
        help="URDF of the robot whose text and link frames are kept; by default the one that the "
        "robot is described by, if any",
    )


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    targets = {kind: path for kind in KINDS if (path := getattr(options, kind)) is not None}
    if not targets:
        names = ", ".join(f"--{kind}" for kind in KINDS)
        raise SettingError("outputs", "none", f"name at least one: {names}")
    robot = shared.robot_of(options, closed_loops=True)
    remarks = export(robot, options.parameters, **targets, original=options.original)
    written = {kind: str(path) for kind, path in targets.items()}
    fitted = exported_friction(robot, options.parameters) if set(targets) & PLAIN else {}
    if options.json:
        document = {"robot": robot.name, "written": written, "remarks": list(remarks)}
        tables.print_json({**document, **({"friction_fit": fitted} if fitted else {})})
        return
    out = tables.console()
    for path in written.values():
        out.print(f"wrote {path}", markup=False)
    for remark in remarks:
        out.print(f"note: {remark}", markup=False)
