"""Simulate a robot along a trajectory and write a bag, as if it had been recorded."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robot_identification.api.simulation import simulate, true_values
from robot_identification.api.sources.parameters import with_law
from robot_identification.cli.options import common as shared
from robot_identification.cli.options import payload as payload_options
from robot_identification.cli.tables import progress
from robot_identification.cli.tables import results as tables
from robot_identification.errors import SettingError
from robot_identification.excitation.simulated_recording import SimulationSettings
from robot_identification.files.bags.writing import check_bag_target

if TYPE_CHECKING:
    from robot_identification.robot.arrays import Array
    from robot_identification.robot.model import RobotModel

EXPERIMENT = "experiment"
_REFERENCES = ("trajectory", "samples", "both")
_SETTINGS = ("position_noise", "effort_noise", "seed", "duration", "rate_hz")
_RATE, _GAINS = ("controller_rate_hz",), ("drive_gain_factors",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_robot(parser)
    parser.add_argument(
        "--trajectory",
        required=True,
        metavar="TRAJECTORY",
        help="trajectory file, such as excite writes, or the name of a shipped one",
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="BAG", help="folder of the bag"
    )
    parser.add_argument(
        "--parameters",
        metavar="FILE",
        help="true parameters: a file, a URDF, or the name of a shipped one; default: named as "
        "the robot",
    )
    _add_truth(parser)
    parser.add_argument(
        "--noise",
        default="none",
        metavar="none|experiment|position=S,effort=S",
        help="standard deviations of the sensors for all joints, or as the robot file's "
        "experiment says; default: %(default)s",
    )
    shared.add_settings(parser, SimulationSettings, _SETTINGS)
    shared.add_settings(parser, SimulationSettings, _RATE, type=_controller_rate)
    parser.add_argument(
        "--reference",
        choices=_REFERENCES,
        default=_REFERENCES[0],
        help="what the bag tells of the reference: the message on /joint_trajectory, its samples "
        "on /joint_reference, or both; default: %(default)s",
    )
    parser.add_argument(
        "--storage", choices=("mcap", "sqlite3"), default="mcap", help="default: %(default)s"
    )


def _add_truth(parser: argparse.ArgumentParser) -> None:
    """Add how the simulated robot differs from what its file and its parameters say."""
    parser.add_argument(
        "--payload",
        metavar="FILE|M,X,Y,Z[,IXX,IXY,IXZ,IYY,IYZ,IZZ]",
        help="payload: mass, centre of mass, inertia about it (default: none, a point), SI units",
    )
    payload_options.add_frame(parser, "payload-")
    shared.add_settings(parser, SimulationSettings, _GAINS)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    robot = shared.robot_of(options, closed_loops=True)
    check_bag_target(options.output)
    if options.parameters is not None:
        robot, _ = with_law(robot, options.parameters)
    values = _with_payload(options, robot, true_values(robot, options.parameters))
    with progress.bar("simulate", quiet=options.json):
        recording = simulate(
            robot, options.trajectory, parameters=values, settings=_settings(options, robot)
        )
        recording.save(options.output, reference=options.reference, storage=options.storage)
    document = {"robot": robot.name, "bag": str(options.output), **recording.summary()}
    if options.json:
        tables.print_json(document)
    else:
        _print(document)


def _with_payload(options: argparse.Namespace, robot: RobotModel, values: Array) -> Array:
    """Return the true parameters of the robot that carries its payload."""
    if options.payload is None:
        of_payload = ("--payload-frame", "--payload-placement")
        shared.refuse_given(options, of_payload, "needs --payload")
        return values
    file = options.payload if Path(options.payload).exists() else None
    mounting = payload_options.mounting_of(options, robot, "payload-", file)
    return mounting.with_body(values, payload_options.parse_payload(options.payload).body)


def _settings(options: argparse.Namespace, robot: RobotModel) -> SimulationSettings:
    position, effort = _noise(options.noise, robot)
    noise = {"position_noise": position, "effort_noise": effort}
    return SimulationSettings(**{**noise, **shared.stated(options, SimulationSettings)})


def _noise(text: str, robot: RobotModel) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the standard deviations of position and effort that --noise asks for."""
    if text == "none":
        return (0.0,), (0.0,)
    if text == EXPERIMENT:
        if robot.experiment is None:
            raise SettingError(
                "--noise", text, f"the robot file of {robot.name} has no section experiment"
            )
        return robot.experiment.position_noise, robot.experiment.effort_noise
    given: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = part.partition("=")
        if name not in ("position", "effort") or name in given or not number:
            raise SettingError(
                "--noise",
                text,
                "give none, experiment, or position=S,effort=S with numbers S, each once; for "
                "each joint its own: --noise-position S,S and --noise-effort S,S",
            )
        given[name] = _number("--noise", number)
    return (given.get("position", 0.0),), (given.get("effort", 0.0),)


def _controller_rate(text: str) -> float:
    """Return the rate of the controller in Hz.

    Raises:
        SettingError: if it is no number.
    """
    if text == "continuous":
        raise SettingError(
            "--controller-rate",
            text,
            "every controller is simulated with a rate: give it in Hz, such as 4000; the higher "
            "it is, the closer the motion comes to that under a continuous controller",
        )
    return _number("--controller-rate", text)


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise SettingError(name, text, "give a number") from error


def _print(document: dict[str, Any]) -> None:
    out = tables.console()
    rows = [(name, f"{error:.4g}") for name, error in document["tracking_error"].items()]
    title = (
        f"{document['robot']}: {document['samples']} samples, {document['duration']:.4g} s at "
        f"{document['rate_hz']:g} Hz"
    )
    tables.print_table(out, title, ("joint", "largest distance from the reference"), rows)
    out.print(f"written to {document['bag']}", markup=False, soft_wrap=True)
