"""Errors per joint, as a report shows them."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs the extra report")
pytest.importorskip("jinja2", reason="needs the extra report")

from robot_identification.files.results import read_result
from robot_identification.report.errors_table import errors_table
from robot_identification.report.numbers import NONE


def test_a_joint_that_was_never_predicted_has_no_error(swinging_scara):
    result = read_result(swinging_scara)
    crossed = result.cross_validation
    error = replace(crossed.error, joints=np.array([crossed.error.joints[0], np.nan]))
    result = replace(result, held_out=None, cross_validation=replace(crossed, error=error))
    table = errors_table(result)
    place = table.columns.index("each block from the others")
    assert [row[place].endswith(" %") for row in table.rows] == [True, True, False]
    assert table.rows[-1][place] == NONE
