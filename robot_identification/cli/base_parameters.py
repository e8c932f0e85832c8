"""Show which parameters are identifiable, and how the others are grouped."""

from __future__ import annotations

import argparse
from pathlib import Path

from robot_identification.cli.options import common as shared
from robot_identification.cli.options.outputs import check_outputs
from robot_identification.cli.tables import results as tables
from robot_identification.files.atomic import write_text_atomically
from robot_identification.files.parameters import with_law_of
from robot_identification.identification.base.observation import Model
from robot_identification.identification.base.parameters import RANK_METHODS, base_parameters
from robot_identification.identification.base.report import BaseReport, base_report
from robot_identification.robot.files.values import load_values


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_robot(parser)
    parser.add_argument(
        "--model",
        choices=[model.value for model in Model],
        default=Model.DYNAMIC.value,
        help="model whose columns are looked at; default: %(default)s",
    )
    parser.add_argument("--method", choices=RANK_METHODS, default="qr", help="default: %(default)s")
    parser.add_argument(
        "--values",
        metavar="PARAMETERS",
        help="file of standard parameters, from which the base parameters are computed; "
        "their friction law is that of the robot then",
    )
    parser.add_argument("--latex", type=Path, metavar="FILE", help="write the relations as LaTeX")


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    robot = shared.robot_of(options, closed_loops=True)
    check_outputs([options.latex], options.robot, parameters=[options.values])
    if options.values is not None:
        robot = with_law_of(options.values, robot)
    base = base_parameters(robot, options.model, options.method)
    values = None
    if options.values is not None:
        standard = load_values(options.values, robot)[base.columns]
        values = dict(zip(base.names, base.values(standard).tolist(), strict=True))
    report = base_report(base)
    if options.latex is not None:
        write_text_atomically(options.latex, report.latex)
    if options.json:
        tables.print_json({**report.to_json(), **({} if values is None else {"values": values})})
    else:
        _print(report, values)


def _print(report: BaseReport, values: dict[str, float] | None) -> None:
    base = report.base
    names = base.standard_names
    out = tables.console()
    columns: tuple[str, ...] = ("parameter", "relation", "with the geometry's symbols")
    rows: list[tuple[str, ...]] = [
        (name, _right_side(relation, name), "" if symbols == relation else _right_side(symbols))
        for name, relation, symbols in report.rows()
    ]
    if values is not None:
        columns = (columns[0], "value", *columns[1:])
        rows = [(row[0], f"{values[row[0]]:.7g}", *row[1:]) for row in rows]
    title = f"{base.rank} base parameters of {base.robot.name} ({base.model} model, {base.method})"
    tables.print_table(out, title, columns, rows)
    unaffecting = ", ".join(names[i] for i in base.unaffecting) or "none"
    regrouped = ", ".join(names[i] for i in base.regrouped) or "none"
    out.print()
    for label, text in (
        (f"{len(base.unaffecting)} without effect", unaffecting),
        (f"{len(base.regrouped)} regrouped", regrouped),
        ("gap of the rank decision", f"{base.gap:.3g}"),
        ("S = max/min of the entries", _spread(report)),
    ):
        out.print(f"{label}: {text}", soft_wrap=True, markup=False)
    if len(base.appended):
        appended = ", ".join(names[i] for i in base.appended)
        out.print(f"not in this model, appended as independent: {appended}", soft_wrap=True)
    tables.print_glossary(out)
    tables.print_warnings(out, base.warnings)


def _right_side(relation: str, name: str = "") -> str:
    """Return what stands behind the equals sign, nothing where it is the name itself."""
    right = relation.partition(" = ")[2]
    return "" if right == name else right


def _spread(report: BaseReport) -> str:
    return ", ".join(f"{model} {value:.3g}" for model, value in report.spread.items())
