"""The figures of a report: each for wide pages, for phones, and as a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

from robot_identification.files.atomic import write_bytes_atomically
from robot_identification.identification.estimators.choice import method_of
from robot_identification.identification.statistics.reliability import excitation
from robot_identification.identification.statistics.residuals import joint_friction, joint_residuals
from robot_identification.report.evidence import Evidence
from robot_identification.report.figures import style
from robot_identification.report.figures.efforts import friction_figure, torque_figure
from robot_identification.report.figures.excitation import singular_values_figure
from robot_identification.report.figures.residuals import (
    convergence_figure,
    histogram_figure,
    spectrum_figure,
)
from robot_identification.robot.model import RobotModel

_MOST_JOINTS = 40  # of which time plots are drawn


@dataclass(frozen=True)
class Picture:
    """A figure that has not been drawn yet.

    Attributes:
        name: name of its file, without folder and ending.
        alt: what it shows, for those who do not see it.
        draw: draws it with a ``width`` in inches.
        full: whether it takes the width of the page; else two stand side by side.
    """

    name: str
    alt: str
    draw: Callable[..., Figure]
    full: bool

    @property
    def width(self) -> float:
        """Its width on a page of paper or a large screen, in inches."""
        return style.WIDE if self.full else style.HALF


@dataclass(frozen=True)
class Image:
    """A figure as parts of a page.

    Attributes:
        alt: what it shows.
        wide: address of the image for paper and large screens.
        narrow: for phones; the same where one serves both.
        full: whether it takes the width of the page.
    """

    alt: str
    wide: str
    narrow: str
    full: bool


@dataclass(frozen=True)
class Pictures:
    """All figures of a report, by section.

    Attributes:
        torque: name of a recording -> a figure per joint.
        friction: a figure per joint that has friction.
        spectrum: a figure per joint with enough rows.
        histogram: likewise.
        excitation: the singular values.
        convergence: the iterations; None for methods without any.
    """

    torque: dict[str, tuple[Picture, ...]]
    friction: tuple[Picture, ...]
    spectrum: tuple[Picture, ...]
    histogram: tuple[Picture, ...]
    excitation: Picture
    convergence: Picture | None

    def __iter__(self) -> Iterator[Picture]:
        """Go through all of them."""
        for own in self.torque.values():
            yield from own
        yield from (*self.friction, *self.spectrum, *self.histogram, self.excitation)
        if self.convergence is not None:
            yield self.convergence


def pictures(evidence: Evidence) -> Pictures:
    """Return the figures that there is evidence for."""
    spectrum, histogram = _residuals(evidence)
    return Pictures(
        torque=_torques(evidence),
        friction=_frictions(evidence),
        spectrum=spectrum,
        histogram=histogram,
        excitation=_excitation(evidence),
        convergence=_convergence(evidence),
    )


def image(picture: Picture) -> Image:
    """Draw a figure for a page."""
    with style.drawing():
        wide = style.svg_data(picture.draw(width=picture.width))
        narrow = style.svg_data(picture.draw(width=style.NARROW)) if picture.full else wide
    return Image(picture.alt, wide, narrow, picture.full)


def write_figures(folder: Path, drawn: Pictures) -> tuple[Path, ...]:
    """Write every figure as a PNG file into a folder that exists.

    Raises:
        OutputError: a file cannot be written.
    """
    written = []
    for picture in drawn:
        path = folder / f"{picture.name}.png"
        with style.drawing():
            write_bytes_atomically(path, style.png_file(picture.draw(width=picture.width)))
        written.append(path)
    return tuple(written)


def _torques(evidence: Evidence) -> dict[str, tuple[Picture, ...]]:
    found = {}
    for number, (source, prediction) in enumerate(evidence.predictions.items(), 1):
        found[source] = tuple(
            Picture(
                name=f"torque_{number}_joint_{joint + 1}",
                alt=f"measured and predicted effort of {name} over time, with the residual",
                draw=partial(torque_figure, prediction, joint),
                full=True,
            )
            for joint, name in enumerate(prediction.joint_names[:_MOST_JOINTS])
        )
    return found


def _frictions(evidence: Evidence) -> tuple[Picture, ...]:
    shown = tuple(evidence.predictions.values())
    return tuple(
        Picture(
            name=f"friction_joint_{joint + 1}",
            alt=f"friction of {friction.joint} over velocity",
            draw=partial(friction_figure, friction, joint, shown, _units(evidence.robot, joint)),
            full=False,
        )
        for joint, friction in enumerate(joint_friction(evidence.result, evidence.robot))
        if friction is not None
    )


def _units(robot: RobotModel | None, joint: int) -> tuple[str, str]:
    return ("", "") if robot is None else robot.active_joints[joint].rate_units


def _residuals(evidence: Evidence) -> tuple[tuple[Picture, ...], tuple[Picture, ...]]:
    if not evidence.predictions:
        return (), ()
    residuals = joint_residuals(tuple(evidence.predictions.values()))
    spectrum = tuple(
        Picture(
            name=f"spectrum_joint_{joint + 1}",
            alt=f"amplitude density of residual and effort of {residual.joint}",
            draw=partial(spectrum_figure, residual),
            full=False,
        )
        for joint, residual in enumerate(residuals)
        if len(residual.frequency)
    )
    histogram = tuple(
        Picture(
            name=f"histogram_joint_{joint + 1}",
            alt=f"distribution of the residual of {residual.joint}",
            draw=partial(histogram_figure, residual),
            full=False,
        )
        for joint, residual in enumerate(residuals)
        if len(residual.values)
    )
    return spectrum, histogram


def _excitation(evidence: Evidence) -> Picture:
    motion = excitation(evidence.result)
    solved_at_once = not method_of(evidence.result.method).own_regressor
    scaled = motion.singular_values if motion is not None and solved_at_once else None
    values = evidence.result.estimate.singular_values
    return Picture(
        name="singular_values",
        alt="singular values of the regressor",
        draw=partial(singular_values_figure, values, scaled),
        full=True,
    )


def _convergence(evidence: Evidence) -> Picture | None:
    history, names = evidence.result.history, evidence.result.joint_names
    if history is None:
        return None
    return Picture(
        name="convergence",
        alt="torque error and change of the parameters over the iterations",
        draw=partial(convergence_figure, history, names),
        full=True,
    )
