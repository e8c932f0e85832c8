"""Recordings that a client asks for: they end whatever happens, and are its own."""

import pytest
from std_srvs.srv import Trigger

from robot_identification import msg
from robot_identification.errors import RobotIdentificationError
from robot_identification.ros.clients.client import ClientTimeoutError, RequestRefusedError
from robot_identification.ros.clients.recording import RecordingEndedError
from robot_identification.ros.clients.verbs import Verbs

pytestmark = pytest.mark.usefixtures("giving_up")


@pytest.mark.parametrize("error", [KeyboardInterrupt, RobotIdentificationError])
def test_a_recording_ends_whatever_happens(transport, error):
    transport.answers = [Trigger.Response(success=True, message="r")] * 2
    transport.step = lambda: transport.heard.get("samples", lambda _: None)(
        msg.SampleBlock(recording="r", stamps=[7])
    )

    def interrupted():
        with Verbs(transport).recorded() as recording:
            assert (recording.name, recording.last_stamp) == ("r", 7)
            raise error

    with pytest.raises(error):
        interrupted()
    assert transport.names == ["acquisition/start", "acquisition/stop"]


def interrupting(after):
    """Return a step of the transport that is Ctrl-C at a time, once."""
    left = [KeyboardInterrupt]

    def step(now):
        if now >= after and left:
            raise left.pop()

    return step


def recording_for(transport):
    with Verbs(transport).recorded():
        raise AssertionError("nothing is recorded")


STARTED = Trigger.Response(success=True, message="r")


@pytest.mark.parametrize("steps", [5, 1000])
def test_a_recording_whose_beginning_is_interrupted_ends(transport, steps):
    """Be the node slow, or without an answer at all."""
    transport.answers, transport.steps = [STARTED, STARTED], steps
    interrupt = interrupting(2.0)
    transport.step = lambda: interrupt(transport.now)
    with pytest.raises(KeyboardInterrupt):
        recording_for(transport)
    assert transport.names == ["acquisition/start", "acquisition/stop"]


def test_a_recording_whose_beginning_is_not_answered_in_time_ends(transport):
    transport.answers, transport.steps = [STARTED, STARTED], 63
    with pytest.raises(ClientTimeoutError, match="acquisition/start"):
        recording_for(transport)
    assert transport.names == ["acquisition/start", "acquisition/stop"]


@pytest.mark.parametrize("after", [2.0, 1000.0])
def test_a_recording_of_somebody_else_goes_on(transport, after):
    """Whether the refusal is waited for or not."""
    transport.answers = [Trigger.Response(message="recording x is running"), STARTED]
    transport.steps = 5
    interrupt = interrupting(after)
    transport.step = lambda: interrupt(transport.now)
    with pytest.raises((KeyboardInterrupt, RequestRefusedError)):
        recording_for(transport)
    assert transport.names == ["acquisition/start"]


def test_a_recording_has_the_name_of_its_last_part(transport):
    transport.answers = [
        Trigger.Response(success=True, message="r"),
        Trigger.Response(success=True, message="r.2"),
    ]
    transport.step = lambda: transport.heard["samples"](
        msg.SampleBlock(recording="r.2", stamps=[7], last=transport.now > 9.0)
    )
    with Verbs(transport).recorded() as recording:
        transport.heard["samples"](msg.SampleBlock(recording="another", stamps=[9]))
    assert (recording.name, recording.last_stamp) == ("r.2", 7)
    assert recording.ended


@pytest.mark.parametrize(
    ("stopped", "told"),
    [
        (Trigger.Response(message="no recording is running"), "no recording is running"),
        (Trigger.Response(success=True, message="s"), "s ran in its place, and was stopped"),
        (Trigger.Response(success=True, message="r2"), "r2 ran in its place, and was stopped"),
    ],
    ids=["ended", "another", "of nearly its name"],
)
def test_a_recording_that_somebody_else_has_ended_is_not_taken_for_the_motion(
    transport, stopped, told
):
    """Nor is the one that runs in its place: it holds another part of the motion, or none."""
    transport.answers = [STARTED, stopped]
    transport.step = lambda: transport.heard["samples"](msg.SampleBlock(recording="r", stamps=[7]))
    with (
        pytest.raises(RecordingEndedError, match=f"the recording r was ended .*{told}") as error,
        Verbs(transport).recorded(),
    ):
        pass
    assert error.value.recording == "r"
