"""The standard parameters that a URDF gives: a prior to calibrate to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from robot_identification.errors import RobotDescriptionError
from robot_identification.robot.arrays import Array, checked_vector, read_only
from robot_identification.robot.files.link_frames import SAME_PLACE
from robot_identification.robot.files.urdf.robot import (
    UrdfDescription,
    parse_urdf_of,
    read_urdf_of,
)
from robot_identification.robot.geometry import forward_kinematics, snapped
from robot_identification.robot.model import RobotModel
from robot_identification.robot.parameters import LINK_PARAMETERS


def urdf_prior(path: str | Path, robot: RobotModel) -> Array:
    """Return the standard parameters of a robot that a URDF states.

    The inertials of links that fixed joints merge are added up.  Viscous and Coulomb friction
    are the URDF's damping and friction; drive inertias and offsets are 0.

    Args:
        path: the URDF.
        robot: the robot; its joints are the URDF's, but its link frames and base frame may be
            placed otherwise, as those of a Denavit-Hartenberg description are.

    Returns:
        (len(robot.all_parameter_names),) values in that order, at the origins and in the axes of
        the robot's link frames, in SI units.

    Raises:
        RobotDescriptionError: the URDF is wrong, or is not a description of this robot.
    """
    description = read_urdf_of(Path(path), robot)
    return _values(description, robot, str(path))


def values_of_urdf(
    text: str, robot: RobotModel, *, name: str = "<string>", beside: npt.ArrayLike | None = None
) -> Array:
    """Return the standard parameters that the text of a URDF states; see :func:`urdf_prior`.

    Args:
        text: the URDF.
        robot: the robot that it describes.
        name: what the URDF is called in errors.
        beside: (full columns,) values to take what a URDF has no place for from: drive inertias,
            offsets and the parameters of couplings; by default these are 0.

    Raises:
        RobotDescriptionError: the URDF is wrong, or is not a description of this robot.
        ShapeError: ``beside`` does not have one value per parameter.
    """
    description = parse_urdf_of(text, name, robot)
    values = _values(description, robot, name).copy()
    if beside is not None:
        others = checked_vector("beside", beside, len(values))
        absent = ~stated_in_urdf(robot)
        values[absent] = others[absent]
    return read_only(values)


def stated_in_urdf(robot: RobotModel) -> npt.NDArray[np.bool_]:
    """Tell for every parameter in ``robot.all_parameter_names`` whether a URDF has a place for it.

    It has for the inertial parameters and some joint terms (Fv, Fc), not for those of couplings.
    """
    stated = np.zeros(len(robot.all_parameter_names), dtype=np.bool_)
    table = robot.layout.table(stated)
    table[:, :LINK_PARAMETERS] = True
    for place, term in robot.layout.places:
        table[:, place] = bool(term.urdf)
    return stated


def given_by_urdf(path: str | Path, robot: RobotModel) -> npt.NDArray[np.bool_]:
    """Tell for every parameter in ``robot.all_parameter_names`` whether a URDF gives its value.

    The inertial parameters of a link are given where a body that its joint moves has an inertial
    with a mass.  Damping and friction of zero stand in many URDFs because nobody knew better; they
    are not taken for values.

    Args:
        path: the URDF.
        robot: the robot, see :func:`urdf_prior`.

    Raises:
        RobotDescriptionError: the URDF is wrong, or has other joints.
    """
    description = read_urdf_of(Path(path), robot)
    joint_places(description, robot, str(path))
    theirs = description.robot.joint_names
    given = np.zeros(len(robot.all_parameter_names), dtype=np.bool_)
    for name, link in description.links.items():
        frame = description.frames[name]
        if link.inertial is not None and link.inertial.mass > 0.0 and frame.joint >= 0:
            given[robot.layout.link(robot.joint_names.index(theirs[frame.joint]))] = True
    given |= _joint_values(description, robot) != 0.0
    return given


def _joint_values(description: UrdfDescription, robot: RobotModel) -> Array:
    """Return (full columns,) values of the joint terms that a URDF states, zeros elsewhere."""
    values = np.zeros(len(robot.all_parameter_names))
    table = robot.layout.table(values)
    for row, name in zip(table, robot.joint_names, strict=True):
        stated = description.joints[name].dynamics
        for place, term in robot.layout.places:
            row[place] = stated.get(term.urdf, 0.0)
    return values


def _values(description: UrdfDescription, robot: RobotModel, name: str) -> Array:
    places = joint_places(description, robot, name)
    values = _joint_values(description, robot)
    theirs = description.robot.joint_names
    for link_name, link in description.links.items():
        frame = description.frames[link_name]
        if link.inertial is None or frame.joint < 0:
            continue
        index = robot.joint_names.index(theirs[frame.joint])
        own = robot.layout.link(index)
        with np.errstate(all="ignore"):
            body = link.inertial.seen_from(frame.rotation, frame.translation)
            body = body.seen_from(places[index, :3, :3], places[index, :3, 3])
            values[own] += body.standard
        if not np.isfinite(values[own]).all():
            raise link.element.error("its inertial is too large to be computed with")
    return read_only(values)


def joint_places(description: UrdfDescription, robot: RobotModel, name: str) -> Array:
    """Return where the frames of a URDF's joints are in the frames of a robot's joints.

    Args:
        description: the URDF.
        robot: the same robot; its link frames and its base frame may be placed otherwise.
        name: what the URDF is called in errors.

    Returns:
        (joints, 4, 4) constant homogeneous transformations, in the order of the robot's joints.

    Raises:
        RobotDescriptionError: the URDF has other joints or moves otherwise.
    """
    if set(robot.joint_names) != set(description.robot.joint_names):
        raise RobotDescriptionError(
            f"its moving joints are {', '.join(description.robot.joint_names)}, those of "
            f"{robot.name} are {', '.join(robot.joint_names)}",
            path=name,
        )
    q = np.random.default_rng(0).uniform(-1.0, 1.0, (20, len(robot.joints)))
    order = [robot.joint_names.index(joint) for joint in description.robot.joint_names]
    ours = forward_kinematics(robot, q)
    theirs = np.empty_like(ours)
    theirs[:, order] = forward_kinematics(description.robot, q[:, order])
    for base in (_same_base(description, robot), np.eye(4), _base_frame(ours, theirs)):
        places = np.linalg.inv(ours) @ base @ theirs
        if np.abs(places - places[0]).max() <= SAME_PLACE:
            return snapped(places[0])
    raise RobotDescriptionError(
        f"it moves otherwise than {robot.name}; zero positions, directions and lengths must agree",
        path=name,
    )


def _same_base(description: UrdfDescription, robot: RobotModel) -> Array:
    """Return the place of the URDF's root in the base link of that name, where it has one."""
    frame = description.frames.get(robot.base_link)
    place = np.eye(4)
    if frame is not None and frame.joint < 0:
        place[:3, :3] = frame.rotation.T
        place[:3, 3] = -frame.rotation.T @ frame.translation
    return place


def _base_frame(ours: Array, theirs: Array) -> Array:
    """Return the place of the URDF's base frame in the robot's that brings the axes together."""
    axes, other = ours[..., :3, 2].reshape(-1, 3), theirs[..., :3, 2].reshape(-1, 3)
    left, _, right = np.linalg.svd(axes.T @ other)
    frame = np.eye(4)
    frame[:3, :3] = left @ np.diag([1.0, 1.0, np.linalg.det(left @ right)]) @ right
    across = np.eye(3) - axes[:, :, None] * axes[:, None, :]
    distance = ours[..., :3, 3].reshape(-1, 3) - theirs[..., :3, 3].reshape(-1, 3) @ frame[:3, :3].T
    matrix = across.reshape(-1, 3)
    frame[:3, 3] = np.linalg.lstsq(matrix, (across @ distance[..., None]).reshape(-1), rcond=None)[
        0
    ]
    return frame
