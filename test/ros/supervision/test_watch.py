"""How joint states are watched: batches, pauses of the node, waiting, and what is reported."""

from types import SimpleNamespace

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.time import Time

from robot_identification.errors import StaleStateError
from robot_identification.robot.joint import JointLimits
from robot_identification.ros.supervision import watch as watching
from robot_identification.ros.supervision.clock import Instant
from robot_identification.ros.supervision.states import Refusal
from robot_identification.ros.supervision.watch import MotionWatch
from watched_motion import BEGIN, NAMES, state

MS = 1_000_000
ROBOT = SimpleNamespace(
    name="portal",
    joint_names=NAMES,
    fixed_joints={"finger": 0.0},
    joints=(
        SimpleNamespace(limits=JointLimits(velocity=2.0)),
        SimpleNamespace(limits=JointLimits()),
    ),
)


class Machine:
    """A node, its subscription and both clocks, which a test moves by hand.

    Attributes:
        behind: time in ns that a simulation has sent and the node has not taken in.
    """

    def __init__(self, monkeypatch, timeout=0.1):
        self.elapsed, self.waiting, self.asked, self.behind = 0, [], [], 0
        monkeypatch.setattr(watching, "PolledSubscription", self.subscribed)
        self.watch = MotionWatch(self, ROBOT, timeout=timeout, tracking_error=np.array([0.1, 0.04]))
        self.watch.clock = SimpleNamespace(now=self.instant, catch_up=self.catch_up)

    def subscribed(self, node, _kind, topic, _profile):
        assert (node, topic) == (self, "joint_states")
        return SimpleNamespace(take=self.take, topic="/portal/joint_states")

    def take(self, most):
        self.asked.append(most)
        given, self.waiting = self.waiting[:most], self.waiting[most:]
        return given

    def get_fully_qualified_name(self):
        return "/portal/excitation"

    def get_publishers_info_by_topic(self, topic):
        assert topic == "/portal/joint_states"
        return [
            SimpleNamespace(node_namespace=place, node_name=name)
            for place, name in (("/portal", "driver"), ("/", "publisher"), ("/portal", "driver"))
        ]

    def get_clock(self):
        return SimpleNamespace(now=lambda: Time(nanoseconds=BEGIN + self.elapsed))

    def instant(self):
        return Instant(BEGIN + self.elapsed - self.behind, self.elapsed, self.behind > 0)

    def catch_up(self):
        self.behind = 0

    def come(self, *ages, position=(0.0, 0.0)):
        """Let states come that are so old, in ms; the first come first."""
        for age in ages:
            self.waiting.append(state(BEGIN + self.elapsed - round(age * MS), position))

    def pass_time(self, milliseconds):
        self.elapsed += round(milliseconds * MS)

    def reported(self):
        """Return level, message and values of the next report."""
        status = self.watch.report("inactive")
        return status.level, status.message, {v.key: v.value for v in status.values}


@pytest.fixture
def machine(monkeypatch):
    found = Machine(monkeypatch)
    found.pass_time(1000.0)
    return found


def test_positions_are_possible_by_half_the_tracking_error_and_the_limit_of_velocity(machine):
    states = machine.watch.states
    np.testing.assert_array_equal(states.physical.speed, [2.0, np.inf])
    np.testing.assert_allclose(states.physical.tolerance, [0.05, 0.02])
    assert states.timeout == 0.1
    machine.watch.judge(0.25, np.array([1.0, 2.0]))
    np.testing.assert_allclose(states.physical.tolerance, [0.5, 1.0])
    assert states.timeout == 0.25


def test_all_that_have_come_are_taken_in_at_once(machine):
    machine.come(3.0, 2.0, 1.0, position=(0.25, 0.5))
    machine.watch.take()
    assert machine.asked == [500], "as many as the middleware keeps"
    assert len(machine.watch.states.recent(1.0, 0)) == 3
    np.testing.assert_array_equal(machine.watch.place(), [0.25, 0.5])
    machine.come(0.0, position=(0.26, 0.5))
    np.testing.assert_array_equal(machine.watch.place(), [0.26, 0.5])
    machine.pass_time(101.0)
    assert machine.watch.place() is None, "stale"


