"""Two clocks, read one after the other by a process that may be paused between them."""

from types import SimpleNamespace

import pytest

from robot_identification.ros.supervision.clock import Instant, MotionClock

MILLISECOND = 1_000_000


class Machine:
    """Both clocks of a machine that pauses the process before some readings of ROS time."""

    def __init__(self, pauses=()):
        self.elapsed, self.set, self.pauses = 0, 0, list(pauses)
        ros = SimpleNamespace(now=self.ros)
        self.clock = MotionClock(SimpleNamespace(get_clock=lambda: ros))
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


@pytest.mark.parametrize(
    ("jump", "told"), [(20.0, 0.0), (20.1, 20.1), (-20.0, 0.0), (-20.1, -20.1)]
)
def test_a_difference_of_20_ms_is_no_jump(jump, told):
    step = round(jump * MILLISECOND)
    before, after = Instant(0, 100), Instant(5 * MILLISECOND + step, 100 + 5 * MILLISECOND)
    assert after.jump_since(before) == round(told * MILLISECOND)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_jump_begins_a_nanosecond_beyond_20_ms(sign):
    """Instants know of no pause unless it is told."""
    for more in (0, 1):
        step = sign * (20 * MILLISECOND + more)
        assert Instant(step, 0).jump_since(Instant(0, 0)) == step * more


def test_the_time_between_the_readings_of_both_clocks_is_granted_twice():
    """30 ms between the readings at both moments: a jump of 79 ms may be none."""
    for jump, told in ((79, 0), (81, 81)):
        before = Instant(0, 0, apart=30 * MILLISECOND)
        after = Instant(jump * MILLISECOND, 0, apart=30 * MILLISECOND)
        assert after.jump_since(before) == told * MILLISECOND


def test_simulated_time_may_run_at_any_speed_but_not_backwards():
    before = Instant(0, 0, simulated=True)
    assert Instant(900 * MILLISECOND, 1, simulated=True).jump_since(before) == 0
    assert Instant(0, 900 * MILLISECOND, simulated=True).jump_since(before) == 0
    assert Instant(-3, 5, simulated=True).jump_since(before) == -3


def test_seconds_pass_on_the_steady_clock():
    assert Instant(0, 2_500_000_000).seconds_since(Instant(99, 1_000_000_000)) == 1.5


def test_clocks_are_read_again_at_most_twice_where_the_process_was_paused():
    """The shortest of all readings is not sought: the first within a millisecond is taken."""
    machine = Machine([MILLISECOND, 0] * 2)
    assert machine.clock.now().apart == 0, "the third reading was quick"
    machine = Machine([MILLISECOND, 0] * 5)
    assert machine.clock.now().apart == MILLISECOND
    assert machine.elapsed == 3 * MILLISECOND
    machine = Machine([MILLISECOND - 1, 0] * 5)
    assert machine.clock.now().apart == MILLISECOND - 1
    assert machine.elapsed == MILLISECOND - 1


def test_a_moment_is_both_clocks_and_whether_time_is_simulated():
    machine = Machine([2, 3])
    now = machine.clock.now()
    assert (now.stamp, now.steady, now.simulated, now.apart) == (10**18 + 2, 5, False, 5)


def test_how_long_the_machine_has_run_does_not_matter():
    machine = Machine([1, 0] * 5)
    machine.elapsed = begin = 10**15
    now = machine.clock.now()
    assert (now.apart, machine.elapsed) == (1, begin + 1), "the first reading was quick"
