"""Plans move one joint at a time, inside the limits, and say what they cannot tell."""

from dataclasses import replace

import numpy as np
import pytest

from made_up_cells import collisions
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import (
    CancelledError,
    MissingLimitError,
    NotCertifiedError,
    SettingError,
)
from robot_identification.excitation.certification.certificate import certify
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.one_joint.plan import plan_one_joint
from robot_identification.excitation.one_joint.settings import OneJointSettings
from robot_identification.identification.one_joint.conversion import JointwiseParameters
from robot_identification.robot.experiment import Workspace
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.joint import JointLimits
from serial_robots import BRANCHES, with_limits


@pytest.fixture(scope="module")
def stanford():
    robot = load_robot("stanford")
    return robot, plan_one_joint(robot)


def limited(robot, joint, **limits):
    """Return a robot one of whose joints has other limits."""
    joints = list(robot.joints)
    joints[joint] = replace(joints[joint], limits=replace(joints[joint].limits, **limits))
    return replace(robot, joints=tuple(joints))


def test_every_constant_of_the_stanford_arm_is_told_by_the_published_steps(stanford):
    robot, plan = stanford
    parameters = JointwiseParameters.of(robot)
    told = [name for block in plan.blocks for name in block.names]
    assert sorted(told) == sorted(parameters.names)
    assert [block.joint for block in plan.blocks] == [5, 4, 3, 2, 1, 0]
    equations = {block.joint + 1: set(block.equations) for block in plan.blocks}
    assert equations[6] == equations[5] == equations[4] == {"56"}
    assert equations[2] == {"56", "58"}, "joint 2 is always across joint 1"
    assert equations[1] == {"58"}
    assert "57, 61" in equations[3]
    moving = {run.experiment.motion.moving for run in plan.schedule}
    assert moving <= {0, 1, 2}


def axis_seen_by_the_measured_joint(experiment, chain):
    orientation, _ = chain.frames(experiment.posture)
    measured, moving = experiment.motion.measured, experiment.motion.moving
    return orientation[measured].T @ orientation[moving][:, 2]


def test_axes_are_spread_and_small_systems_well_conditioned(stanford):
    robot, plan = stanford
    chain = JointwiseParameters.of(robot).constants.chain
    assert plan.condition_number < 10.0  # the published postures give 117 to 175
    for block in plan.blocks[:3]:
        axes = np.array([axis_seen_by_the_measured_joint(e, chain) for e in block.experiments])
        np.testing.assert_allclose(np.linalg.norm(axes, axis=1), 1.0)
        assert len(axes) >= 3, "each posture gives three equations for seven constants"
        assert np.ptp(axes, axis=0).min() > 0.3


def test_one_joint_moves_and_the_others_hold(stanford):
    _, plan = stanford
    for run in plan.schedule:
        times = np.linspace(run.begin, run.end, 200)
        q, qd, _ = plan.trajectory.sample(times)
        moving = run.experiment.motion.moving
        others = np.arange(q.shape[1]) != moving
        np.testing.assert_allclose(q[0], run.experiment.posture, atol=1e-9)
        np.testing.assert_allclose(q[-1], run.experiment.posture, atol=1e-9)
        assert np.abs(qd[:, moving]).max() > 0.1
        assert np.abs(qd[:, others]).max() < 1e-9
    assert [run.begin for run in plan.schedule] == sorted(run.begin for run in plan.schedule)


def test_the_certificate_is_that_of_any_trajectory(stanford):
    robot, plan = stanford
    again = certify(robot, plan.trajectory, start=plan.trajectory.positions[0])
    assert again.passed
    assert again.digest == plan.certificate.digest
    first, *_, last = plan.trajectory.positions
    np.testing.assert_allclose(first, last, atol=1e-12)


def test_a_plan_goes_on_from_any_experiment(stanford):
    robot, plan = stanford
    for number, run in enumerate(plan.schedule):
        rest = plan.since(number)
        assert rest.times[0] == 0.0
        assert rest.duration == pytest.approx(plan.trajectory.duration - run.begin)
        assert certify(robot, rest, start=run.experiment.posture).passed
    with pytest.raises(SettingError, match="number"):
        plan.since(len(plan.schedule))


