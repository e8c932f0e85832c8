from dataclasses import replace

import numpy as np
import pytest

from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.errors import (
    CancelledError,
    MissingSignalError,
    ModelMismatchError,
    NotConvergedError,
    RecordingError,
    SettingError,
)
from robot_identification.files.bags.recordings import read_recordings
from robot_identification.files.bags.trajectories import read_reference
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.didim.run import identify_didim
from robot_identification.identification.didim.settings import DidimSettings
from robot_identification.identification.didim.starts import Start
from robot_identification.robot.files.loading import load_robot
from shared_data import measured_data, requires
from simulated_experiments import experiment

pytestmark = pytest.mark.usefixtures("undiagnosed")

NOISE = np.array([0.08, 0.006])
TX40_NOISE = np.array([0.8, 0.8, 0.4, 0.2, 0.2, 0.12])


def scara(seconds=None, **options):
    return experiment("scara", "scara", 200.0, NOISE, seconds=seconds, **options)


def trusted_are_true(result, truth):
    estimate = result.estimate
    error = np.abs(estimate.values - truth)
    near = (error <= 0.01 * np.abs(truth)) | (error <= 3.0 * estimate.std)
    trusted = estimate.relative_std_percent < 5.0
    return trusted.sum(), near[trusted]


def test_scara_from_the_regular_start_without_positions():
    robot, recordings, references, truth = scara(seconds=50.0)
    assert np.isnan(recordings[0].segments[0].position).all()
    result = identify_didim(robot, recordings, references)
    assert result.converged
    assert result.history.verdict == "converged"
    assert result.history.start.startswith("regular")
    assert result.iterations <= 6
    count, near = trusted_are_true(result, truth)
    assert count >= 6
    assert near.all()
    errors = [i.torque_error.total for i in result.history.iterations]
    assert errors[0] > 0.5
    assert errors[-1] < 0.01
    np.testing.assert_allclose(result.history.noise_floor, errors[-1], rtol=0.5)


