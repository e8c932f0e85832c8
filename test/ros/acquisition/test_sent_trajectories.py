import numpy as np
import pytest

from robot_identification.dynamics.reference import sample
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.files.bags.trajectories import SentTrajectory, sent_reference
from robot_identification.ros.acquisition.sent_trajectories import SentTrajectories

BEGIN = 10**18
STAMPS = BEGIN + 50_000_000 * np.arange(61)
OUT, BACK = ([0.0, 2.0], [0.0, 2.0]), ([0.0, 1.0], [1.5, 0.0])


def sent(start, times, positions):
    """Return a trajectory of one joint that begins some seconds after the beginning."""
    trajectory = Trajectory(("joint",), np.array(times), np.array(positions)[:, None])
    return SentTrajectory(BEGIN + round(start * 1e9), trajectory)


def followed(messages, block=2):
    """Return the reference block by block, each trajectory known from a time in s on."""
    trajectories, waiting, found = SentTrajectories(), list(messages), []
    for first in range(0, len(STAMPS), block):
        stamps = STAMPS[first : first + block]
        while waiting and waiting[0][0] <= (stamps[-1] - BEGIN) / 1e9:
            trajectories.add(waiting.pop(0)[1])
        found.append(trajectories.at(stamps))
    return np.concatenate(found)[:, 0]


@pytest.mark.parametrize("block", [1, 2, 7, 61])
@pytest.mark.parametrize(
    "later",
    [
        pytest.param((1.2, sent(1.5, *BACK)), id="sent ahead of its start"),
        pytest.param((1.5, sent(1.5, *BACK)), id="sent in the middle of a block"),
        pytest.param((1.5, sent(1.5, [0.5, 1.0], [1.0, 0.0])), id="first point after its start"),
        pytest.param((2.6, sent(2.7, [0.0, 0.1], [2.0, 1.9])), id="after a rest"),
    ],
)
def test_the_reference_is_that_of_a_bag_of_the_same_trajectories(later, block):
    messages = [(0.0, sent(0.0, *OUT)), later]
    whole = sent_reference([one for _, one in messages], ("joint",), BEGIN)
    expected = sample(whole, (STAMPS - BEGIN) / 1e9)[0][:, 0]
    np.testing.assert_allclose(followed(messages, block), expected, atol=1e-9)


def test_what_was_to_begin_later_is_replaced_before_it_begins():
    messages = [(0.0, sent(0.0, *OUT)), (1.2, sent(1.5, [0.0, 1.0], [1.5, 9.0]))]
    stopped = [*messages, (1.3, sent(1.35, [0.0, 0.1], [1.35, 1.4]))]
    assert followed(messages)[-1] == 9.0
    np.testing.assert_allclose(followed(stopped)[30:], 1.4)


def test_without_a_trajectory_nothing_is_known():
    trajectories = SentTrajectories()
    assert trajectories.at(STAMPS) is None
    trajectories.add(sent(0.0, *OUT))
    assert trajectories.at(STAMPS[:0]) is None
    trajectories.forget()
    assert trajectories.at(STAMPS) is None


def test_what_is_kept_while_nothing_is_recorded_is_bounded():
    trajectories = SentTrajectories()
    for number in range(300):
        trajectories.add(sent(0.2 * number, [0.1, 0.3], [0.0, 1.0]))
    assert len(trajectories._followed) == 101
