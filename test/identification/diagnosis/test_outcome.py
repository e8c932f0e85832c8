"""What a result itself shows: errors on data that had no part in the fit, and where they are."""

from dataclasses import replace

import numpy as np
import pytest

from made_up_results import made_up_result
from robot_identification.identification.diagnosis.outcome import outcome_findings
from robot_identification.identification.estimators.least_squares import RelativeError
from robot_identification.identification.statistics.cross_validation import CrossValidation, Fold
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values

NAMES = ("0 to 6 s", "6 to 12 s", "12 to 18 s", "18 to 24 s", "24 to 30 s")


def worse_on_unseen_data(fitted, scheme="blocks", names=NAMES):
    """Return the finding of a joint with errors of the fit in every part of its data."""
    robot = load_robot("scara")
    result = made_up_result(robot, load_values("scara", robot), np.random.default_rng(0))
    folds = []
    for name, own in zip(names, fitted, strict=True):
        error = RelativeError(own, np.array([own, 0.0]))
        folds.append(Fold(name, (100, 100), (2.0, 1.0), error, error))
    unseen = RelativeError(0.2, np.array([0.2, 0.0]))
    validated = replace(result, cross_validation=CrossValidation(scheme, tuple(folds), unseen))
    (found,) = [f for f in outcome_findings(validated) if f.cause == "worse on unseen data"]
    assert found.joints == robot.joint_names[:1]
    return found.problem


@pytest.mark.parametrize("scheme", ["blocks", "bags"])
def test_where_the_residual_stands_out_is_told(scheme):
    problem = worse_on_unseen_data((0.02, 0.03, 0.09, 0.02, 0.03), scheme)
    assert f"most in {scheme[:-1]} 12 to 18 s, 3.6 times as much as elsewhere" in problem


def test_a_residual_that_is_alike_everywhere_stands_out_nowhere():
    assert "elsewhere" not in worse_on_unseen_data((0.02, 0.03, 0.04, 0.02, 0.03))
    assert "elsewhere" not in worse_on_unseen_data((0.02, 0.09), names=NAMES[:2])
