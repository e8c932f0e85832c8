from dataclasses import replace

import numpy as np
import pytest

import robot_identification as ri
from live_nodes import ROBOT, TRUTH
from made_up_contacts import planar_arm, planar_force, pushed
from robot_identification.robot.files.urdf.prior import urdf_prior

SETTINGS = ri.ExternalEffortSettings(stick_speed=(1e-4,))
PUSH = np.array([0.0, -6.0])


def recorded(push, seed, begin=0.0, lost=(), robot=ROBOT, values=TRUTH):
    """Return the recording of a motion with noise on its efforts, some samples of it lost."""
    motion = pushed(robot, values, push, seconds=3.0, begin=begin)
    tau = motion.tau + 0.02 * np.random.default_rng(seed).normal(size=motion.tau.shape)
    kept = np.setdiff1d(np.arange(len(tau)), lost)
    time = (motion.stamps - motion.stamps[0]) * 1e-9
    return ri.Recording.from_arrays(
        robot, time[kept], motion.q[kept], tau[kept], velocity=motion.qd[kept]
    )


def test_contacts_of_a_recording_have_joint_effort_and_time():
    free = recorded(0.0 * PUSH, 0)
    run = recorded(PUSH, 1, begin=2.5, lost=[700, 701, 1400])
    found = ri.external_joint_efforts(ROBOT, TRUTH, run, free_motion=free, settings=SETTINGS)
    (contact,) = found.contacts
    assert contact.joint == ROBOT.joint_names[1]
    assert abs((contact.stamp - run.start_stamp) * 1e-9 - 2.5) < 0.03
    np.testing.assert_allclose(found.effort[-1], PUSH, atol=0.3)
    assert (np.abs(found.effort[-1]) > found.threshold[-1]).tolist() == [False, True]
    assert len(found.stamps) == len(found.effort) == len(found.threshold) == 2997


def test_without_free_motion_there_are_efforts_and_no_contacts():
    found = ri.external_joint_efforts(ROBOT, TRUTH, recorded(PUSH, 1), settings=SETTINGS)
    np.testing.assert_allclose(found.effort[-1], PUSH, atol=0.3)
    assert np.isinf(found.threshold).all()
    assert not found.contacts
    with pytest.raises(ri.SettingError, match="free_motion"):
        ri.external_wrench(ROBOT, found, ROBOT.joint_names[-1])


@pytest.mark.parametrize("measured", [1.0, 0.0])
def test_a_run_in_parts_is_no_free_motion_for_itself(measured):
    """Nothing is learned from it, however long it is: nobody has said that it is free."""
    run = recorded(PUSH, 1, begin=1.0, lost=np.arange(2000, 2300))
    run = replace(run, segments=tuple(replace(s, effort=measured * s.effort) for s in run.segments))
    settings = replace(SETTINGS, learning_time=1.0)
    found = ri.external_joint_efforts(ROBOT, TRUTH, run, settings=settings)
    assert len(run.segments) == 2
    assert np.isinf(found.threshold).all()
    assert not found.contacts


@pytest.mark.parametrize("which", ["run", "free_motion"])
def test_thresholds_learned_with_velocities_are_not_taken_without(which):
    runs = {"run": recorded(PUSH, 1), "free_motion": recorded(0.0 * PUSH, 0)}
    (segment,) = runs[which].segments
    runs[which] = replace(runs[which], segments=(replace(segment, velocity=None),))
    with pytest.raises(ri.SettingError, match="do not hold without"):
        ri.external_joint_efforts(ROBOT, TRUTH, settings=SETTINGS, **runs)


def test_a_robot_that_stands_tells_no_thresholds_of_motion():
    free = recorded(0.0 * PUSH, 0)
    still = [
        replace(s, position=0.0 * s.position, velocity=0.0 * s.velocity) for s in free.segments
    ]
    with pytest.raises(ri.RecordingError, match="no joint moves in the free motion"):
        ri.external_joint_efforts(
            ROBOT, TRUTH, free, free_motion=replace(free, segments=tuple(still)), settings=SETTINGS
        )


def test_the_wrench_of_a_recording_has_the_components_that_the_joints_feel(tmp_path):
    path = planar_arm(tmp_path)
    robot = ri.load_robot(path, effort_meaning="joint_torque")
    values = urdf_prior(path, robot)
    push = np.array([3.0, -6.0])
    free, run = (recorded(p, 0, robot=robot, values=values) for p in (0.0 * push, push))
    efforts = ri.external_joint_efforts(robot, values, run, free_motion=free, settings=SETTINGS)
    force = ri.WrenchSettings(force_only=True)
    found = ri.external_wrench(path, efforts, "tool", settings=force)
    assert found.wrench.shape == found.deviation.shape == (len(efforts.stamps), 6)
    bent = np.abs(np.sin(efforts.position[:, 1])) > 0.1
    bent[:500] = False
    assert found.told[bent].all(axis=0).tolist() == [True, True, False, True, True, True]
    expected = [planar_force(q, push) for q in efforts.position[bent]]
    assert np.median(np.abs(found.wrench[bent, :2] - expected)) < 0.3
    assert np.isnan(found.wrench[bent, 2]).all()
    assert not ri.external_wrench(path, efforts, "tool").told[bent].any()
    with pytest.raises(ri.ResultMismatchError, match="those of the joints shoulder, elbow"):
        ri.external_wrench(ROBOT, efforts, ROBOT.joint_names[-1])
