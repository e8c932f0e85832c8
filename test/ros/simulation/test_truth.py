"""True values of the simulated robot, without ROS."""

from types import SimpleNamespace

import numpy as np
import pytest

from robot_identification.errors import RobotDescriptionError
from robot_identification.robot.files.loading import find_robot, known_robots, load_robot
from robot_identification.robot.files.values import values_named_as
from robot_identification.ros.simulation.node import SimulatedRobot
from robot_identification.ros.simulation.parameters import SimulatedRobotParameters

WITH_TRUTH = [name for name in known_robots() if values_named_as(name)]


def simulator(robot, truth=""):
    """Return the simulated robot that the node would have."""
    values = SimulatedRobotParameters(robot=robot, parameters_file=truth)
    with_robot = SimpleNamespace(_robot=load_robot(robot), _rate=values.rate)
    with_robot._make_loop = lambda given: SimulatedRobot._make_loop(with_robot, given)
    return SimulatedRobot._make_simulator(with_robot, values)


@pytest.mark.parametrize("robot", WITH_TRUTH)
def test_every_robot_with_values_of_its_name_in_the_package_moves(robot):
    position = simulator(robot).produce(3).position
    assert np.isfinite(position).all()


def test_values_of_the_package_that_are_named_are_taken_likewise():
    assert len(simulator("scara", "scara").produce(1).position) == 1


def test_a_file_of_ones_own_must_name_every_parameter(tmp_path):
    shipped = find_robot("scara").parents[1] / "parameters" / "scara.yaml"
    own = tmp_path / "own.yaml"
    own.write_text(shipped.read_text())
    with pytest.raises(RobotDescriptionError, match="no value for XY1"):
        simulator("scara", str(own))
