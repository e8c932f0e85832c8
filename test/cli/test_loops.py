"""Robots with loops on the command line: identified, validated and calibrated from files."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from looped_robots import hitachi, recorded, tree_motion, values_of
from robot_identification.cli.main import main
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.share import share_directory


@pytest.fixture(scope="module")
def samples():
    robot = hitachi()
    return recorded(robot, values_of(robot), seconds=30.0)


@pytest.fixture(scope="module")
def bag(samples, tmp_path_factory):
    path = tmp_path_factory.mktemp("loops") / "active"
    write_joint_states(path, hitachi().active_names, samples)
    return path


@pytest.fixture
def whole_bag(samples, tmp_path):
    """Return a writer of bags that hold the joints that follow too, moved by so many radians."""
    robot = hitachi()

    def write(error=0.0, spoilt=()):
        q = tree_motion(robot, samples.position, samples.position, samples.position)[0]
        q[:, 1] += error
        q[list(spoilt), 1] = np.nan
        effort = np.zeros((len(q), 7))
        effort[:, [0, 2, 3, 5, 6]] = samples.effort
        path = tmp_path / f"whole_{error:g}"
        write_joint_states(
            path, robot.joint_names, replace(samples, position=q, effort=effort, velocity=None)
        )
        return path

    return write


@pytest.mark.usefixtures("undiagnosed")
def test_a_robot_with_a_parallelogram_is_identified_validated_and_calibrated(run, bag, tmp_path):
    result, parameters = tmp_path / "result.yaml", tmp_path / "parameters.yaml"
    found = run("identify", "hitachi_hpr", bag, "-o", result)
    assert len(found["parameters"]) == 50
    assert set(found["rows_per_joint"]) == set(hitachi().active_names)
    assert found["relative_error"]["total"] < 0.01
    again = run("validate", "hitachi_hpr", result, bag)
    assert again["relative_error"]["total"] == pytest.approx(found["relative_error"]["total"])
    calibrated = run(
        "calibrate", "hitachi_hpr", result, "--consistent", "-o", parameters, "--held-out", bag
    )
    assert set(calibrated["links"]) == {f"link_{number}" for number in range(1, 8)}
    assert all(link["positive_mass"] for link in calibrated["links"].values())
    assert run("validate", "hitachi_hpr", parameters, bag)["relative_error"]["total"] < 0.01


def test_a_bag_with_the_joints_that_follow_gives_the_same(run, bag, whole_bag):
    active, whole = (run("identify", "hitachi_hpr", path) for path in (bag, whole_bag()))
    values = [[p["value"] for p in found["parameters"]] for found in (active, whole)]
    assert values[0] == values[1]


def test_a_follower_with_another_offset_than_its_relation_is_refused(refusal, whole_bag):
    code, line = refusal("identify", "hitachi_hpr", whole_bag(0.5))
    assert code == 2
    assert "joint_2 does not follow" in line


@pytest.mark.usefixtures("undiagnosed")
def test_a_follower_is_held_against_its_relation_where_it_is_a_number(
    run, refusal, samples, whole_bag
):
    found = run("identify", "hitachi_hpr", whole_bag(spoilt=[40, 41, 900]))
    assert not any("joint_2" in line for line in found["warnings"])
    code, line = refusal("identify", "hitachi_hpr", whole_bag(0.3, spoilt=[40]))
    assert code == 2
    assert "joint_2 does not follow" in line
    filled = run("identify", "hitachi_hpr", whole_bag(0.1, spoilt=range(len(samples.stamps))))
    assert any("positions of joint_2 are not measured" in line for line in filled["warnings"])


def test_a_follower_a_little_off_its_relation_is_told(run, whole_bag):
    found = run("identify", "hitachi_hpr", whole_bag(0.03))
    assert any("joint_2 is off the relation" in line for line in found["warnings"])


def test_a_table_of_the_active_joints_is_identified(run, samples, tmp_path):
    path = tmp_path / "log.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["t", *(f"q{i}" for i in range(1, 6)), *(f"tau{i}" for i in range(1, 6))])
        for stamp, q, tau in zip(samples.stamps, samples.position, samples.effort, strict=True):
            writer.writerow([stamp / 1e9, *q, *tau])
    found = run(
        *("identify", "hitachi_hpr", path),
        *("--columns", "time=t", "position=q1,q2,q3,q4,q5", "effort=tau1,tau2,tau3,tau4,tau5"),
    )
    assert found["relative_error"]["total"] < 0.01


@pytest.mark.parametrize(
    "command",
    [
        ("excite", "hitachi_hpr", "-o", "plan.yaml"),
        ("identify-many", "hitachi_hpr", "bag", "-o", "result.yaml"),
        ("diagnose", "hitachi_hpr", "bag"),
        ("identify", "hitachi_hpr", "bag", "--method", "one-joint"),
        ("payload", "hitachi_hpr", "--bare", "bag", "--loaded", "bag"),
    ],
)
def test_what_does_not_know_loops_refuses_and_names_the_page(refusal, bag, command, monkeypatch):
    monkeypatch.chdir(bag.parent)
    code, line = refusal(*(str(bag) if word == "bag" else word for word in command))
    assert code == 2
    assert "docs/loops.md" in line


def test_friction_is_taken_with_its_shape_and_refused_without(run, bag, tmp_path, capsys):
    text = (share_directory() / "config" / "robots" / "hitachi_hpr.yaml").read_text()
    first = "  - name: joint_1\n"
    assert text.count(first) == 1
    robot, result = tmp_path / "robot.yaml", tmp_path / "result.yaml"
    robot.write_text(text.replace(first, first + "    smooth_coulomb_friction: {speed: 0.05}\n"))
    found = run("identify", robot, bag, "-o", result)
    assert "Ft1" in [entry["name"] for entry in found["parameters"]]
    again = run("validate", robot, result, bag)
    assert again["relative_error"]["total"] == pytest.approx(found["relative_error"]["total"])
    robot.write_text(text.replace(first, first + "    smooth_coulomb_friction: true\n"))
    assert main(["identify", str(robot), str(bag)]) == 2
    assert "Ft1.speed (state its value in the robot file)" in capsys.readouterr().err
