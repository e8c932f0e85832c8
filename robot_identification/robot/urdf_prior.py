"""The standard parameters that a URDF states: a prior to calibrate to."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robot_identification.errors import RobotDescriptionError
from robot_identification.robot import parameters
from robot_identification.robot.kinematics import forward_kinematics
from robot_identification.robot.model import Array, RobotModel, read_only
from robot_identification.robot.urdf import UrdfDescription, read_urdf
from robot_identification.robot.urdf_elements import UrdfInertial

# URDFs are written with six digits or more; what differs by less is the same place.
SAME_PLACE = 1e-5


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
    description = read_urdf(Path(path), allow_mimic=True)
    frames = _frames(description, robot, str(path))
    values = np.zeros(len(robot.all_parameter_names))
    theirs = description.robot.joint_names
    for name, link in description.links.items():
        frame = description.frames[name]
        if link.inertial is None or frame.joint < 0:
            continue
        index = robot.joint_names.index(theirs[frame.joint])
        turn, shift = frames[index][:3, :3], frames[index][:3, 3]
        first = parameters.joint_offset(index)
        values[first : first + len(parameters.INERTIAL)] += _standard(
            link.inertial, turn @ frame.rotation, turn @ frame.translation + shift
        )
    for index, name in enumerate(robot.joint_names):
        joint, first = description.joints[name], parameters.joint_offset(index)
        values[first + parameters.VISCOUS_FRICTION] = joint.damping or 0.0
        values[first + parameters.COULOMB_FRICTION] = joint.friction or 0.0
    return read_only(values)


def prior_remarks(path: str | Path) -> tuple[str, ...]:
    """Return what makes the inertials of a URDF doubtful, one sentence for each moving body.

    Raises:
        RobotDescriptionError: the URDF is wrong.
    """
    description = read_urdf(Path(path), allow_mimic=True)
    robot = description.robot
    values = urdf_prior(path, robot)
    remarks = []
    for index, joint in enumerate(robot.joints):
        first = parameters.joint_offset(index)
        xx, xy, xz, yy, yz, zz, mx, my, mz, mass = values[first : first + len(parameters.INERTIAL)]
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        moment = np.array([mx, my, mz])
        pseudo = np.zeros((4, 4))
        pseudo[:3, :3] = np.trace(inertia) / 2 * np.eye(3) - inertia
        pseudo[:3, 3] = pseudo[3, :3] = moment
        pseudo[3, 3] = mass
        if mass <= 0:
            remarks.append(f"link {joint.link} has no mass")
        elif np.linalg.eigvalsh(pseudo)[0] <= 0:
            remarks.append(
                f"link {joint.link} has an inertia that no distribution of mass can have"
            )
    return tuple(remarks)


def _standard(inertial: UrdfInertial, rotation: Array, translation: Array) -> Array:
    """Return the ten parameters of an inertial in a frame where its link is placed so."""
    centre = rotation @ inertial.centre + translation
    inertia = rotation @ inertial.inertia @ rotation.T
    inertia = inertia + inertial.mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    return np.array([*inertia[np.triu_indices(3)], *(inertial.mass * centre), inertial.mass])


def _frames(description: UrdfDescription, robot: RobotModel, path: str) -> Array:
    """Return (joints, 4, 4) places of the URDF's joint frames in the frames of the robot."""
    if set(robot.joint_names) != set(description.robot.joint_names):
        raise RobotDescriptionError(
            f"its moving joints are {', '.join(description.robot.joint_names)}, those of "
            f"{robot.name} are {', '.join(robot.joint_names)}",
            path=path,
        )
    q = np.random.default_rng(0).uniform(-1.0, 1.0, (20, len(robot.joints)))
    order = [robot.joint_names.index(name) for name in description.robot.joint_names]
    ours = forward_kinematics(robot, q)
    theirs = np.empty_like(ours)
    theirs[:, order] = forward_kinematics(description.robot, q[:, order])
    for base in (np.eye(4), _base_frame(ours, theirs)):
        places = np.linalg.inv(ours) @ base @ theirs
        if np.abs(places - places[0]).max() <= SAME_PLACE:
            return np.asarray(places[0])
    raise RobotDescriptionError(
        f"it moves otherwise than {robot.name}; zero positions, directions and lengths must agree",
        path=path,
    )


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
