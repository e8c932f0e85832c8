"""What a program gets from ``import robot_identification as ri``."""

import dataclasses
import inspect
import json
import subprocess
import sys
import types

import numpy as np
import pytest

import robot_identification as ri
from robot_identification import errors
from robot_identification.api import public
from robot_identification.cli.main import main
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.robot.files.values import load_values
from swinging_scara import swinging_scara

IMPORT = """
import sys
import robot_identification as ri
from robot_identification import errors
print([name for name in ("numpy", "scipy", "numba", "rclpy") if name in sys.modules])
ri.identify, ri.load_robot, ri.simulate
print([name for name in ("rclpy", "matplotlib", "pandas") if name in sys.modules])
from robot_identification import errors
print(errors.BagError is ri.BagError)
"""


@pytest.fixture(scope="module")
def robot():
    return ri.load_robot("scara")


@pytest.fixture(scope="module")
def bag(robot, tmp_path_factory):
    path = tmp_path_factory.mktemp("bags") / "run"
    write_joint_states(path, robot.joint_names, swinging_scara(), storage="mcap")
    return path


def swinging(robot):
    samples = swinging_scara()
    time = (samples.stamps - samples.stamps[0]) * 1e-9
    return ri.Recording.from_arrays(robot, time, samples.position, samples.effort)


@pytest.fixture(scope="module")
def result(robot, bag):
    return ri.identify(robot, bag)


@pytest.fixture(scope="module")
def calibrated(robot, result):
    return ri.calibrate(robot, result)


