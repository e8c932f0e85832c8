"""What plans are made for and certified with: shares of the limits, reduced speed, limits now."""

from dataclasses import replace

import numpy as np
import pytest
from robot_identification.srv import PlanExcitation

from robot_identification.errors import SettingError
from robot_identification.excitation.certification.certificate import certify
from robot_identification.excitation.families.fourier_settings import FourierSettings
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.files.loading import load_robot
from robot_identification.ros.excitation.parameters import ExcitationParameters
from robot_identification.ros.planning.planning import Sources, load_machine
from robot_identification.ros.planning.requests import job_of

VALUES = ExcitationParameters(
    robot="tx40",
    velocity_share=0.7,
    acceleration_share=0.3,
    tracking_error_limit=(0.05,),
    starts=1,
    base_frequency=0.2,
    harmonics=4,
    periods=5,
)


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


def test_parameters_of_the_node_ask_for_series_over_whole_periods():
    robot, request = load_robot("tx40"), PlanExcitation.Request()
    assert job_of(request, robot, VALUES, np.zeros(6)).settings.fourier is None
    series = replace(VALUES, family="fourier", rows=12)
    settings = job_of(request, robot, series, np.zeros(6)).settings
    assert settings.fourier == FourierSettings(0.2, 4, 5)
    assert settings.rows is None  # the parameter is for motions through points
    assert job_of(request, load_robot("three_dof"), series, np.zeros(3)).settings.model == "dynamic"
    with pytest.raises(SettingError, match="duration"):
        job_of(PlanExcitation.Request(duration=10.0), robot, series, np.zeros(6))


def test_parameters_with_a_friction_law_are_planned_and_certified_with_that_law():
    """The TX-40 with Stribeck and load friction at every joint, which its robot file lacks."""
    law = replace(VALUES, parameters_file="tx40_stribeck_load")
    machine = load_machine(
        job_of(PlanExcitation.Request(), load_robot("tx40"), law, np.zeros(6)).sources
    )
    plain = load_machine(Sources("tx40", prior="tx40_simulated"))
    assert {"Fs", "Fl"} <= machine.robot.joints[0].terms
    assert machine.robot.joints[0].shapes["Fs"] == (0.2, 1.0)
    still = np.zeros((2, 6))
    way = Trajectory(
        machine.robot.joint_names, [0.0, 0.5], [np.zeros(6), np.full(6, 0.02)], still, still
    )
    found, less = (
        certify(m.robot, way, surroundings=replace(m.surroundings, collisions=None)).efforts
        for m in (machine, plain)
    )
    assert found.kept
    assert any(a.reached > b.bound for a, b in zip(found.peaks, less.peaks, strict=True))
