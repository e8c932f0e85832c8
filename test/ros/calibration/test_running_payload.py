"""What the calibration node publishes of a payload, without a process."""

import threading
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from robot_identification.msg import PayloadEstimate
from std_srvs.srv import Trigger

from carried_payloads import (
    BEGIN,
    BODY,
    PLACE,
    ROBOT,
    SETTINGS,
    TRUTH,
    Carrying,
    learned,
    new_watch,
)
from carried_payloads import send as send_to
from robot_identification.calibration.running_payload.state import PayloadState, PayloadStatus
from robot_identification.errors import SettingError
from robot_identification.ros.calibration.parameters import CalibrationParameters
from robot_identification.ros.calibration.prediction import Prediction
from robot_identification.ros.calibration.running_payload import RunningPayload
from robot_identification.ros.calibration.usable_states import JointSide
from robot_identification.ros.common.joint_states import stamp_of
from ros_nodes import node as ros_node


@dataclass
class Collector:
    """Keeps what is published and served; stands for a node."""

    topics: dict = field(default_factory=dict)
    services: dict = field(default_factory=dict)

    def create_publisher(self, _kind, topic, _profile, **_options):
        self.topics[topic] = Topic()
        return self.topics[topic]

    def create_service(self, _kind, name, callback, **_options):
        self.services[name] = callback

    def get_fully_qualified_name(self):
        return "/calibration"


class Topic(list):
    publish = list.append


def publishing(**parameters):
    node = Collector()
    values = CalibrationParameters(robot="tx40", **parameters)
    return RunningPayload(node, ROBOT, values), node


def send(payload, part, at_once=50):
    for first in range(0, len(part[0]), at_once):
        stamps, q, tau = (signal[first : first + at_once] for signal in part)
        payload.push(JointSide(stamps, q, np.full_like(q, np.nan), tau))


def asked(node, name):
    return node.services[name](Trigger.Request(), Trigger.Response())


def test_what_is_picked_up_is_published_with_its_intervals():
    payload, node = publishing(payload_frame=PLACE.frame)
    payload.use(new_watch(learned()), "abc")
    arm = Carrying(seed=5)
    arm.now = 50.0
    send(payload, arm.part(4.0))
    assert payload.report().message == "no payload"
    part = arm.part(5.0, BODY)
    send(payload, part)
    last = node.topics["~/payload"][-1]
    assert (last.robot, last.status, last.changes) == ("tx40", PayloadEstimate.CARRIED, 1)
    assert last.parameters_hash == "abc"
    assert (last.header.frame_id, last.payload.joint) == (PLACE.frame, ROBOT.joint_names[-1])
    assert 0.0 <= (part[0][-1] - stamp_of(last)) * 1e-9 < 0.5
    assert last.payload.inertia.m == pytest.approx(BODY.mass, rel=0.03)
    assert last.payload.inertia.com.z == pytest.approx(BODY.centre[2], abs=5e-3)
    assert last.payload.lower[0] < last.payload.values[0] < last.payload.upper[0]
    assert len(last.payload.covariance) == 100
    statuses = [message.status for message in node.topics["~/payload_changes"]]
    assert statuses[-1] == PayloadEstimate.CARRIED
    assert PayloadEstimate.CHANGING in statuses
    assert len(statuses) < len(node.topics["~/payload"]) / 2
    values = {entry.key: entry.value for entry in payload.report().values}
    assert float(values["mass"]) == pytest.approx(BODY.mass, rel=0.03)
    assert asked(node, "~/reset_payload").success
    send(payload, arm.part(0.5, BODY))
    assert node.topics["~/payload"][-1].motion <= 0.5


def test_learning_is_told_and_asked_for():
    payload, node = publishing()
    assert payload.report().message == "no parameters yet"
    assert not asked(node, "~/learn_bare_robot").success
    payload.use(new_watch(learned()), "abc")
    assert asked(node, "~/learn_bare_robot").success
    arm = Carrying()
    send(payload, arm.part(0.5 * SETTINGS.learning_time))
    assert node.topics["~/payload"][-1].status == PayloadEstimate.LEARNING
    assert payload.report().message.startswith("learning the bare robot, 4")
    assert np.isnan(node.topics["~/payload"][-1].payload.inertia.m)
    stamps, q, tau = arm.part(13.0)
    send(payload, (stamps, q, tau * [1.0, -1.0, 1.0, 1.0, 1.0, 1.0]))
    assert payload.report().level in (DiagnosticStatus.OK, DiagnosticStatus.ERROR)


