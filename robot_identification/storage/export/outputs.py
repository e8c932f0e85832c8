"""The files that can be written from a robot and its parameters, by kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

import numpy.typing as npt

from robot_identification.errors import OutputError
from robot_identification.robot.model import RobotModel
from robot_identification.storage.atomic import check_target, write_text_atomically
from robot_identification.storage.export.armature import armature_yaml
from robot_identification.storage.export.controller import controller_yaml
from robot_identification.storage.export.mechanism import Mechanism, mechanism_of
from robot_identification.storage.export.mujoco import mjcf_text
from robot_identification.storage.export.urdf_files import describe, refuse_inputs, write_urdf
from robot_identification.storage.export.xacro import xacro_text

URDF = "urdf"
BESIDE: Mapping[str, Callable[[Mechanism], str]] = MappingProxyType(
    {
        "xacro": xacro_text,
        "mujoco": mjcf_text,
        "controller": controller_yaml,
        "armature": armature_yaml,
    }
)
KINDS = (URDF, *BESIDE)


def write_outputs(
    targets: Mapping[str, str | Path],
    robot: RobotModel,
    values: npt.ArrayLike,
    *,
    original: str | Path | None = None,
    keep: Iterable[str | Path] = (),
) -> tuple[str, ...]:
    """Write files of several kinds and return the remarks about the URDF, if there is one.

    All targets and all parameters are checked before the first file is written.

    Args:
        targets: kind (one of ``KINDS``) -> file.
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
        original: file of a URDF of the robot; the written URDF keeps everything of it but
            inertials and friction, and the other files use its link frames.
        keep: other files that must not be written over, such as the robot file.

    Raises:
        OutputError: a target cannot be written, stands twice, or is a file that was read.
        RobotDescriptionError: the original is wrong or of another robot.
        ShapeError: the number of values differs.
        SampleError: a value is NaN or infinite.
        InconsistentParametersError: a link or a friction cannot exist.
    """
    inputs = [*keep, *([] if original is None else [original])]
    _check_targets(targets, inputs)
    description = None if original is None else describe(original)
    mechanism = mechanism_of(robot, values, description)
    texts = {kind: BESIDE[kind](mechanism) for kind in targets if kind != URDF}
    remarks: tuple[str, ...] = ()
    if URDF in targets:
        remarks = write_urdf(targets[URDF], robot, values, original=original, keep=inputs)
    for kind, text in texts.items():
        write_text_atomically(targets[kind], text)
    return remarks


def _check_targets(targets: Mapping[str, str | Path], inputs: Iterable[str | Path]) -> None:
    seen: set[Path] = set()
    for path in targets.values():
        target = check_target(path)
        if target in seen:
            raise OutputError(path, "is named for two outputs")
        seen.add(target)
        refuse_inputs(path, inputs)
