import numpy as np

from robot_identification.excitation.certificate import certify
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.robot.loading import load_robot
from robot_identification.storage.plans import certified_text, read_plan


def test_a_plan_may_be_as_long_as_a_trajectory(tmp_path):
    robot, rest = load_robot("emps"), np.zeros((4000, 1))
    long = Trajectory(robot.joint_names, 0.01 * np.arange(4000), rest, rest, rest)
    path = tmp_path / "plan.yaml"
    path.write_text(certified_text(robot.name, long, certify(robot, long), "At rest"))
    found, certificate = read_plan(path, robot)
    assert np.array_equal(found.times, long.times)
    assert certificate.passed