def test_states_that_are_no_numbers_are_refused_and_told():
    payload, _ = publishing()
    payload.use(new_watch(learned()), "abc")
    stamps, q, tau = Carrying().part(0.5)
    tau[10, 2] = np.nan
    send(payload, (stamps, q, tau))
    report = payload.report()
    assert report.level == DiagnosticStatus.ERROR
    assert "refused" in report.message


def test_states_of_which_nothing_can_be_told_cost_what_was_learned_and_no_more():
    payload, _ = publishing(payload_frame=PLACE.frame)
    payload.use(new_watch(learned()), "abc")
    arm = Carrying(seed=5)
    arm.now = 50.0
    stamps, q, tau = arm.part(3.0)
    tau[300, 2] = 1e200
    send(payload, (stamps, q, tau))
    report = payload.report()
    assert report.level == DiagnosticStatus.ERROR
    assert "the bare robot is learned anew" in report.message
    assert payload._watch.learned < 1.0
    send(payload, arm.part(1.0))
    assert payload._watch.learned > 0.0


@pytest.mark.parametrize(("mass", "carried"), [(0.01, False), (2.0, True)])
def test_in_a_contact_there_is_a_body_only_where_one_was_carried(mass, carried):
    arm = Carrying(seed=5)
    arm.now = 50.0
    last = send_to(new_watch(learned()), arm.part(3.0))[-1]
    standard = last.body.standard.copy()
    standard[-1] = mass
    contact = replace(
        last, status=PayloadStatus.CONTACT, body=replace(last.body, standard=standard)
    )
    payload, node = publishing(payload_frame=PLACE.frame)
    payload.use(SimpleNamespace(push=lambda *_: [contact], learned=1.0), "abc")
    payload.push(STATE)
    (message,) = node.topics["~/payload"]
    assert np.isfinite(message.payload.inertia.m) == carried


def test_a_frame_that_is_not_there_is_refused_at_once():
    with pytest.raises(SettingError, match="no moving link"):
        publishing(payload_frame="hand")


def test_a_watch_of_calibrated_parameters_has_the_settings_of_the_node():
    payload, _ = publishing(payload_learning_time=15.0, payload_false_changes=0.5)
    settings = payload.watch_of(ROBOT, TRUTH, None).settings
    assert (settings.learning_time, settings.false_changes) == (15.0, 0.5)


def test_questions_do_not_wait_for_the_group_of_states_that_take_longer_than_their_period():
    values, group = CalibrationParameters(robot="tx40"), MutuallyExclusiveCallbackGroup()
    with ros_node() as made:
        payload = RunningPayload(made, ROBOT, values)
        Prediction(made, ROBOT, group, SimpleNamespace(now=values), payload=payload)
        asked_in = {
            service.callback_group
            for service in made.services
            if service.srv_name.endswith(("reset_payload", "learn_bare_robot"))
        }
    assert len(asked_in) == 1
    assert asked_in.isdisjoint({group, None, made.default_callback_group})


class Interrupted:
    """A watch that is asked for something, from another thread, while states are worked on.

    Args:
        meanwhile: what is asked for.
    """

    learned = 1.0

    def __init__(self, meanwhile):
        self._meanwhile = threading.Thread(target=meanwhile)
        self.done = []

    def push(self, stamps, _position, _effort):
        self._meanwhile.start()
        self._meanwhile.join(0.05)  # longer than it takes where nothing holds it
        self.done.append("states")
        return [PayloadState(int(stamps[-1]), PayloadStatus.NONE)]

    def forget(self):
        self.done.append("forgotten")

    def learn_anew(self):
        self.done.append("learned anew")

    def wait(self):
        self._meanwhile.join()


STATE = JointSide(np.array([BEGIN]), *np.zeros((3, 1, 6)))


@pytest.mark.parametrize(
    ("service", "done"), [("~/reset_payload", "forgotten"), ("~/learn_bare_robot", "learned anew")]
)
def test_a_question_waits_for_states_that_are_worked_on(service, done):
    payload, node = publishing()
    watch = Interrupted(lambda: asked(node, service))
    payload.use(watch, "abc")
    payload.push(STATE)
    watch.wait()
    assert watch.done == ["states", done]


def test_an_estimate_goes_out_with_the_hash_of_the_parameters_that_it_is_of():
    payload, node = publishing()
    watch = Interrupted(lambda: payload.use(new_watch(), "new"))
    payload.use(watch, "old")
    payload.push(STATE)
    watch.wait()
    assert [message.parameters_hash for message in node.topics["~/payload"]] == ["old"]
    assert payload.report().message == "learning the bare robot, 0 %"
