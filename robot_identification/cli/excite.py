"""Plan a certified trajectory that makes the parameters identifiable."""

from __future__ import annotations

import argparse
from pathlib import Path

from robot_identification.api.motion import plan, plot_motion
from robot_identification.cli.options import common as shared
from robot_identification.cli.options import family, obstacles, one_joint
from robot_identification.cli.options.outputs import check_outputs
from robot_identification.cli.tables import progress
from robot_identification.cli.tables import results as tables
from robot_identification.cli.tables.certificates import print_certificate
from robot_identification.cli.view import require_view, write_view
from robot_identification.errors import SettingError
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.objective.criterion import Measure
from robot_identification.excitation.one_joint.plan import METHOD, OneJointPlan
from robot_identification.excitation.plan import Plan
from robot_identification.excitation.plan_settings import PlanSettings
from robot_identification.excitation.search.optimizers import OPTIMIZERS
from robot_identification.excitation.search.points import PointSettings
from robot_identification.files.parameters import with_law_of
from robot_identification.files.plans.plans import read_plan, read_singular_values
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel

_ALL = "all"
_OF_PLAN, _OF_POINTS = ("rows", "duration"), ("starts", "seed")
_POINTS = "points"
_OF_SEARCH = {
    "--method": _POINTS,
    **dict.fromkeys(("--start", "--seed", *one_joint.OF_POINTS, *one_joint.OPTIONS)),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_robot(parser)
    _add_files(parser)
    _add_search(parser)
    parser.add_argument(
        "--start",
        metavar="Q[,Q...]",
        help="posture at both ends, in rad or m, in the robot's order; default: zero, or the "
        "middle of the range of a joint that cannot stand there, or a free posture near it",
    )
    parser.add_argument(
        "--prior",
        metavar="PARAMETERS",
        help="standard parameters (file or URDF), to check the efforts before anything moves; "
        "the friction law of calibrated ones is that of the robot then",
    )
    family.add_arguments(parser)
    obstacles.add_arguments(parser)
    one_joint.add_arguments(parser)


def _add_files(parser: argparse.ArgumentParser) -> None:
    """Add the files that are written and read."""
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("-o", "--output", type=Path, metavar="TRAJECTORY", help="trajectory file")
    target.add_argument(
        "--verify",
        type=Path,
        metavar="TRAJECTORY",
        help="plan nothing; certify a planned trajectory again",
    )
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="PNG",
        help="draw the motion inside its limits, and the singular values (needs the extra report)",
    )
    parser.add_argument(
        "--view",
        type=Path,
        metavar="PAGE.html",
        help="show the motion in its cell, as a page that a browser opens (needs the extra report)",
    )
    parser.add_argument(
        "--limits",
        type=Path,
        metavar="JOINT_LIMITS",
        help="joint_limits.yaml of MoveIt that completes the robot's limits",
    )


def _add_search(parser: argparse.ArgumentParser) -> None:
    """Add what is looked for, and how."""
    parser.add_argument("--method", choices=(_POINTS, METHOD), default=_POINTS, help="%(default)s")
    shared.add_settings(
        parser,
        PlanSettings,
        ("model",),
        help="regressor to optimise; default: energy, for a robot with friction dynamic",
    )
    shared.add_settings(parser, PlanSettings, _OF_PLAN)
    parser.add_argument(
        "--criterion",
        choices=[measure.value for measure in Measure],
        help=f"measure of the condition number; default: {Measure.SVD.value}",
    )
    parser.add_argument(
        "--optimizer",
        choices=(*OPTIMIZERS, _ALL),
        help=f"default: {PointSettings.optimizers[0]}",
    )
    shared.add_settings(parser, PointSettings, _OF_POINTS)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    if options.verify is not None:
        shared.refuse_given(options, _OF_SEARCH, "not for --verify, which plans nothing")
    robot = shared.with_limits(shared.robot_of(options), options.limits)
    check_outputs(
        [options.output, options.plot, options.view],
        options.robot,
        [options.limits, options.cell, options.verify],
        [options.prior],
    )
    if options.prior is not None:
        robot = with_law_of(options.prior, robot)
    around = obstacles.surroundings_of(options, robot, options.prior)
    if options.view is not None:
        require_view(around)
    if options.verify is not None:
        _verify(options, robot, around)
        return
    start = _posture(options.start)
    result: Plan | OneJointPlan
    if options.method == METHOD:
        result = one_joint.planned(options, robot, start, around)
    else:
        result = _planned(options, robot, start, around)
    result.save(options.output)
    if options.plot is not None:
        result.plot(options.plot)
    if options.view is not None:
        write_view(options.view, result.trajectory, around, result.certificate)
    if options.json:
        tables.print_json(result.summary())
    elif isinstance(result, Plan):
        _print(result, options.output)
    else:
        one_joint.show(result, options.output)


