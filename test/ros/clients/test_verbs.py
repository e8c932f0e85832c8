"""How nodes are asked and what they are asked to do, with a transport that the test moves."""

import pytest
from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import ChangeState, GetState
from robot_identification.srv import BaseParameters, Identify, IdentifyDidim
from std_srvs.srv import Trigger

from robot_identification import msg
from robot_identification.errors import NotActiveError, RobotIdentificationError
from robot_identification.ros.clients import asking
from robot_identification.ros.clients.client import (
    ClientTimeoutError,
    NodeGoneError,
    RequestInvalidError,
)
from robot_identification.ros.clients.node_requests import NodesMissingError
from robot_identification.ros.clients.verbs import Verbs
from robot_identification.ros.clients.work_requests import data_of
from robot_identification.ros.messages.error_codes import CODES

FINE = Identify.Response(success=True, message="fine")
WRONG = Identify.Response(success=False, message="no", error_code=CODES.UNKNOWN_RECORDING)

pytestmark = pytest.mark.usefixtures("giving_up")


def test_a_verb_returns_the_answer_and_raises_a_refusal(transport):
    transport.answers = [FINE, WRONG, WRONG]
    verbs = Verbs(transport)
    assert verbs.identify("wls", data_of(["r"])) is FINE
    with pytest.raises(RequestInvalidError) as error:
        verbs.identify("wls", data_of(["r"]))
    assert error.value.code == CODES.UNKNOWN_RECORDING
    assert verbs.answers.identify("wls", data_of(["r"])) is WRONG


@pytest.mark.parametrize(
    ("state", "remedy"), [("inactive", "activate"), ("unconfigured", "configure")]
)
def test_a_node_that_is_not_active_is_told_with_what_to_do(transport, state, remedy):
    transport.answers = [
        GetState.Response(current_state=State(label=label)) for label in ("active", state)
    ]
    verbs = Verbs(transport)
    verbs.require_active("excitation")
    with pytest.raises(NotActiveError, match=f"/left/excitation is {state}.* {remedy}$"):
        verbs.require_active("excitation")
    assert transport.names == ["excitation/get_state"] * 2


def test_a_transition_that_fails_points_to_the_log(transport):
    transport.answers = [ChangeState.Response(success=success) for success in (True, False)]
    verbs = Verbs(transport)
    verbs.change_state("excitation", "activate")
    assert transport.asked[0][1].transition.label == "activate"
    with pytest.raises(RobotIdentificationError, match=r"excitation/change_state: .*log"):
        verbs.change_state("excitation", "deactivate")


def test_what_is_begun_is_not_waited_for(transport):
    transport.answers = [FINE]
    future = Verbs(transport).begun.identify("wls", data_of(["r"]))
    assert not future.done()
    transport.now = 3.0
    assert future.result() is FINE


def test_a_request_goes_to_its_service_with_the_fields_that_it_has(transport):
    transport.answers = [FINE, FINE]
    verbs = Verbs(transport)
    fields = {"held_out_fraction": 0.2, "output": "result.yaml"}
    verbs.identify("wls", data_of(["r"], ["bag"]), **fields)
    verbs.identify("didim", data_of(["r"]), **fields)
    (first, one), (second, other) = transport.asked
    assert (first, second) == ("identification/identify", "identification/didim")
    assert (one.method, one.held_out_fraction, one.data.bags) == ("wls", 0.2, ["bag"])
    assert isinstance(other, IdentifyDidim.Request)
    assert other.output == "result.yaml"


def test_long_work_has_no_time_limit_and_its_progress_is_told(transport):
    transport.answers, transport.steps = [FINE], 10_000
    told = []
    verbs = Verbs(transport).telling(lambda *said: told.append(said))
    transport.heard["identification/progress"](msg.Progress(stage="before", fraction=1.0))

    def step():
        fraction = float("nan") if transport.now < 5.0 else transport.now / 10_000
        say = transport.heard["identification/progress"]
        say(msg.Progress(stage="filtering", fraction=fraction))

    transport.step = step
    assert verbs.ask(Identify.Request()) is FINE
    assert told[0] == ("filtering", 5.0 / 10_000)
    assert told[-1] == ("filtering", 1.0)


