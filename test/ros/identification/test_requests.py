import math

import pytest

from robot_identification import msg
from robot_identification.errors import SettingError
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.ros.identification.requests import named_values, processing_of


def test_settings_that_are_not_said_stay_open():
    assert processing_of(msg.ProcessingSettings()) == ProcessingSettings()
    stated = msg.ProcessingSettings(
        cutoff_hz=5.0,
        velocities="measured",
        filter_order=4,
        difference_order=2,
        rate_hz=50.0,
        velocity_threshold=[0.0],
        velocity_threshold_window=0.5,
        velocity_threshold_scope="sample",
        drop_start=0,
        drop_end=7,
        ends="keep",
        residual_divisor="rows-1",
    )
    told = processing_of(stated)
    for name in stated.get_fields_and_field_types():
        value = getattr(stated, name)
        if name != "difference_order":
            assert getattr(told, name) == (tuple(value) if name == "velocity_threshold" else value)


@pytest.mark.parametrize(
    ("names", "values", "words"),
    [
        (["ZZ1R"], [], "one is needed for each of 1 names"),
        (["ZZ1R", "Fv1"], [1.0, math.nan], "Fv1 = nan: must be finite"),
        (["Fv1", "ZZ1R", "Fv1"], [1.0, 2.0, 3.0], "names = Fv1: stands twice"),
    ],
)
def test_every_parameter_has_one_value(names, values, words):
    with pytest.raises(SettingError, match=words):
        named_values(names, values)