def test_where_no_state_has_come_nothing_is_known(machine):
    assert machine.watch.place() is None
    assert machine.watch.problem() == "no joint states have come"
    with pytest.raises(StaleStateError, match="no joint states have come"):
        machine.watch.fresh()
    machine.come(1.0)
    assert machine.watch.fresh().stamp == BEGIN + machine.elapsed - MS
    assert machine.watch.problem() == ""


@pytest.mark.parametrize("way", ["take", "look"])
def test_a_driver_may_begin_anew_only_where_nothing_moves(machine, way):
    """Its clock was set back by an hour, after its states had been stale."""
    for moving in (True, False):
        machine.come(0.0)
        machine.watch.take()
        machine.pass_time(200.0)
        machine.come(3_600_000.0)
        getattr(machine.watch, way)(moving=moving)
        assert machine.watch.states.refusal is (Refusal.STAMP if moving else None)


def test_after_a_pause_of_the_node_states_go_first_once(machine):
    watch = machine.watch
    assert watch.look()
    for pause, judged in (
        (20.0, True), (19.9, True), (5.0, True), (20.1, False), (20.1, True), (20.1, False),
        (5.0, True), (500.0, False),
        (1.0, True),
    ):  # fmt: skip
        machine.pass_time(pause)
        machine.come(1.0)
        assert watch.look(moving=True) == judged
        assert not machine.waiting, "taken in all the same"


def waited(machine):
    """Begin to wait for a newer state; return what tells whether that has ended."""
    waiting = machine.watch.newer()
    future = waiting.send(None)
    assert future is None or not future.done()

    def over():
        try:
            waiting.send(None)
        except StopIteration:
            return True
        return False

    return over


def test_a_newer_state_is_one_from_after_the_request(machine):
    machine.watch.look()
    over = waited(machine)
    machine.come(0.0)  # of this very instant
    machine.watch.look()
    assert not over()
    machine.pass_time(5.0)
    machine.come(4.0)
    machine.watch.look()
    assert over()
    machine.watch.wait_no_longer()


def test_a_state_that_was_on_its_way_when_newer_ones_were_asked_for_ends_no_waiting(machine):
    machine.watch.look()
    over = waited(machine)
    machine.pass_time(5.0)
    machine.come(6.0)  # from a millisecond before the request
    machine.watch.look()
    assert not over()


def test_a_newer_state_that_has_grown_old_while_many_were_taken_in_ends_no_waiting(machine):
    machine.watch.look()
    over = waited(machine)
    machine.pass_time(70.0)
    machine.come(60.0)
    machine.watch.look()
    assert not over()
    machine.pass_time(10.0)
    machine.come(5.0)
    machine.watch.look()
    assert over()


def test_several_may_wait_for_a_newer_state(machine):
    machine.watch.look()
    first = waited(machine)
    machine.pass_time(5.0)
    second = waited(machine)
    machine.come(6.0)
    machine.watch.look()
    assert not first()
    assert not second()
    machine.come(-1.0)
    machine.pass_time(2.0)
    machine.watch.look()
    assert first()
    assert second()
    third = waited(machine)
    machine.watch.look()
    assert not third()


@pytest.mark.parametrize(("timeout", "patience"), [(0.05, 200.0), (0.1, 200.0), (0.15, 300.0)])
def test_waiting_ends_after_twice_the_timeout_or_a_fifth_of_a_second(
    monkeypatch, timeout, patience
):
    machine = Machine(monkeypatch, timeout)
    machine.watch.look()
    over = waited(machine)
    for _ in range(round(patience / 10.0)):
        machine.pass_time(10.0)
        machine.watch.look()
        assert not over()
    machine.pass_time(1.0)
    machine.watch.look()
    assert over()


@pytest.mark.parametrize("moving", [False, True])
def test_states_of_a_simulation_that_came_while_the_node_was_busy_are_not_from_the_future(
    machine, moving
):
    """Its time comes as messages, which have waited as the states have."""
    machine.come(1.0)
    machine.watch.take()
    for milliseconds in (80.0, 500.0):
        machine.pass_time(milliseconds)
        machine.behind = round(milliseconds * MS)
        machine.come(3.0, 1.0)
        machine.watch.take(moving=moving)
        assert machine.watch.states.refused == 0
        assert machine.watch.fresh().delay == MS


