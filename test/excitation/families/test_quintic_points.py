"""Motions through points of joints whose jerk is limited, which need room to brake."""

import numpy as np
import pytest

from robot_identification.errors import NotCertifiedError
from robot_identification.excitation.families.quintic_points import fit
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.timing import leaves_limits
from robot_identification.excitation.objective.curve import Points

NAMES = ("jerky", "sudden")


def limits(jerk):
    """Return the limits of two joints, of which the first has a limit of jerk."""
    columns = ([-1.0, -1.0], [1.0, 1.0], [2.0, 2.0], [10.0, 10.0], [jerk, np.inf], [np.inf] * 2)
    return MotionLimits(*map(np.array, columns))


def through(places, posture=0.0):
    """Return points at which both joints rest, between rests at a posture."""
    positions = np.repeat([[posture], *([place] for place in places), [posture]], 2, axis=1)
    return Points(positions, np.zeros_like(positions), np.ones(len(positions) - 1))


@pytest.mark.parametrize("duration", [None, 3.0])
def test_points_at_a_limit_are_drawn_in_as_far_as_a_joint_needs_to_brake(duration):
    wanted, kept = through([1.0, -1.0]), limits(20.0)
    motion, reduced = fit(wanted, kept, duration, NAMES)
    assert reduced
    assert not leaves_limits(motion, kept).any()
    share = motion.positions[1:-1, 0] / wanted.positions[1:-1, 0]
    assert share[0] == pytest.approx(share[1])
    assert 0.8 < share[0] < 0.999
    np.testing.assert_array_equal(motion.positions[:, 1], wanted.positions[:, 1])


def test_points_with_room_and_joints_without_a_limit_of_jerk_stay_as_they_are():
    wanted = through([0.8, -0.7])
    for kept in (limits(1000.0), limits(np.inf)):
        motion, reduced = fit(wanted, kept, 3.0, NAMES)
        assert not reduced
        np.testing.assert_array_equal(motion.positions, wanted.positions)
    motion, _ = fit(through([1.0, -1.0]), limits(np.inf), 3.0, NAMES)
    np.testing.assert_array_equal(motion.positions, through([1.0, -1.0]).positions)


def test_a_start_without_room_is_refused_and_no_motion_made_of_nothing():
    with pytest.raises(NotCertifiedError, match="jerky cannot pass its points"):
        fit(through([0.5, -0.5], posture=1.0), limits(20.0), 3.0, NAMES)
