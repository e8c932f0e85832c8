"""Joints that bags or blocks do not move: never predicted there, and not compared."""

import numpy as np
import pytest

from robot_identification.identification.estimators.least_squares import RelativeError
from robot_identification.identification.rows.factor import JointFactor, triangle_of
from robot_identification.identification.statistics.cross_validation import (
    CrossValidation,
    Fold,
    cross_validate,
    cross_validation_entries,
    cross_validation_of,
    validation_warnings,
)

JOINTS = ("hip", "knee")


def fold(name, error, rms=1.0, reason=""):
    """Return what became of a group of two joints; the error of the second is 0.1."""
    told = None if error is None else RelativeError(error, np.array([error, 0.1]))
    return Fold(name, (5, 5), (rms, 1.0), RelativeError(0.1, np.array([0.1, 0.1])), told, reason)


def test_a_joint_without_rows_was_never_predicted():
    rows = np.random.default_rng(0).normal(size=(20, 3))
    moving = JointFactor("hip", np.arange(2), triangle_of(rows), 20)
    resting = JointFactor("knee", np.arange(2), np.zeros((3, 3)), 0)
    found = cross_validate("bags", "a", [[moving, resting]], np.zeros(2), lambda _: np.zeros(2))
    for error in (found.error, found.folds[0].error, found.folds[0].fitted):
        assert error.total == pytest.approx(1.0)
        np.testing.assert_array_equal(np.isnan(error.joints), [False, True])
    entries = cross_validation_entries(found, JOINTS)
    assert entries["relative_error"]["knee"] is None
    assert cross_validation_entries(cross_validation_of(entries, JOINTS), JOINTS) == entries
    assert validation_warnings(found, JOINTS) == ()


def test_a_joint_that_one_bag_of_many_does_not_move_is_compared_in_the_others():
    alike = [fold(str(i), 0.1) for i in range(4)]
    unmoved = RelativeError(0.1, np.array([np.nan, 0.1]))
    still = Fold("still", (0, 5), (0.0, 1.0), unmoved, unmoved)
    odd = fold("odd", 0.1, rms=2.1)
    (line,) = validation_warnings(CrossValidation("bags", (*alike, still, odd), None), JOINTS)
    assert "bag odd, hip" in line
    never = CrossValidation("bags", (still,) * 4, None)
    assert validation_warnings(never, JOINTS) == ()


def test_a_second_bag_is_asked_for_where_blocks_cannot_be_predicted():
    folds = (fold("a", 0.1), fold("b", None, reason="does not determine hip"))
    lines = validation_warnings(CrossValidation("blocks", folds, None), JOINTS)
    assert lines[0].startswith("block b cannot be predicted")
    assert "give a second bag" in lines[1]
    assert len(validation_warnings(CrossValidation("bags", folds, None), JOINTS)) == 1
