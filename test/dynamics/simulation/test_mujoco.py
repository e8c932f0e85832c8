"""The closed loop whose motion MuJoCo computes, beside the one whose motion we compute."""

import sys

import numpy as np
import pytest

from robot_identification.dynamics.reference import hold
from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.dynamics.simulation.mujoco import MujocoLoop
from robot_identification.errors import (
    MissingPackageError,
    RobotDescriptionError,
    SettingError,
    SimulationError,
)
from robot_identification.excitation.motions.random_points import (
    RandomPointsSettings,
    random_points,
)
from robot_identification.files.mujoco_models import mujoco_robot
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values

pytest.importorskip("mujoco")

RATE = 500.0
UR10 = load_robot("ur10")
TRUTH = load_values("ur10_simulated", UR10)
ONE_JOINT = """
name: pendulum
effort_meaning: joint_torque
joints: [{name: hinge, type: revolute, geometry: {r: 0}, limits: {effort: 50}}]
controller: {law: pid, rate_hz: 2000, gains: {kp: [5000], kd: [200]}}
"""
MJCF = """
<mujoco><option gravity="0 0 0"/><worldbody><body>
  <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
  <joint name="hinge" axis="0 0 1" armature="0.5" damping="2" frictionloss="3"/>
</body></worldbody>
<actuator><position joint="hinge" kp="1000"/></actuator></mujoco>
"""


def loop_of(name="ur10", values="ur10_simulated", **settings):
    robot = load_robot(name)
    return MujocoLoop(robot, *mujoco_robot(robot, name, values=values), **settings)


@pytest.fixture
def pendulum(tmp_path):
    """Return what makes the loop of one hinge that an MJCF file describes."""
    (tmp_path / "robot.yaml").write_text(ONE_JOINT)
    (tmp_path / "model.xml").write_text(MJCF)

    def make(**settings):
        path = tmp_path / "robot.yaml"
        robot = load_robot(path)
        model, drives = mujoco_robot(robot, path, model=str(tmp_path / "model.xml"))
        return MujocoLoop(robot, model, drives, **settings)

    return make


def swing(frequency=0.5, amplitude=0.6, seconds=6.0):
    """Return the reference of a swinging hinge, and its times."""
    from robot_identification.dynamics.reference import through

    times = np.arange(0.0, seconds, 0.01)
    return through(times, amplitude * (1.0 - np.cos(2 * np.pi * frequency * times))[:, None])


def test_mujoco_and_we_compute_the_same_motion():
    settings = RandomPointsSettings(points=4, draws=1, reach=0.1, seed=1)
    motion = random_points(UR10, settings, np.zeros(6)).trajectory
    steps = round(motion.duration * 1000)
    ours = ClosedLoop(UR10, TRUTH, sample_rate_hz=RATE)
    theirs = loop_of(sample_rate_hz=RATE, friction_time=0.001)
    _, expected = ours.advance(ours.settled(np.zeros(6)), motion.reference, steps)
    _, found = theirs.advance(theirs.settled(np.zeros(6)), motion.reference, steps)
    np.testing.assert_array_equal(found.time, expected.time)
    assert np.ptp(expected.position, axis=0).min() > 0.1
    np.testing.assert_allclose(found.position, expected.position, atol=2e-3)
    share = np.linalg.norm(found.effort - expected.effort) / np.linalg.norm(expected.effort)
    assert share < 0.02


def test_the_way_it_is_cut_changes_nothing():
    loop = loop_of(sample_rate_hz=RATE)
    begin = loop.settled(np.zeros(6))
    reference = hold(np.full(6, 0.3))
    _, whole = loop.advance(begin, reference, 200)
    middle, first = loop.advance(begin, reference, 77)
    loop.advance(begin, hold(np.ones(6)), 50)  # another future in between
    _, second = loop.advance(middle, reference, 123)
    for name in ("time", "position", "velocity", "effort"):
        parts = np.concatenate([getattr(first, name), getattr(second, name)])
        np.testing.assert_array_equal(parts, getattr(whole, name))


def test_drives_of_the_parameters_take_the_place_of_the_models():
    drives = loop_of().drives()
    own = TRUTH.reshape(6, 14)
    for column, name in enumerate(("Ia", "Fv", "Fc", "off"), start=10):
        np.testing.assert_array_equal(drives.of(name), own[:, column])


def test_a_mjcf_file_brings_its_own_drives_and_its_actuators_rest(pendulum):
    drives = pendulum().drives()
    assert [float(drives.of(name)[0]) for name in ("Ia", "Fv", "Fc")] == [0.5, 2.0, 3.0]
    loop = pendulum()
    _, samples = loop.advance(loop.settled([0.0]), hold([0.0]), 100)
    np.testing.assert_allclose(samples.effort, 0.0, atol=1e-9)


@pytest.mark.parametrize(("friction_time", "lead"), [(None, 9.5e-3), (2e-3, 0.95e-3)])
def test_frictionloss_is_coulomb_friction_that_turns_early(pendulum, friction_time, lead):
    """Friction turns when a + b v does, with b = 2 / (0.95 friction_time), so 1 / b early."""
    loop = pendulum(friction_time=friction_time)
    reference = swing()
    _, samples = loop.advance(loop.settled([0.0]), reference, 10_000)
    v = samples.velocity[:, 0]
    a = np.gradient(v, loop.sample_period)
    friction = samples.effort[:, 0] - 1.5 * a - 2.0 * v
    sliding = np.abs(v) > 0.2
    np.testing.assert_allclose(friction[sliding], 3.0 * np.sign(v[sliding]), atol=0.05)
    inner = (samples.time > 0.5) & (samples.time < 4.5)
    turns = {
        name: samples.time[1:][inner[1:] & (np.diff(np.sign(signal)) != 0)]
        for name, signal in (("velocity", v), ("friction", friction))
    }
    assert len(turns["velocity"]) == len(turns["friction"]) == 4
    found = turns["velocity"] - turns["friction"]
    np.testing.assert_allclose(found, lead, atol=1.5e-3)


def test_what_does_not_fit_is_refused(tmp_path):
    with pytest.raises(SettingError, match="couplings"):
        loop_of("tx40", "tx40_simulated")
    with pytest.raises(SettingError, match="bodies are unknown"):
        loop_of(values="")
    (tmp_path / "other.xml").write_text(MJCF)
    with pytest.raises(SettingError, match="must have the joints of ur10"):
        MujocoLoop(UR10, *mujoco_robot(UR10, "ur10", model=str(tmp_path / "other.xml")))
    (tmp_path / "bad.xml").write_text("<mujoco><worldbody><bodi/></worldbody></mujoco>")
    with pytest.raises(RobotDescriptionError, match="MuJoCo refuses it"):
        mujoco_robot(UR10, "ur10", model=str(tmp_path / "bad.xml"))
    (tmp_path / "none.xml").write_text("<sdf/>")
    with pytest.raises(RobotDescriptionError, match="neither <robot> of a URDF nor <mujoco>"):
        mujoco_robot(UR10, "ur10", model=str(tmp_path / "none.xml"))
    with pytest.raises(SettingError, match="must divide"):
        loop_of(sample_rate_hz=300.0)


def test_a_motion_that_breaks_down_is_told(pendulum):
    loop = pendulum()
    state = loop.at_rest([0.0])
    with pytest.raises(SimulationError, match="became infinite"):
        loop.advance(state, hold([0.0]), 10, extra=[np.nan])


def test_without_mujoco_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'robot_identification\[mujoco\]'"):
        loop_of()
