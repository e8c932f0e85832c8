"""Console, file, ``--json`` and warnings go by one verdict: that of the larger deviation."""

from dataclasses import replace

import numpy as np
import pytest

from made_up_results import made_up_result
from robot_identification.files.results import read_result
from robot_identification.identification.diagnosis.finding import Finding, Severity
from robot_identification.identification.identify import identify
from robot_identification.identification.result import is_good_enough
from robot_identification.identification.result_warnings import warnings_of
from robot_identification.identification.statistics.reliability import parameter_reliability
from robot_identification.identification.statistics.trust import Reliability, verdicts_of
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.signals.conditioning import joint_side_recording
from swinging_scara import swinging_scara


@pytest.fixture(scope="module")
def result():
    """A result whose robust deviations alone make two parameters untrusted."""
    robot = load_robot("scara")
    found = identify(robot, [joint_side_recording(swinging_scara(), robot)])
    sizes = np.abs(found.estimate.values)
    robust = 0.01 * sizes
    robust[:2] = 0.5 * sizes[:2]
    estimate = replace(found.estimate, std=0.01 * sizes, std_robust=robust)
    return replace(found, estimate=estimate)


def test_the_larger_deviation_decides(result):
    verdicts = verdicts_of(result.estimate)
    assert verdicts[:2] == (Reliability.NOT_IDENTIFIED,) * 2
    assert set(verdicts[2:]) == {Reliability.GOOD}


def test_report_json_and_warnings_agree(result):
    expected = verdicts_of(result.estimate)
    assert tuple(p.verdict for p in parameter_reliability(result)) == expected
    entries = result.summary()["parameters"]
    assert [entry["verdict"] for entry in entries] == [verdict.value for verdict in expected]
    (line,) = [one for one in warnings_of(result.regrouping.names, result.estimate)
               if "cannot be trusted alone" in one]  # fmt: skip
    assert line.endswith(": " + ", ".join(result.regrouping.names[:2]))


def test_as_many_rows_as_parameters_make_none_known(result):
    robot = load_robot("scara")
    values = load_values("scara", robot)
    rng = np.random.default_rng(1)
    few = made_up_result(robot, values, rng, samples=4, noise=0.3, method="ols")
    assert sum(few.estimate.rows) == len(few.estimate.values)
    assert (few.estimate.std < 1e-9 * np.abs(few.estimate.values)).all()
    assert set(verdicts_of(few.estimate)) == {Reliability.NOT_IDENTIFIED}
    assert not is_good_enough(few, 0.1)
    (line,) = warnings_of(few.regrouping.names, few.estimate)
    assert "no more rows than parameters (8 rows)" in line
    assert is_good_enough(made_up_result(robot, values, rng), 0.1)


def test_findings_survive_the_way_through_a_file(result, tmp_path):
    finding = Finding(
        Severity.DOUBT, "friction law", ("joint_1",), "it is another", "look", {"gain": 1.5}
    )
    replace(result, findings=(finding,)).save(tmp_path / "result.yaml")
    assert read_result(tmp_path / "result.yaml").findings == (finding,)