def test_what_is_quick_has_a_time_limit(transport):
    transport.answers, transport.steps = [FINE], 100
    with pytest.raises(ClientTimeoutError, match="excitation/stop within 10 s"):
        Verbs(transport).stop()


def test_a_node_that_is_away_for_a_moment_may_still_answer(transport):
    def step():
        transport.there = not 2.0 < transport.now < 2.0 + asking.SILENT

    transport.answers, transport.steps, transport.step = [FINE], 20, step
    assert Verbs(transport).base_parameters() is FINE
    assert isinstance(transport.asked[0][1], BaseParameters.Request)


def test_a_node_that_stays_away_has_ended(transport):
    def step():
        transport.there = transport.now < 2.0

    transport.answers, transport.steps, transport.step = [FINE], 20, step
    with pytest.raises(NodeGoneError, match="identification/identify: its node has ended"):
        Verbs(transport).ask(Identify.Request())
    assert transport.now < 3.0 + asking.SILENT + 1.0


def test_a_node_that_was_started_anew_does_not_answer_what_the_one_before_was_asked(transport):
    def step():
        transport.identifier = b"first" if transport.now < 2.0 else b"second"

    transport.answers, transport.steps, transport.step = [FINE], 10_000, step
    with pytest.raises(NodeGoneError, match="identification/identify: its node has ended"):
        Verbs(transport).ask(Identify.Request())
    assert transport.now < 3.0 + asking.SILENT + 1.0


def test_an_interruption_of_a_question_leaves_the_work_of_others_alone(transport):
    transport.answers = [FINE]

    def step():
        raise KeyboardInterrupt

    transport.step = step
    with pytest.raises(KeyboardInterrupt):
        Verbs(transport).ask(BaseParameters.Request())
    assert transport.names == ["identification/base_parameters"]


@pytest.mark.parametrize("answer", [Trigger.Response(success=True), Trigger.Response()])
def test_an_interruption_cancels_the_work_of_the_node(transport, answer):
    transport.answers = [FINE, answer]

    def step():
        transport.step = lambda: None
        raise KeyboardInterrupt

    transport.step = step
    with pytest.raises(KeyboardInterrupt):
        Verbs(transport).ask(Identify.Request())
    assert transport.names == ["identification/identify", "identification/cancel"]


@pytest.mark.parametrize("said", ["nothing", "no joint state for 0.5 s"])
def test_a_state_that_does_not_come_is_told_with_what_the_node_says(transport, said):
    verbs = Verbs(transport)
    if said != "nothing":
        status = msg.ExcitationStatus(state=msg.ExcitationStatus.STOPPED, text=said)
        transport.heard["excitation/status"](status)
    with pytest.raises(ClientTimeoutError, match=rf"no state \['RUNNING'\].* says: {said}"):
        verbs.wait_for(msg.ExcitationStatus.RUNNING, timeout=5.0)


def test_nodes_that_do_not_answer_are_named(transport):
    transport.there = False
    with pytest.raises(NodesMissingError, match="calibration in namespace /left") as error:
        Verbs(transport).require("calibration", within=2.0)
    assert error.value.nodes == ("calibration",)


def test_nodes_that_have_begun_are_not_to_be_started_but_waited_for(transport):
    transport.there, transport.graph = False, [("excitation", "/left"), ("calibration", "/right")]
    with pytest.raises(NodesMissingError, match="have begun, and either compile") as error:
        Verbs(transport).require("excitation", within=2.0)
    assert error.value.begun == ("excitation",)
    with pytest.raises(NodesMissingError, match="start them with ros2 launch") as error:
        Verbs(transport).require("excitation", "calibration", within=2.0)
    assert error.value.begun == ("excitation",)
