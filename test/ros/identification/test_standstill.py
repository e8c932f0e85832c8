import numpy as np
import pytest

from robot_identification.ros.identification.recordings.recording import Repetition


def longest(position, effort):
    return Repetition().followed_by(position, effort).longest


@pytest.mark.parametrize(
    ("values", "repetitions"),
    [
        ([1.0, 2.0, 3.0], 0),
        ([1.0], 0),
        ([], 0),
        ([1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0], 3),
        ([5.0] * 10, 9),
    ],
)
def test_the_longest_run_of_repeated_samples_is_counted(values, repetitions):
    column = np.array(values).reshape(-1, 1)
    both = np.hstack([column, np.zeros_like(column)])
    assert longest(both, -both) == repetitions


def test_a_change_of_one_joint_or_signal_is_no_repetition():
    same = np.ones((6, 2))
    moving = np.column_stack([np.ones(6), np.arange(6.0)])
    assert longest(same, moving) == longest(moving, same) == 0


def test_runs_go_on_from_block_to_block():
    rng = np.random.default_rng(0)
    for _ in range(200):
        values = rng.integers(0, 2, size=(rng.integers(1, 12), 1)).astype(float)
        cuts = np.sort(rng.integers(0, len(values) + 1, size=rng.integers(0, 5)))
        found = Repetition()
        for part in np.split(values, cuts):
            found = found.followed_by(part, part)
        assert found.longest == longest(values, values), (values.ravel(), cuts)
