"""Results, validations and predictions stay as they were made."""

import pytest

import robot_identification as ri
from immutable import writable
from made_up_results import with_everything
from several_bags import STATED, arm


@pytest.fixture(scope="module")
def made():
    """A robot, two recordings, and a result with everything that a result may hold."""
    robot, (one, other), _ = arm(parts=2)
    result = ri.identify(robot, one, held_out=other, processing=STATED, robust=True, essential=True)
    return robot, (one, other), result


def test_no_array_of_a_result_can_be_written_to(made, tmp_path):
    robot, recordings, result = made
    assert writable(result) == []
    for method in ("energy", "one-joint"):
        assert writable(ri.identify(robot, recordings, method=method, processing=STATED)) == []
    with pytest.raises(ValueError, match="read-only"):
        result.estimate.values[0] = 99.0
    with pytest.raises(TypeError):
        result.settings["cutoff_hz"]["value"] = 99.0
    for one in (result, with_everything(result)):
        one.save(tmp_path / "result.yaml")
        loaded = ri.load_result(tmp_path / "result.yaml")
        assert writable(loaded) == []
        with pytest.raises(TypeError):
            loaded.settings["cutoff_hz"]["value"] = 99.0


def test_no_array_of_a_validation_or_a_calibration_can_be_written_to(made):
    robot, (_, other), result = made
    validation = ri.validate(robot, result, other)
    assert writable(validation) == []
    assert writable(validation.prediction(0)) == []
    assert writable(ri.calibrate(robot, result)) == []
