"""Friction of an engine that nobody here wrote: the chosen law beside Coulomb and viscous friction.

MuJoCo's frictionloss is a soft constraint: near a reversal it is not what a sharp sign says.
"""

import numpy as np
import pytest

from mujoco_recordings import recorded
from robot_identification.dynamics.simulation.mujoco import MujocoLoop
from robot_identification.excitation.motions.random_points import (
    RandomPointsSettings,
    random_points,
)
from robot_identification.files.mujoco_models import mujoco_robot
from robot_identification.identification.identify import identify
from robot_identification.identification.validate import validate
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.processing import ProcessingSettings

pytest.importorskip("mujoco")

pytestmark = pytest.mark.usefixtures("undiagnosed")

RATE = 500.0
UR10 = load_robot("ur10")
ALL_ROWS = ProcessingSettings(velocity_threshold=(0.0,) * 6)


def motion_of(seed):
    """Record a motion through random points of a UR10 that MuJoCo moves."""
    model, drives = mujoco_robot(UR10, "ur10", values="ur10_simulated")
    loop = MujocoLoop(UR10, model, drives, rate_hz=RATE)
    settings = RandomPointsSettings(points=7, draws=1, seed=seed)
    return recorded(UR10, loop, random_points(UR10, settings, np.zeros(6)).trajectory, seed)


def error(recordings, friction):
    """Fit the first recording; return the error on the second one."""
    result = identify(UR10, recordings[:1], friction=friction, overrides=ALL_ROWS)
    values = result.estimate.values
    held_out = validate(result.model_of(UR10), values, recordings[1:], overrides=ALL_ROWS)
    return held_out.relative_error.total


@pytest.mark.slow
def test_the_chosen_law_is_better_where_rows_near_reversals_count():
    recordings = [motion_of(seed) for seed in (0, 1)]
    plain, chosen = (error(recordings, friction) for friction in ("coulomb-viscous", "auto"))
    assert chosen < 0.95 * plain
    assert plain < 0.02
