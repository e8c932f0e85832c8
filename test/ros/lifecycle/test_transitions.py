"""Every transition of a managed node, by hand: what it calls, where it leads, what it answers."""

import itertools

import pytest
from rclpy.impl.implementation_singleton import rclpy_implementation

from hand_moved_lifecycle import GRAPH, STATES, Asked
from robot_identification.errors import InputError, NotActiveError
from robot_identification.ros.lifecycle.transitions import ended
from robot_identification.ros.lifecycle.works import ManagedWorks
from ros_nodes import node

FAULT = ZeroDivisionError("a fault of this program")


class Works:
    """Works that a test makes fail.

    Attributes:
        done: what was asked of it.
        resting: what looks whether it rests return, one after the other; the last one again.
    """

    def __init__(self):
        self.done, self.resting, self.wrong = [], [""], {}

    def _do(self, name):
        self.done.append(name)
        if name in self.wrong:
            raise self.wrong[name]

    def activate(self):
        self._do("activate")

    def rest(self, why):
        self._do("rest")
        return self._look

    def end(self, why):
        self._do("end")
        return self._look

    def close(self):
        self._do("close")

    def _look(self):
        told = self.resting.pop(0) if len(self.resting) > 1 else self.resting[0]
        if isinstance(told, Exception):
            raise told
        return told


class Managed(ManagedWorks):
    """A node whose parameters may be wrong."""

    def __init__(self):
        self.made, self.problem, self.let_go = Works(), None, 0
        super().__init__(self._make, check=lambda: None, let_go=self._count)

    def _make(self):
        if self.problem is not None:
            raise self.problem
        self.made.done.append("load")
        return self.made

    def _count(self):
        self.let_go += 1


@pytest.fixture
def managed():
    return Managed()


@pytest.fixture
def asked(managed):
    """Return a node that is active."""
    asked = Asked(managed)
    assert asked.ask("configure")
    assert asked.ask("activate")
    managed.made.done.clear()
    asked.machine.told.clear()
    return asked


@pytest.mark.ros
def test_the_states_are_those_of_rcl():
    with node() as made, made.handle:
        machine = rclpy_implementation.LifecycleStateMachine(made.handle, False)
        assert set(machine.transition_graph) == GRAPH
        assert {(name, number) for number, name in machine.available_states if number} == set(
            STATES.items()
        )


class TestEveryTransition:
    def test_a_life(self, managed):
        asked, works = Asked(managed), managed.made
        for name, state, done, loaded in (
            ("configure", "inactive", ["load"], True),
            ("activate", "active", ["activate"], True),
            ("deactivate", "inactive", ["rest"], True),
            ("activate", "active", ["activate"], True),
            ("deactivate", "inactive", ["rest"], True),
            ("cleanup", "unconfigured", ["end", "close"], False),
            ("configure", "inactive", ["load"], True),
            ("shutdown", "finalized", ["end", "close"], False),
        ):
            works.done.clear()
            assert asked.ask(name), name
            assert (asked.state, works.done) == (state, done)
            assert (managed.works is works) == loaded
        assert managed.let_go == 2
        assert asked.machine.told[:4] == ["configuring", "inactive", "activating", "active"]

    @pytest.mark.parametrize("state", ["unconfigured", "inactive", "active"])
    def test_a_node_is_shut_down_from_every_state(self, managed, state):
        asked = Asked(managed)
        for name in {"unconfigured": (), "inactive": ("configure",)}.get(
            state, ("configure", "activate")
        ):
            asked.ask(name)
        assert asked.ask("shutdown")
        assert asked.state == "finalized"
        assert managed.works is None

    @pytest.mark.parametrize("state", ["unconfigured", "inactive", "active", "finalized"])
    @pytest.mark.parametrize("name", ["configure", "cleanup", "activate", "deactivate", "fly"])
    def test_what_is_not_possible_is_refused_and_changes_nothing(
        self, managed, caplog, state, name
    ):
        asked = Asked(managed, state)
        possible = {one[1] for one in GRAPH if one[3] == state}
        if name in possible:
            return
        assert asked.ask(name) is False
        assert (asked.state, asked.machine.told, managed.made.done) == (state, [], [])
        (told,) = caplog.messages
        assert told.startswith(f"{name} is not possible while {state}; ")
        assert all(one in told for one in possible) or state == "finalized"

    @pytest.mark.parametrize("number", [0, 8, 10, 40, 61, 99, 255])
    def test_nobody_else_says_how_a_transition_ends(self, managed, asked, number):
        managed.made.resting = [None]
        assert asked.ask("deactivate") is None
        for label in ("", "transition_success", "transition_error"):
            asked.lifecycle.change(number, label, asked.answers.append)
            assert asked.answers[-1] is False
        assert asked.state == "deactivating"

    def test_only_an_active_node_is_active(self, managed):
        asked = Asked(managed)
        for name, told in (
            ("configure", "/arm is unconfigured .*lifecycle set /arm configure"),
            ("activate", "/arm is inactive .*lifecycle set /arm activate"),
        ):
            with pytest.raises(NotActiveError, match=told):
                asked.lifecycle.require_active()
            asked.ask(name)
        asked.lifecycle.require_active()
        managed.made.resting = [None, ""]
        asked.ask("deactivate")
        with pytest.raises(NotActiveError, match="/arm is deactivating: wait"):
            asked.lifecycle.require_active()