def test_a_joint_with_coulomb_friction_creeps_both_ways_while_it_is_read():
    robot = load_robot("ur10")
    plan = plan_one_joint(robot)
    slow = {joint: plan.settings.slow * robot.joints[joint].limits.velocity for joint in range(6)}
    crept = 0
    for run in plan.schedule:
        motion = run.experiment.motion
        times = np.linspace(run.begin, run.end, 2000)
        _, qd, qdd = plan.trajectory.sample(times)
        held = [j for j in range(6) if j not in (motion.moving, motion.measured)]
        assert np.abs(qd[:, held]).max() < 1e-9
        if motion.moving == motion.measured:
            own = qd[:, motion.moving]
            for sign in (1.0, -1.0):  # slow motion in both directions tells friction
                steady = (sign * own > 0.0) & (np.abs(qdd[:, motion.moving]) < 1e-9)
                assert np.allclose(np.abs(own[steady]), slow[motion.moving])
                assert steady.any()
            continue
        crept += 1
        assert motion.creeps
        fast = np.abs(qd[:, motion.moving]) > 1e-6
        creeping = np.abs(qd[fast, motion.measured])
        assert creeping.min() > 0.2 * slow[motion.measured]
        assert creeping.max() <= slow[motion.measured] + 1e-9
        assert qd[fast, motion.measured].max() > 0.0 > qd[fast, motion.measured].min()
    assert crept >= 10


def test_a_locked_joint_leaves_constants_missing_and_says_so():
    plan = plan_one_joint(load_robot("puma560"), OneJointSettings(locked=("joint_5",)))
    blocks = {block.joint: block for block in plan.blocks}
    assert "Ia5" in blocks[4].missing
    assert "joint_5 is locked" in blocks[4].reason
    assert {one.name for one in plan.unidentified} == {
        name for block in plan.blocks for name in block.missing
    }
    assert "Ia5" in plan.unknown
    assert "ZZ1R" not in plan.unknown
    moved = np.ptp(plan.trajectory.positions, axis=0)
    assert moved[4] == 0.0
    assert (moved[:4] > 0.0).all()
    assert all(not block.reason for block in plan.blocks if not block.missing)


def test_a_locked_joint_stays_at_the_end_of_its_range():
    robot = load_robot("scara")
    limits = MotionLimits.of(robot)
    start = np.array([limits.middle[0], limits.upper[1]])
    plan = plan_one_joint(robot, OneJointSettings(start=start, locked=(robot.joint_names[1],)))
    assert plan.certificate.passed
    assert np.ptp(plan.trajectory.positions[:, 1]) == 0.0
    assert plan.trajectory.positions[0, 1] == limits.upper[1]


def test_a_joint_without_room_counts_as_locked():
    robot = limited(load_robot("stanford"), 1, lower=-1e-3, upper=1e-3)
    plan = plan_one_joint(robot)
    block = next(block for block in plan.blocks if block.joint == 1)
    assert "U33_2" in block.missing
    assert "joint_2 has a range of 0.002" in block.reason


def test_narrow_ranges_shorten_the_steps(stanford):
    robot, wide = stanford
    for joint in range(6):
        robot = limited(robot, joint, lower=-0.15, upper=0.15)
    plan = plan_one_joint(robot)
    assert not plan.unidentified
    assert plan.certificate.passed
    assert plan.condition_number > 2.0 * wide.condition_number
    strict = plan_one_joint(robot, OneJointSettings(worst_condition=1.2))
    assert strict.unidentified
    assert "widen the position limits" in next(b.reason for b in strict.blocks if b.missing)


def test_nothing_can_move():
    robot = load_robot("scara")
    with pytest.raises(NotCertifiedError, match="joint_1 is locked"):
        plan_one_joint(robot, OneJointSettings(locked=robot.joint_names))


def test_small_motion_stays_small(stanford):
    robot, _ = stanford
    settings = OneJointSettings(travel=0.05, stroke=0.01, spread=0.3, reach=0.2)
    plan = plan_one_joint(robot, settings)
    rotational = [0, 1, 3, 4, 5]
    assert np.abs(plan.trajectory.positions[:, rotational]).max() < 0.4
    assert not plan.unidentified


def test_joints_can_go_singly_all_the_time(stanford):
    robot, together = stanford
    plan = plan_one_joint(robot, OneJointSettings(moves="singly"))
    assert plan.certificate.passed
    assert not plan.unidentified
    _, qd, _ = plan.trajectory.sample(np.arange(0.0, plan.trajectory.duration, 0.003))
    assert (np.count_nonzero(np.abs(qd) > 1e-9, axis=1) <= 1).all()
    assert plan.trajectory.duration > together.trajectory.duration


def test_postures_avoid_obstacles(tmp_path):
    pytest.importorskip("coal", reason="the package coal is not installed")
    behind = "obstacles: [{name: wall, box: [0.1, 4.0, 4.0], at: [-0.5, 0.0, 0.0]}]\n"
    around = Surroundings(collisions=collisions(tmp_path, behind))
    plan = plan_one_joint(load_robot("three_dof"), surroundings=around)
    assert plan.certificate.results["obstacles"]


