"""A page that shows a motion in its cell: one HTML document that a browser opens offline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup

from robot_identification import __version__
from robot_identification.collision.bodies.shapes import HalfSpace
from robot_identification.collision.bodies.solids import triangles
from robot_identification.collision.model import CollisionModel
from robot_identification.collision.scene import CollisionBody
from robot_identification.excitation.certification.certificate import Certificate
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.arrays import Array
from robot_identification.robot.geometry import forward_kinematics

_TEMPLATES = Path(__file__).parent / "templates"
_POSES = 600
_SQUARE = 2.4  # side of what is drawn of a plane, in reaches of the robot
_MILLIMETRES = 4  # digits of a length in m


def motion_page(
    trajectory: Trajectory, collisions: CollisionModel, certificate: Certificate
) -> str:
    """Return a page with the arm, its cell, the motion, and the closest pair.

    Args:
        trajectory: the motion; its joints in the robot's order.
        collisions: robot and cell.
        certificate: of the motion.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("motion.html").render(
        robot=collisions.robot.name,
        style=_own("style.css"),
        scripts=[_own("raster.js"), _own("motion.js")],
        scene=Markup(_json(_scene(trajectory, collisions, certificate))),  # noqa: S704 (escaped)
        nearest=certificate.obstacles,
        remarks=certificate.remarks,
        refusal=certificate.refusal,
        duration=f"{trajectory.duration:.2f}",
        left_out=[
            f"{one.first} and {one.second}: {one.reason}" for one in collisions.scene.left_out
        ],
        version=__version__,
    )


def _own(name: str) -> Markup:
    return Markup((_TEMPLATES / name).read_text("utf-8"))  # noqa: S704 (our own)


def _json(data: Any) -> str:
    """Return JSON that may stand inside an element of HTML, whatever names are in it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _scene(
    trajectory: Trajectory, collisions: CollisionModel, certificate: Certificate
) -> dict[str, Any]:
    """Return what the script draws."""
    times = np.linspace(trajectory.times[0], trajectory.times[-1], _POSES)
    poses = _poses(collisions, trajectory.sample(times)[0])
    side = _SQUARE * _reach(collisions, poses)
    nearest = certificate.nearest(collisions, trajectory)
    found = None
    if nearest is not None:
        found = {
            "time": nearest.time,
            "distance": nearest.distance,
            "braking": nearest.braking,
            "points": nearest.points.round(_MILLIMETRES).tolist(),
            "pose": _poses(collisions, nearest.posture[None])[0],
            "links": list(nearest.pair),
        }
    return {
        "times": times.round(_MILLIMETRES).tolist(),
        "poses": poses,
        "bodies": [_body(body, side) for body in collisions.scene.bodies],
        "nearest": found,
    }


def _poses(collisions: CollisionModel, positions: Array) -> list[list[list[float]]]:
    """Return the first three rows of the frames of all joints, row by row, for every posture."""
    frames = forward_kinematics(collisions.robot, positions)[..., :3, :]
    poses: list[list[list[float]]] = (
        frames.reshape(*frames.shape[:2], 12).round(_MILLIMETRES).tolist()
    )
    return poses


def _reach(collisions: CollisionModel, poses: list[list[list[float]]]) -> float:
    """Return how far the robot gets from its base, in m."""
    frames = np.array(poses).reshape(len(poses), -1, 3, 4)
    bodies = [body for body in collisions.scene.bodies if body.of_robot and body.joint >= 0]
    away = [
        np.linalg.norm(
            frames[:, body.joint, :, :3] @ body.capsule.ends.T + frames[:, body.joint, :, 3:],
            axis=1,
        ).max()
        + body.capsule.radius
        for body in bodies
    ]
    return float(max(away, default=1.0))


def _body(body: CollisionBody, side: float) -> dict[str, Any]:
    corners, faces = triangles(body, side)
    return {
        "link": body.link,
        "joint": body.joint,
        "robot": body.of_robot,
        "plane": isinstance(body.shape, HalfSpace),
        "corners": corners.round(_MILLIMETRES).tolist(),
        "faces": faces.tolist(),
    }
