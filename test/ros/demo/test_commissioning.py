"""The wrong prior that a demo begins with; test_session.py goes the way from there."""

import pytest

from robot_identification.files.parameters import read_prior
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.ros.demo.commissioning import (
    heavy_prior,
    write_prior,
)

ROBOT = load_robot("scara")
TRUTH = load_values("scara", ROBOT)
FRICTION = ("Fv1", "Fc1", "Fv2", "Fc2")
TOO_LARGE = 1.3


def test_a_heavy_prior_says_nothing_of_friction(tmp_path):
    prior = heavy_prior(ROBOT, TRUTH, TOO_LARGE)
    write_prior(tmp_path / "prior.yaml", ROBOT, prior)
    read = read_prior(tmp_path / "prior.yaml", ROBOT)
    known = dict(zip(read.names, read.known, strict=True))
    assert not any(known[name] for name in FRICTION)
    assert all(known[name] for name in known if name not in FRICTION)
    values = dict(zip(ROBOT.all_parameter_names, prior, strict=True))
    assert values["ZZ2"] == pytest.approx(TOO_LARGE * 0.061)
    assert not any(values[name] for name in FRICTION)
