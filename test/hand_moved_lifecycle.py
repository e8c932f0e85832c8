"""The lifecycle of a node without a node: the state machine of rcl in Python, and who asks it.

That it is the same as that of rcl shows test/ros/lifecycle/test_transitions.py.
"""

import logging

from robot_identification.ros.lifecycle.transitions import Lifecycle

STATES = {
    "unconfigured": 1, "inactive": 2, "active": 3, "finalized": 4, "configuring": 10,
    "cleaningup": 11, "shuttingdown": 12, "activating": 13, "deactivating": 14,
    "errorprocessing": 15,
}  # fmt: skip
_ENDS = ("transition_success", "transition_failure", "transition_error")
GRAPH = {
    (number, label, STATES[start], start, STATES[goal], goal)
    for number, label, start, goal in (
        (1, "configure", "unconfigured", "configuring"),
        (2, "cleanup", "inactive", "cleaningup"),
        (3, "activate", "inactive", "activating"),
        (4, "deactivate", "active", "deactivating"),
        (5, "shutdown", "unconfigured", "shuttingdown"),
        (6, "shutdown", "inactive", "shuttingdown"),
        (7, "shutdown", "active", "shuttingdown"),
        *(
            (number + i, label, start, goal)
            for number, start, goals in (
                (10, "configuring", ("inactive", "unconfigured", "errorprocessing")),
                (20, "cleaningup", ("unconfigured", "inactive", "errorprocessing")),
                (30, "activating", ("active", "inactive", "errorprocessing")),
                (40, "deactivating", ("inactive", "active", "errorprocessing")),
                (50, "shuttingdown", ("finalized", "finalized", "errorprocessing")),
                (60, "errorprocessing", ("unconfigured", "finalized", "finalized")),
            )
            for i, (label, goal) in enumerate(zip(_ENDS, goals, strict=True))
        ),
    )
}
NUMBERS = {"configure": 1, "cleanup": 2, "activate": 3, "deactivate": 4}


class Machine:
    """The state machine of rcl.

    Attributes:
        told: names of the states that it came to, the first one left out.
    """

    def __init__(self, state="unconfigured"):
        self.current_state, self.told = (STATES[state], state), []

    @property
    def available_transitions(self):
        return sorted(one for one in GRAPH if one[2] == self.current_state[0])

    def _go(self, which):
        (goal,) = (one[4:] for one in self.available_transitions if which(one))
        self.current_state = goal
        self.told.append(goal[1])

    def trigger_transition_by_id(self, number, publish):
        assert publish
        self._go(lambda one: one[0] == number)

    def trigger_transition_by_label(self, label, publish):
        assert publish
        self._go(lambda one: one[1] == label)


class Asked:
    """A lifecycle, and somebody who asks for transitions by their names.

    Attributes:
        answers: what was answered, in order: whether a transition has succeeded.
        lifecycle: the lifecycle.
    """

    def __init__(self, managed, state="unconfigured", node="/arm"):
        self.machine, self.answers = Machine(state), []
        log = logging.getLogger("lifecycle")
        self.lifecycle = Lifecycle(self.machine, managed, log, node)

    @property
    def state(self):
        return self.lifecycle.state

    def ask(self, name):
        """Ask for a transition; return its answer, None where there is none yet."""
        count = len(self.answers)
        if name in NUMBERS:
            self.lifecycle.change(NUMBERS[name], "", self.answers.append)
        else:
            self.lifecycle.change(0, name, self.answers.append)
        return self.answers[-1] if len(self.answers) > count else None
