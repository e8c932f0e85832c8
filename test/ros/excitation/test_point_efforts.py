"""Whose efforts the excitation node puts into points, without a node."""

import logging
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from robot_identification.errors import (
    InconsistentParametersError,
    ResultFileError,
    ResultMismatchError,
    SettingError,
)
from robot_identification.excitation.motions.point_efforts import with_efforts
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.experiment import Controller
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.ros.common.parameters.declaration import NodeParameters
from robot_identification.ros.excitation.parameters import ExcitationParameters
from robot_identification.ros.excitation.point_efforts import PointEfforts
from robot_identification.ros.messages.inertial import feed_forward_of, parameters_message
from robot_identification.ros.supervision.phases import Command

ROBOT = load_robot("tx40")
VALUES = load_values("tx40_simulated", ROBOT)
STILL = np.zeros((2, 6))
RUN = Trajectory(ROBOT.joint_names, [0.0, 1.0], [np.zeros(6), np.full(6, 0.4)], STILL, STILL)
BRAKING = Trajectory(ROBOT.joint_names, [0.0, 0.2], RUN.positions, STILL, STILL)
NODE = SimpleNamespace(
    get_logger=lambda: logging.getLogger("efforts"), create_subscription=lambda *_: None
)


def efforts_of(source, robot=ROBOT, **values):
    parameters = ExcitationParameters(robot="tx40", point_efforts=source, **values)
    return PointEfforts(NODE, robot, NodeParameters.of(parameters))


def calibrated(values=VALUES, **fields):
    message = parameters_message(ROBOT, values, stamp=7)
    for name, value in fields.items():
        setattr(message, name, value)
    return message


def test_nothing_changes_where_nobody_asks():
    efforts = efforts_of("none")
    efforts.prepare([RUN], RUN.positions[0])
    command = Command(RUN, 5)
    assert efforts.added(command) is command
    assert efforts.text == ""


@pytest.mark.parametrize("source", ["calibrated", "file"])
def test_what_was_prepared_and_braking_get_efforts_and_nothing_else(source):
    efforts = efforts_of(source, parameters_file="tx40_simulated")
    efforts.take(calibrated())
    efforts.prepare([RUN], RUN.positions[0])
    fed = efforts.added(Command(RUN, 5, rest=0.5))
    assert fed.trajectory == with_efforts(RUN, feed_forward_of(calibrated(), ROBOT))
    assert (fed.start, fed.rest) == (5, 0.5)
    braking = efforts.added(Command(BRAKING, 9))
    assert efforts.added(Command(BRAKING, 9)).trajectory is braking.trajectory
    assert braking.trajectory.efforts is not None
    times = np.linspace(0.0, 0.2, 50)
    np.testing.assert_allclose(
        braking.trajectory.sample(times)[0], BRAKING.sample(times)[0], atol=1e-9
    )
    assert ("tx40_simulated" if source == "file" else "7 ns") in efforts.text


def test_a_motion_keeps_the_model_that_it_began_with():
    efforts = efforts_of("calibrated")
    efforts.take(calibrated())
    efforts.prepare([RUN], RUN.positions[0])
    before = efforts.added(Command(RUN, 5)).trajectory
    efforts.take(calibrated(1.1 * VALUES))
    assert efforts.added(Command(RUN, 5)).trajectory is before
    efforts.prepare([RUN], RUN.positions[0])
    assert efforts.added(Command(RUN, 5)).trajectory != before


def test_no_motion_begins_without_parameters_that_fit():
    efforts = efforts_of("calibrated")
    with pytest.raises(ResultFileError, match="none have come"):
        efforts.prepare([RUN], RUN.positions[0])
    for message, error in (
        (calibrated(robot="ur10"), ResultMismatchError),
        (calibrated(consistent=False), InconsistentParametersError),
        (calibrated(20.0 * VALUES), InconsistentParametersError),  # it could not stand
    ):
        efforts.take(message)
        with pytest.raises(error):
            efforts.prepare([RUN], np.array([0.0, 1.2, 0.3, 0.0, 0.0, 0.0]))
        command = Command(RUN, 5)
        assert efforts.added(command) is command


def test_braking_goes_out_without_efforts_where_the_model_fails(monkeypatch):
    efforts = efforts_of("file", parameters_file="tx40_simulated")
    efforts.prepare([RUN], RUN.positions[0])
    command = Command(replace(BRAKING, positions=1e308 * np.ones((2, 6))), 9)
    assert efforts.added(command) is command


def test_efforts_that_a_robot_cannot_have_are_refused_at_the_start():
    gains = {"kp": (900.0,) * 6, "kd": (60.0,) * 6}
    own = replace(ROBOT, controller=Controller("computed_torque", 1000.0, gains))
    with pytest.raises(SettingError, match="feed-forward would be twice"):
        efforts_of("calibrated", robot=own)
    efforts_of("none", robot=own)
    with pytest.raises(SettingError, match="needs parameters_file"):
        efforts_of("file")