def test_a_newer_state_is_from_after_the_time_that_a_simulation_has_sent(machine):
    machine.watch.look()
    machine.pass_time(90.0)
    machine.behind = 90 * MS
    over = waited(machine)
    machine.come(50.0)
    machine.watch.look()
    assert not over(), "of while the node was busy"
    machine.pass_time(5.0)
    machine.come(1.0)
    machine.watch.look()
    assert over()


def test_a_pause_ends_no_waiting(machine):
    machine.watch.look()
    over = waited(machine)
    machine.pass_time(1000.0)
    machine.come(1.0)
    assert not machine.watch.look(moving=True)
    assert not over()
    assert machine.watch.look(moving=True)
    assert over()


def test_waiting_can_be_ended_and_begun_again(machine):
    over = waited(machine)
    machine.watch.wait_no_longer()
    machine.watch.wait_no_longer()
    assert over()
    machine.watch.wait_no_longer()
    assert not waited(machine)()


def steady(machine, count=50, period=2.0, lost=()):
    for i in range(count):
        machine.pass_time(period)
        if i not in lost:
            machine.come(0.5 + 0.01 * i)
        machine.watch.look()


def test_a_report_tells_rate_and_ages_of_what_has_come(machine):
    """Ages from 0.5 to 0.99 ms, a hundredth more each."""
    steady(machine)
    machine.pass_time(7.0)
    machine.watch.look()
    level, message, values = machine.reported()
    assert (level, message) == (DiagnosticStatus.OK, "watching")
    assert float(values.pop("rate_hz")) == pytest.approx(500.0, rel=0.01)
    assert values == {
        "messages_received": "50", "messages_lost": "0", "messages_refused": "0",
        "age_median_s": "0.000750", "age_max_s": "0.000990", "longest_pause_s": "0.007000",
        "state_timeout_s": "0.1",
        "lifecycle": "inactive",
    }  # fmt: skip
    status = machine.watch.report("inactive")
    assert (status.name, status.hardware_id) == ("/portal/excitation: joint states", "portal")


def test_ages_and_pauses_are_those_since_the_last_report_and_counts_of_all_time(machine):
    steady(machine, count=20)
    machine.reported()
    machine.pass_time(2.0)
    machine.watch.look()
    _, _, values = machine.reported()
    assert (values["age_median_s"], values["age_max_s"]) == ("", "")
    assert (values["messages_received"], values["longest_pause_s"]) == ("20", "0.002000")
    machine.pass_time(2.0)
    machine.come(0.25)
    machine.watch.look()
    _, _, values = machine.reported()
    assert (values["age_median_s"], values["messages_received"]) == ("0.000250", "21")
    _, _, values = machine.reported()
    assert values["longest_pause_s"] == "0.000000", "no look since"


def test_lost_states_are_told_once_and_counted(machine):
    steady(machine, lost=(20, 21, 22))
    level, message, values = machine.reported()
    assert (level, message) == (DiagnosticStatus.WARN, "3 joint states were lost")
    assert (values["messages_received"], values["messages_lost"]) == ("47", "3")
    steady(machine, count=10)
    assert machine.reported()[:2] == (DiagnosticStatus.OK, "watching")
    machine.pass_time(2.0)  # lost between two reports
    steady(machine, count=10, lost=(9,))
    level, message, values = machine.reported()
    assert (level, message) == (DiagnosticStatus.WARN, "1 joint states were lost")
    assert values["messages_lost"] == "4"


def test_a_state_lost_just_before_the_last_is_told_once(machine):
    steady(machine, lost=(48,))
    assert machine.reported()[:2] == (DiagnosticStatus.WARN, "1 joint states were lost")
    steady(machine, count=3)
    level, message, values = machine.reported()
    assert (level, message, values["messages_lost"]) == (DiagnosticStatus.OK, "watching", "1")


