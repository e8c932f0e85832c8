"""Efforts with a topic of their own in bags, by their stamps or by the times of recording."""

import numpy as np
import pytest

from made_up_bags import NAMES, START, message, numbers, write_messages
from robot_identification.errors import SettingError
from robot_identification.files.bags.separate_efforts import read_efforts
from robot_identification.signals.efforts.separate import EffortSource


@pytest.fixture
def unstamped(tmp_path):
    """Give a bag of joint states without stamps, and their efforts."""
    efforts = numbers(50)
    states = [message(0, NAMES, np.zeros(3), effort=effort) for effort in efforts]
    return write_messages(tmp_path / "bag", states, topic="/efforts"), efforts


def test_efforts_of_states_without_a_stamp_need_a_delay(unstamped):
    path, _ = unstamped
    with pytest.raises(SettingError, match="efforts on /efforts carry no stamps: say how long"):
        read_efforts(path, NAMES, EffortSource("/efforts"))


@pytest.mark.parametrize(("delay", "needed"), [(0.006, True), (0.0, False)])
def test_efforts_of_states_without_a_stamp_have_the_times_of_recording(unstamped, delay, needed):
    path, efforts = unstamped
    read, told = read_efforts(path, NAMES, EffortSource("/efforts", delay), delay_needed=needed)
    np.testing.assert_array_equal(read.stamps, START + 1_000_000 * np.arange(50))
    np.testing.assert_array_equal(read.effort, efforts)
    assert "/efforts: no state has a stamp; the times of recording count" in told[-1]
