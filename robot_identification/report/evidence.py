"""Data of a report, gathered from the files that hold them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from robot_identification.calibration.prior import Prior
from robot_identification.errors import InputError, ResultMismatchError
from robot_identification.files.parameters import StandardParameters, read_parameters, read_prior
from robot_identification.files.results import LARGEST_FILE, read_result
from robot_identification.files.sources import FoundSource, Reading, find_sources, given_sources
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.belonging import effort_meaning_of, refuse_other_geometry
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.result_settings import settings_of
from robot_identification.identification.statistics.prediction import Prediction, predict
from robot_identification.robot.files.document import read_bytes
from robot_identification.robot.files.loading import known_robots, load_robot
from robot_identification.robot.model import RobotModel
from robot_identification.signals.processing.settings import (
    different_settings,
    resolve_processing,
)


@dataclass(frozen=True)
class Request:
    """Request for a report.

    Attributes:
        result: result file.
        robot: robot file, URDF or name; None: the robot of this package that the result names.
        effort_meaning: what the recorded efforts are, where neither the result nor the description
            says it.
        bags: where the recordings are now; empty: where the result says.
        parameters: calibrated parameters, None without.
        prior: parameter file or URDF to compare with; None: that of the calibrated parameters.
        reading: how bags are read.
        derive_settings: whether recordings are processed as the robot file and the data say, not
            with the settings of the result.
    """

    result: Path
    robot: str | None = None
    effort_meaning: str | None = None
    bags: tuple[str, ...] = ()
    parameters: Path | None = None
    prior: str | None = None
    reading: Reading = field(default_factory=Reading)
    derive_settings: bool = False


@dataclass(frozen=True)
class Evidence:
    """Everything that a report shows, before any of it is drawn.

    Attributes:
        path: the result file.
        digest: its SHA-256.
        result: what it holds.
        robot: the robot that it was made with, or another version of it with the same geometry;
            None where its description is not at hand.
        robot_remark: why not, for people.
        sources: the recordings, and what became of them.
        predictions: title of a recording -> its efforts, measured and predicted.
        parameters: calibrated standard parameters, None without.
        prior: what was known before, None without.
        prior_remark: why there is none although the parameters name one; for people.
        different_settings: settings of the predictions that are not those of the result.
    """

    path: str
    digest: str
    result: IdentificationResult
    robot: RobotModel | None
    robot_remark: str
    sources: tuple[FoundSource, ...]
    predictions: Mapping[str, Prediction]
    parameters: StandardParameters | None
    prior: Prior | None
    prior_remark: str
    different_settings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    @property
    def titles(self) -> tuple[str, ...]:
        """Names of the sources, told apart where merged results have some of one name."""
        return _titles(self.sources)

    @property
    def titled(self) -> tuple[tuple[str, FoundSource], ...]:
        """The sources with their titles."""
        return tuple(zip(self.titles, self.sources, strict=True))

    @property
    def robot_warnings(self) -> tuple[str, ...]:
        """A line where the robot's file has changed since the identification."""
        return () if self.robot is None else self.result.remarks_on(self.robot)


def gather(request: Request) -> Evidence:
    """Read everything that a report needs.

    Raises:
        ResultFileError: the result cannot be read or is damaged.
        ResultMismatchError: the robot has another geometry than that of the result, or cannot be
            found and something was asked for that needs it.
        BagError: a bag that was named is none of the recordings, or cannot be read.
        InputError: parameters or prior are wrong or belong to another robot.
    """
    result = read_result(request.result)
    _, digest = read_bytes(request.result, LARGEST_FILE)
    robot, remark = _robot(request, result)
    reading = replace(request.reading, folder=request.result.parent)
    if robot is None:
        sources = tuple(FoundSource(s, None, "not drawn: no robot") for s in result.sources)
        parameters, prior, prior_remark = None, None, ""
    else:
        sources = (
            given_sources(result, robot, request.bags, reading)
            if request.bags
            else find_sources(result, robot, reading)
        )
        parameters = (
            None if request.parameters is None else read_parameters(request.parameters, robot)
        )
        prior, prior_remark = _prior(request.prior, parameters, robot)
    predictions, different = _predictions(robot, result, sources, request.derive_settings)
    return Evidence(
        path=str(request.result),
        digest=digest,
        result=result,
        robot=robot,
        robot_remark=remark,
        sources=sources,
        predictions=predictions,
        parameters=parameters,
        prior=prior,
        prior_remark=prior_remark,
        different_settings=different,
    )


