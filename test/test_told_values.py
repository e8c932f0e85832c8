"""What a module has told stays as it was told, and equals what tells the same."""

import dataclasses
import importlib

import pytest

MODULES = (
    "calibration.consistency.checks",
    "calibration.consistency.conditions",
    "calibration.consistency.program",
    "calibration.consistency.link_checks",
    "calibration.consistency.scales",
    "excitation.certification.certificate",
    "excitation.certification.checks",
    "excitation.certification.effort_bounds",
    "excitation.certification.surroundings",
    "excitation.plan",
    "excitation.plan_settings",
    "identification.statistics.cross_validation",
    "identification.statistics.joint_noise",
    "identification.statistics.prediction",
    "identification.statistics.reliability",
    "identification.statistics.residuals",
    "identification.statistics.sensitivity",
    "ros.supervision.braking",
    "ros.supervision.clock",
    "ros.supervision.confirmation",
    "ros.supervision.phases",
    "ros.supervision.states",
)


@pytest.mark.parametrize("module", MODULES)
def test_what_was_told_cannot_be_set_and_arrays_in_it_are_compared(module):
    content = vars(importlib.import_module(f"robot_identification.{module}"))
    told = [
        kind
        for kind in content.values()
        if dataclasses.is_dataclass(kind) and kind.__module__.endswith(module)
    ]
    assert told
    for kind in told:
        assert kind.__dataclass_params__.frozen, kind
        types = " ".join(str(field.type) for field in dataclasses.fields(kind) if field.compare)
        if "Array" in types:  # else two of them cannot be compared: an array is not true or false
            assert kind.__eq__.__module__ == "robot_identification.robot.arrays", kind
