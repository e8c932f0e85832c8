"""A friction law that the model lacks is named, joint and term; none is where there is none."""

from dataclasses import replace

import numpy as np
import pytest

from friction_arm import SETTINGS, arm, chosen, moved, values_of
from robot_identification.errors import CancelledError
from robot_identification.identification.diagnosis import judgement
from robot_identification.identification.diagnosis.diagnosis import diagnose
from robot_identification.identification.diagnosis.finding import Severity
from robot_identification.identification.identify import identify

LAWS = {
    "Fva": ("asymmetric_viscous_friction: true", 0.5, {"Fva"}),
    "Fr": ("root_friction: true", 2.0, {"Fr", "Fs", "Ft"}),
    "Fs": ("stribeck_friction: {speed: 0.8}", 3.0, {"Fr", "Fs", "Ft"}),
    "Ft": (
        "smooth_coulomb_friction: {speed: 0.3}, coulomb_friction: false",
        2.0,
        {"Fr", "Fs", "Ft"},
    ),
    "Fl": ("load_friction: true", 0.2, {"Fl"}),
}
"""Robot file, size of the law, and the laws that are much the same over the speeds of a motion."""


def laws_of(findings):
    return [one for one in findings if one.cause == "friction law"]


def told(recording):
    return laws_of(diagnose(arm(), [recording], overrides=SETTINGS).findings)


@pytest.mark.parametrize("law", LAWS)
def test_the_law_of_a_joint_is_named(law):
    more, size, alike = LAWS[law]
    truth = arm(more)
    recording = moved(truth, values_of(truth, **{f"{law}2": size}), noise=0.02)
    (found,) = told(recording)
    assert found.joints == ("elbow",)
    assert any(f"{one}2" in found.problem for one in alike)
    assert found.severity is Severity.DOUBT
    assert "--friction auto" in found.advice
    assert found.figures["left_after"] < 0.9 * found.figures["left_before"]


@pytest.mark.parametrize(
    ("threshold", "slow_counted", "advised"),
    [(None, True, False), ((0.0, 0.0), True, True), ((0.05, 0.05), False, False)],
    ids=["derived", "off", "stated"],
)
def test_errors_over_all_rows_are_told_as_such(threshold, slow_counted, advised):
    """The tables have those of the rows of the fit, which has a threshold where none is stated."""
    settings = replace(SETTINGS, velocity_threshold=threshold)
    (found,) = laws_of(diagnose(arm(), [loaded(0.2, 0.02)], overrides=settings).findings)
    assert ("over all rows, those near standstill too" in found.problem) == slow_counted
    assert ("the fit leaves slow rows out" in found.problem) != advised
    assert ("--velocity-threshold" in found.advice) == advised


def loaded(size, noise):
    truth = arm("load_friction: true")
    return moved(truth, values_of(truth, Fl2=size), noise=noise)


def test_a_law_that_takes_a_tenth_of_the_error_is_named():
    (found,) = told(loaded(0.015, 0.3))
    assert found.joints == ("elbow",)
    assert "Fl2, sign(v) |effort of bodies and drives|" in found.problem
    assert found.figures["gain"] < 1.0  # halvings of the variance


def test_what_is_told_is_what_the_choice_of_laws_adds():
    recording = loaded(0.2, 0.02)
    (found,) = told(recording)
    result = identify(arm(), [recording], overrides=SETTINGS, friction="auto")
    assert chosen(result)["elbow"]
    assert all(f"{term}2" in found.problem for term in chosen(result)["elbow"])
    assert not laws_of(result.findings)  # it is in the model now


def test_no_law_is_named_where_there_is_none():
    robot = arm()
    for seed in range(3):
        assert not told(moved(robot, values_of(robot), noise=0.02, seed=seed))


def test_a_law_that_the_model_has_is_not_named():
    truth = arm("root_friction: true")
    recording = moved(truth, values_of(truth, Fr2=2.0), noise=0.02)
    assert not laws_of(diagnose(truth, [recording], overrides=SETTINGS).findings)


def test_laws_are_not_looked_for_where_a_mistake_would_pass_for_friction():
    recording = loaded(0.2, 0.02)
    (segment,) = recording.segments
    negated = replace(segment, effort=segment.effort * np.array([1.0, -1.0]))
    found = diagnose(arm(), [replace(recording, segments=(negated,))], overrides=SETTINGS).findings
    assert any(one.severity is Severity.MISTAKE for one in found)
    assert not laws_of(found)


def test_the_search_for_laws_can_be_cancelled(monkeypatch):
    searching = []
    usual = judgement.law_findings

    def begun(*arguments):
        searching.append(True)
        return usual(*arguments)

    monkeypatch.setattr(judgement, "law_findings", begun)
    with pytest.raises(CancelledError):
        identify(arm(), [loaded(0.2, 0.02)], overrides=SETTINGS, cancelled=lambda: bool(searching))
