"""The command line as a user meets it, on a recording whose truth is known."""

import json
import sys

import numpy as np
import pytest

import forked_processes
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.files.results import read_result
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values


@pytest.mark.parametrize("method", ["ols", "wls"])
def test_identified_parameters_are_the_true_ones_within_their_deviations(run, scara_bag, method):
    robot = load_robot("scara")
    base = base_parameters(robot)
    truth = base.values(load_values("scara", robot)[base.columns])
    result = run("identify", "scara", scara_bag, "--method", method)
    assert [entry["name"] for entry in result["parameters"]] == list(base.names)
    for entry, true in zip(result["parameters"], truth, strict=True):
        assert abs(entry["value"] - true) < 4.5 * entry["std"], entry["name"]


def test_the_result_file_holds_what_was_printed(run, scara_bag, tmp_path):
    target = tmp_path / "result.yaml"
    printed = run("identify", "scara", scara_bag, "-o", target)
    result = read_result(target)
    values = [entry["value"] for entry in printed["parameters"]]
    np.testing.assert_array_equal(result.estimate.values, values)
    assert result.sources[0].digest == printed["sources"][0]["digest"]
    assert len(result.sources[0].digest) == 64


def test_the_factors_in_a_result_file_are_enough_to_estimate_again(run, scara_bag, tmp_path):
    from robot_identification.identification.estimators.least_squares import ordinary

    target = tmp_path / "result.yaml"
    run("identify", "scara", scara_bag, "--method", "ols", "-o", target)
    result = read_result(target)
    again = ordinary(result.factors, result.regrouping.names)
    np.testing.assert_allclose(again.values, result.estimate.values, rtol=1e-10)


def test_validation_of_a_result_on_its_own_data_gives_the_error_of_the_fit(
    run, scara_bag, tmp_path
):
    target = tmp_path / "result.yaml"
    fitted = run("identify", "scara", scara_bag, "-o", target)["relative_error"]
    validated = run("validate", "scara", target, scara_bag)["relative_error"]
    assert validated == pytest.approx(fitted, rel=1e-9)


def test_true_standard_parameters_leave_only_the_noise(run, scara_bag):
    error = run("validate", "scara", "scara", scara_bag)["relative_error"]
    fitted = run("identify", "scara", scara_bag)["relative_error"]
    assert error["total"] == pytest.approx(fitted["total"], rel=0.15)


@pytest.mark.parametrize("storage", ["sqlite3", "mcap"])
def test_the_order_of_joints_in_messages_changes_no_bit(
    run, scara_bag, scara_samples, tmp_path, storage
):
    from dataclasses import replace

    reverse = replace(
        scara_samples,
        position=scara_samples.position[:, ::-1],
        velocity=scara_samples.velocity[:, ::-1],
        effort=scara_samples.effort[:, ::-1],
    )
    names = load_robot("scara").joint_names[::-1]
    permuted = tmp_path / "permuted"
    write_joint_states(permuted, names, reverse, storage=storage)
    straight = run("identify", "scara", scara_bag)["parameters"]
    assert run("identify", "scara", permuted)["parameters"] == straight


def test_several_bags_are_fitted_together(run, scara_bag, scara_samples, tmp_path):
    from dataclasses import replace

    other = tmp_path / "other"
    names = load_robot("scara").joint_names
    write_joint_states(other, names, replace(scara_samples, velocity=None), storage="mcap")
    settings = ("--method", "ols", "--cutoff", "20", "--rate", "40", "--velocity-threshold", "0.05")
    one = run("identify", "scara", scara_bag, *settings)
    two = run("identify", "scara", scara_bag, other, *settings)
    assert two["rows"] == 2 * one["rows"]
    for single, double in zip(one["parameters"], two["parameters"], strict=True):
        assert double["value"] == pytest.approx(single["value"], rel=1e-9)
        assert double["std"] == pytest.approx(single["std"] / np.sqrt(2), rel=1e-2)


def test_a_table_for_people_names_every_parameter_and_setting(scara_bag):
    command = [sys.executable, "-m", "robot_identification.cli.main"]
    done = forked_processes.run(
        [*command, "identify", "scara", str(scara_bag)], capture_output=True, text=True, check=True
    )
    for name in base_parameters(load_robot("scara")).names:
        assert f"\n{name} " in done.stdout
    for setting in ("cutoff_hz", "rate_hz", "velocity_threshold", "drop_start", "ends"):
        assert setting in done.stdout
    assert done.stderr == ""


def test_json_is_plain_and_complete(run, scara_bag):
    result = run("identify", "scara", scara_bag)
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert {
        "method", "parameters", "condition_number", "relative_error", "rows", "iterations",
        "converged", "seconds", "settings", "sources", "warnings", "findings",
    } <= set(result)  # fmt: skip
    assert set(result["parameters"][0]) == {
        "name", "grouping", "value", "std", "std_robust", "relative_std_percent", "essential",
        "verdict",
    }  # fmt: skip
    assert all(set(entry) == {"value", "reason"} for entry in result["settings"].values())