def _verify(options: argparse.Namespace, robot: RobotModel, surroundings: Surroundings) -> None:
    """Certify a trajectory file again, and draw it."""
    trajectory, certificate = read_plan(options.verify, robot, surroundings=surroundings)
    if options.plot is not None:
        values = read_singular_values(options.verify)
        title = f"{robot.name}: {options.verify.name}, {trajectory.duration:.1f} s"
        plot_motion(robot, trajectory, options.plot, title=title, singular_values=values)
    if options.view is not None:
        write_view(options.view, trajectory, surroundings, certificate)
    if options.json:
        tables.print_json(
            {
                "points": len(trajectory.times),
                "duration": trajectory.duration,
                **certificate.summary(),
            }
        )
    else:
        print_certificate(tables.console(), certificate)


def _planned(
    options: argparse.Namespace, robot: RobotModel, start: Array | None, around: Surroundings
) -> Plan:
    """Plan what the options say."""
    one_joint.refuse_stated(options)
    with progress.bar("excite", quiet=options.json) as report:
        return plan(
            robot,
            surroundings=around,
            start=start,
            model=options.model,
            criterion=options.criterion or Measure.SVD.value,
            optimizers=_optimizers(options.optimizer),
            fourier=family.fourier_of(options),
            progress=report,
            **shared.stated(options, PlanSettings, _OF_PLAN),
            **shared.stated(options, PointSettings, _OF_POINTS),
        )


def _optimizers(name: str | None) -> tuple[str, ...]:
    """Return what an option calls so, the usual ones where it is not given."""
    if name is None:
        return PointSettings.optimizers
    return tuple(OPTIMIZERS) if name == _ALL else (name,)


def _posture(text: str | None) -> Array | None:
    if text is None:
        return None
    import numpy as np

    try:
        return np.array([float(part) for part in text.split(",")])
    except ValueError as error:
        raise SettingError("--start", text, "give one number per joint, with commas") from error


def _print(result: Plan, output: Path) -> None:
    out = tables.console()
    before, after = result.before, result.after
    rows = [
        ("condition number", before.condition_number, after.condition_number),
        ("equilibrium", before.equilibrium, after.equilibrium),
        (
            "smallest singular value",
            float(before.singular_values[-1]),
            float(after.singular_values[-1]),
        ),
    ]
    title = f"{result.robot}: {result.settings.model} model, {result.rows} rows"
    if result.periodic is not None:
        title = f"{title} of one period"
    cells = [(name, f"{first:.6g}", f"{last:.6g}") for name, first, last in rows]
    tables.print_table(out, title, ("", "random start", "plan"), cells)
    out.print()
    print_certificate(out, result.certificate)
    missing = [(one.name, one.reason) for one in result.unidentified]
    if missing:
        tables.print_table(out, "not identified", ("parameter", "why"), missing)
    if result.periodic is not None:
        repeats = result.periodic
        periods = "1 period" if repeats.periods == 1 else f"{repeats.periods} periods"
        out.print(
            f"{periods} of {1.0 / repeats.base_frequency:.4g} s from "
            f"{repeats.begins:.4g} s on, up to {repeats.harmonics * repeats.base_frequency:.4g} Hz"
        )
    out.print(
        f"{len(result.trajectory.times)} points in {result.trajectory.duration:.4g} s, condition "
        f"number of the dynamic model along it {result.trajectory_condition_number:.4g}; "
        f"{result.optimizer} won in {result.seconds:.1f} s; at rest within "
        f"{result.certificate.braking_time:.2g} s of braking",
        soft_wrap=True,
    )
    tables.print_glossary(out)
    out.print(f"written to {output}", markup=False, soft_wrap=True)
