"""Models for MuJoCo: from a URDF, an MJCF file, or the parameters of a robot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from robot_identification.collision.scene import Scene
from robot_identification.dynamics.simulation.mujoco import Drives, load_mujoco
from robot_identification.errors import RobotDescriptionError, SettingError
from robot_identification.files.export.urdf_generation import generated_urdf
from robot_identification.files.export.xml_surgery import Surgery, applied
from robot_identification.files.mujoco_bodies import add_bodies
from robot_identification.robot.files.document import read_bytes
from robot_identification.robot.files.loading import source_urdf
from robot_identification.robot.files.values import load_given, load_values
from robot_identification.robot.files.xml_document import MAXIMUM_BYTES, parse_xml
from robot_identification.robot.model import Array, RobotModel
from robot_identification.robot.parameters import LINK_PARAMETERS

_SHAPES = ("visual", "collision")


def mujoco_robot(
    robot: RobotModel,
    source: str | Path,
    *,
    model: str = "",
    values: str = "",
    scene: Scene | None = None,
) -> tuple[Any, Drives]:
    """Return a robot as MuJoCo has it, and what moves and brakes its joints.

    Kinematics and bodies are those of the model; without a model those of the URDF that describes
    the robot, and where a table describes it, of ``values``, which must then be complete.  Drive
    inertia, friction and offset of the joints are those that ``values`` names; the others are
    those of the model (``<dynamics>`` of a URDF).

    Args:
        robot: the robot.
        source: what it was loaded from; see :func:`.files.load_robot`.
        model: a URDF or an MJCF file, which may have a base frame and a gravity of its own.
        values: a parameter file, or the name of one in config/parameters.
        scene: bodies that the model gets, for contacts; None: none.

    Returns:
        MuJoCo's ``MjModel``, and the drives.

    Raises:
        MissingPackageError: if MuJoCo is not installed.
        RobotDescriptionError: if a file is wrong, or MuJoCo refuses it.
        UnknownRobotError: if there is no such parameter file.
        SettingError: if the robot has couplings, or nothing says what its bodies are; with a
            scene, if the base of the model is not that of the robot.
    """
    if robot.couplings:
        raise SettingError("robot", robot.name, "its couplings between joints have no place here")
    own = model or source_urdf(source)
    if own is None and not values:
        raise SettingError("parameters_file", values, "give it, or a model: bodies are unknown")
    if own is None:
        complete = load_values(values, robot, complete=True)
        spec = spec_of_urdf(generated_urdf(robot, complete).encode(), robot.name)
        spec.option.gravity = (0.0, 0.0, -float(np.linalg.norm(robot.gravity)))
        known = complete, np.ones(len(complete), dtype=np.bool_)
    else:
        spec = read_spec(Path(own))
        if not model:
            spec.option.gravity = robot.gravity
        known = load_given(values, robot) if values else _nothing(robot)
    name = str(own or robot.name)
    loaded = _of_mujoco(spec.compile, name)
    if scene is not None:
        add_bodies(spec, loaded, robot, scene)
        loaded = _of_mujoco(spec.compile, name)
    return loaded, drives_of(robot, *known)


def _nothing(robot: RobotModel) -> tuple[Array, Any]:
    count = len(robot.all_parameter_names)
    return np.zeros(count), np.zeros(count, dtype=np.bool_)


def drives_of(robot: RobotModel, values: Array, named: Any) -> Drives:
    """Return what moves and brakes the joints of a robot without couplings.

    Args:
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
        named: (full columns,) whether a parameter is known; the others become NaN.
    """
    table = robot.layout.table(np.where(named, values, np.nan))
    return Drives(robot.layout.terms, table[:, LINK_PARAMETERS:])


def read_spec(path: Path) -> Any:
    """Return MuJoCo's ``MjSpec`` of a URDF or an MJCF file.

    Raises:
        MissingPackageError: if MuJoCo is not installed.
        RobotDescriptionError: if the file cannot be read, is neither, or MuJoCo refuses it.
    """
    data, _ = read_bytes(path, MAXIMUM_BYTES)
    root = parse_xml(data, str(path))
    if root.tag == "robot":
        return spec_of_urdf(data, str(path))
    if root.tag != "mujoco":
        raise root.error(f"<{root.tag}> is neither <robot> of a URDF nor <mujoco> of MJCF")
    mujoco = load_mujoco()
    return _of_mujoco(lambda: mujoco.MjSpec.from_file(str(path)), str(path))


def spec_of_urdf(data: bytes, name: str) -> Any:
    """Return MuJoCo's ``MjSpec`` of the content of a URDF, without the shapes of its links.

    Args:
        data: the URDF.
        name: what it is called in errors.

    Raises:
        MissingPackageError: if MuJoCo is not installed.
        RobotDescriptionError: if it is not well-formed, or MuJoCo refuses it.
    """
    root = parse_xml(data, name, encoding="utf-8")
    surgery = Surgery(data, root)
    shapes = [part for link in root.all("link") for tag in _SHAPES for part in link.all(tag)]
    bare = applied(data, map(surgery.remove, shapes)).decode()
    mujoco = load_mujoco()
    return _of_mujoco(lambda: mujoco.MjSpec.from_string(bare), name)


def _of_mujoco(make: Callable[[], Any], name: str) -> Any:
    """Return what MuJoCo makes of a description."""
    try:
        return make()
    except ValueError as error:
        raise RobotDescriptionError(f"MuJoCo refuses it: {error}", path=name) from error
