"""Two clocks, read one after the other by a process that may be paused between them."""

from types import SimpleNamespace

import pytest

from robot_identification.ros.supervision.clock import MotionClock

MILLISECOND = 1_000_000


class Machine:
    """Both clocks of a machine that pauses the process before some readings of ROS time."""

    def __init__(self, pauses=()):
        self.elapsed, self.set, self.pauses = 0, 0, list(pauses)
        self.clock = MotionClock(SimpleNamespace(now=self.ros))
        self.clock.steady = SimpleNamespace(now=self.steady)

    def steady(self):
        return SimpleNamespace(nanoseconds=self.elapsed)

    def ros(self):
        self.elapsed += self.pauses.pop(0) if self.pauses else 0
        told = SimpleNamespace(nanoseconds=10**18 + self.elapsed + self.set)
        self.elapsed += self.pauses.pop(0) if self.pauses else 0
        return told

    def jump(self, step, pauses):
        """Return the jump that is told between two moments, the clock set by a step meanwhile."""
        before = self.clock.now()
        self.elapsed += 5 * MILLISECOND
        self.set += step
        self.pauses = list(pauses)
        return self.clock.now().jump_since(before)


@pytest.mark.parametrize("before", [0, 66])
@pytest.mark.parametrize("after", [0, 66])
@pytest.mark.parametrize("times", [1, 3])
def test_a_pause_of_the_process_is_no_jump_of_the_clock(before, after, times):
    pauses = [before * MILLISECOND, after * MILLISECOND] * times
    assert Machine().jump(0, pauses) == 0
    assert Machine(pauses).jump(0, ()) == 0


@pytest.mark.parametrize("step", [-900, -50, 50, 900])
@pytest.mark.parametrize("pause", [0, 66])
def test_a_clock_that_is_set_is_told_by_how_much_also_after_a_pause(step, pause):
    assert Machine().jump(step * MILLISECOND, [0, pause * MILLISECOND]) == step * MILLISECOND


def test_a_clock_that_is_slewed_is_none_that_is_set():
    assert Machine().jump(15 * MILLISECOND, ()) == 0
