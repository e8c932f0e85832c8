"""Errors on data left out, and limited outliers, through a message and back."""

from dataclasses import replace

import numpy as np
from rclpy.serialization import deserialize_message, serialize_message

from robot_identification.identification.estimators.huber import HuberSettings
from robot_identification.identification.identify import identify
from robot_identification.ros.messages.received_results import result_of
from robot_identification.ros.messages.results import result_message
from several_bags import STATED, arm


def test_what_was_left_out_and_limited_survives_a_message():
    robot, recordings, _ = arm(parts=3)
    result = identify(
        robot,
        recordings[:2],
        held_out=recordings[2:],
        overrides=STATED,
        robust=HuberSettings(),
    )
    message = result_message(result, robot, stamp=0)
    sent = deserialize_message(serialize_message(message), type(message))
    assert sent.cross_validation_scheme == "bags"
    assert [fold.name for fold in sent.cross_validation] == ["part 0", "part 1"]
    assert sent.cross_validation_error_total == result.cross_validation.error.total
    told, back = result.summary(), result_of(sent).summary()
    for key in ("cross_validation", "held_out_bags", "held_out_error", "robust"):
        assert back[key] == told[key]
    held_out = replace(result.held_out, joints=[np.nan, *result.held_out.joints[1:]])
    message = result_message(replace(result, held_out=held_out), robot, stamp=0)
    entries = result_of(message).summary()["held_out_error"]
    assert entries[robot.joint_names[0]] is None, "a joint that was not predicted"