def test_lost_samples_have_no_part_in_the_rows():
    robot, recordings, references, truth = scara(seconds=50.0, positions=True)
    (segment,) = recordings[0].segments
    kept = np.ones(len(segment.time), dtype=bool)
    kept[np.random.default_rng(0).integers(0, len(kept), len(kept) // 10)] = False
    effort = np.where(kept[:, None], segment.effort, 1e3)
    lossy = replace(segment, effort=effort, measured=kept)
    result = identify_didim(robot, [replace(recordings[0], segments=(lossy,))], references)
    assert result.converged
    count, near = trusted_are_true(result, truth)
    assert count >= 6
    assert near.all()


def test_known_base_parameters_bring_no_robot_of_their_own():
    robot, recordings, references, _ = scara(seconds=20.0)
    without_controller = base_parameters(replace(robot, controller=None))
    ours = identify_didim(robot, recordings, references, base=without_controller)
    theirs = identify_didim(robot, recordings, references)
    np.testing.assert_array_equal(ours.estimate.values, theirs.estimate.values)
    for other in (load_robot("tx40"), replace(robot, gravity=np.array([1.0, 0.0, 0.0]))):
        with pytest.raises(SettingError, match=r"base.*are others"):
            identify_didim(robot, recordings, references, base=base_parameters(other))


def test_the_start_from_least_squares_ends_at_the_same_parameters():
    robot, recordings, references, _ = scara(seconds=60.0, positions=True)
    ends = [
        identify_didim(robot, recordings, references, start=start).estimate
        for start in ("regular", "idim")
    ]
    np.testing.assert_array_less(np.abs(ends[0].values - ends[1].values), 0.1 * ends[0].std)


def test_recordings_are_simulated_apart_and_fitted_together():
    robot, recordings, references, truth = scara(seconds=50.0)
    parts = [recordings[0].between(0.0, 0.5), recordings[0].between(0.5, 1.0)]
    result = identify_didim(robot, parts, references * 2)
    assert result.converged
    assert len(result.sources) == 2
    assert trusted_are_true(result, truth)[1].all()


def test_a_recording_that_is_no_longer_than_the_transient_is_told():
    robot, (recording,), references, _ = scara(seconds=20.0)
    parts = [recording.between(0.0, 0.9), replace(recording.between(0.9, 1.0), source="short")]
    result = identify_didim(robot, parts, references * 2)
    (told,) = (line for line in result.warnings if "not used" in line)
    assert told.startswith("short: not used")


def test_ordinary_least_squares_converges_too():
    robot, recordings, references, truth = scara(seconds=60.0)
    result = identify_didim(robot, recordings, references, settings=DidimSettings(weighting="ols"))
    np.testing.assert_array_equal(result.estimate.weights, 1.0)
    np.testing.assert_allclose(result.estimate.values[[0, 3]], truth[[0, 3]], rtol=0.02)


def test_a_loop_with_another_bandwidth_is_called_a_mismatch():
    robot, recordings, references, _ = scara(seconds=30.0, positions=True)
    with pytest.raises(ModelMismatchError, match="noise floor") as caught:
        identify_didim(robot, recordings, references, settings=DidimSettings(bandwidth=1 / 3))
    result = caught.value.result
    assert not result.converged
    assert result.history.verdict == "model mismatch"
    last = result.history.iterations[-1]
    assert (last.torque_error.joints > 3.0 * result.history.noise_floor).any()
    np.testing.assert_allclose(last.frequency_ratio, 3.0, rtol=0.2)


def test_the_limit_of_iterations_is_told_with_what_was_reached():
    robot, recordings, references, _ = scara(seconds=40.0)
    with pytest.raises(NotConvergedError, match="1 iterations") as caught:
        identify_didim(robot, recordings, references, settings=DidimSettings(max_iterations=1))
    result = caught.value.result
    assert not result.converged
    assert result.history.verdict == "not converged"
    assert [i.number for i in result.history.iterations] == [0, 1]


def test_a_start_that_no_robot_can_have_is_told():
    robot, recordings, references, truth = scara(seconds=40.0)
    start = Start("upside down", -truth)
    with pytest.raises(NotConvergedError, match="upside down") as caught:
        identify_didim(robot, recordings, references, start=start)
    assert caught.value.result is None


def test_what_is_cancelled_does_no_iteration_more():
    robot, recordings, references, _ = scara()
    iterations, questions = [], []

    def progress(state):
        if state.iteration is not None:
            iterations.append(state.iteration)

    def cancelled():
        if iterations:
            questions.append(len(iterations))
        return bool(iterations)

    with pytest.raises(CancelledError):
        identify_didim(robot, recordings, references, progress=progress, cancelled=cancelled)
    assert len(iterations) == 1
    assert len(questions) == 1, "whoever asks again has gone on"


def test_what_cannot_be_is_refused():
    robot, recordings, references, _ = scara(seconds=40.0)
    with pytest.raises(RecordingError, match="1 recordings and 0 references"):
        identify_didim(robot, recordings, [])
    with pytest.raises(MissingSignalError, match="position"):
        identify_didim(robot, recordings, references, start="idim")
    with pytest.raises(SettingError, match="transient"):
        identify_didim(robot, recordings, references, settings=DidimSettings(transient=1e4))
    with pytest.raises(SettingError, match="weighting"):
        DidimSettings(weighting="none")
    with pytest.raises(SettingError, match="tolerance_error"):
        DidimSettings(tolerance_error=0.0)
    other = replace(robot, controller=replace(robot.controller, rate_hz=300.0))
    with pytest.raises(SettingError, match="multiple"):
        identify_didim(other, recordings, references)


@pytest.mark.slow
def test_tx40_with_its_coupled_wrist_from_the_regular_start():
    robot, recordings, references, truth = experiment(
        "tx40", "tx40_simulated", 500.0, TX40_NOISE, seconds=20.0
    )
    result = identify_didim(robot, recordings, references)
    assert len(result.estimate.values) == 60
    assert result.converged
    assert result.iterations <= 10
    last = result.history.iterations[-1].torque_error.joints
    np.testing.assert_allclose(last, result.history.noise_floor, rtol=0.2)
    count, near = trusted_are_true(result, truth)
    assert count >= 25
    assert near.mean() > 0.95


def emps():
    robot = load_robot("emps")
    path = measured_data("emps") / "bag"
    recordings = read_recordings([path], robot, reference_topic="/joint_reference")
    return robot, recordings, [read_reference(path, recordings[0], robot)]


@requires("emps")
@pytest.mark.parametrize("start", ["regular", "idim"])
def test_emps_ends_at_the_same_values_from_both_starts(start):
    robot, recordings, references = emps()
    settings = DidimSettings(weighting="ols")
    result = identify_didim(robot, recordings, references, start=start, settings=settings)
    assert result.converged
    assert result.iterations <= 5
    np.testing.assert_allclose(result.estimate.values, [93.71, 207.89, 20.09, -3.179], rtol=2e-3)
    assert result.history.iterations[-1].torque_error.total == pytest.approx(0.0571, abs=5e-4)


@requires("emps")
def test_emps_is_simulated_as_well_as_published_with_its_published_values():
    robot, recordings, references = emps()
    published = {"M1": 95.1089, "Fv1": 203.5034, "Fc1": 20.3935, "off1": -3.1648}
    values = np.array([published.get(name, 0.0) for name in robot.all_parameter_names])
    measured = recordings[0].segments[0]
    loop = ClosedLoop(robot, values)
    rest = loop.at_rest(measured.reference[0])
    _, samples = loop.advance(rest, references[0], len(measured.time))
    settled = slice(100, None)  # the slide does not begin on its reference
    error = np.linalg.norm((measured.effort - samples.effort)[settled])
    assert error / np.linalg.norm(measured.effort[settled]) == pytest.approx(0.0585, abs=5e-5)
