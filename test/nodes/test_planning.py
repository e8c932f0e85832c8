"""What plans are made for and certified with: shares of the limits, reduced speed, limits now."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from robot_identification.srv import PlanExcitation

from robot_identification.errors import NotCertifiedError
from robot_identification.excitation.certificate import certify
from robot_identification.excitation.limits import MotionLimits
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.nodes import planning
from robot_identification.nodes.plan_requests import job_of
from robot_identification.nodes.planning import Job, Sources, load_machine, prepare
from robot_identification.robot.loading import load_robot

VALUES = {
    "robot": "tx40",
    "joint_limits": "",
    "parameters_file": "",
    "velocity_share": 0.7,
    "acceleration_share": 0.3,
    "tracking_error_limit": [0.05],
    "rows": 0,
    "starts": 1,
    "cell": "",
    "clearance": 0.0,
}


def test_plans_keep_the_share_of_the_limits_that_the_node_is_told():
    robot = load_robot("tx40")
    job = job_of(PlanExcitation.Request(), robot, VALUES, np.zeros(6))
    whole, machine = MotionLimits.of(robot), load_machine(job.sources)
    np.testing.assert_allclose(machine.limits.velocity, 0.7 * whole.velocity)
    np.testing.assert_allclose(machine.limits.acceleration, 0.3 * whole.acceleration)
    np.testing.assert_allclose(machine.declared.acceleration, whole.acceleration)
    np.testing.assert_allclose(
        MotionLimits.of(machine.robot).acceleration, machine.limits.acceleration
    )
    room = machine.limits.lower - whole.lower
    np.testing.assert_allclose(room, whole.upper - machine.limits.upper)
    assert (room > 0.05).all()


def test_a_run_at_reduced_speed_is_certified_by_itself(monkeypatch):
    job = Job(Sources("scara"), None)
    machine = load_machine(job.sources)
    still = np.zeros((2, 2))
    way = Trajectory(machine.robot.joint_names, [0.0, 1.0], [[0.0, 0.0], [1.0, 1.0]], still, still)
    plan = SimpleNamespace(trajectory=way, certificate=certify(machine.robot, way, start=still[0]))
    assert prepare(job, plan, still[0], speed=0.5).run.duration == pytest.approx(2.0)
    monkeypatch.setattr(planning, "slowed", lambda run, _: replace(run, times=run.times / 4.0))
    with pytest.raises(NotCertifiedError, match="velocity"):
        prepare(job, plan, still[0], speed=0.5)
