from dataclasses import replace

import numpy as np
import pytest
import yaml

from robot_identification.errors import TrajectoryError
from robot_identification.excitation.certification.certificate import certify
from robot_identification.excitation.certification.checks import Check
from robot_identification.excitation.families.fourier_settings import FourierSettings, Periodic
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.plan import plan
from robot_identification.excitation.plan_settings import PlanSettings
from robot_identification.excitation.search.points import PointSettings
from robot_identification.files.plans.periodic import read_periodic
from robot_identification.files.plans.plans import certified_text, read_plan, write_plan
from robot_identification.files.plans.trajectories import (
    read_trajectory,
    trajectory_text,
    write_trajectory,
)
from robot_identification.robot.files.document import read_document
from robot_identification.robot.files.loading import load_robot


def test_a_plan_may_be_as_long_as_a_trajectory(tmp_path):
    robot, rest = load_robot("emps"), np.zeros((4000, 1))
    long = Trajectory(robot.joint_names, 0.01 * np.arange(4000), rest, rest, rest)
    path = tmp_path / "plan.yaml"
    path.write_text(certified_text(robot.name, long, certify(robot, long), "At rest"))
    found, certificate = read_plan(path, robot)
    assert np.array_equal(found.times, long.times)
    assert certificate.passed


ODD_NAMES = (
    "1", "1e3", "0x10", "-.5", "true", "No", "null", "~", "a, b", "a b", "über: x", "a #b", "#a",
    "[a]", "{a", "- a", "-", "? a", "a:", "'a'", '"', "\\n", "*a", "&a", "!a", "%a", "@a", "| a",
    "--- a", " a ", "a\nb", "\u00a0", "\U0001f9be", "\U0001f9be, b",
)  # fmt: skip
PLAIN_NAMES = ("joint_1", "arm/joint-2", "left.elbow", "elbow joint", "ellenbogen_über", "a:b")


def test_whatever_joints_are_called_a_trajectory_comes_back(tmp_path):
    names = (*ODD_NAMES, *PLAIN_NAMES)
    rest = np.zeros((2, len(names)))
    path = tmp_path / "trajectory.yaml"
    write_trajectory(path, Trajectory(names, np.array([0.0, 1.0]), rest))
    assert read_trajectory(path).joint_names == names
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["joint_names"] == list(names)


def test_plain_names_are_written_as_they_are():
    rest = np.zeros((2, len(PLAIN_NAMES)))
    text = trajectory_text(Trajectory(PLAIN_NAMES, np.array([0.0, 1.0]), rest))
    assert text.splitlines()[0] == f"joint_names: [{', '.join(PLAIN_NAMES)}]"


@pytest.mark.parametrize("name", ODD_NAMES)
def test_whatever_robot_and_joint_are_called_a_plan_comes_back(tmp_path, name):
    robot = load_robot("emps")
    robot = replace(robot, name=name, joints=(replace(robot.joints[0], name=name),))
    rest = np.zeros((3, 1))
    still = Trajectory((name,), np.arange(3.0), rest, rest, rest)
    certificate = certify(robot, still)
    certificate = replace(certificate, checks=(*certificate.checks, Check(name, True)))
    path = tmp_path / "plan.yaml"
    path.write_text(certified_text(name, still, certificate, "At rest"), encoding="utf-8")
    document = read_document(path).data
    assert document["robot"] == name
    assert document["certificate"][name] is True
    assert read_plan(path, robot)[0].joint_names == (name,)


@pytest.fixture(scope="module")
def repeating(tmp_path_factory):
    """Return a plan of series, and its file."""
    settings = PlanSettings("dynamic", PointSettings(starts=1), fourier=FourierSettings(0.3, 4, 2))
    found = plan(load_robot("emps"), settings)
    path = tmp_path_factory.mktemp("plans") / "plan.yaml"
    write_plan(path, found)
    return found, path


def test_a_plan_tells_which_part_of_it_repeats(repeating):
    found, path = repeating
    stated = {"base_frequency": 0.3, "harmonics": 4, "periods": 2, "begins": found.periodic.begins}
    document = yaml.safe_load(path.read_text())
    assert document["family"] == found.summary()["family"] == "fourier"
    assert document["periodic"] == found.summary()["periodic"] == stated
    assert read_periodic(path) == Periodic(**stated)
    trajectory, certificate = read_plan(path, load_robot("emps"))
    assert certificate.passed
    assert stated["begins"] + 2 / 0.3 < trajectory.times[-1]


@pytest.mark.parametrize(
    "line",
    [
        "periods: 3",
        "periods: 1.5",
        "periods: two",
        "periods: 0",
        "base_frequency: -0.3",
        "begins: 9.0",
        "others: 1",
    ],
)
def test_what_is_no_part_of_the_trajectory_is_refused(repeating, tmp_path, line):
    text = repeating[1].read_text()
    key = line.split(":")[0]
    changed = [f"  {line}" if x.startswith(f"  {key}:") else x for x in text.splitlines()]
    if "\n".join(changed) == text.rstrip("\n"):
        changed.insert(changed.index("periodic:") + 1, f"  {line}")
    path = tmp_path / "changed.yaml"
    path.write_text("\n".join(changed) + "\n")
    with pytest.raises(TrajectoryError, match="period"):
        read_periodic(path)


def test_nothing_of_a_motion_through_points_repeats(tmp_path):
    robot, path = load_robot("emps"), tmp_path / "plan.yaml"
    settings = PlanSettings("dynamic", PointSettings(starts=1), rows=6, duration=6.0)
    write_plan(path, plan(robot, settings))
    assert yaml.safe_load(path.read_text())["family"] == "quintic"
    assert read_periodic(path) is None
