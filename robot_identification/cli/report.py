"""Show a result on one page: HTML that needs nothing else, and PNG figures."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from robot_identification.cli.options import bags as bag_options
from robot_identification.cli.options import common as shared
from robot_identification.cli.tables import results as tables
from robot_identification.errors import MissingPackageError, OutputError
from robot_identification.files.atomic import check_target, write_text_atomically
from robot_identification.identification.statistics.reliability import (
    ParameterReliability,
    parameter_reliability,
)
from robot_identification.robot.model import EffortMeaning

if TYPE_CHECKING:
    from robot_identification.report.evidence import Evidence

_MOST_LINES = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("result", type=Path, metavar="RESULT", help="result file of identify")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="REPORT.html", required=True, help="the page"
    )
    parser.add_argument(
        "--figures", type=Path, metavar="FOLDER", help="write the figures there too, as PNG"
    )
    parser.add_argument(
        "--robot",
        metavar="ROBOT",
        help="file that the result was made with; default: the robot of this package that it names",
    )
    parser.add_argument(
        "--effort-meaning",
        choices=[meaning.value for meaning in EffortMeaning],
        help="what the recorded effort is; default: as the result says",
    )
    parser.add_argument(
        "--parameters",
        type=Path,
        metavar="PARAMETERS",
        help="file of calibrate: shows whether links are consistent, parameters beside the prior",
    )
    parser.add_argument(
        "--prior",
        metavar="PRIOR",
        help="parameter file or URDF to compare with; default: that of --parameters",
    )
    parser.add_argument(
        "--bag",
        nargs="+",
        default=[],
        metavar="BAG",
        help="where the recordings are now, or which of them to draw; default: as the result says",
    )
    bag_options.add_bag_reading(parser)
    shared.add_derived_settings(parser)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    _require_drawing()
    from robot_identification.report.figures.pictures import pictures, write_figures
    from robot_identification.report.page import page

    check_target(options.output)
    _check_inputs(options)
    if options.figures is not None and not options.figures.is_dir():
        raise OutputError(options.figures, "no such folder; make it first")
    evidence = _gathered(options)
    drawn = pictures(evidence)
    text = page(evidence, drawn)
    write_text_atomically(options.output, text)
    figures = () if options.figures is None else write_figures(options.figures, drawn)
    judged = parameter_reliability(evidence.result)
    if not options.json:
        _print(evidence, judged, options.output)
        return
    tables.print_json(
        {
            "robot": evidence.result.robot,
            "verdicts": {p.name: p.verdict.value for p in judged},
            "reasons": {p.name: p.reason for p in judged if p.reason},
            "recordings": {title: found.state for title, found in evidence.titled},
            "robot_remark": evidence.robot_remark,
            "warnings": list(evidence.robot_warnings),
            "different_settings": evidence.different_settings,
            "written": str(options.output),
            "bytes": len(text.encode("utf-8")),
            "figures": [str(path) for path in figures],
        }
    )


def _require_drawing() -> None:
    """Refuse to go on without the packages of the extra ``report``."""
    try:
        import robot_identification.report.figures.pictures
        import robot_identification.report.page  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name not in ("jinja2", "markupsafe", "matplotlib"):
            raise
        raise MissingPackageError(error.name, "report", "report") from error


def _gathered(options: argparse.Namespace) -> Evidence:
    from robot_identification.files.sources import Reading
    from robot_identification.files.tables.columns import Columns
    from robot_identification.report.evidence import Request, gather

    return gather(
        Request(
            result=options.result,
            robot=options.robot,
            effort_meaning=options.effort_meaning,
            bags=tuple(options.bag),
            parameters=options.parameters,
            prior=options.prior,
            reading=Reading(
                topic=options.topic,
                begin=options.begin,
                end=options.end,
                efforts=bag_options.efforts_of(options),
                delay_estimated=bag_options.estimates_delay(options),
                columns=Columns.of(bag_options.columns_of(options) or {}),
            ),
            derive_settings=options.derive_settings,
        )
    )


def _print(evidence: Evidence, judged: Sequence[ParameterReliability], written: Path) -> None:
    out = tables.console()
    counts = Counter(p.verdict.value for p in judged)
    rows = [(verdict, str(count)) for verdict, count in counts.items()]
    title = f"{len(judged)} base parameters of {evidence.result.robot}"
    tables.print_table(out, title, ("verdict", "parameters"), rows)
    for title, found in evidence.titled[:_MOST_LINES]:
        out.print(f"{title}: {found.state}", markup=False, soft_wrap=True)
    if len(evidence.sources) > _MOST_LINES:
        out.print(f"and {len(evidence.sources) - _MOST_LINES} more recordings")
    if evidence.robot_remark:
        out.print(f"no time plots: {evidence.robot_remark}", markup=False, soft_wrap=True)
    tables.print_different_settings(out, evidence.different_settings)
    tables.print_warnings(out, evidence.robot_warnings)
    out.print(f"written to {written}", markup=False, soft_wrap=True)


def _check_inputs(options: argparse.Namespace) -> None:
    """Refuse to write the page over what it is made from."""
    inputs = [options.result, options.parameters, options.robot, options.prior, *options.bag]
    for path in inputs:
        if path is not None and Path(path).resolve() == options.output.resolve():
            raise OutputError(options.output, "is an input too; name another target")
