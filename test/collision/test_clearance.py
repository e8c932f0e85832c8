"""The clearance of motions: what is kept everywhere, and what is refused with the pair and time."""

import numpy as np
import pytest

pytest.importorskip("coal", reason="the package coal is not installed")

from made_up_cells import collisions, jerked, limits_of, random_motion, swing
from robot_identification.collision.model import load_collision_model
from robot_identification.excitation.certification.checks import obstacles
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.motions.braking import braking_times
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.robot.files.loading import load_robot, with_joint_limits
from robot_identification.ros.supervision.braking import _released

LIMITS = limits_of()
TIP = 0.5 + 0.4 + 0.04  # m, from the axis of the shoulder to the end of the hand


def clearance(folder, motion, cell="", off=None, **options):
    around = Surroundings(collisions=collisions(folder, cell, **options), off=off)
    return around.clearance(motion, LIMITS)


def wall(distance, thickness=0.001):
    """Return a thin plate across the x axis, before the stretched arm."""
    middle = distance + thickness / 2.0
    return f"obstacles: [{{name: plate, box: [{thickness}, 4, 4], at: [{middle}, 0, 0]}}]\n"


def test_a_refusal_says_that_joints_may_be_off_the_motion(tmp_path):
    """The motion keeps 4 cm, wanted are 2; a joint that is off by 0.1 rad comes nearer."""
    motion = swing(1, -1.0, 4.0, begin=(0.0, 0.5, 0.0))
    found = clearance(tmp_path, motion, wall(TIP + 0.04), off=np.full(3, 0.1))
    check = obstacles(found)
    assert not check.passed
    assert found.nearest.distance > found.wanted
    assert "off the motion by the allowed tracking error" in check.detail


@pytest.mark.parametrize(("gap", "kept"), [(0.025, True), (0.0215, True), (0.015, False)])
def test_the_stated_distance_is_kept_or_refused(tmp_path, gap, kept):
    """The stretched arm sweeps past a plate that is nearest at the middle of the motion."""
    motion = swing(1, -1.0, 4.0, begin=(0.0, 0.5, 0.0))
    found = clearance(tmp_path, motion, wall(TIP + gap))
    assert found.kept == kept
    if not kept:
        assert set(found.nearest.pair) == {"hand", "plate"}
        assert found.nearest.distance < 0.02
        assert found.nearest.time == pytest.approx(2.0, abs=0.4)


def test_a_thin_obstacle_is_met_however_fast_the_motion(tmp_path):
    """The hand goes through a plate of a millimetre at 2 rad/s: 8 mm from one ms to the next."""
    plate = "obstacles: [{name: plate, box: [1.0, 0.001, 0.3], at: [0.9, 0.0, 0.0]}]\n"
    motion = swing(0, 1.6, 1.6, begin=(-0.8, 0.0, 0.0))
    assert not clearance(tmp_path, motion, plate).kept


def test_braking_counts_as_the_motion_does(tmp_path):
    """The motion ends before the plate; braking from it takes longer, and would not."""
    motion, weak = (
        swing(1, 0.9, 1.0, begin=(0.0, -1.57, 0.0)),
        limits_of(acceleration=np.full(3, 5.3)),
    )
    end = 0.9 * np.cos(0.67) + 0.04
    around = Surroundings(collisions=collisions(tmp_path, wall(end + 0.035)))
    assert around.clearance(motion, LIMITS).kept
    found = around.clearance(motion, weak)
    assert not found.kept
    assert found.nearest.braking


GANTRY = """<robot name="gantry">
  <link name="base"/><link name="bridge">{mass}</link>
  <link name="tool">{mass}<collision><geometry><sphere radius="0.05"/></geometry></collision></link>
  <joint name="y" type="prismatic"><parent link="base"/><child link="bridge"/>
    <axis xyz="0 1 0"/><limit lower="-6" upper="6" effort="900" velocity="3"/></joint>
  <joint name="x" type="prismatic"><parent link="bridge"/><child link="tool"/>
    <axis xyz="1 0 0"/><limit lower="-6" upper="6" effort="900" velocity="3"/></joint>
</robot>"""
MASS = """<inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"""
WEAK = "{has_acceleration_limits: true, max_acceleration: 5, has_jerk_limits: true, max_jerk: 50}"
TURNS = {
    "y": [(1, 0.08), (0, 0.65), (-1, 0.08), (0, 0.3), (-1, 0.08), (0, 0.65), (1, 0.08)],
    "x": [
        *((0, 0.25), (1, 0.08), (0, 0.42), (-1, 0.18), (1, 0.1)),
        *((-1, 0.04), (0, 0.71), (1, 0.04), (0, 0.1)),
    ],
}
"""Jerks of both joints, in 48 m/s^3, and how long they last, in s."""


def test_braking_goes_further_where_the_jerk_changes_meanwhile(tmp_path):
    """Ordered to brake where the jerk changes its sign, a gantry ends within a post."""
    urdf, cell, limits = (tmp_path / name for name in ("gantry.urdf", "cell.yaml", "limits.yaml"))
    urdf.write_text(GANTRY.format(mass=MASS))
    limits.write_text(f"joint_limits: {{x: {WEAK}, y: {WEAK}}}\n")
    cell.write_text(
        "mounting: none\n"
        "obstacles: [{name: post, sphere: {radius: 0.02}, at: [1.667938, 2.862289, 0]}]\n"
    )
    robot = with_joint_limits(load_robot(urdf), limits)
    names, law = robot.joint_names, MotionLimits.of(robot)
    ends = [np.cumsum([seconds for _, seconds in TURNS[name]]) for name in names]
    times = np.unique(np.concatenate([[0.0], *ends]).round(9))
    middles = (times[:-1] + times[1:]) / 2.0
    jerks = [
        48.0 * np.array([sign for sign, _ in TURNS[name]])[np.searchsorted(end, middles)]
        for name, end in zip(names, ends, strict=True)
    ]
    motion = jerked(names, times, np.transpose(jerks))
    model = load_collision_model(urdf, robot, cell=cell)
    stop = _released(law, names, *(values[0] for values in motion.sample(0.86)))
    assert model.check.at(stop.positions[-1:], np.array([[0, 0]]))[0] < 0.0
    assert not Surroundings(collisions=model).clearance(motion, law).kept


