"""What a robot in MuJoCo touches: what the certificate keeps apart, and nothing that it passes."""

import numpy as np
import pytest

from made_up_plans import random_plan
from robot_identification.collision.model import load_collision_model
from robot_identification.dynamics.simulation.mujoco import MujocoLoop
from robot_identification.dynamics.simulation.sensors import Sensors, SensorSettings
from robot_identification.errors import SettingError
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.motions.braking import brake
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.files.mujoco_models import mujoco_robot
from robot_identification.robot.files.loading import load_robot
from robot_identification.ros.simulation.robot import RobotSimulator

mujoco = pytest.importorskip("mujoco", reason="the package mujoco is not installed")
pytest.importorskip("coal", reason="the package coal is not installed")

UR10, VALUES = load_robot("ur10"), "ur10_simulated"
LIMITS = MotionLimits.of(UR10)
UPRIGHT = np.array([0.0, -1.3, 1.2, -0.6, -1.5, 0.0])
RATE = 100.0
TRACKING = 0.03  # rad, more than the controller of this robot is ever off
SHAPES = """
mounting: {wall: -x}
obstacles:
  - {name: box, box: [0.2, 0.3, 0.1], at: [0.8, 0.5, 0.4], rpy: [0.3, 0.2, 0.1]}
  - {name: post, cylinder: {radius: 0.05, length: 0.6}, at: [0.6, -0.6, 0.3]}
  - {name: ball, sphere: {radius: 0.1}, at: [0.3, 0.9, 0.2]}
"""
POST = "obstacles: [{name: post, box: [0.1, 0.1, 3.0], at: [-0.42, -0.64, 0]}]\n"


@pytest.fixture
def described(tmp_path):
    """Return what makes the collision model of the UR10 in a cell."""

    def make(cell):
        path = tmp_path / "cell.yaml"
        path.write_text(cell)
        return load_collision_model("ur10", UR10, cell=path)

    return make


def loop_of(model, *, contacts=True):
    """Return MuJoCo's model of the UR10 with the bodies of a collision model, and the loop."""
    compiled, drives = mujoco_robot(UR10, "ur10", values=VALUES, scene=model.scene)
    return compiled, MujocoLoop(UR10, compiled, drives, sample_rate_hz=RATE, contacts=contacts)


def turned(angle):
    """Return a motion in which the first joint turns, from rest to rest."""
    positions = np.tile(UPRIGHT, (2, 1))
    positions[1, 0] += angle
    still = np.zeros_like(positions)
    return Trajectory(UR10.joint_names, np.array([0.0, 3.0]), positions, still, still)


def test_mujoco_and_the_certificate_measure_the_same_distances(described):
    model = described(SHAPES)
    compiled, _ = loop_of(model)
    names = [f"{body.link} [{number}]" for number, body in enumerate(model.scene.bodies)]
    pairs = [tuple(compiled.geom(names[i]).id for i in pair) for pair in model.scene.pairs]
    looked_at = zip(compiled.pair_geom1.tolist(), compiled.pair_geom2.tolist(), strict=True)
    assert {frozenset(pair) for pair in looked_at} == {frozenset(pair) for pair in pairs}
    data, rng = mujoco.MjData(compiled), np.random.default_rng(0)
    postures = rng.uniform(-2.0, 2.0, (60, len(model.robot.joints)))
    rows = np.argwhere(np.ones((len(postures), len(pairs)), dtype=bool))
    expected = model.check.at(postures, rows)[0].reshape(len(postures), len(pairs))
    touched = 0
    for posture, ours in zip(postures, expected, strict=True):
        for name, position in zip(model.robot.joint_names, posture, strict=True):
            data.joint(name).qpos = position
        mujoco.mj_forward(compiled, data)
        theirs = np.array(
            [mujoco.mj_geomDistance(compiled, data, a, b, 10.0, None) for a, b in pairs]
        )
        apart = ours > 0.0
        np.testing.assert_allclose(theirs[apart], ours[apart], atol=1e-5)
        assert (data.ncon > 0) == (ours.min() < 0.0)
        touched += data.ncon > 0
    assert 0 < touched < len(postures)


