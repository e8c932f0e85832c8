"""Steps, sweeps, and how they are put together."""

import numpy as np
import pytest

from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.timing import motion_extrema
from robot_identification.excitation.one_joint import motions
from stanford_arm import step


def limits(velocity=2.0, acceleration=8.0, jerk=np.inf):
    columns = [np.array([x]) for x in (-3.0, 3.0, velocity, acceleration, jerk, np.inf)]
    return MotionLimits(*columns)


def largest(motion):
    """Return the largest absolute velocity, acceleration and jerk of a motion."""
    extrema = motion_extrema(motion.coefficients, np.diff(motion.times))
    return np.abs(extrema).max(axis=(1, 2, 3))[1:]


@pytest.mark.parametrize("travel", [0.5, -0.02])
@pytest.mark.parametrize("bounds", [limits(), limits(0.3, 1.0), limits(2.0, 8.0, 40.0)])
def test_motions_go_from_rest_to_rest_inside_the_limits(travel, bounds):
    found = (
        motions.quintic_step(travel, bounds),
        motions.damped_step(travel, 10.0, bounds),
        motions.sweep(travel, 0.2, bounds),
    )
    allowed = np.array([bounds.velocity[0], bounds.acceleration[0], bounds.jerk[0]])
    for motion in found:
        q, qd, qdd = motion.sample([0.0, motion.duration])
        np.testing.assert_allclose(q.ravel(), [0.0, travel], atol=1e-12)
        assert np.abs([qd, qdd]).max() == 0.0
        assert (largest(motion) <= allowed * (1.0 + 1e-8)).all()


def test_the_damped_step_is_the_published_one_where_limits_allow():
    wide = limits(10.0, 200.0)
    motion = motions.damped_step(np.pi / 6, 10.0, wide)
    times = np.array([0.2, 0.3, 0.4])
    late = 0.05  # half a time constant to come from rest to the curve
    for found, published in zip(motion.sample(times + late), step(times), strict=True):
        np.testing.assert_allclose(found[:, 0], published, atol=2e-3 * np.abs(published).max())
    assert largest(motion)[0] == pytest.approx(np.pi / 6 * 10.0 / np.e, rel=0.05)


def test_a_sweep_is_slow_most_of_the_time():
    motion = motions.sweep(-0.5, 0.1, limits())
    _, qd, _ = motion.sample(np.linspace(0.0, motion.duration, 500))
    assert np.mean(np.abs(qd[:, 0] + 0.1) < 1e-9) > 0.9


def test_side_by_side_and_one_after_the_other():
    first, second = motions.quintic_step(0.4, limits()), motions.sweep(0.2, 0.1, limits())
    both = motions.together(("a", "b", "c"), {0: first, 2: second})
    times = np.linspace(0.0, both.duration, 300)
    q, qd, _ = both.sample(times)
    np.testing.assert_allclose(q[:, 0], first.sample(times)[0][:, 0], atol=1e-9)
    np.testing.assert_allclose(qd[:, 2], second.sample(times)[1][:, 0], atol=1e-6)
    assert not q[:, 1].any()
    chained = motions.joined([both, motions.together(both.joint_names, {1: first})])
    assert chained.duration == pytest.approx(both.duration + first.duration)
    np.testing.assert_allclose(chained.positions[-1], [0.4, 0.4, 0.2])