def test_a_robot_that_may_be_off_its_reference_needs_more_room(tmp_path):
    motion = swing(1, -1.0, 4.0, begin=(0.0, 0.5, 0.0))
    off = np.array([0.0, 0.0, 0.0])
    assert clearance(tmp_path, motion, wall(TIP + 0.03), off).kept
    beside = swing(0, 0.5, 4.0, begin=(0.3, 0.0, 0.0))
    near = "obstacles: [{name: post, box: [2.0, 0.02, 2.0], at: [1.0, -0.1, 0.0]}]\n"
    assert clearance(tmp_path, beside, near, off).kept
    # The link is as far from the post at the base as it turns towards it; at -0.3 rad it hits it.
    assert clearance(tmp_path, beside, near, np.array([0.2, 0.0, 0.0])).kept
    assert not clearance(tmp_path, beside, near, np.array([0.6, 0.0, 0.0])).kept


def test_the_plane_that_the_robot_stands_on_counts(tmp_path):
    down = swing(1, 1.4, 5.0)
    cell = "obstacles: []\n"
    assert clearance(tmp_path, down, cell).kept
    (tmp_path / "low").mkdir()
    low = "keep_in: [{name: room, box: [4, 4, 1.0]}]\n"
    found = clearance(tmp_path / "low", down, low)
    assert not found.kept
    assert "room -z" in found.nearest.pair


BOXES = """
obstacles:
  - {{name: one, box: [0.3, 0.3, 0.3], at: [{0}, {1}, {2}]}}
  - {{name: two, box: [0.2, 0.6, 0.1], at: [{3}, {4}, {5}]}}
"""


@pytest.mark.parametrize("seed", range(6))
def test_no_posture_of_a_motion_that_is_kept_is_nearer_than_stated(tmp_path, seed):
    """Neither on the motion, at any speed, nor where it brakes; postures of their own."""
    rng = np.random.default_rng(seed)
    model = collisions(tmp_path, BOXES.format(*rng.uniform(-0.9, 0.9, 6).round(3)))
    around, kept = Surroundings(collisions=model), 0
    for _ in range(15):
        motion = random_motion(rng, LIMITS)
        if not around.clearance(motion, LIMITS).kept:
            continue
        kept += 1
        postures, few = moved(motion), slice(None, None, 4)
        found = distances(model, postures[few])
        near = found < 0.1  # farther than anything moves in between
        near[:-1] |= near[1:]
        close = postures[np.repeat(near, 4)[: len(postures)]]
        more = distances(model, np.vstack([close, braked(motion, rng, 20)]))
        assert min(found.min(), more.min()) >= 0.02
    assert kept > 0


def distances(model, postures):
    """Return (postures,) the exact distances of the nearest pairs."""
    rows = np.argwhere(np.ones((len(postures), len(model.scene.pairs)), dtype=bool))
    return model.check.at(postures, rows)[0].reshape(len(postures), -1).min(axis=1)


def moved(motion):
    return motion.sample(np.arange(0.0, motion.duration, 0.005))[0]


def braked(motion, rng, count):
    """Return postures on the way to rest, from random moments at random shares of the speed."""
    q, qd, _ = motion.sample(rng.uniform(0.0, motion.duration, count))
    qd = qd * rng.uniform(0.2, 1.0, (count, 1))
    time = braking_times(LIMITS, qd).max(axis=1, keepdims=True)
    s = np.linspace(0.0, 1.0, 20)[:, None, None]
    return (q + qd * np.maximum(time, 1e-9) * (s - s**3 + s**4 / 2.0)).reshape(-1, q.shape[1])


@pytest.mark.parametrize("seed", range(3))
def test_a_motion_that_is_free_with_a_centimetre_to_spare_is_rarely_refused(tmp_path, seed):
    rng = np.random.default_rng(seed)
    model = collisions(tmp_path, BOXES.format(*rng.uniform(-0.9, 0.9, 6).round(3)))
    around, free, refused = Surroundings(collisions=model), 0, 0
    for _ in range(40):
        motion = random_motion(rng, LIMITS)
        postures = np.vstack([moved(motion), braked(motion, rng, 40)])
        if model.check.margins(postures, np.zeros(3), 0.03, 0.03).min() < 0.03:
            continue
        free += 1
        refused += not around.clearance(motion, LIMITS).kept
    assert free > 3
    assert refused <= max(1, 0.05 * free)


def test_distances_over_one_joint_are_bounded_once_and_not_for_every_braking(tmp_path):
    """The hand ends a millimetre farther than wanted from a post on its own forearm."""
    post = "tools: [{name: post, link: link_2, box: [0.2, 0.02, 0.1], at: [0.62, -0.09, 0.2]}]\n"
    motion = swing(2, -1.282, 3.0, begin=(0.0, 0.0, 1.2))
    found = clearance(tmp_path, motion, post)
    assert found.kept
    assert set(found.nearest.pair) == {"hand", "post"}
    assert found.nearest.distance == pytest.approx(0.0215, abs=5e-4)
    assert found.cells <= 20, "of 15 to begin with; 29 where every braking is bounded by itself"
