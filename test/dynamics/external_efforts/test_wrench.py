from dataclasses import replace

import numpy as np
import pinocchio
import pytest

from random_robots import pinocchio_model, random_robot, random_values
from robot_identification.dynamics.external_efforts.wrench import WrenchEstimator, WrenchSettings
from robot_identification.errors import SettingError, ShapeError
from robot_identification.robot.joint import Joint, JointType
from robot_identification.robot.model import RobotModel
from robot_identification.robot.mounting import mounting, placed
from small_robots import pendulum

TOOL = [0.1, -0.05, 0.2], [0.3, -0.7, 1.1]


def serial(joints=7, seed=1):
    """Return a robot whose revolute joints carry each other, and its tool."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, joints)
    chain = tuple(
        replace(joint, antecedent=index - 1, type=JointType.REVOLUTE)
        for index, joint in enumerate(robot.joints)
    )
    robot = replace(robot, joints=chain)
    return robot, placed(mounting(robot, robot.joint_names[-1]), *TOOL)


def postures(joints, samples=20):
    return np.random.default_rng(0).uniform(-2.0, 2.0, (samples, joints))


def test_jacobians_are_those_of_pinocchio_on_random_trees():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        robot = random_robot(rng, 6, depth_first=True)
        last = robot.joint_names[-1]
        tool = placed(mounting(robot, last), *TOOL)
        model = pinocchio_model(pinocchio, robot, random_values(rng, robot))
        placement = pinocchio.SE3(tool.rotation, tool.translation)
        joint = model.getJointId(last)
        frame = model.addFrame(
            pinocchio.Frame("tool", joint, 0, placement, pinocchio.FrameType.OP_FRAME)
        )
        data = model.createData()
        q = postures(6, 5)
        found = WrenchEstimator(robot, tool).jacobians(q)
        for position, own in zip(q, found, strict=True):
            expected = pinocchio.computeFrameJacobian(
                model, data, position, frame, pinocchio.ReferenceFrame.LOCAL
            )
            np.testing.assert_allclose(own, expected, atol=1e-12)


def estimated(robot, tool, wrench, q, deviation=0.1, noise=0.0, **settings):
    """Return the wrenches that come back of one that acts."""
    estimator = WrenchEstimator(robot, tool, WrenchSettings(**settings))
    effort = np.einsum("scj,c->sj", estimator.jacobians(q), wrench)
    spread = np.broadcast_to(deviation, effort.shape)
    effort = effort + noise * spread * np.random.default_rng(1).normal(size=effort.shape)
    return estimator.estimate(np.arange(len(q)), q, effort, spread)


WRENCH = np.array([10.0, -4.0, 3.0, 0.5, -1.0, 0.2])


def test_a_wrench_comes_back_with_deviations_that_cover_its_errors():
    robot, tool = serial()
    q = postures(7, 2000)
    exact = estimated(robot, tool, WRENCH, q)
    assert exact.told.mean() > 0.9
    np.testing.assert_allclose(
        exact.wrench[exact.told], np.tile(WRENCH, (len(q), 1))[exact.told], atol=1e-6
    )
    noisy = estimated(robot, tool, WRENCH, q, noise=1.0)
    ratio = ((noisy.wrench - WRENCH) / noisy.deviation)[noisy.told]
    assert 0.9 < ratio.std() < 1.1


def test_joints_that_are_less_known_count_less():
    robot, tool = serial()
    q = postures(7)
    estimator = WrenchEstimator(robot, tool)
    effort = np.einsum("scj,c->sj", estimator.jacobians(q), WRENCH)
    effort[:, 2] += 5.0
    spread = np.full_like(effort, 1e-3)
    spread[:, 2] = 1e3
    found = estimator.estimate(np.arange(len(q)), q, effort, spread)
    assert found.told.any()
    off = (found.wrench - WRENCH)[found.told]
    assert np.abs(off).max() < 0.01


def test_what_the_joints_do_not_feel_is_not_told():
    # Two parallel axes in a plane: forces across them, and no six components.
    robot = scara_arm()
    tool = placed(mounting(robot, "elbow"), [0.4, 0.0, 0.0], [0.0, 0.0, 0.0])
    q = np.array([[0.3, 1.2], [0.3, 0.0]])  # bent, and stretched: nothing feels a pull there
    whole = estimated(robot, tool, np.zeros(6), q)
    assert not whole.told[0].any()
    assert whole.told[1].tolist() == [False, True, False, False, False, True]
    force = np.array([4.0, -3.0, 0.0, 0.0, 0.0, 0.0])
    found = estimated(robot, tool, force, q, force_only=True)
    assert found.told.tolist() == [
        [True, True, False, True, True, True],
        [False, True, False, True, True, True],
    ]
    np.testing.assert_allclose(found.wrench[0, :2], [4.0, -3.0], atol=1e-9)
    assert np.isnan(found.wrench[0, 2])
    assert np.isinf(found.deviation[0, 2])
    assert found.wrench[1, 1] == pytest.approx(-3.0)
    assert not found.wrench[:, 3:].any()  # by assumption
    # The nearer to the singular posture, the larger the deviation.
    near = estimated(
        robot,
        tool,
        force,
        np.array([[0.0, a] for a in (0.5, 0.1, 0.02)]),
        force_only=True,
        largest_deviation=1e3,
    )
    assert (np.diff(near.deviation[:, 0]) > 0.0).all()
    limited = estimated(robot, tool, force, np.array([[0.0, 0.001]]), force_only=True)
    assert not limited.told[0, 0]


def scara_arm():
    """Return two revolute joints about z, 0.5 m apart."""
    upright = {"type": JointType.REVOLUTE, "rotation": np.eye(3)}
    return RobotModel(
        name="planar",
        base_link="base",
        joints=(
            Joint(name="shoulder", link="upper", antecedent=-1, translation=np.zeros(3), **upright),
            Joint(
                name="elbow",
                link="fore",
                antecedent=0,
                translation=np.array([0.5, 0.0, 0.0]),
                **upright,
            ),
        ),
        gravity=np.array([0.0, 0.0, -9.81]),
    )


def test_wrong_shapes_are_refused():
    robot, tool = serial()
    found = WrenchEstimator(robot, tool)
    with pytest.raises(ShapeError, match="position"):
        found.jacobians(np.zeros((3, 6)))
    with pytest.raises(ShapeError, match="deviation"):
        found.estimate(np.arange(3), np.zeros((3, 7)), np.zeros((3, 7)), np.ones((3, 6)))


def test_a_frame_that_no_joint_moves_is_refused():
    robot = pendulum()
    nothing = replace(mounting(robot, robot.joint_names[0]), joint=-1)
    with pytest.raises(SettingError, match="moved by no joint"):
        WrenchEstimator(robot, nothing)
