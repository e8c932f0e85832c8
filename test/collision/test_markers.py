"""Markers of a cell and of the volume that a motion sweeps: where bodies are, and how large."""

import numpy as np
import pytest

pytest.importorskip("coal", reason="the package coal is not installed")

from made_up_cells import collisions, swing
from robot_identification.collision.bodies.shapes import Hull
from robot_identification.collision.bodies.solids import surface, triangles
from robot_identification.collision.markers import (
    CELL,
    CLOSEST,
    SWEPT,
    Form,
    cell_markers,
    nearest_markers,
    swept_markers,
)
from robot_identification.collision.scene import STATIC, CollisionBody
from robot_identification.robot.geometry import forward_kinematics

THINGS = """
obstacles:
  - {name: table, box: [1.2, 0.8, 0.04], at: [1.0, 0, -0.1], rpy: [0, 0, pi/2]}
  - {name: ball, sphere: {radius: 0.1}, at: [0, 1, 0.5]}
  - {name: post, cylinder: {radius: 0.05, length: 2.0}, at: [0.5, -0.9, 0.4]}
"""


def extent(marker):
    """Return the smallest and largest corner of a marker in the base frame."""
    corners = marker.points
    if marker.form is not Form.TRIANGLES:
        signs = np.stack(np.meshgrid([-1, 1], [-1, 1], [-1, 1]), axis=-1).reshape(-1, 3)
        corners = signs * marker.size / 2.0
    placed = corners @ marker.rotation.T + marker.translation
    return placed.min(axis=0), placed.max(axis=0)


def test_the_cell_is_shown_where_it_stands(tmp_path):
    shown = cell_markers(collisions(tmp_path, THINGS))
    assert {one.namespace for one in shown} == {CELL}
    floor, table, ball, post = shown
    low, high = extent(table)
    np.testing.assert_allclose([low, high], [[0.6, -0.6, -0.12], [1.4, 0.6, -0.08]], atol=1e-12)
    assert (ball.form, ball.size[0]) == (Form.SPHERE, 0.2)
    np.testing.assert_allclose(ball.translation, [0, 1, 0.5])
    assert post.form is Form.CYLINDER
    np.testing.assert_allclose(post.size, [0.1, 0.1, 2.0])
    assert extent(floor)[1][2] == pytest.approx(-1.2)  # the pedestal's height


def test_the_swept_volume_is_the_arm_at_every_posture(tmp_path):
    model, postures = collisions(tmp_path, THINGS), swing(0, 1.5, 2.0).positions
    shown = swept_markers(model, postures)
    moving = [body for body in model.scene.bodies if body.joint != STATIC]
    assert {one.namespace for one in shown} == {SWEPT}
    assert all(0.0 < one.colour[3] < 0.5 for one in shown)
    assert len(shown) % len(postures) == 0
    frames = forward_kinematics(model.robot, postures)
    balls = np.array([one.translation for one in shown if one.form is Form.SPHERE])
    for frame in frames:
        for body in moving:
            ends = body.capsule.ends @ frame[body.joint, :3, :3].T + frame[body.joint, :3, 3]
            for end in ends:
                assert np.linalg.norm(balls - end, axis=1).min() < 1e-9


def test_the_closest_pair_is_a_line_that_says_how_far_and_when(tmp_path):
    model, motion = collisions(tmp_path, THINGS), swing(0, 1.5, 2.0)
    nearest = model.check.nearest(motion.times, motion.positions)
    line, *_, text = nearest_markers(nearest)
    assert line.namespace == text.namespace == CLOSEST
    assert line.form is Form.LINE
    assert np.linalg.norm(np.diff(line.points, axis=0)) == pytest.approx(nearest.distance)
    assert text.text.startswith(f"{nearest.pair[0]} and {nearest.pair[1]}: ")
    assert f"{1e3 * nearest.distance:.0f} mm" in text.text


@pytest.mark.parametrize("overlapping", [False, True])
def test_the_nearest_pair_of_postures_is_the_nearest_of_all(tmp_path, overlapping):
    within = "  - {name: slab, box: [0.5, 2.0, 0.6], at: [0.7, 0, 0]}\n"
    cell = THINGS + within if overlapping else ""
    model, rng = collisions(tmp_path, cell), np.random.default_rng(0)
    postures = rng.uniform(-1.5, 1.5, (20, 3))
    nearest = model.check.nearest(np.arange(20.0), postures)
    pairs = range(len(model.scene.pairs))
    rows = np.array([(i, pair) for i in range(20) for pair in pairs])
    assert nearest.distance == pytest.approx(model.check.at(postures, rows)[0].min())
    assert nearest.distance < -0.1 if overlapping else nearest.distance > -0.1
    np.testing.assert_array_equal(postures[int(nearest.time)], nearest.posture)


def test_a_mesh_that_is_shown_often_has_fewer_corners_and_lies_inside():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(400, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    body = CollisionBody(
        "ball", "ball", STATIC, _hull(points * [1.0, 1.0, 1e-3]), np.eye(3), np.zeros(3)
    )
    corners, faces = surface(body.shape, 24)
    assert 4 <= len(corners) <= 24
    assert all((points * [1.0, 1.0, 1e-3] == corner).all(axis=1).any() for corner in corners)
    whole = triangles(body, 1.0)[0]
    assert len(corners) < len(whole)
    assert np.ptp(corners[:, 0]) > 0.8 * np.ptp(points[:, 0])
    a, b, c = (corners[faces[:, i]] for i in range(3))
    outward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a - corners.mean(axis=0))
    assert (outward > 0.0).all()


def _hull(points):
    from robot_identification.collision.bodies.hulls import hull

    shape = hull(points, "points")
    assert isinstance(shape, Hull)
    return shape