def test_the_import_loads_nothing_and_needs_no_ros():
    done = subprocess.run(
        [sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[:3] == ["[]", "[]", "True"]


def test_every_public_name_is_there_and_told():
    for name in public.__all__:
        value = getattr(ri, name)
        assert inspect.getdoc(value), name
    assert set(public.__all__) <= set(dir(ri))
    assert set(errors.__all__) <= set(public.__all__)
    with pytest.raises(AttributeError, match="no attribute 'identfy'"):
        _ = ri.identfy


def test_the_command_line_writes_what_the_front_door_finds(robot, bag, result, tmp_path):
    path = tmp_path / "result.yaml"
    assert main(["identify", "scara", str(bag), "-o", str(path)]) == 0
    read = ri.load_result(path)
    assert dataclasses.replace(read, seconds=result.seconds) == result
    assert ri.identify("scara", ri.read_bags(robot, bag)).estimate == result.estimate


def test_a_calibration_has_the_defaults_of_the_command_line(bag, result, calibrated, tmp_path):
    saved, parameters = tmp_path / "result.yaml", tmp_path / "parameters.yaml"
    result.save(saved)
    assert main(["calibrate", "scara", str(saved), "-o", str(parameters)]) == 0
    calibrated.save(tmp_path / "own.yaml")
    assert (tmp_path / "own.yaml").read_text() == parameters.read_text()


def test_files_appear_together_or_not_at_all(robot, result, calibrated, tmp_path):
    parameters, urdf = tmp_path / "parameters.yaml", tmp_path / "scara.urdf"
    with pytest.raises(ri.InconsistentParametersError):
        calibrated.save(parameters, urdf=urdf)
    assert not list(tmp_path.iterdir())
    ri.calibrate(robot, result, consistent=True).save(parameters, urdf=urdf)
    assert "<inertial>" in urdf.read_text()
    assert ri.validate(robot, parameters, swinging(robot)).relative_error.total < 0.05
    with pytest.raises(ri.SettingError, match="outputs"):
        ri.export(robot, parameters)


def test_parameters_of_every_kind_are_validated_alike(robot, bag, result, calibrated, tmp_path):
    result.save(tmp_path / "result.yaml")
    recordings = ri.read_bags(robot, bag)
    found = ri.validate(robot, result, recordings)
    assert ri.validate("scara", tmp_path / "result.yaml", bag).relative_error == (
        found.relative_error
    )
    own = ri.validate(robot, calibrated, recordings).relative_error.total
    assert own == pytest.approx(calibrated.error.total, rel=0.2)
    with pytest.raises(ri.ResultMismatchError):
        ri.validate("tx40", result, recordings)
    with pytest.raises(ri.ShapeError):
        ri.validate(robot, [1.0], recordings)


def test_results_of_two_bags_merge(robot, bag, result, calibrated):
    early, late = (ri.read_bags(robot, bag, begin=b, end=e) for b, e in ((0, 0.5), (0.5, 1)))
    named = [
        dataclasses.replace(one, digest=str(i), source=f"part {i}")
        for i, (one,) in enumerate((early, late))
    ]
    parts = [ri.identify(robot, one, processing=calibrated.processing) for one in named]
    merged = ri.merge(parts)
    assert len(merged.sources) == 2
    assert merged.estimate.values == pytest.approx(result.estimate.values, abs=0.05)
    with pytest.raises(ri.SettingError, match="list"):
        ri.merge(parts[0])


def test_arrays_make_the_recording_that_a_bag_makes(robot, bag):
    samples = swinging_scara()
    position, effort = np.array(samples.position), np.array(samples.effort)
    time = 1.7e9 + (samples.stamps - samples.stamps[0]) * 1e-9
    made = ri.Recording.from_arrays(robot, time, position, effort, source="mine")
    (read,) = ri.read_bags(robot, bag)
    assert made.samples == read.samples
    assert made.segments[0].position == pytest.approx(read.segments[0].position, abs=1e-5)
    assert position.flags.writeable
    position[0] = 9.0
    assert made.segments[0].position[0] != pytest.approx(position[0])
    with pytest.raises(ri.ShapeError):
        ri.Recording.from_arrays(robot, time, position[:-1], effort)
    with pytest.raises(ri.RecordingError, match="not finite"):
        ri.Recording.from_arrays(robot, np.where(time == time[3], np.nan, time), position, effort)
    with pytest.raises(ri.MissingSignalError):
        ri.identify_didim(robot, made)


def test_a_simulated_recording_is_identified(robot):
    settings = ri.SimulationSettings(duration=20.0, rate_hz=100.0, effort_noise=(0.05,))
    simulated = ri.simulate(robot, "scara", settings=settings)
    found = ri.identify(robot, simulated)
    truth = ri.base_parameters(robot).values(
        load_values("scara", robot)[ri.base_parameters(robot).columns]
    )
    assert found.estimate.values == pytest.approx(truth, abs=0.1)
    assert simulated.summary()["samples"] == len(simulated.records())


def test_results_tell_themselves(robot, bag, result, calibrated):
    validation = ri.validate(robot, result, bag)
    certificate = ri.certify(robot, ri.Trajectory(robot.joint_names, [0.0, 1.0], np.zeros((2, 2))))
    (recording,) = ri.read_bags(robot, bag)
    for one in (result, calibrated, validation, certificate, recording):
        assert len(repr(one)) < 200
        assert "\n" not in repr(one)
        assert type(one).__name__ in repr(one)
        assert "<table>" in one._repr_html_()
        assert len({tuple(row) for row in one.records()}) == 1
        json.dumps(one.summary())
    assert "8 base parameters of scara" in repr(result)
    assert len(result.records()) == 8


def test_robots_and_trajectories_are_told_in_a_line(robot):
    trajectory = ri.Trajectory(robot.joint_names, [0.0, 1.5], np.zeros((2, 2)))
    assert repr(robot) == "<RobotModel: scara, 2 joints: joint_1, joint_2>"
    assert repr(trajectory) == "<Trajectory: 2 points, 1.5 s, joints joint_1, joint_2>"
    assert repr(ri.load_robot("emps")) == "<RobotModel: emps, 1 joint: slide>"


def test_a_name_is_no_markup(result):
    odd = dataclasses.replace(result, robot="<b>", warnings=("1 < 2",))
    assert "&lt;b&gt;" in odd._repr_html_()
    assert "1 &lt; 2" in odd._repr_html_()


def test_a_data_frame_has_the_rows(result, monkeypatch):
    pandas = types.SimpleNamespace(DataFrame=list)
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    assert result.to_dataframe() == result.records()


def test_without_pandas_the_error_says_what_to_install(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ri.MissingPackageError, match="pip install pandas"):
        result.to_dataframe()


def test_results_are_drawn(robot, bag, result, tmp_path):
    pytest.importorskip("matplotlib")
    assert len(ri.validate(robot, result, bag).plot(tmp_path / "efforts.png").axes) == 2
    assert (tmp_path / "efforts.png").read_bytes().startswith(b"\x89PNG")
    assert result.plot().axes
    with pytest.raises(ri.OutputError):
        result.plot(tmp_path)


def dots(figure):
    """Return how many dots the panels of a figure have."""
    return [len(panel.lines[0].get_xdata()) for panel in figure.axes if panel.lines]


def test_friction_is_drawn_over_velocity_with_the_data_behind_it(robot, bag, result, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "friction.png"
    assert all(dots(result.plot_friction(path, robot=robot, runs=bag)))
    assert path.read_bytes().startswith(b"\x89PNG")
    assert not any(dots(result.plot_friction()))  # curves need no data


def test_names_that_look_like_formulas_can_be_drawn(robot, bag, result, tmp_path):
    pytest.importorskip("matplotlib")
    names = tuple(f"$x_{{$ {i}" for i, _ in enumerate(result.joint_names))
    named = dataclasses.replace(result, robot="$a_{$", joint_names=names)
    assert named.plot_friction(tmp_path / "friction.png").axes
    assert named.plot(tmp_path / "plot.png", title="$b_{$").axes


def test_a_validation_is_saved_as_its_summary(robot, bag, result, tmp_path):
    validation = ri.validate(robot, result, bag)
    validation.save(tmp_path / "validation.json")
    told = json.loads((tmp_path / "validation.json").read_text())
    assert told["relative_error"] == validation.summary()["relative_error"]
