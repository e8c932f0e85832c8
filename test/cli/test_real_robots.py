"""The command line on bags of real robots; skipped where the data are not there."""

import contextlib
import csv
import io
import json
import re

import pytest

from robot_identification.cli.main import main
from shared_data import REPOSITORY, measured_data, requires


def by_name(result: dict) -> dict[str, dict]:
    return {entry["name"]: entry for entry in result["parameters"]}


@requires("emps")
def test_emps_gives_every_published_digit(run):
    result = run("identify", "emps", measured_data("emps") / "bag", "--method", "ols")
    parameters = by_name(result)
    published = {
        "M1": ("95.1089", "0.1085"),
        "Fv1": ("203.5034", "1.1460"),
        "Fc1": ("20.3935", "0.1012"),
        "off1": ("-3.1648", "0.0444"),
    }
    assert list(parameters) == list(published)
    for name, (value, std) in published.items():
        assert f"{parameters[name]['value']:.4f}" == value
        assert f"{parameters[name]['std']:.4f}" == std
    assert f"{result['condition_number']:.4f}" == "25.9883"
    assert f"{100 * result['relative_error']['total']:.4f}" == "4.0834"
    assert result["rows"] == 2480


@pytest.fixture(scope="module")
def tx40_by_wls():
    """Return what the TX40 is identified as by default."""
    bag = measured_data("tx40") / "bag"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert main(["identify", "tx40", str(bag), "--json"]) == 0
    return json.loads(printed.getvalue())


@requires("tx40")
@pytest.mark.usefixtures("undiagnosed")
def test_tx40_is_explained_to_five_percent_where_it_moves(run, tx40_by_wls):
    by_ols = run("identify", "tx40", measured_data("tx40") / "bag", "--method", "ols")
    assert [result["method"] for result in (by_ols, tx40_by_wls)] == ["ols", "wls"]
    for result in (by_ols, tx40_by_wls):
        assert len(result["parameters"]) == 60
        assert result["relative_error"]["total"] <= 0.051


@requires("tx40")
@pytest.mark.usefixtures("undiagnosed")
def test_tx40_is_explained_with_all_samples(run):
    arguments = ("identify", "tx40", measured_data("tx40") / "bag", "--velocity-threshold", "off")
    assert run(*arguments)["relative_error"]["total"] <= 0.075


def published_tx40() -> dict[str, tuple[float, float]]:
    """Leading standard parameter -> published WLS value and its standard deviation in percent."""
    names = {
        "Ixx": "XX", "Ixy": "XY", "Ixz": "XZ", "Iyy": "YY", "Iyz": "YZ", "Izz": "ZZ",
        "mx": "MX", "my": "MY", "Ia": "Ia", "Iam": "Ia", "fv": "Fv", "fs": "Fc", "off": "off",
        "fvm": "Fvm", "fsm": "Fcm",
    }  # fmt: skip
    result = {}
    with (measured_data("tx40") / "TX40_bp_5.csv").open() as file:
        for expression, _, _, value, percent in csv.reader(file):
            kind, joint = re.fullmatch(r"([A-Za-z]+)(\d)", expression.split()[0]).groups()
            result[names[kind] + joint] = (float(value), float(percent))
    return result


@requires("tx40")
def test_tx40_agrees_with_the_published_parameters(tx40_by_wls):
    ours = {next(iter(e["grouping"])): e["value"] for e in tx40_by_wls["parameters"]}
    published = published_tx40()
    assert set(ours) == set(published)
    sure = {name: entry for name, entry in published.items() if entry[1] < 5.0}
    assert len(sure) == 19
    for name, (value, percent) in sure.items():
        assert abs(ours[name] - value) <= 2.0 * abs(value) * percent / 100.0, name


@requires("tx40")
@pytest.mark.usefixtures("undiagnosed")
def test_tx40_needs_the_coupling_of_its_wrist(run, tx40_by_wls, tmp_path):
    robot = (REPOSITORY / "config" / "robots" / "tx40.yaml").read_text()
    uncoupled = tmp_path / "uncoupled.yaml"
    uncoupled.write_text(re.sub(r"couplings:.*?\n(?=\w)", "", robot, flags=re.DOTALL))
    with_coupling = tx40_by_wls["relative_error"]
    without = run("identify", uncoupled, measured_data("tx40") / "bag")["relative_error"]
    assert without["joint_5"] > 3.0 * with_coupling["joint_5"]
    assert without["joint_6"] > 2.0 * with_coupling["joint_6"]


UR10 = measured_data("ur10") / "ur10_exciting_trajectory.db3"


@requires("ur10")
def test_ur10_is_explained_with_all_samples(run):
    everything = run("identify", "ur10", UR10, "--velocity-threshold", "off")
    assert len(everything["parameters"]) == 58
    assert everything["relative_error"]["total"] <= 0.065


@requires("ur10")
@pytest.mark.usefixtures("undiagnosed")
def test_ur10_is_explained_better_where_every_joint_moves(run):
    moving = run(
        "identify", "ur10", UR10,
        "--velocity-threshold", "0.05", "--velocity-threshold-scope", "sample",
    )  # fmt: skip
    assert moving["relative_error"]["total"] <= 0.044


@requires("ur10")
@pytest.mark.usefixtures("undiagnosed")
def test_the_second_half_of_a_recording_is_predicted_alike_later_and_in_the_same_run(run, tmp_path):
    result, settings = tmp_path / "first_half.yaml", ("--velocity-threshold", "off")
    whole = run("identify", "ur10", UR10, *settings, "--held-out", "0.5")
    run("identify", "ur10", UR10, *settings, "--end", "0.5", "-o", result)
    second = run("validate", "ur10", result, UR10, "--begin", "0.5")
    assert second["relative_error"]["total"] <= 0.075
    assert second["relative_error"]["total"] == pytest.approx(
        whole["held_out_error"]["total"], rel=0.05
    )
    assert whole["held_out_error"]["total"] <= 0.075
    assert whole["held_out_error"]["total"] > whole["relative_error"]["total"]
