"""Bounds of how much distances may shrink while joints move by what they may."""

import numpy as np
import pytest

pytest.importorskip("coal", reason="the package coal is not installed")

from robot_identification.collision.model import load_collision_model
from robot_identification.robot.files.loading import load_robot

UR10 = load_robot("ur10")
BOXES = """
obstacles:
  - {name: table, box: [0.6, 0.4, 0.1], at: [0.7, 0.2, 0.2], rpy: [0, 0.2, 0.3]}
  - {name: post, cylinder: {radius: 0.05, length: 1.5}, at: [-0.5, 0.6, 0.5]}
  - {name: ball, sphere: {radius: 0.15}, at: [0.1, -0.8, 0.4]}
"""


def every_pair(model, postures):
    """Return rows (posture, pair) of all, by rising postures."""
    return np.argwhere(np.ones((len(postures), len(model.scene.pairs)), dtype=bool))


@pytest.mark.parametrize("seed", range(3))
def test_no_distance_shrinks_by_more_than_the_bound(tmp_path, seed):
    path = tmp_path / "cell.yaml"
    path.write_text(BOXES)
    model, rng = load_collision_model("ur10", UR10, cell=path), np.random.default_rng(seed)
    arrays, pairs = model.check.arrays, len(model.scene.pairs)
    for _ in range(40):
        centre = rng.uniform(-2.5, 2.5, (1, 6))
        spread = rng.uniform(0.0, 0.3) * rng.uniform(0.0, 1.0, (1, 6))
        rows = every_pair(model, centre)
        distance, normals, points = model.check.at(centre, rows)
        least = distance - arrays.travel(centre, spread, rows, normals, points)
        enclosed = arrays.gaps(centre, spread, 0.0)[0]
        corners = rng.choice([-1.0, 1.0], (40, 6))
        shares = np.where(rng.random((40, 6)) < 0.5, corners, rng.uniform(-1.0, 1.0, (40, 6)))
        moved = centre + spread * shares
        found = model.check.at(moved, every_pair(model, moved))[0].reshape(40, pairs).min(axis=0)
        apart = distance > 0.0
        assert (found >= least - 1e-6)[apart].all()
        assert (found >= enclosed - 1e-6)[apart].all()


def test_far_ends_of_a_link_count_only_where_they_are_near():
    """The upper arm of a UR10 stands upright 5 cm above the floor; its elbow moves by 6 cm."""
    model = load_collision_model("ur10", UR10)
    upright, off = np.array([[0.0, -np.pi / 2, 0.0, 0.0, 0.0, 0.0]]), np.full((1, 6), 0.1)
    rows = np.array(
        [(0, p) for p in range(len(model.scene.pairs)) if "floor" in model.scene.names(p)]
    )
    distance, normals, points = model.check.at(upright, rows)
    least = distance - model.check.arrays.travel(upright, off, rows, normals, points)
    nearest = int(np.argmin(distance))
    assert model.scene.names(rows[nearest, 1]) == ("upper_arm_link", "floor")
    assert distance[nearest] == pytest.approx(0.0473, abs=1e-6)
    assert least.min() > 0.025
    assert model.check.margins(upright, off[0], 0.02, 0.02)[0] == 0.02
