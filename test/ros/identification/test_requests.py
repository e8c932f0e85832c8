import math
from dataclasses import replace

import numpy as np
import pytest
from robot_identification.srv import Validate

from live_nodes import ROBOT, TRUTH
from made_up_results import made_up_result
from robot_identification import msg
from robot_identification.errors import ResultFileError, SettingError
from robot_identification.files.results import write_result
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.regrouping import Regrouping
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.ros.identification.requests import (
    named_values,
    processing_of,
    values_to_validate,
)


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


def test_a_file_and_values_by_name_are_not_both_taken():
    request = Validate.Request(result="result.yaml", names=["Fv1"], values=[1.0])
    with pytest.raises(SettingError, match="leave out names and values"):
        values_to_validate(request, ROBOT, base_parameters(ROBOT), None)


def test_a_result_of_another_robot_is_refused_and_one_of_another_version_of_its_file_told(tmp_path):
    base = base_parameters(ROBOT)
    made = made_up_result(ROBOT, TRUTH, np.random.default_rng(0))
    values = base.values(TRUTH[base.columns])
    result = replace(
        made,
        regrouping=Regrouping.of(base),
        estimate=replace(made.estimate, values=values),
        robot_digest=ROBOT.digest,
    )
    path = tmp_path / "result.yaml"
    request = Validate.Request(result=str(path))
    for robot, digest, told in (
        ("another_arm", ROBOT.digest, None),
        (ROBOT.name, ROBOT.digest, ()),
        (ROBOT.name, "0" * 64, ("the file of scara has changed since the identification",)),
    ):
        write_result(path, replace(result, robot=robot, robot_digest=digest))
        if told is None:
            with pytest.raises(ResultFileError, match="is a result of another_arm"):
                values_to_validate(request, ROBOT, base, None)
            continue
        _, found = values_to_validate(request, ROBOT, base, None)
        np.testing.assert_allclose(found.values, values)
        assert tuple(remark.partition(";")[0] for remark in found.warnings) == told