def test_a_box_of_the_tool_that_is_large_enough_is_kept():
    robot = load_robot("three_dof")
    boxed = replace(robot, workspace=Workspace((-9.0, -9.0, -9.0), (9.0, 9.0, 9.0)))
    assert plan_one_joint(boxed).certificate.results["tool"]


def test_too_large_efforts_slow_the_motion_and_its_schedule():
    robot = with_limits(BRANCHES["always across r"](np.random.default_rng(0)))
    values = np.zeros((3, 14))
    values[:, [0, 3, 5, 11]] = 0.1, 0.1, 0.1, 20.0  # viscous friction asks for slower motion
    around = Surroundings(prior=values.ravel())
    quick = plan_one_joint(robot, surroundings=around)
    motion = quick.trajectory.sample(np.arange(0.0, quick.trajectory.duration, 0.01))
    largest = np.abs(inverse_dynamics(robot, values.ravel(), *motion)).max(axis=0)
    for joint in range(3):
        robot = limited(robot, joint, effort=0.8 * largest[joint])
    slow = plan_one_joint(robot, surroundings=around)
    assert slow.certificate.results["effort"]
    assert slow.trajectory.duration > 1.05 * quick.trajectory.duration
    last = slow.schedule[-1]
    place, _, _ = slow.trajectory.sample([last.begin, last.end])
    np.testing.assert_allclose(place, [last.experiment.posture] * 2, atol=1e-9)


def test_same_seed_same_plan_and_other_seed_another(stanford):
    robot, plan = stanford
    assert plan_one_joint(robot).certificate.digest == plan.certificate.digest
    other = plan_one_joint(robot, OneJointSettings(seed=1))
    assert other.certificate.digest != plan.certificate.digest


def test_what_cannot_be_planned_is_refused(stanford):
    robot, _ = stanford
    with pytest.raises(SettingError, match="no joint has this name"):
        plan_one_joint(robot, OneJointSettings(locked=("elbow",)))
    with pytest.raises(MissingLimitError):
        plan_one_joint(limited(robot, 2, acceleration=None))
    with pytest.raises(CancelledError):
        plan_one_joint(robot, cancelled=lambda: True)
    stages = []
    plan_one_joint(load_robot("scara"), progress=lambda stage, done: stages.append((stage, done)))
    assert [done for _, done in stages] == [0.0, 0.5]
    for wrong in (
        {"profile": "sine"}, {"moves": "at once"}, {"travel": 0.0}, {"share": 1.5},
        {"postures": 0}, {"candidates": 1}, {"worst_condition": 1.0},
        {"seed": -1}, {"pause": float("nan")},
    ):  # fmt: skip
        with pytest.raises(SettingError):
            OneJointSettings(**wrong)


def test_jerk_limits_are_kept():
    robot = with_limits(BRANCHES["translation behind s"](np.random.default_rng(2)))
    joints = [
        replace(j, limits=JointLimits(-2.5, 2.5, velocity=2.0, acceleration=8.0, jerk=80.0))
        for j in robot.joints
    ]
    robot = replace(robot, joints=tuple(joints))
    for profile in ("quintic", "damped"):
        plan = plan_one_joint(robot, OneJointSettings(profile=profile))
        assert plan.certificate.results["jerk"]


def test_moves_end_slowly_where_a_joint_with_a_jerk_limit_begins_near_its_end():
    """Such a joint goes on beyond the posture that it comes to rest at, where it is braked."""
    robot = limited(
        load_robot("emps"), 0, lower=-0.001, upper=0.5, velocity=1.0, acceleration=2.0, jerk=10.0
    )
    plan = plan_one_joint(robot, OneJointSettings(start=np.zeros(1)))
    assert plan.certificate.results["braking"]


@pytest.mark.parametrize(
    ("profile", "jerk"), [("quintic", 5.0), ("quintic", 30.0), ("damped", 20.0)]
)
def test_points_at_whole_nanoseconds_keep_the_jerk_limits_too(profile, jerk):
    """What a controller makes of the published points has a jerk that differs a little."""
    robot = load_robot("scara")
    joints = tuple(replace(j, limits=replace(j.limits, jerk=jerk)) for j in robot.joints)
    found = plan_one_joint(replace(robot, joints=joints), OneJointSettings(profile=profile))
    assert found.certificate.results["interpolation"]
    assert len(found.schedule) == 5
