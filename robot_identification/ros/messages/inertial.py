"""Between a robot's dynamic parameters and the message InertialParameters, both ways.

The message says which joint terms the model has, with the shapes of what they multiply: a friction
law that identification has found beside those of the robot file is known to whoever receives it.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from geometry_msgs.msg import Inertia, Vector3

from robot_identification import msg
from robot_identification.calibration.calibrated import CalibratedParameters
from robot_identification.calibration.consistency.checks import check_consistency
from robot_identification.calibration.model.queries import parameters_hash
from robot_identification.dynamics.feed_forward import FeedForward
from robot_identification.errors import (
    InconsistentParametersError,
    MessageError,
    ResultMismatchError,
)
from robot_identification.files.export.bodies import LinkBody, mechanism_of
from robot_identification.identification.friction.law import FrictionLaw
from robot_identification.robot.arrays import Array, read_only
from robot_identification.robot.files.urdf.robot import UrdfDescription
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.joint_terms import TERMS
from robot_identification.ros.messages.common import floats, time_of

_LARGEST = 1e12
"""Bound of every parameter of a machine, in SI units."""


def parameters_message(
    robot: RobotModel,
    values: npt.ArrayLike,
    *,
    stamp: int,
    description: UrdfDescription | None = None,
) -> msg.InertialParameters:
    """Return parameters as a message; what only a calibration knows is NaN or empty.

    Args:
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
        stamp: stamp of the message, in ns.
        description: a URDF of the robot whose link frames are to be used; by default those of
            the robot.

    Raises:
        ShapeError: if the number of values differs.
        SampleError: if a value is NaN or infinite.
        InconsistentParametersError: if a link or a friction cannot exist.
    """
    mechanism = mechanism_of(robot, values, description)
    names = robot.all_parameter_names
    nothing = floats(np.full(len(names), math.nan))
    message = msg.InertialParameters(
        robot=robot.name,
        robot_hash=robot.digest,
        parameters_hash=parameters_hash(robot, values),
        gravity=Vector3(**dict(zip("xyz", map(float, robot.gravity), strict=True))),
        links=[_link_message(joint) for joint in mechanism.joints],
        names=list(names),
        values=floats(mechanism.values),
        units=[robot.unit_of(name) for name in names],
        **_law_fields(robot),
        std=nothing,
        std_robust=nothing,
        verdicts=[msg.InertialParameters.PRIOR_DOMINATED] * len(names),
        consistent=check_consistency(robot, values).consistent,
        relative_error_total=math.nan,
        distance_to_prior=math.nan,
    )
    message.header.frame_id = robot.base_link
    message.header.stamp = time_of(stamp)
    return message


def _law_fields(robot: RobotModel) -> dict[str, list[str] | list[float]]:
    """Return which joint terms a robot has, what they multiply, and the shapes of that."""
    own = [
        (j, joint, term) for j, joint in enumerate(robot.joints, 1) for term in joint.joint_terms
    ]
    shapes = [
        (f"{term.name}{j}.{shape.name}", float(value))
        for j, joint, term in own
        for shape, value in zip(term.kind.shapes, joint.shape_of(term), strict=True)
    ]
    return {
        "terms": [f"{term.name}{j}" for j, _, term in own],
        "functions": [term.kind.formula or "1" for _, _, term in own],
        "shape_names": [name for name, _ in shapes],
        "shapes": [value for _, value in shapes],
    }


def robot_of_message(message: msg.InertialParameters, robot: RobotModel) -> RobotModel:
    """Return a robot with the friction law of a message; as it is where that has none.

    Friction that follows the load follows that of the parameters in the message.

    Args:
        message: the parameters.
        robot: the robot, as its file describes it.

    Raises:
        ResultMismatchError: they are of another robot, or of another description of it.
        MessageError: the message names no terms of the robot's joints, or other shapes.
    """
    _require_description(message, robot)
    if not message.terms:
        return robot
    if len(message.shape_names) != len(message.shapes):
        raise _damaged(f"{len(message.shapes)} shapes for {len(message.shape_names)} names")
    shapes = dict(zip(message.shape_names, message.shapes, strict=True))
    stated = {f"{term.name}{j + 1}": (j, term) for j in range(len(robot.joints)) for term in TERMS}
    joints: list[dict[str, tuple[float, ...]]] = [{} for _ in robot.joints]
    for name in message.terms:
        if name not in stated:
            raise _damaged(f"{name!r:.40} is no term of a joint of {robot.name}")
        joint, term = stated[name]
        try:
            values = tuple(shapes.pop(f"{name}.{shape.name}") for shape in term.kind.shapes)
        except KeyError as error:
            raise _damaged(f"the shape {error} is missing") from error
        if not all(0.0 < value <= _LARGEST for value in values):
            raise _damaged(f"the shape of {name} is {', '.join(map(str, values))}, not positive")
        joints[joint][term.name] = values
    if shapes:
        raise _damaged(f"there is no term for the shape {min(shapes)!r:.40}")
    found = FrictionLaw(tuple(joints)).applied(robot)
    _require_values(message, found)
    return found.loaded_by(np.asarray(message.values))


def _link_message(joint: LinkBody) -> msg.LinkInertialParameters:
    body = joint.body
    fields = msg.LinkInertialParameters.get_fields_and_field_types()
    xx, xy, xz, yy, yz, zz = (float(x) for x in body.inertia[np.triu_indices(3)])
    return msg.LinkInertialParameters(
        joint=joint.joint,
        link=joint.link,
        frame=joint.link,
        inertia=Inertia(
            m=body.mass,
            com=Vector3(**dict(zip("xyz", map(float, body.centre), strict=True))),
            ixx=xx,
            ixy=xy,
            ixz=xz,
            iyy=yy,
            iyz=yz,
            izz=zz,
        ),
        # Terms without a field of their own are among the names and values of the parameters.
        **{
            term.key: joint.terms[term.name]
            for term in TERMS
            if term.key in fields and term.name in joint.terms
        },
    )


def _require_description(message: msg.InertialParameters, robot: RobotModel) -> None:
    if message.robot != robot.name:
        raise ResultMismatchError(
            robot.name, f"these are parameters of {message.robot or 'nobody'}"
        )
    if robot.digest and message.robot_hash != robot.digest:
        told = "parameters of another description" if message.robot_hash else "without a hash"
        raise ResultMismatchError(robot.name, f"these are {told}; use the same robot file")


def _require_values(message: msg.InertialParameters, robot: RobotModel) -> None:
    names = robot.all_parameter_names
    if tuple(message.names) != names:
        raise ResultMismatchError(robot.name, "the names or the order of the parameters differ")
    for name in ("values", "units", "std", "std_robust", "verdicts"):
        if len(getattr(message, name)) != len(names):
            count = len(getattr(message, name))
            raise _damaged(f"{count} {name} for {len(names)} parameters")


def values_of_message(message: msg.InertialParameters, robot: RobotModel) -> Array:
    """Return the parameters in a message, for a robot that they must belong to.

    What no calibration publishes is refused, whatever the message says of itself: only parameters
    that are tested here, and found to be physically consistent, move a robot.

    Args:
        message: the parameters.
        robot: the robot, with the friction law of the message (:func:`robot_of_message`).

    Returns:
        (full columns,) parameters in the order of ``robot.all_parameter_names``.

    Raises:
        ResultMismatchError: if they are of another robot, of another description of it, or of
            other parameters.
        MessageError: if the arrays do not fit, or a value is NaN, infinite or beyond any machine.
        InconsistentParametersError: if they are not called consistent, or are not.
    """
    _require_description(message, robot)
    _require_values(message, robot)
    names = robot.all_parameter_names
    if list(message.units) != [robot.unit_of(name) for name in names]:
        raise _damaged("the parameters are in other units")
    values = np.array(message.values)
    for index in np.flatnonzero(~(np.abs(values) <= _LARGEST)):
        raise _damaged(f"{names[index]} is {values[index]:g}")
    if not message.consistent:
        raise InconsistentParametersError(robot.name, "these are not called consistent")
    problems = check_consistency(robot, values).problems
    if problems:
        raise InconsistentParametersError(robot.name, "; ".join(problems))
    return read_only(values)


def feed_forward_of(message: msg.InertialParameters, robot: RobotModel) -> FeedForward:
    """Return the model in a message, to be fed forward.

    Args:
        message: the parameters.
        robot: the robot, as its file describes it.

    Raises:
        ResultMismatchError, MessageError, InconsistentParametersError: as
            :func:`values_of_message`.
        MissingLimitError: a joint has no effort limit.
        SettingError: the controller of the robot has a model of its own.
    """
    found = robot_of_message(message, robot)
    return FeedForward(found, values_of_message(message, found))


def _damaged(problem: str) -> MessageError:
    return MessageError("InertialParameters", problem)


def calibrated_message(
    robot: RobotModel,
    calibrated: CalibratedParameters,
    *,
    stamp: int,
    description: UrdfDescription | None = None,
) -> msg.InertialParameters:
    """Return calibrated parameters as a message.

    Args:
        robot: the robot.
        calibrated: its parameters.
        stamp: time of the calibration, in ns.
        description: a URDF of the robot whose link frames are to be used; by default those of
            the robot.

    Raises:
        InconsistentParametersError: if a link or a friction cannot exist.
    """
    message = parameters_message(robot, calibrated.values, stamp=stamp, description=description)
    message.recordings = [source.name for source in calibrated.sources if not source.digest]
    message.bag_hashes = [source.digest for source in calibrated.sources if source.digest]
    message.std = floats(calibrated.std)
    message.std_robust = floats(calibrated.std_robust)
    message.verdicts = [int(verdict) for verdict in calibrated.full_verdicts]
    message.consistent = calibrated.consistent
    message.joint_names = list(calibrated.joint_names)
    message.relative_error = floats(calibrated.error.joints)
    message.relative_error_total = calibrated.error.total
    message.error_increase = calibrated.error_increase
    message.distance_to_prior = calibrated.distance_to_prior
    return message
