import numpy as np
import pytest

from robot_identification.dynamics.reference import sample
from robot_identification.errors import MissingSignalError, SampleError, TrajectoryError
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.files.bags.recordings import read_recordings
from robot_identification.files.bags.trajectories import (
    SentTrajectory,
    planned_reference,
    read_reference,
    sampled_reference,
    sent_reference,
)
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.robot.files.loading import load_robot
from robot_identification.signals.raw_samples import RawSamples

START = 1_700_000_000_000_000_000
NAMES = ("joint_1", "joint_2")


def sent(seconds, times, positions, names=NAMES):
    points = np.array(positions, dtype=float)
    return SentTrajectory(START + round(seconds * 1e9), Trajectory(names, np.array(times), points))


def bag(folder, *, position=None, reference=None, trajectory=None):
    t = np.arange(0.0, 3.0, 0.01)
    shape = (len(t), 2)
    samples = RawSamples(
        START + np.round(t * 1e9).astype(np.int64),
        np.zeros(shape) if position is None else np.full(shape, position),
        None,
        np.ones(shape),
        reference,
    )
    write_joint_states(folder / "bag", NAMES, samples, trajectory=trajectory)
    return folder / "bag"


def read(path, **options):
    return read_recordings(
        [path], load_robot("scara"), reference_topic="/joint_reference", **options
    )


def test_samples_of_the_reference_come_out_of_a_bag(tmp_path):
    t = np.arange(0.0, 3.0, 0.01)
    wave = np.column_stack([np.sin(t), np.cos(t)])
    path = bag(tmp_path, reference=wave)
    (recording,) = read(path)
    reference = read_reference(path, recording, load_robot("scara"))
    np.testing.assert_allclose(sample(reference, t)[0], wave, atol=1e-12)
    np.testing.assert_allclose(sample(reference, t)[1][5:-5, 0], np.cos(t)[5:-5], atol=1e-4)


def test_a_bag_without_any_reference_is_refused(tmp_path):
    path = bag(tmp_path)
    (recording,) = read(path)
    assert sampled_reference(recording) is None
    with pytest.raises(MissingSignalError, match="reference"):
        read_reference(path, recording, load_robot("scara"))


@pytest.mark.parametrize("seconds", [-1.7e9, -5.0, 3.5, 1e6])
def test_trajectories_of_another_time_than_the_recording_are_refused(tmp_path, seconds):
    """As where a driver stamps states by a clock of its own, and controllers begin at once."""
    path = bag(tmp_path, trajectory=sent(seconds, [0.0, 2.0], [[0.0, 0.0], [1.0, 2.0]]))
    (recording,) = read(path)
    words = rf"the first one begins {seconds:.3f} s after its first state; both need the same clock"
    with pytest.raises(TrajectoryError, match=words):
        read_reference(path, recording, load_robot("scara"))


@pytest.mark.parametrize("seconds", [-1.0, 0.0, 2.5])
def test_a_trajectory_that_is_followed_while_the_recording_lasts_is_taken(tmp_path, seconds):
    path = bag(tmp_path, trajectory=sent(seconds, [0.0, 2.0], [[0.0, 0.0], [1.0, 2.0]]))
    (recording,) = read(path)
    reference = read_reference(path, recording, load_robot("scara"))
    np.testing.assert_allclose(sample(reference, [seconds + 2.0])[0], [[1.0, 2.0]])


def test_a_bag_without_positions_can_be_read_where_none_are_needed(tmp_path):
    path = bag(tmp_path, position=np.nan)
    (recording,) = read(path, positions_needed=False)
    assert np.isnan(recording.segments[0].position).all()
    np.testing.assert_array_equal(recording.segments[0].effort, 1.0)
    with pytest.raises(SampleError, match="position of joint joint_1 is nan"):
        read(path)


def test_sent_trajectories_start_at_their_stamps():
    messages = [
        sent(1.0, [0.0, 1.0], [[0.0, 0.0], [1.0, 2.0]]),
        sent(3.0, [0.0, 1.0], [[1.0, 2.0], [0.0, 0.0]]),
    ]
    reference = sent_reference(messages, NAMES, START)
    position = sample(reference, [0.5, 1.5, 2.5, 3.5])[0]
    np.testing.assert_allclose(position, [[0.0, 0.0], [0.5, 1.0], [1.0, 2.0], [0.5, 1.0]])


def test_what_was_to_begin_later_is_replaced_before_it_begins():
    messages = [
        sent(0.0, [0.0, 1.0], [[0.0, 0.0], [1.0, 1.0]]),
        sent(2.0, [0.0, 1.0], [[1.0, 1.0], [9.0, 9.0]]),
        sent(1.5, [0.0, 1.0], [[1.0, 1.0], [0.0, 0.0]]),
    ]
    position = sample(sent_reference(messages, NAMES, START), [0.5, 2.0, 3.0])[0]
    np.testing.assert_allclose(position[:, 0], [0.5, 0.5, 0.0])


def test_joints_of_a_sent_trajectory_are_put_in_order():
    messages = [sent(0.0, [0.0, 1.0], [[0.0, 0.0], [2.0, 1.0]], names=NAMES[::-1])]
    position = sample(sent_reference(messages, NAMES, START), [1.0])[0]
    np.testing.assert_allclose(position, [[1.0, 2.0]])
    with pytest.raises(TrajectoryError, match="joint_1"):
        sent_reference([sent(0.0, [0.0], [[0.0]], names=("elbow",))], NAMES, START)


def test_a_later_trajectory_sets_out_from_where_the_robot_is_asked_to_be():
    messages = [
        sent(0.0, [0.0, 1.0], [[0.0, 0.0], [1.0, 1.0]]),
        sent(2.0, [1.0, 2.0], [[3.0, 3.0], [4.0, 4.0]]),
    ]
    position = sample(sent_reference(messages, NAMES, START), [2.5, 3.5])[0]
    np.testing.assert_allclose(position[:, 0], [2.0, 3.5])


def test_a_planned_trajectory_begins_when_it_is_said_to():
    trajectory = Trajectory(NAMES, np.array([0.0, 1.0]), np.array([[0.0, 0.0], [1.0, 2.0]]))
    reference = planned_reference(trajectory, load_robot("scara"), start=2.0)
    np.testing.assert_allclose(sample(reference, [1.0, 2.5])[0], [[0.0, 0.0], [0.5, 1.0]])