def simulated(loop, position):
    """Return the robot at rest, without noise."""
    sensors = Sensors(UR10, SensorSettings(*[(0.0,) * 6] * 4), 0)
    return RobotSimulator(loop, sensors, position)


def test_a_motion_that_collides_touches_and_is_held_up(described):
    _, loop = loop_of(described(POST))
    robot = simulated(loop, UPRIGHT)
    assert loop.contacts.count == 0
    robot.follow(turned(1.6), None)
    last = robot.produce(350).position[-1, 0]
    assert loop.contacts.count >= 1
    assert "post" in str(loop.contacts.first)
    assert loop.contacts.smallest <= 0.0
    assert last < 1.2, "the post is in the way"
    simulated(loop, UPRIGHT)
    assert loop.contacts.count == 0
    assert loop.contacts.first is None


def test_without_contacts_the_robot_passes_through(described):
    _, loop = loop_of(described(POST), contacts=False)
    robot = simulated(loop, UPRIGHT)
    robot.follow(turned(1.6), None)
    assert robot.produce(350).position[-1, 0] == pytest.approx(1.6, abs=TRACKING)
    assert loop.contacts is None


def certified_motions(model, count):
    """Return random motions that the certificate passes, for a robot that may be off."""
    rng = np.random.default_rng(0)
    around = Surroundings(collisions=model, off=np.full(6, TRACKING))
    found = []
    while len(found) < count:
        whole, share = random_plan(UR10, rng, points=3), rng.uniform(0.1, 0.4)
        motion = Trajectory(
            whole.joint_names,
            whole.times,
            (1.0 - share) * UPRIGHT + share * whole.positions,
            share * whole.velocities,
            share * whole.accelerations,
        )
        if around.clearance(motion, LIMITS).kept:
            found.append(motion)
    return found


@pytest.mark.slow
def test_certified_motions_and_their_braking_touch_nothing(described):
    model = described(POST)
    _, loop = loop_of(model)
    for motion, share in zip(certified_motions(model, 2), (1.0, 0.6), strict=True):
        robot = simulated(loop, motion.positions[0])
        robot.follow(motion, 0.0)
        moved = robot.produce(round(RATE * share * motion.duration)).position
        now = robot.next_sample / RATE
        place, speed, _ = (x[0] for x in motion.sample(now))
        braking = brake(LIMITS, motion.joint_names, place, speed)
        robot.follow(braking, now)
        robot.produce(round(RATE * braking.duration) + 20)
        reference = motion.sample(np.arange(len(moved)) / RATE)[0]
        assert np.abs(moved - reference).max() < TRACKING
        assert loop.contacts.count == 0, loop.contacts.first
        assert loop.contacts.smallest >= model.clearance, loop.contacts.nearest


MJCF = """
<mujoco><worldbody>
  <geom name="floor" type="plane" size="0 0 1"/>
  <body pos="{away} 0 0"><geom size="0.1" mass="1"/><joint name="hinge" axis="0 0 1"/></body>
</worldbody></mujoco>
"""
ROBOT = """
name: post
effort_meaning: joint_torque
joints: [{name: hinge, type: revolute, geometry: {r: 0}}]
controller: {law: pid, rate_hz: 1000, gains: {kp: [50], kd: [20]}}
cell: {links: [{link: link_1, sphere: {radius: 0.1}, at: [0, 0, 0.3]}]}
"""


def test_a_model_of_its_own_gets_the_bodies_where_its_base_is_that_of_the_robot(tmp_path):
    source, path = tmp_path / "robot.yaml", tmp_path / "model.xml"
    source.write_text(ROBOT)
    robot = load_robot(source)
    scene = load_collision_model(source, robot).scene
    path.write_text(MJCF.format(away=0))
    compiled, _ = mujoco_robot(robot, source, model=str(path), scene=scene)
    data = mujoco.MjData(compiled)
    mujoco.mj_forward(compiled, data)
    assert data.ncon == 0, "the model's own shapes overlap, and take no part"
    assert compiled.body_mass[1] == 1.0, "bodies of the scene have no mass"
    path.write_text(MJCF.format(away=0.1))
    with pytest.raises(SettingError, match="its base frame"):
        mujoco_robot(robot, source, model=str(path), scene=scene)
