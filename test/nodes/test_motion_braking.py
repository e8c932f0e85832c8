"""What a certificate says of braking from states that differ from the reference."""

import numpy as np
import pytest

from robot_identification.errors import SettingError
from robot_identification.excitation.approach import approach
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.nodes.motion_braking import BrakingLimits
from robot_identification.nodes.planning import Sources, load_machine

TRACKING = (0.1, 0.2)


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_braking_from_every_state_as_far_off_as_is_tolerated_keeps_the_positions(side):
    machine = load_machine(Sources("scara", tracking_error=TRACKING))
    near = np.tile(0.92 * getattr(machine.limits, side), (2, 1))
    there = Trajectory(machine.robot.joint_names, [0.0, 1.0], near, 0 * near, 0 * near)
    run, certificate = approach(machine.robot, there, np.zeros(2), speed=1.0)
    certificate.require()
    time = machine.braking_time(certificate)
    limits = BrakingLimits(machine.limits, machine.declared, time=time, lag_time=0.0)
    nearest = np.inf
    for q, v, a in zip(*run.sample(np.linspace(0.0, run.duration, 400)), strict=True):
        for sign in (-1.0, 1.0):
            braking = limits.brake(run.joint_names, q + sign * np.array(TRACKING), v, a)
            assert braking.keeps_limits
            assert braking.trajectory.duration <= time
            end = braking.trajectory.positions[-1]
            nearest = min(nearest, (machine.declared.half_range - np.abs(end)).min())
    assert nearest < 0.13  # 0.12 for the way on which the acceleration falls; the rest is used


def test_a_tracking_error_that_leaves_no_room_is_refused():
    with pytest.raises(SettingError, match=r"tracking_error_limit.*joint_2"):
        load_machine(Sources("scara", tracking_error=(0.1, 3.2)))
