"""Test whether parameters are physically consistent, link by link."""

from __future__ import annotations

import argparse

from robot_identification.api.boxes import described_boxes
from robot_identification.calibration.consistency.checks import (
    Consistency,
    check_consistency,
    check_entries,
)
from robot_identification.calibration.consistency.link_checks import TOLERANCES
from robot_identification.cli.options import common as shared
from robot_identification.cli.tables import results as tables
from robot_identification.errors import InconsistentParametersError
from robot_identification.files.parameters import read_prior, with_law_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_robot(parser)
    parser.add_argument(
        "parameters",
        metavar="PARAMETERS",
        help="parameter file or URDF; of a URDF drives are tested only where it gives them",
    )
    parser.add_argument(
        "--tolerance",
        type=float,
        default=0.0,
        metavar="EPS",
        help="what an inertia at the centre of mass may lack, in kg m^2; default: %(default)g",
    )
    shared.add_boxes(parser)


def run(options: argparse.Namespace) -> None:
    """Run the command; exit code 3 where a link or a drive cannot exist."""
    robot = with_law_of(options.parameters, shared.robot_of(options, closed_loops=True))
    given = read_prior(options.parameters, robot)
    checks = check_consistency(
        robot,
        given.in_full(robot),
        tolerance=options.tolerance,
        boxes=described_boxes(robot, shared.boxes_of(options)),
        given=given.known_in_full(robot),
        apart=True,
    )
    if options.json:
        tables.print_json({"robot": robot.name, **check_entries(checks)})
    else:
        print_checks(checks)
    if not checks.consistent:
        raise InconsistentParametersError(robot.name, "; ".join(checks.problems))


def print_checks(checks: Consistency) -> None:
    """Print the tests of links and drives."""
    out = tables.console()
    tested = [t for t in checks.links[0].cholesky if t in TOLERANCES or t == checks.tolerance]
    rows = [
        (
            link.link,
            f"{link.mass:.5g}",
            "yes" if link.consistent else "NO",
            f"{link.pseudo_inertia_min_eigenvalue:.3g}",
            "yes" if link.triangle_inequality else "no",
            link.failing_minor or "-",
            " ".join("yes" if link.cholesky[t] else "no" for t in tested),
        )
        for link in checks.links
    ]
    head = ("link", "mass", "consistent", "pseudo-inertia min", "triangle", "failing minor")
    tolerances = "Cholesky " + " ".join(f"{t:g}" for t in tested)
    tables.print_table(out, "links (SI units)", (*head, tolerances), rows)
    out.print()
    drives = [
        (d.joints, d.kind, f"{d.min_eigenvalue:.5g}", "yes" if d.consistent else "NO")
        for d in checks.drives
    ]
    tables.print_table(
        out,
        "drives (smallest eigenvalue where coupled)",
        ("joint", "kind", "value", "consistent"),
        drives,
    )
