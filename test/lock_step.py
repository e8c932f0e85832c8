"""A cell whose time the test moves: a tick, and no other before all have taken that one in.

However late a process is served, robot, node and test meet at the same moments; and where nobody
is late a motion takes less time than the robot would.
"""

import contextlib
import math
import time

import numpy as np
from robot_identification.msg import SampleBlock
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from fake_driver import FakeDriver
from robot_identification.ros.common import qos
from robot_identification.ros.common.joint_states import NANOSECONDS, stamp_of
from robot_identification.ros.demo.session import Session
from robot_identification.ros.excitation.parameters import ExcitationParameters
from robot_identification.ros.messages.common import time_of
from robot_identification.ros.messages.error_codes import CODES
from simulated_cell import Cell

BEGIN = 1_700_000_000 * NANOSECONDS
_AGAIN = 0.2  # s after which a tick that nobody has answered is sent again: clocks are best effort
_NUDGE = 1  # ns by which it is later then: a timer is not woken twice by the same time
_MOST_NUDGE = 1_000_000
"""The same in ns after many reminders: a timer that missed its tick, as happens in a process that
stands still for seconds, is not due before its next period."""
_SAID_WITHIN = 3  # ticks
_ASKED_AGAIN = 0.4  # s after which a service is asked again
_AT_REST = 1e-3  # rad/s
_REST = 0.2  # s after which a robot that has stopped is known to stand still
_ROBOT_TICK = 6  # samples, fewer than the robot makes up for at a time
_ROBOT_NUDGE = 2  # samples after which it looks at the time again
_SESSION_RATE = 250.0  # Hz; half as often as usual says as much
_UNREAD = 1  # s of joint states, half of what is kept for a reader at 1 kHz


class SteppedClock:
    """A simulated clock that goes on by a tick where nobody is behind.

    Args:
        node: that publishes it.
        tick: in s.
        nudge: by which time goes on, in ns, where nobody has answered; twice as much with each
            reminder after the first, up to a millisecond.

    Attributes:
        now: the time in ns.
        held: nobody moves it.
    """

    def __init__(self, node, tick, nudge=_NUDGE):
        self.now, self.held, self._least_nudge, self._nudge = BEGIN, False, nudge, nudge
        self._tick = round(tick * NANOSECONDS)
        self._sent = time.monotonic()
        self._clocks = node.create_publisher(Clock, "/clock", 10)

    def go_on(self):
        self.now += self._tick
        self._nudge = self._least_nudge
        self._send()

    def step(self, all_are_there):
        """Go on where all have taken in the last tick; return whether it has gone on."""
        if all_are_there:
            self.go_on()
        else:
            self.remind()
        return all_are_there

    def remind(self):
        """Say the time again, a little later, where it should have been answered by now."""
        if self.is_long_ago():
            self.now += self._nudge
            self._nudge = max(self._least_nudge, min(2 * self._nudge, _MOST_NUDGE))
            self._send()

    def is_long_ago(self):
        """Tell whether the last tick should have been answered by now."""
        return time.monotonic() - self._sent > _AGAIN

    def _send(self):
        self._sent = time.monotonic()
        self._clocks.publish(Clock(clock=time_of(self.now)))


class RobotClock(SteppedClock):
    """The clock of a simulated robot, which goes on where its states have come.

    Args:
        node: that publishes it.
        newest: returns the stamp of the newest state, 0 before the first.
        rate: of the robot, Hz.
    """

    def __init__(self, node, newest, rate=500.0):
        super().__init__(node, _ROBOT_TICK / rate, round(_ROBOT_NUDGE / rate * NANOSECONDS))
        self._newest, self._before, self._started = newest, 0, False

    def look(self, all_are_there=True):
        """Go on unless the robot or others are behind."""
        newest = self._newest()
        on_time = newest > self.now - self._tick / 2
        # The robot makes up for what went by before it was heard, some samples at every tick.
        goes_on = newest > self._before if newest else self.is_long_ago()
        there = (on_time if self._started else goes_on) and all_are_there
        self._started = self._started or on_time
        if not self.held and self.step(there):
            self._before = newest


