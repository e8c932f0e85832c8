import numpy as np

import robot_identification as ri
from live_nodes import ROBOT, TRUTH
from made_up_contacts import pushed

SETTINGS = ri.ExternalEffortSettings(stick_speed=(1e-4,))
PUSH = np.array([0.0, -6.0])


def recorded(push, seed, begin=0.0, lost=()):
    """Return the recording of a motion with noise on its efforts, some samples of it lost."""
    motion = pushed(ROBOT, TRUTH, push, seconds=3.0, begin=begin)
    tau = motion.tau + 0.02 * np.random.default_rng(seed).normal(size=motion.tau.shape)
    kept = np.setdiff1d(np.arange(len(tau)), lost)
    time = (motion.stamps - motion.stamps[0]) * 1e-9
    return ri.Recording.from_arrays(
        ROBOT, time[kept], motion.q[kept], tau[kept], velocity=motion.qd[kept]
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
