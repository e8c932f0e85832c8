"""Options that say where a payload is mounted and what is known of it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from robot_identification.cli.options import bags as bag_options
from robot_identification.cli.options.recordings import recordings_of
from robot_identification.errors import SettingError
from robot_identification.files.payloads import known_payload, payload_mounting, read_payload
from robot_identification.identification.payload.known import KnownPayload
from robot_identification.robot.model import RobotModel
from robot_identification.robot.mounting import Mounting
from robot_identification.signals.recording import Recording

_INERTIA = ("IXX", "IXY", "IXZ", "IYY", "IYZ", "IZZ")


def add_runs(parser: argparse.ArgumentParser, *, bare_needed: bool) -> None:
    """Add the bags without and with the payload, and how to read them."""
    parser.add_argument(
        "--bare",
        type=Path,
        nargs="+",
        default=[],
        required=bare_needed,
        metavar="BAG",
        help="bags recorded without the payload",
    )
    parser.add_argument(
        "--loaded",
        type=Path,
        nargs="+",
        required=True,
        metavar="BAG",
        help="bags recorded with it; the motions need not be the same",
    )
    bag_options.add_bag_reading(parser)


def runs_of(
    options: argparse.Namespace, robot: RobotModel
) -> tuple[Sequence[Recording], Sequence[Recording]]:
    """Return the recordings without and with the payload."""
    bare, loaded = (
        recordings_of(options, robot, paths) for paths in (options.bare, options.loaded)
    )
    return bare, loaded


def add_frame(parser: argparse._ActionsContainer, prefix: str = "") -> None:
    """Add the frame that the payload is described in."""
    parser.add_argument(
        f"--{prefix}frame",
        metavar="NAME",
        help="link or joint of the robot, or link of its URDF (also behind fixed joints), in whose "
        "frame the payload is described; default: that of a file that payload wrote, else the last "
        "link",
    )
    parser.add_argument(
        f"--{prefix}placement",
        type=float,
        nargs=6,
        metavar=("X", "Y", "Z", "ROLL", "PITCH", "YAW"),
        help="frame of the payload in that frame, in m and rad",
    )


def mounting_of(
    options: argparse.Namespace,
    robot: RobotModel,
    prefix: str = "",
    file: str | Path | None = None,
) -> Mounting:
    """Return where the payload is mounted.

    Args:
        options: of the command line.
        robot: the robot.
        prefix: of the names of the options.
        file: of a known payload, whose frame counts where the options name none; None: none.

    Raises:
        SettingError: there is no such frame, or nobody says which it is.
        RobotDescriptionError, ResultFileError: the file is wrong.
    """
    prefix = prefix.replace("-", "_")
    frame, place = (getattr(options, f"{prefix}{name}") for name in ("frame", "placement"))
    return payload_mounting(file, options.robot, robot, frame, place)


def add_known(parser: argparse.ArgumentParser) -> None:
    """Add what is known of the payload."""
    parser.add_argument(
        "--payload",
        type=Path,
        metavar="FILE",
        help="payload file, written by hand or by payload; in place of the options that follow",
    )
    parser.add_argument("--mass", type=float, metavar="KG", help="mass of the payload")
    parser.add_argument(
        "--centre",
        type=float,
        nargs=3,
        metavar=("X", "Y", "Z"),
        help="its centre of mass in the frame, in m, where known",
    )
    parser.add_argument(
        "--inertia",
        type=float,
        nargs=6,
        metavar=_INERTIA,
        help="its inertia about the centre of mass, along the axes of the frame, where known",
    )


def known_of(options: argparse.Namespace) -> KnownPayload:
    """Return what is known of the payload.

    Raises:
        SettingError: nothing is, or it is stated twice, or no payload can be so.
    """
    stated = (options.mass, options.centre, options.inertia)
    if options.payload is not None:
        if any(value is not None for value in stated):
            raise SettingError("--payload", options.payload, "says it all; leave out --mass etc.")
        return read_payload(options.payload)
    if options.mass is None:
        raise SettingError("--mass", None, "weigh the payload: a known mass is needed at least")
    return known_payload(*stated)


def parse_payload(text: str) -> KnownPayload:
    """Return the payload that one option states.

    Args:
        text: a file, or M,X,Y,Z or M,X,Y,Z,IXX,IXY,IXZ,IYY,IYZ,IZZ.

    Raises:
        SettingError: it is neither.
    """
    if Path(text).exists():
        return read_payload(text)
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (4, 10):
        raise SettingError(
            "--payload", text, f"give a file, or M,X,Y,Z, or M,X,Y,Z,{','.join(_INERTIA)}"
        )
    return known_payload(numbers[0], numbers[1:4], numbers[4:] or None)
