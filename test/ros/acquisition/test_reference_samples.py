import numpy as np

from robot_identification.ros.acquisition import reference
from robot_identification.ros.acquisition.reference import ReferenceSamples

MS = 1_000_000
BEGIN = 10**18


def stamps(*numbers):
    return np.array([BEGIN + number * MS for number in numbers], dtype=np.int64)


def filled(*numbers):
    samples = ReferenceSamples()
    for number in numbers:
        samples.add(BEGIN + number * MS, np.array([float(number)]))
    return samples


def test_each_holds_until_the_next_one():
    samples = filled(0, 10, 20)
    np.testing.assert_array_equal(samples.at(stamps(0, 9, 10, 25))[:, 0], [0, 0, 10, 20])


def test_the_newest_one_is_still_known_when_the_ones_before_are_forgotten():
    samples = filled(0, 10)
    samples.at(stamps(5, 15))
    assert samples.at(stamps(30))[0, 0] == 10
    assert samples.at(stamps(9)) is None
    assert samples.at(stamps()).shape == (0, 1)


def test_before_the_first_nothing_is_known():
    assert not ReferenceSamples()
    assert ReferenceSamples().at(stamps(0)) is None
    assert filled(10).at(stamps(9, 11)) is None


def test_what_comes_after_a_newer_one_is_left_out():
    np.testing.assert_array_equal(filled(0, 10, 5).at(stamps(7, 12))[:, 0], [0, 10])


def test_a_clock_that_was_set_back_begins_anew():
    samples = filled(0, 1000, 10)
    assert samples.at(stamps(11))[0, 0] == 10
    assert samples.at(stamps(5)) is None


def test_the_next_one_is_due_as_long_as_they_come(clock):
    samples = filled(0, 10)
    for _ in range(19):
        assert samples.known_until() == stamps(10)[0]
        clock[0] += 0.5
    samples.add(BEGIN + 20 * MS, np.array([20.0]))
    for _ in range(20):
        assert samples.known_until() == stamps(20)[0]
        clock[0] += 0.5
    assert samples.known_until() is None
    assert ReferenceSamples().known_until() is None


def test_what_is_kept_while_nothing_is_recorded_is_bounded():
    samples = filled(*range(2 * reference._REMEMBERED + 1))
    assert len(samples._samples.stamps) == reference._REMEMBERED + 1
