"""Efforts of recordings are predicted with the filters that the parameters were found with."""

import re

import pytest
import yaml

from robot_identification.cli.main import main
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.signals.raw_samples import RawSamples

STATED = ("--cutoff", "6", "--rate", "12", "--velocity-threshold", "0.4,0.5", "--ends", "keep")


@pytest.fixture
def identified(run, scara_bag, undiagnosed, tmp_path):
    """A result with settings that nobody would derive, its file, and what it says of its fit."""
    path = tmp_path / "result.yaml"
    return path, run("identify", "scara", scara_bag, *STATED, "-o", path)


def values(settings):
    return {name: entry["value"] for name, entry in settings.items()}


def reasons(settings):
    return {name: entry["reason"] for name, entry in settings.items()}


def test_a_result_is_validated_with_its_own_settings(run, identified, scara_bag):
    path, fit = identified
    found = run("validate", "scara", path, scara_bag)
    assert found["relative_error"] == pytest.approx(fit["relative_error"], rel=1e-9)
    assert values(found["settings"]) == values(fit["settings"])
    told = reasons(found["settings"])
    assert told["cutoff_hz"] == told["velocity_threshold"] == told["filter_order"] == "result"
    assert found["rows_per_joint"] == fit["rows_per_joint"]


def test_an_option_goes_before_the_result(run, identified, scara_bag):
    path, _ = identified
    found = run("validate", "scara", path, scara_bag, "--cutoff", "9")
    assert found["settings"]["cutoff_hz"] == {"value": 9.0, "reason": "option"}
    assert found["settings"]["rate_hz"] == {"value": 12.0, "reason": "result"}


def test_settings_are_derived_where_that_is_asked_for_and_what_differs_is_told(
    run, identified, scara_bag, capsys
):
    path, _ = identified
    alike = run("validate", "scara", path, scara_bag)
    assert alike["different_settings"] == {}
    found = run("validate", "scara", path, scara_bag, "--derive-settings")
    assert found["settings"]["cutoff_hz"]["reason"] == "robot file"
    different = found["different_settings"]
    assert different["cutoff_hz"] == {
        "identified": 6.0,
        "used": found["settings"]["cutoff_hz"]["value"],
        "reason": found["settings"]["cutoff_hz"]["reason"],
    }
    assert {"rate_hz", "velocity_threshold", "ends"} <= set(different)
    assert "filter_order" not in different
    held = run("calibrate", "scara", path, "--held-out", scara_bag, "--derive-settings")
    assert held["held_out_different_settings"] == different
    assert main(["validate", "scara", str(path), str(scara_bag), "--cutoff", "9"]) == 0
    printed = capsys.readouterr().out
    assert "settings that are not those of the identification" in printed
    assert re.search(r"cutoff_hz +9 +6", printed)


def test_samples_that_are_dropped_follow_from_the_rate_of_the_recording(
    run, scara_bag, scara_samples, tmp_path
):
    path, half = tmp_path / "result.yaml", tmp_path / "half"
    fit = run("identify", "scara", scara_bag, "--cutoff", "6", "-o", path)
    thinned = [None if x is None else x[::2] for x in vars(scara_samples).values()]
    write_joint_states(half, ("joint_1", "joint_2"), RawSamples(*thinned))
    found = run("validate", "scara", path, half)
    assert values(found["settings"])["drop_start"] == pytest.approx(
        values(fit["settings"])["drop_start"] / 2, abs=8
    )
    assert found["relative_error"]["total"] == pytest.approx(
        fit["relative_error"]["total"], rel=0.3
    )


def test_held_out_bags_are_predicted_with_the_settings_of_the_result(run, identified, scara_bag):
    path, fit = identified
    found = run("calibrate", "scara", path, "--held-out", scara_bag)
    assert found["held_out_error_identified"] == pytest.approx(fit["relative_error"], rel=1e-9)
    assert values(found["held_out_settings"]) == values(fit["settings"])
    assert found["held_out_settings"]["rate_hz"]["reason"] == "result"
    found = run("calibrate", "scara", path, "--held-out", scara_bag, "--cutoff", "9")
    assert found["held_out_settings"]["cutoff_hz"] == {"value": 9.0, "reason": "option"}


def test_calibrated_parameters_know_the_settings_too(run, identified, scara_bag, tmp_path):
    path, fit = identified
    output = tmp_path / "parameters.yaml"
    calibrated = run("calibrate", "scara", path, "-o", output, "--held-out", scara_bag)
    found = run("validate", "scara", output, scara_bag)
    assert found["relative_error"] == pytest.approx(calibrated["held_out_error"], rel=1e-9)
    assert values(found["settings"]) == values(fit["settings"])


@pytest.mark.parametrize(
    ("name", "value"),
    [("cutoff_hz", "quick"), ("cutoff_hz", -1.0), ("ends", "none"), ("unknown", 1.0)],
)
def test_parameter_files_with_impossible_settings_are_refused(
    refusal, identified, scara_bag, tmp_path, name, value
):
    output = tmp_path / "parameters.yaml"
    assert main(["calibrate", "scara", str(identified[0]), "-o", str(output), "--json"]) == 0
    document = yaml.safe_load(output.read_text())
    document["provenance"]["processing"][name] = value
    output.write_text(yaml.safe_dump(document))
    code, line = refusal("validate", "scara", output, scara_bag)
    assert code == 2
    assert f"provenance.processing.{name}" in line


def test_result_files_with_impossible_settings_are_refused(refusal, identified, scara_bag):
    path, _ = identified
    text = re.sub("sha256: .*\n", "", path.read_text(), count=1)
    assert "cutoff_hz: {value: 6.0" in text
    path.write_text(text.replace("cutoff_hz: {value: 6.0", "cutoff_hz: {value: quick"))
    code, line = refusal("validate", "scara", path, scara_bag)
    assert code == 2
    assert "cutoff_hz" in line


def test_people_see_what_was_used(capsys, identified, scara_bag):
    for arguments in (
        ["validate", "scara", identified[0], scara_bag],
        ["calibrate", "scara", identified[0], "--held-out", scara_bag],
    ):
        assert main([*map(str, arguments)]) == 0
        lines = [line.split() for line in capsys.readouterr().out.splitlines()]
        assert ["cutoff_hz", "6", "result"] in lines
        assert ["ends", "keep", "result"] in lines
