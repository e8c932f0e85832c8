"""The robots and values that ship with the package say what their sources say."""

import pickle

import numpy as np
import pytest

from robot_identification.dynamics.direct import DirectModel
from robot_identification.files.parameters import with_law_of
from robot_identification.robot.drives import drive_gains
from robot_identification.robot.files.loading import known_robots, load_robot
from robot_identification.robot.files.values import known_values, load_values, values_path
from robot_identification.robot.joint import JointType
from robot_identification.robot.limits import require_limits
from robot_identification.robot.model import EffortMeaning


@pytest.mark.parametrize("name", known_robots())
def test_every_robot_can_be_planned_for_and_simulated(name):
    robot = load_robot(name, closed_loops=True)
    assert robot.name == name
    assert robot.effort_meaning is EffortMeaning.JOINT_TORQUE
    require_limits(robot, ["position", "velocity", "acceleration", "effort"])
    assert robot.controller is not None or robot.loops


@pytest.mark.parametrize("name", known_robots())
def test_every_robot_goes_to_another_process_and_back(name):
    robot = load_robot(name, closed_loops=True)
    assert pickle.loads(pickle.dumps(robot)) == robot


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("puma560", 66),
        ("tx40", 86),
        ("three_dof", 30),
        ("stanford", 60),
        ("ur10", 84),
        ("emps", 13),
        ("scara", 25),
    ],
)
def test_the_model_has_as_many_standard_parameters_as_its_source(name, count):
    assert len(load_robot(name).standard_names) == count


def test_the_slide_of_emps_feels_no_gravity():
    robot = load_robot("emps")
    assert robot.joint_names == ("slide",)
    assert robot.joints[0].type is JointType.PRISMATIC
    assert robot.gravity @ robot.joints[0].rotation[:, 2] == 0
    assert robot.processing.residual_divisor == "rows-1"
    assert robot.processing.velocity_threshold == ()
    assert robot.controller is not None
    assert robot.controller.gains["kv"][0] == pytest.approx(243.45 * 35.15065188248547)
    assert robot.joints[0].limits.effort == pytest.approx(10 * 35.15065188248547)


def test_the_axes_of_scara_are_vertical():
    robot = load_robot("scara")
    for joint in robot.joints:
        np.testing.assert_array_equal(joint.rotation[:, 2], [0, 0, 1])
    assert ["Ia" in joint.terms for joint in robot.joints] == [True, False]


def test_the_wrist_of_the_tx40_is_coupled_in_definition_f():
    robot = load_robot("tx40")
    assert robot.coupling_parameters == ("Fvm6", "Fcm6")
    inertia, viscous, coulomb = robot.couplings
    crossed = [({"joint_5": 1}, {"joint_6": 1}), ({"joint_6": 1}, {"joint_5": 1})]
    for coupling in (inertia, viscous):
        assert [(dict(term.on), dict(term.of)) for term in coupling.terms] == crossed
    both = {"joint_5": 1, "joint_6": 1}
    assert [(dict(term.on), dict(term.of)) for term in coulomb.terms] == [(both, both)]


def test_the_drive_gains_of_the_ur10_are_the_published_ones():
    gains = [13.5841, 14.2959, 11.3716, 11.2408, 11.7681, 11.7682]
    np.testing.assert_array_equal(drive_gains(load_robot("ur10")), gains)


@pytest.mark.parametrize("name", known_values())
def test_values_give_a_robot_that_can_move(name):
    of = next(robot for robot in known_robots() if f"{name}_".startswith(f"{robot}_"))
    robot = with_law_of(values_path(name), load_robot(of))
    limits = [joint.limits for joint in robot.joints]
    lower, upper = (
        np.array([getattr(limit, side) for limit in limits]) for side in ("lower", "upper")
    )
    q = np.random.default_rng(0).uniform(lower, upper, (500, len(robot.joints)))
    mass = DirectModel(robot, load_values(name, robot)).mass_matrix(q)
    assert np.linalg.eigvalsh(mass).min() > 0


def pseudo_inertia(values, link):
    xx, xy, xz, yy, yz, zz, mx, my, mz, mass = values[14 * link : 14 * link + 10]
    matrix = np.empty((4, 4))
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    matrix[:3, :3] = np.trace(inertia) / 2 * np.eye(3) - inertia
    matrix[:3, 3] = matrix[3, :3] = mx, my, mz
    matrix[3, 3] = mass
    return matrix


@pytest.mark.parametrize("name", ["tx40_simulated", "ur10_simulated", "scara"])
def test_links_are_bodies_that_can_exist(name):
    robot = load_robot(name.removesuffix("_simulated"))
    values = load_values(name, robot)
    for link in range(len(robot.joints)):
        assert values[14 * link + 9] > 0
        assert np.linalg.eigvalsh(pseudo_inertia(values, link)).min() > 0


def test_the_simulated_tx40_is_complete_and_close_to_its_source():
    robot = load_robot("tx40")
    values = load_values("tx40_simulated", robot, complete=True)
    named = dict(zip(robot.all_parameter_names, values, strict=True))
    assert named["Fv5"] == pytest.approx(1.24 + named["Fvm6"])
    assert named["Ia5"] == pytest.approx(0.0346 + named["Ia6"])
    for name, source in [("Ia1", 0.362), ("Fc4", 2.67), ("Fcm6", 1.81), ("off6", 0.174)]:
        assert named[name] == source
    for name, source in [("M3", 4.07), ("M4", 3.62), ("M5", 1.02), ("M6", 0.2), ("MY3", -0.115)]:
        assert named[name] == pytest.approx(source, rel=0.02)


def test_the_links_of_stanford_are_moved_to_their_frames():
    robot = load_robot("stanford")
    values = load_values("stanford", robot)
    named = dict(zip(robot.all_parameter_names, values, strict=True))
    assert named["MZ3"] == pytest.approx(-4.25 * 0.6447)
    assert named["XX3"] == pytest.approx(2.51 + 4.25 * 0.6447**2, rel=1e-5)
    assert named["ZZ3"] == pytest.approx(0.006)
