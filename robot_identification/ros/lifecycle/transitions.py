"""Transitions of a managed node, as https://design.ros2.org/articles/node_lifecycle.html has them.

A transition that takes its time, such as braking to rest, goes on while the node works: what it
waits for is asked again and again, so that the robot is watched and services are answered
meanwhile.  Nothing here knows rclpy or reads a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from lifecycle_msgs.msg import State, Transition

from robot_identification.errors import NotActiveError, RobotIdentificationError

ACTIVE = int(State.PRIMARY_STATE_ACTIVE)
INACTIVE = int(State.PRIMARY_STATE_INACTIVE)
UNCONFIGURED = int(State.PRIMARY_STATE_UNCONFIGURED)

_NAMES = {
    Transition.TRANSITION_CONFIGURE: "configure",
    Transition.TRANSITION_ACTIVATE: "activate",
    Transition.TRANSITION_DEACTIVATE: "deactivate",
    Transition.TRANSITION_CLEANUP: "cleanup",
    Transition.TRANSITION_UNCONFIGURED_SHUTDOWN: "shutdown",
    Transition.TRANSITION_INACTIVE_SHUTDOWN: "shutdown",
    Transition.TRANSITION_ACTIVE_SHUTDOWN: "shutdown",
}
_NONE = -1  # the number of no transition
_SUCCESS, _FAILURE, _ERROR = "transition_success", "transition_failure", "transition_error"

Ending = Callable[[], str | None]
"""Asked again and again: None while something goes on, then an empty text, or why it has failed."""


def ended() -> str | None:
    """Return that nothing is waited for; an :data:`Ending`."""
    return ""


class StateMachine(Protocol):
    """The state machine of rcl, which publishes every transition."""

    @property
    def current_state(self) -> tuple[int, str]:
        """Number and name of the state."""

    @property
    def available_transitions(self) -> list[tuple[int, str, int, str, int, str]]:
        """Number and name of each transition that is possible now, of its origin and its goal."""

    def trigger_transition_by_id(self, number: int, publish: bool) -> None:
        """Begin a transition."""

    def trigger_transition_by_label(self, label: str, publish: bool) -> None:
        """End the transition under way."""


class Managed(Protocol):
    """What a node does in its transitions."""

    def configure(self) -> None:
        """Load and check; raises RobotIdentificationError where that cannot be."""

    def activate(self) -> None:
        """Begin to work; raises RobotIdentificationError where that cannot be."""

    def deactivate(self) -> Ending:
        """Bring what moves to rest."""

    def cleanup(self) -> Ending:
        """Release what was loaded; of a node that is inactive."""

    def shut_down(self) -> Ending:
        """Bring what moves to rest and release everything, in any state."""

    def recover(self) -> Ending:
        """Do the same after a fault of a transition, as far as that is possible."""


@dataclass
class _UnderWay:
    """A transition that has begun and has not ended."""

    name: str
    answer: Callable[[bool], None]
    ending: Ending = ended
    fault: bool = False


class Lifecycle:
    """Carries out the transitions of a node, one at a time.

    Args:
        machine: that of rcl.
        managed: what the node does.
        log: its logger.
        node: its full name, for people.
    """

    def __init__(self, machine: StateMachine, managed: Managed, log: Any, node: str) -> None:
        self._machine, self._managed, self._log, self._node = machine, managed, log, node
        self._now: _UnderWay | None = None
        self._steps: dict[int, Callable[[], Ending]] = {
            Transition.TRANSITION_CONFIGURE: self._at_once(managed.configure),
            Transition.TRANSITION_ACTIVATE: self._at_once(managed.activate),
            Transition.TRANSITION_DEACTIVATE: managed.deactivate,
            Transition.TRANSITION_CLEANUP: managed.cleanup,
            Transition.TRANSITION_UNCONFIGURED_SHUTDOWN: managed.shut_down,
            Transition.TRANSITION_INACTIVE_SHUTDOWN: managed.shut_down,
            Transition.TRANSITION_ACTIVE_SHUTDOWN: managed.shut_down,
        }

    @property
    def state(self) -> str:
        """Name of the state, such as ``inactive`` or ``deactivating``."""
        return self._machine.current_state[1]

    @property
    def active(self) -> bool:
        """Whether the node is active, and not about to be something else."""
        return self._machine.current_state[0] == ACTIVE

    @property
    def unconfigured(self) -> bool:
        """Whether nothing is loaded, and nothing is being loaded or released."""
        return self._machine.current_state[0] == UNCONFIGURED

    @property
    def under_way(self) -> bool:
        """Whether a transition has begun and waits for something."""
        return self._now is not None

    def require_active(self) -> None:
        """Refuse what only an active node does.

        Raises:
            NotActiveError: with the state, and what to do.
        """
        if not self.active:
            raise NotActiveError(self._node, self.state)

    def start(self) -> None:
        """Configure and activate at once, before anybody can ask for it.

        Raises:
            Exception: what configuring or activating has raised; the state is as it was before.
        """
        for number, work in (
            (Transition.TRANSITION_CONFIGURE, self._managed.configure),
            (Transition.TRANSITION_ACTIVATE, self._managed.activate),
        ):
            self._machine.trigger_transition_by_id(number, True)
            try:
                work()
            except BaseException:
                self._machine.trigger_transition_by_label(_FAILURE, True)
                raise
            self._machine.trigger_transition_by_label(_SUCCESS, True)

    def change(self, number: int, label: str, answer: Callable[[bool], None]) -> None:
        """Begin a transition that somebody asks for.

        Args:
            number: of the transition.
            label: its name, which counts where it is given.
            answer: called once it is over, or at once where it is not possible, with its success.
        """
        possible = {
            told: one
            for one, told, *_ in self._machine.available_transitions
            if one in self._steps  # its outcome is not for others to say
        }
        wanted = possible.get(label, _NONE) if label else number
        if wanted not in possible.values():
            asked = label or _NAMES.get(number, f"number {number}")
            self._log.warning(f"{asked} is not possible while {self.state}; {self._told(possible)}")
            answer(False)
            return
        self._machine.trigger_transition_by_id(wanted, True)
        self._now = _UnderWay(_NAMES[wanted], answer)
        self._begin(self._now, self._steps[wanted])

    def _told(self, possible: Iterable[str]) -> str:
        """Return what can be asked for instead, for people."""
        if self.under_way:
            return "wait until that is over"
        return f"possible: {', '.join(possible)}" if possible else "start the node again"

    @staticmethod
    def _at_once(work: Callable[[], None]) -> Callable[[], Ending]:
        """Return a step that ends where it begins, and may be refused."""

        def step() -> Ending:
            try:
                work()
            except RobotIdentificationError as error:
                told = str(error)
                return lambda: told
            return ended

        return step

    def _begin(self, now: _UnderWay, step: Callable[[], Ending]) -> None:
        try:
            now.ending = step()
        except Exception as error:  # noqa: BLE001
            # A robot may move: whatever has gone wrong, it is to be braked.
            self._fail(now, error)
            return
        self.look()

    def look(self) -> None:
        """Go on with the transition under way."""
        now = self._now
        if now is None:
            return
        try:
            problem = now.ending()
        except Exception as error:  # noqa: BLE001
            # As above.
            self._fail(now, error)
            return
        if problem is not None:
            self._conclude(now, problem)

    def _fail(self, now: _UnderWay, error: Exception) -> None:
        """Take note of a fault of this program in a transition."""
        import traceback

        self._log.error(f"{now.name} has a fault:\n{''.join(traceback.format_exception(error))}")
        self._machine.trigger_transition_by_label(_ERROR, True)
        if now.fault:  # of what was to help
            self._log.error("what moved may still move: use the emergency stop")
            self._over(now, done=False)
            return
        now.fault = True
        self._begin(now, self._managed.recover)

    def _conclude(self, now: _UnderWay, problem: str) -> None:
        if problem:
            self._log.error(f"{now.name} has failed: {problem}")
        self._machine.trigger_transition_by_label(_FAILURE if problem else _SUCCESS, True)
        self._over(now, done=not problem and not now.fault)

    def _over(self, now: _UnderWay, *, done: bool) -> None:
        self._now = None
        self._log.info(f"{now.name}: {self.state}")
        now.answer(done)
