import json
from dataclasses import replace

import numpy as np
import pytest
import yaml

from robot_identification.cli.main import main
from robot_identification.errors import SettingError
from robot_identification.identification.identify import identify
from robot_identification.identification.merging import merge_results
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.storage.results import read_result, write_result
from simulated_experiments import experiment

NOISE = np.array([0.2, 0.05])
STATED = ProcessingSettings(
    cutoff_hz=20.0, rate_hz=20.0, velocity_threshold=(0.05, 0.05), drop_start=30, drop_end=30
)


@pytest.fixture(scope="module")
def arm():
    robot, (recording,), _, _ = experiment("scara", "scara", 200.0, NOISE, positions=True)
    parts = [recording.between(begin, begin + 0.3) for begin in (0.0, 0.35, 0.7)]
    return robot, [replace(part, source=f"part {i}") for i, part in enumerate(parts)]


@pytest.fixture(scope="module", params=["ols", "wls"])
def results(arm, request):
    robot, parts = arm
    found = [identify(robot, [part], method=request.param, overrides=STATED) for part in parts]
    return found, identify(robot, parts, method=request.param, overrides=STATED)


def test_merging_factors_equals_factoring_the_whole(results):
    found, whole = results
    merged = merge_results(found)
    assert merged.estimate.rows == whole.estimate.rows
    assert merged.sources == whole.sources
    assert merged.estimate.std_robust is None
    assert [fold.name for fold in merged.cross_validation.folds] == ["part 0", "part 1", "part 2"]
    np.testing.assert_allclose(
        merged.cross_validation.error.total, whole.cross_validation.error.total, rtol=1e-9
    )
    for name in ("values", "std", "weights", "residual_std", "singular_values"):
        ours, theirs = getattr(merged.estimate, name), getattr(whole.estimate, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    assert (merged.estimate.std < found[0].estimate.std).all()


def test_the_order_of_results_does_not_matter(results):
    found, _ = results
    one, other = merge_results(found), merge_results(found[::-1])
    np.testing.assert_allclose(one.estimate.values, other.estimate.values, rtol=1e-10)
    nested = merge_results([merge_results(found[:2]), found[2]])
    np.testing.assert_allclose(one.estimate.values, nested.estimate.values, rtol=1e-10)


def test_every_warning_stays_with_its_recording(results):
    found, _ = results
    names = ("runs/run1", "runs/run10", "scara-7f")
    notes = ("runs/run1/run1_0.mcap: a chunk has no checksum", "no file of run10 is whole")
    lost = [f"{name}: 3 samples lost in 1 gaps" for name in names]
    held_out = "runs/run10: 9 samples lost in 1 gaps"  # of a bag that the first was tried on
    about_fit = "bag runs/run1, joint_1: 0.5 instead of 0.1"
    own = ((lost[0], notes[0]), (lost[1], notes[1]), (lost[2],))
    merged = merge_results(
        [
            replace(
                one,
                sources=(replace(one.sources[0], name=name, warnings=lines),),
                warnings=(*lines, held_out, about_fit),
            )
            for one, name, lines in zip(found, names, own, strict=True)
        ]
    )
    assert [source.warnings for source in merged.sources] == list(own)
    assert merged.warnings[:5] == (lost[0], notes[0], lost[1], notes[1], lost[2])
    assert held_out not in merged.warnings
    assert about_fit not in merged.warnings


def test_files_of_earlier_versions_tell_by_name_whom_a_warning_is_about(results, tmp_path):
    found, _ = results
    path = tmp_path / "earlier.yaml"
    lines = (
        "runs/run1: 3 samples lost in 1 gaps",
        "runs/run1/run1_0.mcap: a chunk has no checksum",
        "runs/run10: 9 samples lost in 1 gaps",
        "bag runs/run1, joint_1: 0.5 instead of 0.1",
        "recording runs/run1: 2 blocks, 20 samples, not arrived",
    )
    source = replace(found[0].sources[0], name="runs/run1")
    write_result(path, replace(found[0], sources=(source,), warnings=lines))
    document = yaml.safe_load(path.read_text())
    del document["sources"][0]["warnings"], document["sha256"]
    path.write_text(yaml.safe_dump(document))
    assert read_result(path).sources[0].warnings == (lines[0], lines[1], lines[4])


def test_the_delay_of_every_recording_is_kept(results):
    found, _ = results
    late = replace(found[0].sources[0], effort_topic="/efforts", effort_delay=0.004)
    merged = merge_results([replace(found[0], sources=(late,)), *found[1:]])
    assert merged.settings["effort_delay"]["value"] == [0.004, 0.0, 0.0]
    assert "/efforts" in merged.settings["effort_delay"]["reason"]


def test_unlike_results_are_refused(results):
    found, _ = results
    one, other = found[0], found[1]
    changed = {**other.settings, "cutoff_hz": {"value": 21.0, "reason": "option"}}
    for unlike, text in (
        (replace(other, robot="tx40"), "robot"),
        (replace(other, robot_digest="0"), "robot description"),
        (replace(other, method="energy"), "method"),
        (replace(other, settings=changed), "cutoff_hz.*21.*20"),
        (one, "count twice"),
    ):
        with pytest.raises(SettingError, match=text):
            merge_results([one, unlike])
    with pytest.raises(SettingError, match="merge works with"):
        merge_results([replace(one, method="didim")])
    with pytest.raises(SettingError, match="at least one"):
        merge_results([])


def test_the_command_writes_what_calibrate_and_merge_can_read(results, tmp_path, capsys):
    found, whole = results
    paths = [tmp_path / f"{i}.yaml" for i in range(3)]
    for path, result in zip(paths, found, strict=True):
        write_result(path, result)
    target = tmp_path / "merged.yaml"
    assert main(["merge", *map(str, paths), "-o", str(target), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    values = [parameter["value"] for parameter in printed["parameters"]]
    np.testing.assert_allclose(values, whole.estimate.values, rtol=1e-9)
    assert read_result(target).estimate.values.tolist() == values
    assert main(["merge", str(paths[0]), str(paths[0]), "-o", str(target)]) == 2
    assert "part 0: this recording would count twice" in capsys.readouterr().err.replace(
        "'part 0'", "part 0"
    )
    assert main(["merge", str(paths[0]), str(tmp_path / "none"), "-o", str(target)]) == 2
    assert read_result(target).estimate.values.tolist() == values
