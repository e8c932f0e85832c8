import json
from dataclasses import replace

import numpy as np
import pytest
import yaml

from robot_identification.cli.main import main
from robot_identification.errors import SettingError
from robot_identification.files.results import read_result, write_result
from robot_identification.identification.diagnosis.finding import Severity
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.estimators.huber import HuberSettings
from robot_identification.identification.estimators.weighting import Weighting
from robot_identification.identification.identify import identify
from robot_identification.identification.merging import merge_results
from robot_identification.identification.validate import validate
from robot_identification.robot.processing import ProcessingSettings
from simulated_experiments import experiment

pytestmark = pytest.mark.usefixtures("undiagnosed")

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
    assert any("no std_robust, as the rows are not at hand" in line for line in merged.warnings)
    assert [fold.name for fold in merged.cross_validation.folds] == ["part 0", "part 1", "part 2"]
    np.testing.assert_allclose(
        merged.cross_validation.error.total, whole.cross_validation.error.total, rtol=1e-9
    )
    for name in ("values", "std", "weights", "residual_std", "singular_values"):
        ours, theirs = getattr(merged.estimate, name), getattr(whole.estimate, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    assert (merged.estimate.std < found[0].estimate.std).all()


def test_results_that_do_not_name_their_velocities_have_derived_ones(results):
    found, _ = results
    named = {name: entry for name, entry in found[0].settings.items() if name != "velocities"}
    earlier = replace(found[0], settings=named)
    merged = merge_results([earlier, found[1]])
    np.testing.assert_array_equal(merged.estimate.values, merge_results(found[:2]).estimate.values)
    measured = {**named, "velocities": {"value": "measured", "reason": "option"}}
    with pytest.raises(SettingError, match="velocities"):
        merge_results([replace(found[0], settings=measured), found[1]])


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


def test_results_of_efforts_with_other_meanings_are_refused(results):
    found, _ = results
    assert found[0].settings["effort_meaning"] == {"value": "joint_torque", "reason": "robot file"}
    entry = {"effort_meaning": {"value": "current", "reason": "option"}}
    other = replace(found[1], settings={**found[1].settings, **entry})
    with pytest.raises(SettingError, match=r"effort_meaning.*current.*part 1 differs.*part 0"):
        merge_results([found[0], other])
    silent = {k: v for k, v in found[0].settings.items() if k != "effort_meaning"}
    earlier = replace(found[0], settings=silent)  # results of earlier versions do not say it
    assert merge_results([earlier, found[1]]).settings["effort_meaning"]["value"] == "joint_torque"
    with pytest.raises(SettingError, match="effort_meaning"):
        merge_results([earlier, other, found[2]])


def test_essential_parameters_of_merged_factors_are_those_of_all_rows(arm, results):
    robot, parts = arm
    found, whole = results
    rule = EliminationRule("ratio", 3.0)
    merged = merge_results(found, essential=rule)
    together = identify(robot, parts, method=whole.method, overrides=STATED, essential=rule)
    assert not merged.elimination.kept.all()
    np.testing.assert_array_equal(merged.elimination.kept, together.elimination.kept)
    for name in ("values", "std"):
        ours, theirs = (getattr(r.estimate, name) for r in (merged, together))
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    ours, theirs = (r.cross_validation.error.total for r in (merged, together))
    assert ours == pytest.approx(theirs, rel=1e-9)
    with pytest.raises(SettingError, match="must be one of"):
        merge_results(found, essential=EliminationRule("coin"))


@pytest.mark.parametrize("weighting", [Weighting((3.0, 1.0, 0.5)), Weighting(bag_noise=True)])
def test_weights_between_results_are_those_between_their_bags(arm, results, weighting):
    robot, parts = arm
    found, whole = results
    if weighting.bag_noise and whole.method == "ols":
        with pytest.raises(SettingError, match="works with the method wls"):
            merge_results(found, weighting=weighting)
        return
    merged = merge_results(found, weighting=weighting)
    together = identify(robot, parts, method=whole.method, overrides=STATED, weighting=weighting)
    np.testing.assert_allclose(merged.estimate.values, together.estimate.values, rtol=1e-9)
    (name,) = {"bag_weights", "bag_noise"} & set(merged.settings)
    ours, theirs = (r.settings[name]["value"] for r in (merged, together))
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    pair = merge_results([merge_results(found[:2]), found[2]], weighting=Weighting((2.0, 1.0)))
    assert pair.settings["bag_weights"]["value"] == [2.0, 2.0, 1.0]  # one for every recording
    with pytest.raises(SettingError, match="weighted or limited already"):
        merge_results([merged], held_out=[replace(merged, sources=())])


def test_held_out_results_are_predicted_and_not_fitted(arm, results):
    robot, parts = arm
    found, whole = results
    merged = merge_results(found[:2], held_out=found[2:])
    together = identify(robot, parts[:2], method=whole.method, overrides=STATED, held_out=parts[2:])
    np.testing.assert_allclose(merged.estimate.values, together.estimate.values, rtol=1e-9)
    assert merged.held_out.total == pytest.approx(together.held_out.total, rel=1e-9)
    assert [fold.name for fold in merged.held_out_bags] == ["part 2"]
    with pytest.raises(SettingError, match="count twice"):
        merge_results(found, held_out=found[2:])


def test_errors_of_merged_results_are_those_of_the_efforts_as_measured(arm, tmp_path):
    robot, parts = arm
    limited = [
        identify(robot, [part], overrides=STATED, robust=HuberSettings(1.0)) for part in parts
    ]
    for number, one in enumerate(limited):
        write_result(tmp_path / f"{number}.yaml", one)
        assert read_result(tmp_path / f"{number}.yaml") == one
    merged = merge_results(limited)
    measured = validate(robot, merged.estimate.values, parts, overrides=STATED)
    told = merged.estimate.relative_error
    assert told.total == pytest.approx(measured.relative_error.total, rel=1e-9)
    assert merge_results([merged]).estimate.relative_error.total == pytest.approx(told.total)
    earlier = [replace(one, measured_factors=None) for one in limited]
    assert "errors are those of weighted or limited rows" in merge_results(earlier).warnings[0]


def test_outliers_are_limited_row_by_row_and_not_in_factors(results):
    found, _ = results
    with pytest.raises(SettingError, match=r"goes over the samples.*identify the whole recordings"):
        merge_results(found, robust=HuberSettings())


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
    asked = [*map(str, paths[:2]), "--weight", f"{paths[0]}=2", "--essential"]
    asked += ["--essential-threshold", "3", "--held-out-result", str(paths[2])]
    assert main(["merge", *asked, "-o", str(tmp_path / "other.yaml"), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["settings"]["bag_weights"]["value"] == [2.0, 1.0]
    assert printed["elimination"]["removed"]
    assert [fold["name"] for fold in printed["held_out_bags"]] == ["part 2"]
    assert main(["merge", *map(str, paths), "-o", str(target), "--robust", "huber"]) == 2
    assert "goes over the samples" in capsys.readouterr().err
    assert main(["merge", str(paths[0]), "-o", str(target), "--weight", "other=2"]) == 2
    assert "write RESULT=W" in capsys.readouterr().err
    assert main(["merge", str(paths[0]), str(paths[0]), "-o", str(target)]) == 2
    assert "part 0: this recording would count twice" in capsys.readouterr().err.replace(
        "'part 0'", "part 0"
    )
    assert main(["merge", str(paths[0]), str(tmp_path / "none"), "-o", str(target)]) == 2
    assert read_result(target).estimate.values.tolist() == values


def with_efforts(parts, joint, factor):
    """Return recordings with the efforts of one joint times a factor."""
    found = []
    for part in parts:
        segments = []
        for segment in part.segments:
            effort = np.array(segment.effort)
            effort[:, joint] *= factor
            segments.append(replace(segment, effort=effort))
        found.append(replace(part, segments=tuple(segments)))
    return found


def findings_of_merged(robot, parts):
    results = [identify(robot, [part], overrides=STATED) for part in parts]
    return merge_results(results).findings


@pytest.mark.parametrize("joint", [0, 1])
def test_negated_efforts_of_a_joint_are_named_of_merged_results(arm, joint):
    robot, parts = arm
    found = findings_of_merged(robot, with_efforts(parts, joint, -1.0))
    assert (found[0].severity, found[0].cause) == (Severity.MISTAKE, "effort sign")
    assert found[0].joints == (robot.joint_names[joint],)


def test_halved_efforts_of_one_of_two_joints_are_named_of_merged_results(arm):
    robot, parts = arm
    found = findings_of_merged(robot, with_efforts(parts, 1, 0.5))
    assert (found[0].severity, found[0].cause) == (Severity.MISTAKE, "effort factor")
    # Of two joints only the ratio of their efforts is known, and both are told.
    assert all(name in str(found[0]) for name in robot.joint_names), str(found[0])
    amount = found[0].figures["amount"]
    assert max(amount, 1.0 / amount) == pytest.approx(2.0, rel=0.1)


def test_efforts_that_are_all_negated_are_named_of_merged_results(arm):
    robot, parts = arm
    for joint in range(len(robot.joints)):
        parts = with_efforts(parts, joint, -1.0)
    found = findings_of_merged(robot, parts)
    assert (found[0].severity, found[0].cause) == (Severity.MISTAKE, "effort sign")
    assert set(found[0].joints) == set(robot.joint_names)


def test_sound_results_that_are_merged_have_no_mistake_and_say_what_needs_samples(arm):
    robot, parts = arm
    for some in (parts, parts[:1]):
        found = findings_of_merged(robot, some)
        assert all(finding.severity is not Severity.MISTAKE for finding in found)
        assert [finding.cause for finding in found].count("not looked for") == 1
