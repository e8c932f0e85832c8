from dataclasses import replace

import numpy as np
import pytest

from robot_identification.errors import SettingError
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.didim import starts
from robot_identification.identification.didim.loop import (
    frequency_ratio,
    inertias,
    natural_frequencies,
    positions_to_look_at,
    simulated_robot,
)
from robot_identification.robot.experiment import Controller
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values


def regular(name):
    robot = load_robot(name)
    base = base_parameters(robot)
    positions = positions_to_look_at(robot, np.zeros((1, len(robot.joints))))
    return base, *starts.regular(base, positions)


def test_the_regular_start_of_scara_is_that_of_the_paper():
    base, start, found = regular("scara")
    expected = dict.fromkeys(base.names, 0.0) | {"ZZ1R": 1.0, "ZZ2": 1.0}
    assert dict(zip(base.names, start.values, strict=True)) == expected
    assert found.smallest_eigenvalue == pytest.approx((3.0 - np.sqrt(5.0)) / 2.0)
    np.testing.assert_allclose(found.joints, [2.0, 1.0])
    assert not start.is_estimate


def test_unit_drive_inertias_make_the_mass_matrix_the_identity():
    _, start, found = regular("puma560")
    assert start.name == "regular, Ia = 1"
    assert found.smallest_eigenvalue == pytest.approx(1.0)
    assert found.largest_eigenvalue == pytest.approx(1.0)


def test_a_coupled_wrist_needs_another_start_than_unit_drive_inertias():
    _, start, found = regular("tx40")
    assert start.name == "regular, ZZ = 1"
    assert found.smallest_eigenvalue > 0.1


def test_a_slide_without_drive_inertia_starts_with_unit_mass():
    base, start, found = regular("emps")
    assert dict(zip(base.names, start.values, strict=True))["M1"] == 1.0
    np.testing.assert_allclose(found.joints, [1.0])


def test_the_largest_inertia_of_scara_is_that_of_the_stretched_arm():
    robot = load_robot("scara")
    positions = positions_to_look_at(robot, np.zeros((1, 2)))
    found = inertias(robot, load_values("scara", robot), positions)
    stretched = 3.45 + 0.061 + 2.0 * np.hypot(0.124, 0.007)
    np.testing.assert_allclose(found.joints, [stretched, 0.061], rtol=1e-4)


def test_the_gains_of_scara_were_made_for_the_stated_frequencies():
    robot = load_robot("scara")
    inertia = inertias(
        robot, load_values("scara", robot), positions_to_look_at(robot, np.zeros((1, 2)))
    ).joints
    stated = robot.experiment
    found = natural_frequencies(robot, inertia)
    np.testing.assert_allclose(found, stated.natural_frequency, rtol=1e-3)
    kv = np.array(robot.controller.gains["kv"])
    np.testing.assert_allclose(kv / (2.0 * found * inertia), stated.damping, rtol=1e-3)


@pytest.mark.parametrize(
    ("law", "gains"),
    [
        ("cascade", {"kp": (10.0,), "kv": (75.0,)}),
        ("pid", {"kp": (750.0,), "kd": (75.0,), "ki": (100.0,), "velocity_feedforward": (3.0,)}),
    ],
)
def test_the_simulated_loop_keeps_frequency_and_damping_whatever_its_inertia(law, gains):
    robot = replace(load_robot("emps"), controller=Controller(law, 1000.0, gains))
    real, simulated = np.array([95.0]), np.array([1.0])
    changed = simulated_robot(robot, simulated, real, 1.0)
    np.testing.assert_allclose(
        natural_frequencies(changed, simulated), natural_frequencies(robot, real)
    )
    damper = "kv" if law == "cascade" else "kd"
    np.testing.assert_allclose(changed.controller.gains[damper][0] / 1.0, gains[damper][0] / 95.0)
    limit = robot.joints[0].limits.effort
    np.testing.assert_allclose(changed.joints[0].limits.effort, limit / 95.0)


def test_computed_torque_needs_no_other_gains():
    gains = {"kp": (400.0,), "kd": (40.0,)}
    robot = replace(load_robot("emps"), controller=Controller("computed_torque", 1000.0, gains))
    changed = simulated_robot(robot, np.array([1.0]), np.array([95.0]), 1.0)
    assert dict(changed.controller.gains) == gains
    np.testing.assert_allclose(natural_frequencies(changed, [1.0]), [20.0])


@pytest.mark.parametrize("name", ["scara", "tx40"])
def test_half_the_bandwidth_halves_the_frequency_and_keeps_the_damping(name):
    robot = load_robot(name)
    inertia = np.linspace(1.0, 2.0, len(robot.joints))
    changed = simulated_robot(robot, inertia, inertia, 0.5)
    full = natural_frequencies(robot, inertia)
    half = natural_frequencies(changed, inertia)
    np.testing.assert_allclose(half, 0.5 * full)
    damper = "kv" if "kv" in robot.controller.gains else "kd"
    ratio = np.array(changed.controller.gains[damper]) / np.array(robot.controller.gains[damper])
    np.testing.assert_allclose(ratio, 0.5)
    np.testing.assert_allclose(frequency_ratio(robot, inertia, inertia, 0.5), 2.0)


def test_the_ratio_of_frequencies_is_the_root_of_that_of_the_inertias():
    robot = load_robot("scara")
    ratio = frequency_ratio(robot, np.array([1.0, 4.0]), np.array([4.0, 1.0]), 1.0)
    np.testing.assert_allclose(ratio, [2.0, 0.5])


def test_an_inertia_that_cannot_be_leaves_the_gains():
    robot = load_robot("scara")
    changed = simulated_robot(robot, np.array([-1.0, 2.0]), np.array([3.0, 1.0]), 1.0)
    assert changed.controller.gains["kv"][0] == robot.controller.gains["kv"][0]
    assert changed.controller.gains["kv"][1] == 2.0 * robot.controller.gains["kv"][1]


def test_a_robot_that_nothing_holds_is_refused():
    robot = replace(load_robot("emps"), controller=None)
    with pytest.raises(SettingError, match="declares none"):
        natural_frequencies(robot, [1.0])
    slack = Controller("cascade", 1000.0, {"kp": (0.0,), "kv": (1.0,)})
    with pytest.raises(SettingError, match="stiffness"):
        natural_frequencies(replace(robot, controller=slack), [1.0])
