"""The node excitation as a managed node, by the services that `ros2 lifecycle` calls."""

import signal

import numpy as np
import pytest
from lifecycle_msgs.msg import Transition, TransitionEvent
from lifecycle_msgs.srv import ChangeState, GetAvailableStates, GetAvailableTransitions

from hand_moved_lifecycle import STATES
from live_nodes import complete_values
from lock_step import LockStepCell
from robot_identification.ros.clients.processes import command
from robot_identification.ros.common import qos
from robot_identification.ros.messages.error_codes import CODES
from simulated_cell import Status

pytestmark = [pytest.mark.ros, pytest.mark.slow]

QUICK = {"rows": 8, "starts": 1, "duration": 3.0}
NODE = "excitation"


class ManagedCell(LockStepCell):
    """A cell whose node waits to be configured.

    Attributes:
        events: states that the node says it has come to.
    """

    def start_excitation(self):
        self.events = []
        self.client.node.create_subscription(
            TransitionEvent, f"{NODE}/transition_event", self._on_event, qos.COMMANDS
        )
        line = command(NODE, parameters=self._excitation, namespace=self.namespace)
        self.nodes.start(NODE, line)
        self.require(NODE)

    def _on_event(self, event):
        self.events.append(event.goal_state.label)

    def change(self, transition):
        """Have the node make a transition; return whether it has succeeded, and the state then."""
        self.events.clear()
        done = self.answers.change_state(NODE, transition).success
        self.wait(lambda: self.events and self.events[-1] == self.lifecycle_state(NODE), "events")
        return done, self.events[-1]

    def refusal(self):
        answer = self.answers.start()
        assert not answer.success
        return answer.message


def transitions(cell, service):
    answer = cell.client.call(GetAvailableTransitions, f"{NODE}/{service}")
    return [one.transition.label for one in answer.available_transitions]


def test_a_life_by_real_service_calls(tmp_path):
    given = {"autostart": False, "robot": "nonesuch"}
    with ManagedCell(tmp_path, "scara", str(complete_values(tmp_path)), excitation=given) as cell:
        cell.start_nodes()
        assert cell.lifecycle_state(NODE) == "unconfigured"
        states = cell.client.call(GetAvailableStates, f"{NODE}/get_available_states")
        assert {one.label for one in states.available_states} == {*STATES, "unknown"}
        assert transitions(cell, "get_available_transitions") == ["configure", "shutdown"]
        assert len(transitions(cell, "get_transition_graph")) == 25
        assert cell.refusal().startswith(f"NOT_ACTIVE: {cell.namespace}/{NODE} is unconfigured")
        assert cell.answers.plan(**QUICK).error_code == CODES.NOT_ACTIVE
        assert cell.answers.stop().message == "nothing moves"

        # A robot that there is not; then another one.
        assert cell.change("configure") == (False, "unconfigured")
        assert "configure has failed: nonesuch: neither a file" in cell.nodes.output(NODE)
        cell.set_parameter(NODE, "robot", "scara")
        assert cell.change("configure") == (True, "inactive")
        assert "cleanup" in cell.answers.set_parameter(NODE, "robot", "tx40").reason
        unknown = ChangeState.Request(transition=Transition(id=Transition.TRANSITION_DEACTIVATE))
        assert not cell.client.call(ChangeState, f"{NODE}/change_state", unknown).success

        # It plans and previews, and moves nothing.
        cell.first_plan(**QUICK)
        cell.wait(lambda: "waits to be activated" in cell.status.text, "status")
        preview = cell.answers.preview()
        assert "WARNING" in preview.message.splitlines()[1], preview.message
        assert "lifecycle set" in cell.refusal()
        assert not cell.sent

        # It moves, and brakes before it is inactive again.
        assert cell.change("activate") == (True, "active")
        assert cell.answers.start().success
        cell.wait_for(Status.RUNNING)
        count = len(cell.sent)
        cell.events.clear()
        assert cell.answers.change_state(NODE, "deactivate").success
        cell.wait(lambda: len(cell.sent) > count, "braking trajectory")
        cell.wait(lambda: "inactive" in cell.events, "events")
        assert cell.events == ["deactivating", "inactive"]
        assert cell.lifecycle_state(NODE) == "inactive"
        np.testing.assert_allclose(cell.sent[-1].trajectory.velocities[-1], 0.0, atol=1e-9)
        assert max(map(abs, cell.states[-1].velocity)) < 0.02
        cell.wait_for(Status.STOPPED)
        assert cell.status.text.startswith("the node is deactivated")

        # It lets go of everything, and begins anew.
        assert cell.change("cleanup") == (True, "unconfigured")
        count = cell.client.node.count_publishers
        cell.wait(lambda: not count(f"{cell.namespace}/{NODE}/status"), "end of the status")
        assert cell.change("configure") == (True, "inactive")
        cell.wait_until_idle()
        assert cell.change("shutdown") == (True, "finalized")
        assert "start it again" in cell.refusal()
        process = cell.nodes.process(NODE)
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
        assert "Traceback" not in cell.nodes.output(NODE)
        cell.nodes.stop(NODE)
