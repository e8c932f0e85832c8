import numpy as np
import pytest

from robot_identification.identification.didim.experiments import experiments_of
from robot_identification.identification.didim.simulation import simulate, simulate_all
from robot_identification.robot.files.values import load_values
from simulated_experiments import experiment

SIGNALS = ("time", "position", "velocity", "acceleration", "effort", "shares")


@pytest.fixture(scope="module")
def two_experiments():
    robot, recordings, references, _ = experiment("scara", "scara", 1000.0, 0.05, seconds=3.0)
    halves = [recordings[0].between(0.0, 0.5), recordings[0].between(0.5, 1.0)]
    return robot, experiments_of(halves, references * 2)


def test_experiments_simulated_in_two_threads_are_those_of_one_to_the_last_bit(
    two_experiments, monkeypatch
):
    robot, experiments = two_experiments
    values = load_values("scara", robot)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    together = simulate_all(robot, values, experiments)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    alone = simulate_all(robot, values, experiments)
    for one, other, given in zip(together, alone, experiments, strict=True):
        for name in SIGNALS:
            assert np.array_equal(getattr(one, name), getattr(other, name)), name
        assert one.position.std(axis=1).min() > 1e-3
        assert np.array_equal(one.position, simulate(robot, values, given).position)
