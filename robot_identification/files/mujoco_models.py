"""Models for MuJoCo: from a URDF, an MJCF file, or the parameters of a robot.

MuJoCo looks for contacts of exactly those pairs that a certificate keeps apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from robot_identification.collision.bodies.shapes import (
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    Hull,
    Shape,
    Sphere,
)
from robot_identification.collision.scene import STATIC, CollisionBody, Scene
from robot_identification.dynamics.friction import refuse_user_terms
from robot_identification.dynamics.simulation.mujoco import Drives, load_mujoco
from robot_identification.errors import RobotDescriptionError, SettingError
from robot_identification.files.export.urdf_generation import generated_urdf
from robot_identification.files.export.xml_surgery import Surgery, applied
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.loading import source_urdf
from robot_identification.robot.files.urdf.robot import UrdfDescription, parse_urdf
from robot_identification.robot.files.urdf.xml_document import parse_xml, read_description
from robot_identification.robot.files.values import load_given, load_values
from robot_identification.robot.geometry import axis_frame, forward_kinematics
from robot_identification.robot.model import RobotModel
from robot_identification.robot.parameters import LINK_PARAMETERS

_POSTURES = 5
_SAME = 1e-6  # m, or a difference of direction cosines
_PLANE = (0.0, 0.0, 1.0)  # MuJoCo's half-sizes of a plane without end, and the spacing of its grid


def add_bodies(spec: Any, model: Any, robot: RobotModel, scene: Scene) -> None:
    """Add the bodies of a scene to a MuJoCo model, which touch where the scene has a pair.

    Geoms that the model has already take part in no contact but those of its own explicit pairs.

    Args:
        spec: MuJoCo's ``MjSpec``, which is changed.
        model: the ``MjModel`` that was compiled from it.
        robot: the robot; its joints are the model's.
        scene: bodies, in the frames of the joints and of the base, and pairs.

    Raises:
        SettingError: the base of the model is not that of the robot, or a joint is missing.
    """
    frames = _joint_frames(model, robot)
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0
    spec.compiler.discardvisual = False
    names = [f"{body.link} [{number}]" for number, body in enumerate(scene.bodies)]
    for name, body in zip(names, scene.bodies, strict=True):
        if body.joint == STATIC:
            _add_geom(spec, spec.worldbody, name, body, np.eye(4))
        else:
            parent = spec.joint(robot.joint_names[body.joint]).parent
            _add_geom(spec, parent, name, body, frames[body.joint])
    for first, second in scene.pairs:
        spec.add_pair(geomname1=names[first], geomname2=names[second])


def _joint_frames(model: Any, robot: RobotModel) -> Array:
    """Return (joints, 4, 4) frames of the robot's joints in the bodies that they move in MuJoCo.

    Raises:
        SettingError: they are not the same for some postures: the two have not one base.
    """
    mujoco = load_mujoco()
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    known = {model.joint(i).name for i in range(model.njnt)}
    if not known.issuperset(robot.joint_names):
        missing = ", ".join(sorted(set(robot.joint_names) - known))
        raise SettingError("model", missing, "the model has no joint of this name")
    found = []
    for posture in rng.uniform(-1.0, 1.0, (_POSTURES, len(robot.joints))):
        for name, position in zip(robot.joint_names, posture, strict=True):
            data.joint(name).qpos = position
        mujoco.mj_kinematics(model, data)
        own = forward_kinematics(robot, posture)
        found.append(
            [
                np.linalg.solve(_body_frame(model, data, name), frame)
                for name, frame in zip(robot.joint_names, own, strict=True)
            ]
        )
    frames: Array = np.array(found)
    if np.abs(frames - frames[0]).max() > _SAME:
        raise SettingError(
            "model",
            robot.name,
            "its kinematics or its base frame are not those of the robot file, so that contacts "
            "would be elsewhere; leave contacts off",
        )
    return np.array(frames[0])


def _body_frame(model: Any, data: Any, joint: str) -> Array:
    """Return the (4, 4) frame of the body that a joint moves."""
    body = int(model.jnt_bodyid[model.joint(joint).id])
    frame: Array = np.eye(4)
    frame[:3, :3], frame[:3, 3] = data.xmat[body].reshape(3, 3), data.xpos[body]
    return frame


def _add_geom(spec: Any, parent: Any, name: str, body: CollisionBody, frame: Array) -> None:
    """Add a body that has no mass: those of the links count."""
    mujoco, turn = load_mujoco(), np.array(body.rotation)
    if isinstance(body.shape, HalfSpace):
        turn = turn @ axis_frame(np.array(body.shape.normal))
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, (frame[:3, :3] @ turn).ravel())
    kind, size = _kind_and_size(mujoco.mjtGeom, body.shape)
    geom = parent.add_geom(
        name=name,
        type=kind,
        size=size,
        pos=frame[:3, 3] + frame[:3, :3] @ body.translation,
        quat=quaternion,
        contype=0,
        conaffinity=0,
        mass=0.0,
    )
    if isinstance(body.shape, Hull):
        geom.meshname = name
        mesh = spec.add_mesh(name=name, inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX)
        mesh.uservert = np.array(body.shape.vertices).ravel()
        mesh.userface = np.array(body.shape.faces, dtype=np.int32).ravel()


def _kind_and_size(kinds: Any, shape: Shape) -> tuple[Any, tuple[float, float, float]]:
    """Return MuJoCo's type of a shape, and its half-sizes."""
    if isinstance(shape, Sphere):
        return kinds.mjGEOM_SPHERE, (shape.radius, 0.0, 0.0)
    if isinstance(shape, Capsule) and shape.length == 0.0:
        return kinds.mjGEOM_SPHERE, (shape.radius, 0.0, 0.0)
    if isinstance(shape, Capsule):
        return kinds.mjGEOM_CAPSULE, (shape.radius, shape.length / 2.0, 0.0)
    if isinstance(shape, Cylinder):
        return kinds.mjGEOM_CYLINDER, (shape.radius, shape.length / 2.0, 0.0)
    if isinstance(shape, Box):
        x, y, z = (length / 2.0 for length in shape.size)
        return kinds.mjGEOM_BOX, (x, y, z)
    if isinstance(shape, HalfSpace):
        return kinds.mjGEOM_PLANE, _PLANE
    return kinds.mjGEOM_MESH, (0.0, 0.0, 0.0)


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
        SettingError: if the robot has couplings or springs between links, or nothing says what its
            bodies are; with a scene, if the base of the model is not that of the robot.
    """
    if robot.couplings:
        raise SettingError("robot", robot.name, "its couplings between joints have no place here")
    if robot.springs:
        raise SettingError("robot", robot.name, "its springs between links have no place here")
    refuse_user_terms(robot, "MuJoCo")
    own = model or source_urdf(source)
    if own is None and not values:
        raise SettingError("parameters_file", values, "give it, or a model: bodies are unknown")
    if own is None:
        complete = load_values(values, robot, complete=True)
        spec = spec_of_urdf(generated_urdf(robot, complete).encode(), robot.name)
        spec.option.gravity = (0.0, 0.0, -float(np.linalg.norm(robot.gravity)))
        known = complete, np.ones(len(complete), dtype=np.bool_)
    else:
        spec = read_spec(Path(own), robot.fixed_joints)
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


def read_spec(path: Path, fixed: Mapping[str, float] | None = None) -> Any:
    """Return MuJoCo's ``MjSpec`` of a URDF or an MJCF file.

    Args:
        path: the file.
        fixed: names of joints of a URDF that stand still -> their positions, in rad or m.

    Raises:
        MissingPackageError: if MuJoCo is not installed.
        RobotDescriptionError: if the file cannot be read, is neither, or MuJoCo refuses it.
    """
    data, _ = read_description(path)
    root = parse_xml(data, str(path))
    if root.tag == "robot":
        spec = spec_of_urdf(data, str(path))
        if not fixed:
            return spec
        return _holding(spec, parse_urdf(data.decode(), str(path), allow_mimic=True, fixed=fixed))
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


def _holding(spec: Any, description: UrdfDescription) -> Any:
    """Return a spec of a URDF in which joints that are held have no motion."""
    mujoco = load_mujoco()
    held = {name: joint for name, joint in description.joints.items() if joint.held}
    for relation in list(spec.equalities):  # MuJoCo makes one of <mimic>
        if {relation.name1, relation.name2} & held.keys():
            spec.delete(relation)
    for joint in held.values():
        body, quaternion = spec.body(joint.child), np.empty(4)
        mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(joint.rotation).ravel())
        body.pos, body.quat = joint.translation, quaternion
        for motion in list(body.joints):
            spec.delete(motion)
    return spec


def _of_mujoco(make: Callable[[], Any], name: str) -> Any:
    """Return what MuJoCo makes of a description."""
    try:
        return make()
    except ValueError as error:
        raise RobotDescriptionError(f"MuJoCo refuses it: {error}", path=name) from error
