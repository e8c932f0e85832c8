"""``diagnose`` and the first lines of ``identify`` name what is wrong."""

import numpy as np
import pytest

from robot_identification.cli.main import EXIT_INPUT, main
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.robot.files.loading import load_robot
from robot_identification.signals.raw_samples import RawSamples


@pytest.fixture
def flipped_bag(scara_samples, tmp_path):
    """A bag of the SCARA in which the efforts of joint 2 have the wrong sign."""
    effort = np.array(scara_samples.effort) * np.array([1.0, -1.0])
    return _bag(tmp_path / "flipped", scara_samples, effort)


def _bag(path, samples, effort):
    raw = RawSamples(samples.stamps, samples.position, samples.velocity, effort)
    write_joint_states(path, load_robot("scara").joint_names, raw, storage="sqlite3")
    return path


def test_a_mistake_is_the_first_line_of_identify(flipped_bag, capsys):
    assert main(["identify", "scara", str(flipped_bag)]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("mistake: joint_2: effort sign: ")


def test_identify_tells_findings_as_data(flipped_bag, run):
    first = run("identify", "scara", flipped_bag)["findings"][0]
    assert (first["joints"], first["cause"]) == (["joint_2"], "effort sign")
    assert first["severity"] == "mistake"
    assert first["advice"]


def test_diagnose_tells_the_same_as_data(flipped_bag, run):
    found = run("diagnose", "scara", flipped_bag)
    assert found["mistakes"] >= 1
    assert found["findings"][0]["joints"] == ["joint_2"]


def test_diagnose_finds_nothing_wrong_with_a_sound_bag(scara_bag, run):
    assert run("diagnose", "scara", scara_bag)["mistakes"] == 0


def test_diagnose_tells_of_a_recording_that_cannot_be_fitted(scara_samples, tmp_path, run):
    bag = _bag(tmp_path / "silent", scara_samples, np.zeros_like(scara_samples.effort))
    found = run("diagnose", "scara", bag)
    assert {f["cause"] for f in found["findings"]} == {"effort zero"}
    assert found["refusal"]


def test_a_refusal_of_identify_names_the_joint(scara_samples, tmp_path, refusal):
    effort = np.array(scara_samples.effort) * np.array([1.0, 0.0])
    bag = _bag(tmp_path / "half", scara_samples, effort)
    code, line = refusal("identify", "scara", bag)
    assert code == EXIT_INPUT
    assert "mistake: joint_2: effort zero" in line
