"""Mounting of a payload: a frame that is fixed in one of the moving links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from robot_identification.errors import SettingError, ShapeError
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.bodies import Body, pseudo_inertia
from robot_identification.robot.files.loading import source_urdf
from robot_identification.robot.files.schema import suggestion
from robot_identification.robot.files.urdf.robot import read_urdf_of
from robot_identification.robot.files.urdf.tree import LinkFrame
from robot_identification.robot.model import RobotModel
from robot_identification.robot.parameters import LINK_PARAMETERS

_UPPER = np.triu_indices(3)
_PLACEMENT = 6


@by_value
@dataclass(frozen=True)
class Mounting:
    """The frame that a payload is described in.

    Attributes:
        frame: its name.
        joint: index of the joint that moves it.
        first: place of the first parameter of that joint in a full vector.
        rotation: (3, 3) its orientation in the frame of that joint.
        translation: (3,) its origin there, in m.
    """

    frame: str
    joint: int
    first: int
    rotation: Array
    translation: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "rotation", read_only(self.rotation))
        object.__setattr__(self, "translation", read_only(self.translation))

    @property
    def columns(self) -> npt.NDArray[np.intp]:
        """(10,) columns of the full regressor that belong to the link's inertial parameters."""
        return self.first + np.arange(LINK_PARAMETERS)

    @property
    def to_link(self) -> Array:
        """(10, 10) matrix that takes standard parameters in the frame to those of the link.

        The pseudo-inertia P becomes T P T^T with the (4, 4) placement T of the frame.
        """
        placement = np.eye(4)
        placement[:3, :3], placement[:3, 3] = self.rotation, self.translation
        moved = [placement @ pseudo_inertia(unit) @ placement.T for unit in np.eye(LINK_PARAMETERS)]
        return read_only(np.column_stack([_standard(P) for P in moved]))

    def with_body(self, values: Array, body: Body) -> Array:
        """Return the parameters of the robot when a body is fixed in the frame.

        Args:
            values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
            body: the body, seen from the frame.
        """
        loaded = np.array(values, dtype=np.float64)
        loaded[self.columns] += self.to_link @ body.standard
        return read_only(loaded)


def _standard(pseudo: Array) -> Array:
    """Return the (10,) standard parameters of a pseudo-inertia."""
    second = pseudo[:3, :3]
    inertia = np.trace(second) * np.eye(3) - second
    return np.array([*inertia[_UPPER], *pseudo[:3, 3], pseudo[3, 3]])


def mounting(
    robot: RobotModel, name: str | None = None, frames: Mapping[str, LinkFrame] | None = None
) -> Mounting:
    """Return where a payload is mounted.

    Args:
        robot: the robot.
        name: link or joint of the robot, or a frame of its URDF; a joint stands for the link that
            it moves; None: the last link, where the robot has only one.
        frames: frames of the links of the robot's URDF, where it has one.

    Raises:
        SettingError: nothing moving has this name, or no name is given and the robot has several
            last links.
    """
    if name is None:
        name = _last_link(robot)
    frames = frames or {}
    moved = {joint.name: joint.link for joint in robot.joints}
    if name not in frames and name not in moved.values():
        name = moved.get(name, name)
    found = frames.get(name)
    if found is not None:  # the axes of the robot's own frames are turned into those of motion
        if found.joint < 0:
            raise SettingError("frame", name, "does not move; a payload there is not identifiable")
        first = robot.layout.first(found.joint)
        return Mounting(name, found.joint, first, found.rotation, found.translation)
    for index, joint in enumerate(robot.joints):
        if name == joint.link:
            return Mounting(name, index, robot.layout.first(index), np.eye(3), np.zeros(3))
    known = [*(joint.link for joint in robot.joints), *frames]
    hint = suggestion(name, known) or f"; there are {', '.join(dict.fromkeys(known))}"
    raise SettingError("frame", name, f"no moving link of {robot.name} has this name{hint}")


def urdf_frames(source: str | Path, robot: RobotModel) -> dict[str, LinkFrame]:
    """Return the frames of the links of a robot's URDF, those behind fixed joints included.

    Args:
        source: the robot file, URDF or name that the robot was loaded from.
        robot: the robot.

    Returns:
        Link name -> frame, empty where the robot is not described by a URDF.

    Raises:
        UnknownRobotError, RobotDescriptionError: the description is wrong.
    """
    path = source_urdf(source)
    if path is None:
        return {}
    description = read_urdf_of(path, robot)
    names = description.robot.joint_names
    place = {name: index for index, name in enumerate(robot.joint_names)}
    frames = {}
    for link, frame in description.frames.items():
        if frame.joint < 0:
            frames[link] = frame
        elif names[frame.joint] in place:
            frames[link] = replace(frame, joint=place[names[frame.joint]])
    return frames


def placed(base: Mounting, position: npt.ArrayLike, rpy: npt.ArrayLike) -> Mounting:
    """Return a frame that is fixed in another one.

    Args:
        base: the other frame.
        position: (3,) origin in it, in m.
        rpy: (3,) roll, pitch and yaw about its fixed axes, in rad, as in a URDF.

    Raises:
        ShapeError: an argument has not three numbers.
        SettingError: one is not finite.
    """
    place, angles = (np.asarray(values, dtype=np.float64) for values in (position, rpy))
    for title, values in (("position", place), ("rpy", angles)):
        if values.shape != (3,):
            raise ShapeError(title, values.shape, "(3,)")
        if not np.isfinite(values).all():
            raise SettingError(title, values.tolist(), "give finite numbers")
    turn = _rpy_matrix(angles)
    return Mounting(
        base.frame,
        base.joint,
        base.first,
        base.rotation @ turn,
        base.translation + base.rotation @ place,
    )


def mounting_from(
    source: str | Path | None,
    robot: RobotModel,
    frame: str | None = None,
    placement: Sequence[float] | None = None,
) -> Mounting:
    """Return where a payload is mounted, as people say it.

    Args:
        source: the robot file, URDF or name that the robot was loaded from; None: from none.
        robot: the robot.
        frame: link or joint of the robot, or link of its URDF; None: the last link.
        placement: x y z in m, roll pitch yaw in rad of the payload's frame in that frame; None:
            it is that frame.

    Raises:
        SettingError: there is no such frame, or the placement is not six finite numbers.
    """
    found = mounting(robot, frame, {} if source is None else urdf_frames(source, robot))
    if placement is None:
        return found
    if len(placement) != _PLACEMENT:
        raise SettingError("placement", list(placement), "give x y z roll pitch yaw")
    return placed(found, placement[:3], placement[3:])


def _rpy_matrix(angles: Array) -> Array:
    (sr, sp, sy), (cr, cp, cy) = np.sin(angles), np.cos(angles)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def _last_link(robot: RobotModel) -> str:
    carriers = {joint.antecedent for joint in robot.joints}
    last = [joint.link for i, joint in enumerate(robot.joints) if i not in carriers]
    if len(last) > 1:
        raise SettingError(
            "frame", None, f"{robot.name} has several last links; name one of {', '.join(last)}"
        )
    return last[0]