class LockStepCell(Cell):
    """The nodes of a cell with a simulated clock, which goes on while something is waited for.

    Args:
        logs: as for Cell.
        robot: as for Cell.
        values: as for Cell.
        rate: of the simulated robot, Hz.
        tick: by which the clock goes on, in s; no more samples of the robot than it makes up for.
        simulation: as for Cell.
        excitation: as for Cell.

    Attributes:
        drivers: called at every tick in place of a simulated robot.
        driver: see :meth:`drive`.
    """

    def __init__(
        self, logs, robot="three_dof", values="three_dof", *, rate=100.0, tick=0.04,
        simulation=None, excitation=None,
    ):  # fmt: skip
        simulated = {"use_sim_time": True, "rate": rate}
        # By the clock of the machine states may be silent for longer than any stall: as long as
        # the node can be told to bear.
        longest = ExcitationParameters.table()["state_timeout"].maximum
        watching = {"use_sim_time": True, "status_period": 0.01, "state_timeout": longest}
        super().__init__(
            logs,
            robot,
            values,
            simulation={**simulated, **(simulation or {})},
            excitation={**watching, **(excitation or {})},
        )
        self._sample = round(NANOSECONDS / rate)
        self._started = False
        self._before = 0
        self.drivers = []
        self._tick, self._clock = tick, SteppedClock(self.client.node, tick)

    def now(self):
        return self._clock.now

    def plan(self, **fields):
        """Plan while time stands still: what is planned does not move.

        Afterwards the robot has said where it is: the node has heard nothing of it meanwhile.
        """
        with self.held():
            answer = super().plan(**fields)
        self.hear()
        return answer

    def hear(self):
        """Have the robot say where it is, where its time goes on.

        The age of its last state is by the clock of the machine, which goes on while time stands
        still: on a busy one a motion would be refused for it.
        """
        if not self._clock.held:
            self.pass_time(_SAID_WITHIN * self._tick)

    def pass_time(self, seconds):
        """Let time go by."""
        end = self.now() + round(seconds * NANOSECONDS)
        self.wait(lambda: self.now() >= end, "later time")

    def ask_until(self, answer):
        """Ask a service until its answer is what is waited for, with some time in between."""
        while not answer():
            self.pass_time(_ASKED_AGAIN)

    def stand(self, place, known):
        """Have the robot of a fake driver go somewhere, and wait until a preview knows.

        What was sent before may come only now, and the robot follows it: it is put there again.

        Args:
            place: (joints,) where it is to stand.
            known: takes the answer of a preview, and tells whether the node knows.
        """

        def there():
            self.driver.teleport(place)
            return known(self.answers.preview())

        self._walk(np.array(place))
        self.ask_until(there)

    def _walk(self, place):
        """Go no faster than the joints can: a leap is not believed before the state is stale."""
        begin = self.driver.place
        longest = np.max(np.abs(place - begin) / self.limits.velocity)
        steps = max(math.ceil(longest / self._tick), 1)
        for share in np.arange(1, steps + 1) / steps:
            self.driver.teleport(begin + share * (place - begin))
            self.pass_time(self._tick)
        self.pass_time(_REST)

    def first_plan(self, **fields):
        """Plan once the node has heard where the robot is, and return the answer.

        A node that has just begun waits for that no longer than two seconds of the machine.
        """
        while (planned := self.answers.plan(**fields)).error_code == CODES.STATE_STALE:
            self.pass_time(_ASKED_AGAIN)
        assert planned.success, planned.message
        return planned

    def rest(self):
        """Let time go by until the simulated robot stands still and has said so in time."""
        self.wait(
            lambda: self._is_on_time() and max(map(abs, self.states[-1].velocity)) < _AT_REST,
            "robot at rest",
        )
        self.pass_time(_SAID_WITHIN * self._tick)

    @contextlib.contextmanager
    def held(self):
        """Have time stand still until the robot has taken over what is sent meanwhile.

        It begins when all have taken in the last tick: a node that is a tick behind would date
        what it sends before the time at which the robot is.
        """
        before, self._clock.held = self._clock.held, True
        try:
            self.wait(self._know_the_time, "nodes that know the time")
            yield
            self.wait(self._commands_taken, "robot that takes over what was sent")
        finally:
            self._clock.held = before

    def watch(self):
        super().watch()
        if not self._clock.held and self._clock.step(self._all_are_there()):
            self._before = self._newest()
            for driver in self.drivers:
                driver()

    def drive(self):
        """Have a fake driver in place of a simulated robot."""
        self.driver = FakeDriver(self)
        self.drivers.append(self.driver.say)

    def start_robot(self):
        super().start_robot()
        # It makes up for what went by before it was heard, some samples at every tick.
        self.wait(self._is_on_time, "robot on time")
        self._started = True

    def _is_on_time(self):
        return self._newest() > self.now() - 2 * self._sample

    def _newest(self):
        """Return the stamp of the robot's newest state, 0 before the first."""
        return stamp_of(self.states[-1]) if self.states else 0

    def look(self):
        """Let time go on while another client waits."""
        self.client.spin()
        self.watch()

    def _all_are_there(self):
        """Tell whether robot and node, as far as they run, have taken in the last tick."""
        robot = self._simulator in self.nodes.names and self.states
        if robot and not (self._is_on_time() if self._started else self._newest() > self._before):
            return False
        node = "excitation" in self.nodes.names and self.statuses
        if node and stamp_of(self.status) < self.now():
            return False
        return self._commands_taken()

    def _know_the_time(self):
        """Tell whether all have taken in the last tick; remind those that have not."""
        there = self._all_are_there()
        if not there:
            self._clock.remind()
        return there

    def _commands_taken(self):
        """Tell whether the simulated robot, if there is one, has taken over all that was sent."""
        if self._simulator not in self.nodes.names or not self.sent:
            return True
        said = self.nodes.output(self._simulator)
        return said.count("starts at sample") + said.count("refused") >= len(self.sent)


class LockStepSession(Session):
    """Nodes of a demo whose robot waits for its readers.

    Its time goes on by a tick where the client has all of its states, and, while it records, all
    but the last blocks of them: what the middleware keeps is never outrun.
    """

    def __init__(self, logs, parameters=None, **options):
        given = {name: dict(values) for name, values in (parameters or {}).items()}
        given.setdefault("simulated_robot", {}).update(use_sim_time=True, rate=_SESSION_RATE)
        super().__init__(logs, given, **options)
        self._newest = self._recorded = 0
        self._clock = RobotClock(self.client.node, lambda: self._newest, _SESSION_RATE)
        self._check, self.client._watch = self.client._watch, self._look
        self.client.collect(JointState, "joint_states", self._on_state, qos.STATES_IN)
        self.client.node.create_subscription(SampleBlock, "samples", self._on_block, qos.BLOCKS)

    def _on_state(self, message):
        self._newest = stamp_of(message)

    def _on_block(self, block):
        """Keep the stamp up to which a recording goes; 0 where there is none."""
        self._recorded = 0 if block.last or not block.stamps else block.stamps[-1]

    def _look(self):
        self._check()
        self._clock.look(not 0 < self._recorded < self._newest - _UNREAD * NANOSECONDS)