def test_refused_states_are_told_once_with_the_last_reason(machine):
    steady(machine)
    machine.come(0.3, 0.2, position=(1.0, 0.0))
    machine.pass_time(2.0)
    machine.come(0.1)
    machine.watch.look(moving=True)
    level, message, values = machine.reported()
    assert level == DiagnosticStatus.WARN
    assert message.startswith("2 joint states refused: a cannot have moved by 1 within")
    assert values["messages_refused"] == "2"
    steady(machine, count=3)
    level, message, values = machine.reported()
    assert (level, message, values["messages_refused"]) == (DiagnosticStatus.OK, "watching", "2")


def test_stale_states_are_told_before_all_else(machine):
    steady(machine, lost=(30,))
    machine.pass_time(150.0)
    level, message, _ = machine.reported()
    assert level == DiagnosticStatus.STALE
    assert message.startswith("the last joint state is 0.151 s old")


def test_before_the_first_look_nothing_is_known(machine):
    level, message, values = machine.reported()
    assert (level, message) == (DiagnosticStatus.STALE, "no joint states have come")
    assert values == {
        "rate_hz": "nan", "messages_received": "0", "messages_lost": "0", "messages_refused": "0",
        "age_median_s": "", "age_max_s": "", "longest_pause_s": "0.000000",
        "state_timeout_s": "0.1",
        "lifecycle": "inactive",
    }  # fmt: skip


@pytest.mark.parametrize("way", ["take", "look"])
def test_nothing_moves_where_nobody_says_so(machine, way):
    machine.come(0.0)
    machine.watch.take()
    machine.pass_time(200.0)
    machine.come(3_600_000.0)
    getattr(machine.watch, way)()
    assert machine.watch.states.refusal is None


@pytest.mark.parametrize(("period", "timeout"), [(2.0, 0.11), (40.0, 0.3), (150.0, 0.5)])
def test_a_timeout_that_nobody_gives_follows_the_rate_of_the_states(monkeypatch, period, timeout):
    machine = Machine(monkeypatch, timeout=0.0)
    steady(machine, count=30, period=period)
    assert machine.watch.states.timeout == 0.1
    machine.reported()
    assert machine.watch.states.timeout == pytest.approx(timeout, rel=0.02)
    assert not machine.watch.seen().timeout_given


def test_in_motion_a_timeout_stays_as_it_was(monkeypatch):
    machine = Machine(monkeypatch, timeout=0.0)
    steady(machine, count=30, period=40.0)
    machine.watch.look(moving=True)
    machine.reported()
    assert machine.watch.states.timeout == 0.1
    machine.watch.look()
    machine.reported()
    assert machine.watch.states.timeout == pytest.approx(0.3, rel=0.02)


@pytest.mark.parametrize("moving", [True, False])
def test_other_parameters_that_change_leave_the_timeout_as_it_was(monkeypatch, moving):
    machine = Machine(monkeypatch, timeout=0.0)
    steady(machine, count=30, period=40.0)
    machine.watch.seen()
    machine.watch.look(moving=moving)
    machine.watch.judge(0.0, np.array([0.1, 0.04]))
    assert machine.watch.states.timeout == pytest.approx(0.3, rel=0.02)


def test_a_timeout_that_is_given_is_in_force_whatever_the_rate(machine):
    steady(machine, count=30, period=40.0)
    machine.reported()
    seen = machine.watch.seen()
    assert (machine.watch.states.timeout, seen.timeout, seen.timeout_given) == (0.1, 0.1, True)
    assert len(seen.delays) == 26, "of the last second"


def test_a_timeout_follows_the_rate_before_the_node_looks_for_the_first_time(monkeypatch):
    machine = Machine(monkeypatch, timeout=0.0)
    for _ in range(30):
        machine.pass_time(40.0)
        machine.come(0.5)
        machine.watch.take()
    assert machine.watch.seen().timeout == pytest.approx(0.3, rel=0.02)


def test_of_states_that_come_seldom_the_last_two_tell_delays(machine):
    for age in (3.0, 2.0, 1.0):
        machine.pass_time(1500.0)
        machine.come(age)
        machine.watch.take(moving=True)
    np.testing.assert_allclose(machine.watch.seen().delays, [0.002, 0.001])