class TestConfigure:
    def test_what_is_wrong_is_told_and_may_be_put_right(self, managed, caplog):
        asked = Asked(managed)
        managed.problem = InputError("no such robot: tx41")
        assert asked.ask("configure") is False
        assert asked.state == "unconfigured"
        assert managed.works is None
        assert "configure has failed: no such robot: tx41" in caplog.messages
        managed.problem = None
        assert asked.ask("configure")

    def test_what_nothing_takes_up_is_told_and_nothing_stays_loaded(self, managed):
        def check():
            raise InputError("nothing takes this up")

        managed._check = check
        asked = Asked(managed)
        assert asked.ask("configure") is False
        assert managed.made.done == ["load", "close"]
        assert (managed.works, managed.let_go) == (None, 1)

    def test_a_node_that_begins_by_itself_is_active_or_says_why_not(self, managed):
        asked = Asked(managed)
        asked.lifecycle.start()
        assert asked.state == "active"
        other = Asked(managed)
        managed.problem = InputError("no such robot")
        with pytest.raises(InputError, match="no such robot"):
            other.lifecycle.start()
        assert other.state == "unconfigured"


class TestDeactivate:
    def test_it_ends_when_the_robot_is_at_rest(self, managed, asked):
        managed.made.resting = [None, None, ""]
        assert asked.ask("deactivate") is None
        assert asked.state == "deactivating"
        asked.lifecycle.look()
        assert asked.answers[-1:] != [False]
        asked.lifecycle.look()
        assert asked.answers[-1] is True
        assert asked.machine.told == ["deactivating", "inactive"]
        asked.lifecycle.look()  # nothing is looked after any more
        assert asked.machine.told == ["deactivating", "inactive"]

    def test_it_fails_where_rest_is_not_known(self, managed, asked, caplog):
        managed.made.resting = [None, "the robot still moves: use the emergency stop"]
        asked.ask("deactivate")
        asked.lifecycle.look()
        assert (asked.answers[-1], asked.state) == (False, "active")
        assert "deactivate has failed: the robot still moves" in caplog.text
        assert managed.works is managed.made

    @pytest.mark.parametrize("name", ["shutdown", "deactivate", "activate"])
    def test_one_at_a_time(self, managed, asked, caplog, name):
        managed.made.resting = [None, ""]
        asked.ask("deactivate")
        assert asked.ask(name) is False
        assert f"{name} is not possible while deactivating; wait" in caplog.text
        asked.lifecycle.look()
        assert asked.state == "inactive"


class TestCleanupAndShutdown:
    def test_what_cannot_be_ended_is_not_cleaned_up(self, managed, asked):
        asked.ask("deactivate")
        managed.made.resting = ["the controller owes an answer"]
        assert asked.ask("cleanup") is False
        assert (asked.state, managed.works) == ("inactive", managed.made)

    def test_a_node_is_shut_down_even_where_the_robot_does_not_rest(self, managed, asked, caplog):
        managed.made.resting = [None, "the robot still moves"]
        assert asked.ask("shutdown") is None
        asked.lifecycle.look()
        assert (asked.answers[-1], asked.state, managed.works) == (False, "finalized", None)
        assert "shutdown has failed: the robot still moves" in caplog.text


class TestFaults:
    """Faults of the program in a transition: the robot is braked, whatever they are."""

    def test_a_fault_leads_to_braking(self, managed, asked, caplog):
        managed.made.wrong["rest"] = FAULT
        managed.made.resting = [None, ""]
        assert asked.ask("deactivate") is None
        assert (asked.state, managed.made.done) == ("errorprocessing", ["rest", "end"])
        asked.lifecycle.look()
        assert asked.machine.told == ["deactivating", "errorprocessing", "unconfigured"]
        assert (asked.answers[-1], managed.works) == (False, None)
        assert "ZeroDivisionError" in caplog.text

    def test_where_braking_has_a_fault_too_the_robot_is_watched_and_may_be_stopped(
        self, managed, asked, caplog
    ):
        managed.made.wrong["end"] = FAULT
        assert asked.ask("shutdown") is False
        assert asked.machine.told == ["shuttingdown", "errorprocessing", "finalized"]
        assert "use the emergency stop" in caplog.text
        assert managed.works is managed.made

    def test_a_fault_while_it_waits_leads_to_braking(self, managed, asked):
        managed.made.resting = [None, FAULT, ""]
        asked.ask("deactivate")
        asked.lifecycle.look()
        assert managed.made.done == ["rest", "end", "close"]
        assert (asked.answers[-1], asked.state) == (False, "unconfigured")

    def test_where_the_robot_does_not_come_to_rest_the_node_is_finalized(self, managed, asked):
        managed.made.resting = [FAULT, None, "the robot still moves"]
        asked.ask("deactivate")
        asked.lifecycle.look()
        assert asked.machine.told == ["deactivating", "errorprocessing", "finalized"]

    @pytest.mark.parametrize("name", ["configure", "activate"])
    def test_a_fault_where_nothing_moves_yet_leaves_the_node_unconfigured(self, managed, name):
        asked = Asked(managed)
        if name == "configure":
            managed.problem = FAULT
        else:
            asked.ask("configure")
            managed.made.wrong["activate"] = FAULT
        assert asked.ask(name) is False
        assert (asked.state, managed.works) == ("unconfigured", None)
        managed.problem, managed.made.wrong = None, {}
        assert asked.ask("configure")

    def test_whatever_happens_every_request_is_answered_once_and_no_state_stays_for_ever(self):
        outcomes = ("", None, "no rest", FAULT)
        for first, second, third in itertools.product(outcomes, repeat=3):
            managed = Managed()
            asked = Asked(managed)
            asked.lifecycle.start()
            managed.made.resting = [first, second, third, ""]
            asked.ask("deactivate")
            for _ in range(5):
                asked.lifecycle.look()
            assert len(asked.answers) == 1
            assert asked.state in ("active", "inactive", "unconfigured", "finalized")
            assert not asked.lifecycle.under_way


def test_nothing_to_wait_for_is_over_at_once():
    assert ended() == ""
