"""What the end of a node means for the launch that started it."""

import signal

import pytest

from robot_identification.ros.launching.ends import Ends, ProcessFailedError

NAMES = ("excitation", "acquisition", "calibration")
NEEDED = ("excitation", "acquisition")


@pytest.fixture
def ends():
    return Ends(NAMES, NEEDED)


def test_nodes_that_end_in_order_fail_nothing(ends):
    ends.ended("excitation", 0, stopping=False)
    for name in NAMES[1:]:
        ends.ended(name, 0, stopping=True)


@pytest.mark.parametrize("code", [1, 2, -9, -2])
def test_a_launch_ends_with_a_node_that_the_others_need(ends, code):
    with pytest.raises(ProcessFailedError, match=rf"excitation \(exit code {code}\)") as raised:
        ends.ended("excitation", code, stopping=False)
    assert raised.value.codes == {"excitation": code}


@pytest.mark.parametrize("code", [2, 3])
def test_a_launch_ends_where_a_node_was_given_something_wrong(ends, code):
    with pytest.raises(ProcessFailedError, match="calibration"):
        ends.ended("calibration", code, stopping=False)


def test_the_others_go_on_without_a_node_that_they_do_not_need_and_the_launch_fails_at_last(ends):
    ends.ended("calibration", 1, stopping=False)
    with pytest.raises(ProcessFailedError, match="calibration"):
        ends.ended("excitation", 0, stopping=True)


def test_the_last_one_to_end_tells_what_has_failed_before(ends):
    ends.ended("calibration", -11, stopping=False)
    ends.ended("excitation", 0, stopping=False)
    with pytest.raises(ProcessFailedError, match=r"calibration \(exit code -11\)"):
        ends.ended("acquisition", 0, stopping=False)


@pytest.mark.parametrize("code", [-signal.SIGINT, -signal.SIGTERM, 130, 143])
def test_a_node_that_is_stopped_while_it_starts_has_not_failed(ends, code):
    ends.ended("excitation", code, stopping=True)


def test_a_node_that_must_be_killed_has_failed(ends):
    with pytest.raises(ProcessFailedError):
        ends.ended("excitation", -signal.SIGKILL, stopping=True)


def test_a_failure_is_told_once(ends):
    with pytest.raises(ProcessFailedError):
        ends.ended("excitation", 2, stopping=False)
    ends.ended("acquisition", 0, stopping=True)
    with pytest.raises(ProcessFailedError) as raised:
        ends.ended("calibration", -9, stopping=True)
    assert raised.value.codes == {"calibration": -9}
