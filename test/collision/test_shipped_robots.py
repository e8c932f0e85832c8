"""Capsules of shipped robots: they enclose the published shapes, and leave room to move."""

import numpy as np
import pytest

pytest.importorskip("coal", reason="the package coal is not installed")

from engines import example
from robot_identification.collision.bodies.shapes import outline
from robot_identification.collision.model import load_collision_model
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.geometry import forward_kinematics

HALF_TURN = np.diag([-1.0, -1.0, 1.0, 1.0])
"""Between the base frame of the URDF and that of the manufacturer's Denavit-Hartenberg table."""


def ends_of(body):
    """Return the ends of a body's axis in the frame of its joint, and its radius."""
    ends, radius = outline(body.shape)
    ends = np.vstack([ends, ends])[:2]
    return ends @ body.rotation.T + body.translation, radius


def outside(points, capsules):
    """Return by how much points lie outside of all of some capsules, in m."""
    least = np.full(len(points), np.inf)
    for (a, b), radius in capsules:
        way = b - a
        share = np.clip((points - a) @ way / max(way @ way, 1e-12), 0.0, 1.0)
        away = np.linalg.norm(points - a - share[:, None] * way, axis=1) - radius
        least = np.minimum(least, away)
    return least.max()


def test_the_capsules_of_the_ur10_enclose_its_published_meshes():
    path = example("ur_description/urdf/ur10_robot.urdf")
    described, shipped = load_robot(path), load_robot("ur10")
    meshes, capsules = load_collision_model(path, described), load_collision_model("ur10", shipped)
    assert described.joint_names == shipped.joint_names
    posture = np.array([0.3, -0.7, 1.1, 0.4, -0.9, 0.5])
    frames = forward_kinematics(described, posture), forward_kinematics(shipped, posture)
    for body in meshes.scene.bodies:
        if body.joint < 0 or body.link == "ee_link":
            continue
        place = np.linalg.inv(frames[1][body.joint]) @ HALF_TURN @ frames[0][body.joint]
        corners = outline(body.shape)[0] @ body.rotation.T + body.translation
        corners = corners @ place[:3, :3].T + place[:3, 3]
        own = [ends_of(b) for b in capsules.scene.bodies if b.joint == body.joint and b.of_robot]
        assert outside(corners, own) <= 0.0, body.name


@pytest.mark.parametrize("name", ["tx40", "ur10"])
def test_a_shipped_robot_has_shapes_and_room_to_move(name):
    robot = load_robot(name)
    model = load_collision_model(name, robot)
    assert {b.joint for b in model.scene.bodies if b.of_robot} == set(range(6))
    limits, rng = MotionLimits.of(robot), np.random.default_rng(0)
    postures = limits.middle + 0.8 * limits.half_range * rng.uniform(-1, 1, (500, 6))
    free = model.check.margins(postures, np.zeros(6), 0.02, 0.02) >= 0.02
    assert free.mean() > 0.1