def _robot(request: Request, result: IdentificationResult) -> tuple[RobotModel | None, str]:
    """Return the robot of a result, or why it is not at hand."""
    if request.robot is None and result.robot not in known_robots():
        return _without_robot(request, result, "no robot of this package has that name")
    robot = load_robot(
        request.robot or result.robot, effort_meaning=_efforts(request, result), closed_loops=True
    )
    if robot.digest == result.robot_digest:
        return result.model_of(robot), ""
    if request.robot is not None:
        model = result.model_of(robot)
        refuse_other_geometry(model, result, base_parameters(model))
        return model, ""
    return _without_robot(request, result, "the robot of that name in this package is another")


def _efforts(request: Request, result: IdentificationResult) -> str | None:
    """Return what the efforts of the recordings are, where the result or an option says so.

    Raises:
        ResultMismatchError: both do, and differ.
    """
    identified = effort_meaning_of(result)
    if identified and request.effort_meaning not in (None, identified):
        raise ResultMismatchError(
            result.robot,
            f"the result was identified from efforts that are {identified}, not "
            f"{request.effort_meaning}; leave --effort-meaning out",
        )
    return identified or request.effort_meaning


def _without_robot(request: Request, result: IdentificationResult, why: str) -> tuple[None, str]:
    for name, asked in (
        ("--bag", request.bags),
        ("--parameters", request.parameters),
        ("--prior", request.prior),
    ):
        if asked:
            raise ResultMismatchError(
                result.robot, f"{why}, and {name} needs the robot: name its file with --robot"
            )
    return None, f"{why}; with --robot FILE there are time plots too"


def _prior(
    asked: str | None, parameters: StandardParameters | None, robot: RobotModel
) -> tuple[Prior | None, str]:
    """Return the prior to compare with: the one asked for, else that of the parameters."""
    if asked is not None:
        return read_prior(asked, robot), ""
    stated: Mapping[str, Any] = parameters.provenance if parameters is not None else {}
    source, digest = stated.get("prior"), stated.get("prior_sha256")
    if not source:
        return None, ""
    try:
        prior = read_prior(str(source), robot)
    except InputError as error:
        return None, f"prior {source} cannot be read: {error}"
    if prior.digest != digest:
        return None, f"prior {source} has changed since the calibration"
    return prior, ""


def _titles(sources: Sequence[FoundSource]) -> tuple[str, ...]:
    """Return the names of sources, each once."""
    found: dict[str, None] = {}
    numbers: Counter[str] = Counter()
    for source in sources:
        name = title = source.source.name
        numbers[name] += 1
        while title in found:
            title = f"{name} ({numbers[name]})"
            numbers[name] += title in found
        found[title] = None
    return tuple(found)


def _predictions(
    robot: RobotModel | None,
    result: IdentificationResult,
    sources: Sequence[FoundSource],
    derive_settings: bool,
) -> tuple[dict[str, Prediction], dict[str, dict[str, object]]]:
    """Return the efforts of the recordings that are there, by title, and how settings differ."""
    titled = zip(_titles(sources), sources, strict=True)
    recordings = [(title, s.recording) for title, s in titled if s.recording is not None]
    if robot is None or not recordings:
        return {}, {}
    base = base_parameters(robot).loaded_by(result.estimate.values)
    identified = settings_of(result)
    processing = resolve_processing(
        robot,
        [recording for _, recording in recordings],
        identified=None if derive_settings else identified,
    )
    predictions = {
        title: predict(base, result.estimate.values, recording, processing)
        for title, recording in recordings
    }
    return predictions, different_settings(identified, processing)
