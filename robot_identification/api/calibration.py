"""Calibrate, and write parameters for controllers and simulators."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from robot_identification.api.boxes import described_boxes
from robot_identification.api.sources.parameters import (
    FullSource,
    ResultSource,
    changed_robot_remarks,
    full_values_of,
    prior_of,
    result_of,
    with_law,
)
from robot_identification.api.sources.robots import RobotSource, robot_of
from robot_identification.calibration import calibrate as core
from robot_identification.calibration.calibrate import CalibrationSettings, Cancelled
from robot_identification.calibration.calibrated import CalibratedParameters
from robot_identification.calibration.consistency.boxes import Boxes
from robot_identification.calibration.prior import Prior
from robot_identification.errors import SettingError
from robot_identification.files.export.friction import plain_friction
from robot_identification.files.export.outputs import KINDS, write_outputs
from robot_identification.files.parameters import parameter_files
from robot_identification.files.parameters_text import parameters_file
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.robot.files.loading import source_files, source_urdf
from robot_identification.robot.model import RobotModel


def calibrate(
    robot: RobotSource,
    result: ResultSource,
    prior: Prior | str | Path | None = None,
    *,
    space: str = CalibrationSettings.space,
    consistent: bool = False,
    essential: EliminationRule | None = None,
    boxes: Boxes | None = None,
    cancelled: Cancelled | None = None,
) -> CalibratedParameters:
    """Find the standard parameters nearest to a prior, as ``calibrate`` does.

    Args:
        robot: the robot, its file, or the name of a shipped one.
        result: an identification of it, or its file.
        prior: what is known: a parameter file or URDF, ``none`` for nothing; by default the URDF
            that describes the robot, if any.
        space: ``base`` or ``essential``.
        consistent: whether every link and drive has to be physically consistent.
        essential: how the essential parameters are found; by default as in the result.
        boxes: link -> corners of the box that must hold its centre of mass, in m, in the link's
            frame: that of the URDF where one describes the robot.
        cancelled: asked now and then whether to stop.

    Raises:
        SettingError: a setting is not possible.
        ResultMismatchError: result or prior belong to a robot with other parameters or geometry.
        CalibrationError: no consistent parameters were found.
        CancelledError: ``cancelled`` says so.
    """
    described = robot_of(robot, closed_loops=True)
    result = result_of(result, described)
    robot = result.model_of(described)
    known = prior_of(robot, _urdf(robot) if prior is None else prior)
    return core.calibrate(
        robot,
        result,
        known,
        space=space,
        consistent=consistent,
        essential=essential,
        boxes=described_boxes(robot, boxes or {}),
        cancelled=cancelled,
    )


def export(
    robot: RobotSource,
    parameters: FullSource,
    *,
    parameter_file: str | Path | None = None,
    urdf: str | Path | None = None,
    xacro: str | Path | None = None,
    mujoco: str | Path | None = None,
    controller: str | Path | None = None,
    armature: str | Path | None = None,
    original: str | Path | None = None,
    keep: Iterable[str | Path] = (),
) -> tuple[str, ...]:
    """Write standard parameters for controllers and simulators, as ``export`` does.

    All files appear, or none.

    Args:
        robot: the robot, its file, or the name of a shipped one.
        parameters: calibrated parameters, (full,) values, or a file.
        parameter_file: file of the parameters with all that is known of them; calibrated ones only.
        urdf: URDF with masses, inertias, damping and friction.
        xacro: xacro file with properties and macros per link and joint.
        mujoco: MJCF file with armature, damping and frictionloss per joint.
        controller: parameter file of ROS 2.
        armature: YAML table of what Pinocchio does not read from a URDF.
        original: URDF of the robot whose text and link frames are kept; by default the one that
            the robot is described by, if any.
        keep: files that must not be written over, beside those that are read.

    Returns:
        Remarks about the URDF and the robot file, for people.

    Raises:
        SettingError: there is nothing to write.
        OutputError: a target cannot be written, stands twice, or is a file that was read.
        InconsistentParametersError: a link or a friction is not physically consistent.
    """
    robot, _ = with_law(robot_of(robot, closed_loops=True), parameters)
    places = dict(zip(KINDS, (urdf, xacro, mujoco, controller, armature), strict=True))
    targets = {kind: path for kind, path in places.items() if path is not None}
    if not targets and parameter_file is None:
        raise SettingError("outputs", "none", f"name at least one: {', '.join(KINDS)}")
    beside: list[tuple[str | Path, bytes]] = []
    if parameter_file is not None:
        if not isinstance(parameters, CalibratedParameters):
            raise SettingError("parameter_file", parameter_file, "needs calibrated parameters")
        content = parameters_file(parameter_file, robot, parameters)
        beside.append((parameter_file, content))
    read = parameter_files(parameters) if isinstance(parameters, str | Path) else ()
    told = write_outputs(
        targets,
        robot,
        full_values_of(robot, parameters),
        original=original or _urdf(robot),
        keep=[*keep, *read, *(() if robot.file is None else source_files(robot.file))],
        beside=beside,
    )
    return (*changed_robot_remarks(robot, parameters), *told)


def exported_friction(robot: RobotSource, parameters: FullSource) -> dict[str, dict[str, object]]:
    """Return by joint what stands for friction laws in formats that have none, and its error.

    Args:
        robot: the robot, its file, or the name of a shipped one.
        parameters: calibrated parameters, (full,) values, or a file.
    """
    robot, _ = with_law(robot_of(robot, closed_loops=True), parameters)
    found = plain_friction(robot, full_values_of(robot, parameters))
    return {plain.joint: plain.entries() for plain in found if plain is not None}


def _urdf(robot: RobotModel) -> Path | None:
    """Return the URDF that a robot is described by."""
    return None if robot.file is None else source_urdf(robot.file)
