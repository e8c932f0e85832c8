"""Commands take tables where they take bags."""

import numpy as np
import pytest

import robot_identification as ri


def written(path, header, values):
    lines = [header, *(",".join(map("{:.12f}".format, row)) for row in values)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_identify_and_validate_take_tables(tmp_path, run):
    bag, result = tmp_path / "bag", tmp_path / "result.yaml"
    run("simulate", "scara", "--trajectory", "scara", "--duration", 6, "-o", bag)
    (whole,) = ri.read_bags("scara", bag)
    segment = whole.segments[0]
    values = np.column_stack([segment.time, segment.position, segment.effort])
    path = written(tmp_path / "log.csv", "stamp,a1,a2,m1,m2", values)
    columns = ["--columns", "time=stamp", "position=a{n}", "effort=m{n}"]
    expected = run("identify", "scara", bag)
    found = run("identify", "scara", path, *columns, "-o", result)
    for one, other in zip(found["parameters"], expected["parameters"], strict=True):
        assert one["value"] == pytest.approx(other["value"], rel=1e-6, abs=1e-9)
    told = run("validate", "scara", result, path, *columns)
    assert told["relative_error"]["total"] == pytest.approx(found["relative_error"]["total"])


def test_columns_that_are_no_columns_are_refused(tmp_path, refusal):
    path = written(tmp_path / "log.csv", "t,q1,q2,tau1,tau2", np.ones((9, 5)))
    for entries in (["position"], ["time=a", "time=b"]):
        code, line = refusal("identify", "scara", path, "--columns", *entries)
        assert code == 2
        assert "--columns" in line
