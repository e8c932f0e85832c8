import numpy as np
import pytest

from robot_identification.signals.standstill import longest_repetition


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
    assert longest_repetition(both, -both) == repetitions


def test_a_change_of_one_joint_or_signal_is_no_repetition():
    same = np.ones((6, 2))
    moving = np.column_stack([np.ones(6), np.arange(6.0)])
    assert longest_repetition(same, moving) == longest_repetition(moving, same) == 0
