import json

import numpy as np
import pytest

from robot_identification.cli.main import main
from robot_identification.dynamics.reference import sample
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.files.results import read_result
from robot_identification.signals.raw_samples import RawSamples
from simulated_experiments import raw_samples, simulated

NOISE = np.array([0.08, 0.006])


@pytest.fixture(scope="module")
def torque_bag(tmp_path_factory):
    """A bag of the simulated SCARA with efforts and reference, its positions NaN; 40 s."""
    raw = raw_samples("scara", "scara", 200.0, NOISE, positions=False)
    samples, trajectory = simulated("scara", "scara", 200.0)
    reference = sample(trajectory.reference, samples.time)[0]
    part = slice(0, 8000)
    path = tmp_path_factory.mktemp("didim") / "bag"
    states = RawSamples(
        raw.stamps[part], raw.position[part], None, raw.effort[part], reference[part]
    )
    write_joint_states(path, ("joint_1", "joint_2"), states)
    return path


def test_didim_on_the_command_line(torque_bag, tmp_path, run):
    result_file = tmp_path / "result.yaml"
    result = run("identify", "scara", torque_bag, "--method", "didim", "-o", result_file)
    assert result["method"] == "didim"
    assert result["converged"] is True
    assert result["verdict"] == "converged"
    assert 1 <= result["iterations"] <= 6
    errors = result["torque_error_history"]
    assert len(errors) == result["iterations"] + 1
    assert set(errors[0]) == {"total", "joint_1", "joint_2"}
    assert errors[-1]["total"] < 0.02 < errors[0]["total"]
    assert [entry["iteration"] for entry in result["history"]] == list(range(len(errors)))
    assert result["start_smallest_eigenvalue"] == pytest.approx(0.381966)
    values = {p["name"]: p["value"] for p in result["parameters"]}
    assert values["ZZ1R"] == pytest.approx(3.45, rel=0.01)
    stored = read_result(result_file)
    shown = json.loads(json.dumps(stored.summary()))
    for name in ("history", "torque_error_history", "noise_floor", "verdict", "start"):
        assert shown[name] == result[name]
    again = run(
        "identify", "scara", torque_bag, "--method", "didim", "--start", result_file,
        "--weighting", "ols", "--tolerance-parameters", "0.05",
    )  # fmt: skip
    assert again["iterations"] <= 2
    assert again["settings"]["weighting"]["value"] == "ols"


def test_the_prior_can_be_the_start(torque_bag, run):
    result = run("identify", "scara", torque_bag, "--method", "didim", "--start", "prior")
    assert result["start"] == "prior, scara"
    assert result["torque_error_history"][0]["total"] < 0.02


def test_people_see_the_iterations(torque_bag, capsys):
    assert main(["identify", "scara", str(torque_bag), "--method", "didim"]) == 0
    out = capsys.readouterr().out
    assert "iterations from the start: regular" in out
    assert "torque error" in out
    assert "converged; noise floor" in out


def test_a_mismatch_is_shown_and_refused(torque_bag, tmp_path, capsys):
    target = tmp_path / "result.yaml"
    command = ["identify", "scara", str(torque_bag), "--method", "didim", "--bandwidth", "0.3"]
    assert main([*command, "--json", "-o", str(target)]) == 3
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert result["converged"] is False
    assert result["verdict"] == "model mismatch"
    assert captured.err.startswith("robot-identification identify: model mismatch")
    assert not target.exists()


def test_too_few_iterations_are_told_with_the_history(torque_bag, capsys):
    command = ["identify", "scara", str(torque_bag), "--method", "didim", "--max-iterations", "1"]
    assert main([*command, "--json"]) == 3
    captured = capsys.readouterr()
    assert json.loads(captured.out)["verdict"] == "not converged"
    assert "not converged" in captured.err


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--friction", "auto"),
        ("--friction", "coulomb-viscous"),
        ("--essential-threshold", "50"),
        ("--essential-rule", "ratio"),
        ("--robust-threshold", "2"),
    ],
)
def test_options_of_a_fit_of_rows_are_refused(torque_bag, refusal, option, value):
    code, line = refusal("identify", "scara", torque_bag, "--method", "didim", option, value)
    assert code == 2
    assert option in line
    assert "least squares of rows" in line


def test_a_bag_without_reference_is_refused(scara_bag, refusal):
    code, line = refusal("identify", "scara", scara_bag, "--method", "didim")
    assert code == 2
    assert "no reference" in line


def test_a_start_from_the_measured_motion_needs_positions(torque_bag, refusal):
    code, line = refusal("identify", "scara", torque_bag, "--method", "didim", "--start", "idim")
    assert code == 2
    assert "position" in line


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--start", "regular"), "--start = wls: works with the method didim"),
        (("--prior", "scara"), "--prior = wls"),
        (("--trajectory", "scara"), "--trajectory = wls"),
        (("--trajectory-start", "0"), "--trajectory-start = wls"),
        (("--max-iterations", "3"), "--max-iterations = wls"),
        (("--noise-floor", "0.1", "--method", "energy"), "--noise-floor = energy"),
        (("--method", "didim", "--prior", "scara"), "--prior = scara: is not read with --start"),
    ],
)
def test_options_that_would_be_passed_over_are_refused(refusal, torque_bag, options, problem):
    code, line = refusal("identify", "scara", torque_bag, *options)
    assert code == 2
    assert problem in line