def test_before_the_first_state_nothing_is_seen_of_the_driver(machine):
    seen = machine.watch.seen()
    assert (seen.disputed, len(seen.delays), seen.messages) == (0.0, 0, ())
    assert np.isnan(seen.period)


def test_what_is_seen_of_the_driver_is_rate_jitter_delays_and_messages(machine):
    steady(machine, count=100)
    seen = machine.watch.seen()
    assert seen.topic == "/portal/joint_states"
    assert seen.period == pytest.approx(0.002, rel=0.01)
    assert seen.jitter < 1e-6
    assert seen.delays.min() == pytest.approx(0.0005)
    assert seen.delays.max() == pytest.approx(0.00149)
    assert len(seen.messages) == 64


def test_jitter_is_told_in_seconds(machine):
    for i in range(100):
        machine.pass_time(2.2 if i % 2 else 1.8)
        machine.come(0.5)
        machine.watch.look()
    assert machine.watch.seen().jitter == pytest.approx(0.0002, rel=0.6)


def test_states_that_were_lost_before_the_driver_was_looked_at_are_told_all_the_same(machine):
    steady(machine, lost=(20, 21, 22))
    machine.watch.seen()
    level, message, _ = machine.reported()
    assert (level, message) == (DiagnosticStatus.WARN, "3 joint states were lost")


def test_states_of_a_gripper_between_those_of_the_robot_count_for_nothing(machine):
    """The same driver stamps both, or another one an hour behind."""
    for i in range(60):
        machine.pass_time(2.0)
        machine.come(1.0)
        late = 0.0 if i % 2 else 3_600_000.0
        stamp = BEGIN + machine.elapsed - round(late * MS)
        machine.waiting.append(state(stamp, (0.03, np.nan), names=("finger", "palm")))
        machine.watch.look(moving=True)
    level, message, values = machine.reported()
    assert (level, message) == (DiagnosticStatus.OK, "watching")
    assert (values["messages_received"], values["messages_refused"]) == ("60", "0")
    assert values["age_max_s"] == "0.001000"
    seen = machine.watch.seen()
    assert seen.period == pytest.approx(2e-3)
    assert all("a" in one.name for one in seen.messages)
    assert seen.held == {"finger": 0.03}


def test_states_of_other_joints_alone_are_told(machine):
    other = state(BEGIN + machine.elapsed, (0.0, 0.0), names=("left_a", "left_b"))
    machine.waiting += 100 * [other]
    machine.watch.take()
    assert machine.watch.problem() == "no joint states have come"
    machine.waiting.append(other)
    with pytest.raises(StaleStateError, match="joint a, b of the robot is not among"):
        machine.watch.fresh()


@pytest.mark.parametrize(("first", "disputed"), [((0.0, 0.0), 25 / 30), ((1.0, 0.5), 5 / 30)])
def test_two_drivers_of_the_same_joints_are_seen_whoever_comes_first(machine, first, disputed):
    """A publisher for visualisation says 0 now and then."""
    machine.come(1.0, position=first)
    machine.watch.look()
    for i in range(1, 30):
        machine.pass_time(2.0)
        machine.come(1.0, position=(1.0, 0.5) if i % 6 else (0.0, 0.0))
        machine.watch.look()
    seen = machine.watch.seen()
    assert seen.disputed == pytest.approx(disputed, abs=1 / 30)
    assert seen.publishers == ("/portal/driver", "/publisher")
    assert seen.messages[-1].position[0] in (0.0, 1.0)


def test_one_driver_disputes_nothing(machine):
    steady(machine)
    assert machine.watch.seen().disputed == 0.0


@pytest.mark.parametrize(
    ("names", "told"), [((), ""), (("a", "b"), "; a, b was at the effort limit: plans keep")]
)
def test_joints_at_their_effort_limits_are_named(machine, monkeypatch, names, told):
    monkeypatch.setattr(watching, "at_effort_limits", lambda _messages, _robot: names)
    said = machine.watch.limited()
    assert said.startswith(told)
    assert bool(said) == bool(names)
