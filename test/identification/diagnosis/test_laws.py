"""A friction law that the model lacks is named, joint and term; none is where there is none."""

import pytest

from friction_arm import SETTINGS, arm, moved, values_of
from robot_identification.identification.diagnosis.diagnosis import diagnose
from robot_identification.identification.diagnosis.finding import Severity

LAWS = {
    "Fva": ("asymmetric_viscous_friction: true", 0.5),
    "Fr": ("root_friction: true", 2.0),
    "Fs": ("stribeck_friction: {speed: 0.8}", 3.0),
    "Ft": ("smooth_coulomb_friction: {speed: 0.3}, coulomb_friction: false", 2.0),
    "Fl": ("load_friction: true", 0.2),
    "Fg": ("gravity_load_friction: true", 0.2),
}
"""Robot file and size of the law."""


def told(recording):
    return diagnose(arm(), [recording], overrides=SETTINGS).findings


@pytest.mark.parametrize("law", LAWS)
def test_the_law_of_a_joint_is_named(law):
    more, size = LAWS[law]
    truth = arm(more)
    recording = moved(truth, values_of(truth, **{f"{law}2": size}), noise=0.02)
    (first, *others) = [one for one in told(recording) if one.cause == "friction law"]
    assert first.joints == ("elbow",)
    # As the first one or as one that explains about as much; of a fall of friction near reversals,
    # which the filter of the decimation smears, only that it is of such a kind.
    assert ("Stribeck" if law == "Fs" else f"{law}2") in first.problem
    assert first.severity is Severity.DOUBT
    assert "--friction auto" in first.advice
    assert not others


def test_no_law_is_named_where_there_is_none():
    robot = arm()
    for seed in range(3):
        recording = moved(robot, values_of(robot), noise=0.02, seed=seed)
        assert not [one for one in told(recording) if one.cause == "friction law"]


def test_a_law_that_the_model_has_is_not_named():
    truth = arm("root_friction: true")
    recording = moved(truth, values_of(truth, Fr2=2.0), noise=0.02)
    found = diagnose(truth, [recording], overrides=SETTINGS).findings
    assert not [one for one in found if one.cause == "friction law"]
