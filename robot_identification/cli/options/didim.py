"""Options, progress and tables of ``identify --method didim``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from robot_identification.api.didim import REFERENCES, identify_didim
from robot_identification.cli.options import common as shared
from robot_identification.cli.options.recordings import recordings_of
from robot_identification.cli.tables import progress
from robot_identification.cli.tables import results as tables
from robot_identification.errors import SettingError
from robot_identification.files.bags.trajectories import TRAJECTORIES
from robot_identification.identification.didim.run import DidimProgress
from robot_identification.identification.didim.settings import DidimSettings
from robot_identification.identification.didim.starts import IDIM, PRIOR, REGULAR

if TYPE_CHECKING:
    from robot_identification.identification.history import History
    from robot_identification.identification.result import IdentificationResult

_SETTINGS = (
    "weighting", "max_iterations", "tolerance_error", "tolerance_parameters", "transient",
    "bandwidth", "noise_floor",
)  # fmt: skip

_OPTIONS = (
    "--start", "--prior", "--trajectory", "--trajectory-start", "--reference-topic",
    "--trajectory-topic",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of DIDIM."""
    group = parser.add_argument_group(
        "DIDIM", "--method didim: simulates the controller of the robot file along its reference"
    )
    group.add_argument(
        "--start",
        metavar="regular|idim|prior|FILE",
        help="first parameters: unit inertias, least squares on the measured motion, the file of "
        f"--prior, or a result or parameter file (default: {REGULAR})",
    )
    group.add_argument(
        "--prior", metavar="FILE", help="parameter file of --start prior; default: named as ROBOT"
    )
    group.add_argument(
        "--trajectory",
        type=Path,
        metavar="FILE",
        help="planned trajectory that the robot followed in every bag, instead of what bags hold",
    )
    group.add_argument(
        "--trajectory-start",
        type=float,
        metavar="SECONDS",
        help="when it began, after the first sample (default: 0)",
    )
    group.add_argument(
        "--reference-topic",
        help=f"reference: samples (default: {REFERENCES}, if there), or trajectories",
    )
    group.add_argument(
        "--trajectory-topic",
        help=f"trajectories, where there are no samples (default: {TRAJECTORIES})",
    )
    shared.add_settings(group, DidimSettings, _SETTINGS)


def starts_of(options: argparse.Namespace) -> tuple[str | None, ...]:
    """Return the parameters that the options name to start from, as files or by name."""
    return (options.prior if options.start == PRIOR else options.start,)


def refuse_for(options: argparse.Namespace, method: str) -> None:
    """Refuse the options of DIDIM for another method, which would pass them over.

    Raises:
        SettingError: one of the options is given.
    """
    of_settings = (DidimSettings.table()[name].option for name in _SETTINGS)
    shared.refuse_given(
        options, (*_OPTIONS, *of_settings), "works with the method didim", value=method
    )


def run(options: argparse.Namespace) -> IdentificationResult:
    """Identify by DIDIM what the options say."""
    if options.held_out:
        raise SettingError("--held-out", options.held_out, "DIDIM fits all; use validate")
    start = options.start or REGULAR
    if options.prior is not None and start != PRIOR:
        raise SettingError("--prior", options.prior, f"is not read with --start {start}")
    robot = shared.robot_of(options)
    with progress.bar("identify", quiet=options.json) as report:
        recordings = recordings_of(
            options,
            robot,
            options.bags,
            reference_topic=options.reference_topic or REFERENCES,
            positions_needed=start == IDIM,
        )
        return identify_didim(
            robot,
            recordings,
            start=start,
            prior=options.prior,
            trajectory=options.trajectory,
            trajectory_start=options.trajectory_start or 0.0,
            reference_topic=options.reference_topic or "",
            trajectory_topic=options.trajectory_topic or "",
            settings=DidimSettings(**shared.stated(options, DidimSettings, _SETTINGS)),
            processing=shared.processing_of(options),
            progress=lambda state: report(_line(state), state.fraction),
        )


def _line(state: DidimProgress) -> str:
    if state.iteration is None:
        return state.stage
    error = state.iteration.torque_error.total
    return f"iteration {state.iteration.number}, torque error {error:.4f}"


def print_history(history: History, joint_names: tuple[str, ...]) -> None:
    """Print the iterations as a table, and the verdict."""
    out = tables.console()
    columns = ("iteration", "torque error", *joint_names, "step", "parameter change")
    ratios = tuple(f"ratio {name}" for name in joint_names)
    rows = [
        (
            str(i.number),
            f"{i.torque_error.total:.6f}",
            *(f"{error:.6f}" for error in i.torque_error.joints),
            f"{i.step:g}" if i.number else "",
            f"{i.parameter_change:.3g}" if i.number else "",
            *(f"{ratio:.4f}" for ratio in i.frequency_ratio),
        )
        for i in history.iterations
    ]
    title = f"iterations from the start: {history.start}"
    tables.print_table(out, title, (*columns, *ratios), rows)
    floors = ", ".join(
        f"{name} {floor:.3g}" for name, floor in zip(joint_names, history.noise_floor, strict=True)
    )
    out.print(
        f"{history.verdict}; noise floor {floors} ({history.noise_floor_reason}); smallest "
        f"eigenvalue of the first mass matrix {history.smallest_eigenvalue:.4g}; "
        f"{history.simulations} simulations",
        markup=False,
        soft_wrap=True,
    )
    out.print("ratio: natural frequency of the robot's loop over the simulated one")
    out.print()
