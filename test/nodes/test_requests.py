from robot_identification import msg
from robot_identification.nodes.requests import processing_of
from robot_identification.robot.processing import ProcessingSettings


def test_settings_that_are_not_said_stay_open():
    assert processing_of(msg.ProcessingSettings()) == ProcessingSettings()
    stated = msg.ProcessingSettings(
        cutoff_hz=5.0,
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
