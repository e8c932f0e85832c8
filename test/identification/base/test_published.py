"""Base parameters of real robots, from the descriptions that their communities publish.

The descriptions come with the package example-robot-data from PyPI, which only this test needs.
"""

from importlib import metadata

import numpy as np
import pytest

from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.base.relations import relations
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.urdf.robot import read_urdf

WAYS = [
    (model, method) for model in ("dynamic", "simplified", "energy") for method in ("qr", "svd")
]
FOLDER = "cmeel.prefix/share/example-robot-data/robots"
# File -> number of joints.
ROBOTS = {
    "panda_description/urdf/panda.urdf": 9,
    "ur_description/urdf/ur5_robot.urdf": 6,
    "kinova_description/robots/kinova.urdf": 6,
    "talos_data/robots/talos_left_arm.urdf": 7,
    "solo_description/robots/solo12.urdf": 12,
    "hyq_description/robots/hyq_no_sensors.urdf": 12,
}


def published(name):
    try:
        package = metadata.distribution("example-robot-data")
    except metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    return read_urdf(package.locate_file(f"{FOLDER}/{name}"), allow_mimic=True).robot


def check(robot):
    found = [base_parameters(robot, *way) for way in WAYS]
    rng = np.random.default_rng(0)
    for base in found:
        stored = [n for n in base.leading_names if not n.startswith(("F", "off"))]
        assert stored == [n for n in found[0].leading_names if not n.startswith(("F", "off"))], (
            f"{base.model} {base.method}"
        )
        standard = rng.normal(size=len(base.columns))
        full = np.zeros(len(robot.all_parameter_names))
        full[base.columns] = standard
        only_base = np.zeros_like(full)
        only_base[base.base_columns] = base.values(standard)
        states = rng.normal(size=(3, 20, len(robot.joints)))
        efforts = inverse_dynamics(robot, full, *states)
        difference = inverse_dynamics(robot, only_base, *states) - efforts
        assert np.abs(difference).max() < 1e-9 * np.abs(efforts).max()
    return found[0]


@pytest.mark.parametrize("name", ROBOTS)
def test_published_robots(name):
    robot = published(name)
    assert len(robot.joints) == ROBOTS[name]
    base = check(robot)
    assert not base.ambiguous
    assert len(relations(base)) == base.rank


def test_ur10():
    assert check(load_robot("ur10")).rank == 58
