"""States that make the entries of the observation matrix roughly equal."""

import numpy as np
import pytest

from robot_identification.identification.base.factorisation import factorise
from robot_identification.identification.base.observation import (
    Model,
    Observation,
    random_states,
    ranges,
)
from robot_identification.identification.base.scaling import criterion, scaled_states, spread
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.loops import linear_constraint


def test_spread_counts_entries_that_are_not_zero():
    assert spread(np.array([[4.0, -0.5], [0.0, 1e-17]])) == 8.0
    assert spread(np.zeros((2, 2))) == 1.0
    assert criterion(np.array([[3.0, 4.0]])) == pytest.approx(0.1 * 5.0 + 4.0 / 3.0)


@pytest.mark.parametrize("model", list(Model))
def test_the_strategy_lowers_the_criterion_and_keeps_the_rank(model):
    robot = load_robot("three_dof")
    constraint = linear_constraint(robot)
    observation = Observation(robot, model, constraint)
    half = ranges(robot, constraint)
    samples = observation.samples_for(len(observation.columns)) + 2
    chosen = scaled_states(observation, half, samples, np.random.default_rng(0))
    drawn = random_states(half, samples, np.random.default_rng(0))
    kept = np.abs(observation.matrix(drawn)).max(axis=0) > 1e-9
    sizes = []
    for states in (chosen, drawn):
        blocks = observation.blocks(states)[:, :, kept]
        sizes.append(np.median([criterion(block) for block in blocks]))
    assert sizes[0] < 0.2 * sizes[1]
    assert factorise(observation.matrix(chosen)).rank == 15
    for signal, limit in zip(chosen, half, strict=True):
        assert (np.abs(signal) <= limit * (1 + 1e-12)).all()
