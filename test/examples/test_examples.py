"""The short scripts in examples/ do what they say."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import forked_processes
import robot_identification as ri
from robot_identification.cli.main import main
from robot_identification.excitation.search import optimizers, search
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.robot.files.loading import load_robot
from swinging_scara import swinging_scara

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def bag(tmp_path):
    path = tmp_path / "bag"
    write_joint_states(path, load_robot("scara").joint_names, swinging_scara(), storage="mcap")
    return path


def started(script, *arguments):
    return forked_processes.run(
        [sys.executable, str(EXAMPLES / script), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


def run(script, *arguments):
    done = started(script, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_identify_bag_prints_a_value_and_a_deviation_for_every_parameter(bag):
    lines = run("identify_bag.py", "scara", bag).splitlines()
    assert sum("+-" in line for line in lines) == 8
    assert lines[0].startswith("ZZ1R")
    assert float(lines[-1].rsplit(" ", 1)[1]) < 0.1


def test_plan_trajectory_writes_samples_that_begin_and_end_at_rest(tmp_path, monkeypatch, capsys):
    """Any motion is good enough: its search ends early."""
    target, script = tmp_path / "samples.csv", EXAMPLES / "plan_trajectory.py"
    monkeypatch.setattr(search, "_STAGES", search._STAGES[:3])
    monkeypatch.setattr(optimizers, "_ITERATIONS", 20)
    monkeypatch.setattr(sys, "argv", [str(script), "scara", str(target)])
    runpy.run_path(str(script), run_name="__main__")
    assert "passed velocity" in capsys.readouterr().out
    table = np.loadtxt(target, delimiter=",", skiprows=1)
    assert table.shape[1] == 5
    assert np.abs(table[0, 3:]).max() < 1e-6


def test_predict_effort_uses_a_result(bag, tmp_path):
    result = tmp_path / "result.yaml"
    assert main(["identify", "scara", str(bag), "-o", str(result)]) == 0
    lines = run("predict_effort.py", "scara", result).splitlines()
    assert len(lines) == 5
    assert lines[0].startswith(" 0.00 s")


def test_predict_effort_takes_the_friction_law_and_the_robot_of_the_result(bag, tmp_path):
    plain = ri.load_robot("scara").file.read_text(encoding="utf-8")
    sprung = tmp_path / "sprung.yaml"
    sprung.write_text(plain.replace("joint_defaults:", "joint_defaults:\n  spring: true"))
    for robot, file in (("scara", "plain"), (sprung, "law")):
        ri.identify(robot, bag, friction="coulomb-viscous").save(tmp_path / file)
    plainly, by_law = (
        np.loadtxt(run("predict_effort.py", robot, tmp_path / file).splitlines(), usecols=(2, 3))
        for robot, file in (("scara", "plain"), (sprung, "law"))
    )
    np.testing.assert_allclose(by_law, plainly, atol=0.01)
    longer = tmp_path / "longer.yaml"
    longer.write_text(plain.replace("d: 0.5", "d: 0.6"))
    refused = started("predict_effort.py", longer, tmp_path / "plain")
    assert "geometry is not that of the identification" in refused.stderr
