"""Parameters that predict other recordings: what is compared, and what is not."""

import numpy as np
import pytest

import robot_identification as ri
from live_nodes import RATE, ROBOT, TRUTH, motion
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.validate import validate


def test_a_joint_that_hardly_moves_has_no_error_rather_than_none_at_all():
    position, _ = motion()
    position[:, 1] = 0.3
    still = np.zeros_like(position)
    velocity, acceleration = still.copy(), still.copy()
    velocity[:, 0] = np.gradient(position[:, 0], 1.0 / RATE)
    acceleration[:, 0] = np.gradient(velocity[:, 0], 1.0 / RATE)
    effort = inverse_dynamics(ROBOT, TRUTH, position, velocity, acceleration)
    time = np.arange(len(position)) / RATE
    base = base_parameters(ROBOT)
    found = validate(
        ROBOT,
        base.values(TRUTH[base.columns]),
        [ri.Recording.from_arrays(ROBOT, time, position, effort)],
        overrides=ri.ProcessingSettings(velocity_threshold=(0.02, 0.02)),
    )
    moving, held = found.relative_error.joints
    assert found.rows[1] == 0
    assert np.isnan(held)
    assert np.isnan(found.residual_std[1])
    assert found.relative_error.total == pytest.approx(moving, rel=1e-9)
    assert moving < 0.1
    assert found.summary()["relative_error"]["joint_2"] is None
