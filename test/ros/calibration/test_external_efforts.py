import math
import threading
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from robot_identification.msg import JointContact

from live_nodes import BEGIN, ROBOT, TRUTH
from made_up_contacts import planar_arm, planar_force, pushed
from robot_identification.calibration.model.monitor import ResidualReference
from robot_identification.errors import SettingError
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.urdf.prior import urdf_prior
from robot_identification.robot.joint import JointLimits
from robot_identification.ros.calibration.external_efforts import ExternalEfforts
from robot_identification.ros.calibration.external_wrench import ExternalWrench
from robot_identification.ros.calibration.parameters import CalibrationParameters
from robot_identification.ros.calibration.usable_states import JointSide
from robot_identification.ros.common.joint_states import stamp_of

LEVEL = ResidualReference(20.0, 10.0, np.zeros(2), 2, 6, np.zeros(2))


@dataclass
class Collector:
    """Keeps what is published; stands for a node and for its publishers."""

    topics: dict = field(default_factory=dict)

    def create_publisher(self, _kind, topic, _profile, **_options):
        self.topics[topic] = Topic()
        return self.topics[topic]

    def get_fully_qualified_name(self):
        return "/calibration"


class Topic(list):
    publish = list.append


def publishing(*, known=True, **parameters):
    """Return what publishes, and where; thresholds are learned from a second of motion."""
    node = Collector()
    given = {"observer_stick_speed": (1e-4,), "contact_learning_time": 1.0} | parameters
    efforts = ExternalEfforts(node, ROBOT, CalibrationParameters(robot="scara", **given))
    if known:
        efforts.use(efforts.watch_of(ROBOT, TRUTH, LEVEL))
    return efforts, node.topics["~/external_joint_efforts"], node.topics["~/joint_contacts"]


def states_of(motion, *, measured=True, noise=0.02):
    tau = motion.tau + noise * np.random.default_rng(0).normal(size=motion.tau.shape)
    velocity = motion.qd.copy() if measured else np.full_like(motion.qd, np.nan)
    return JointSide(motion.stamps, motion.q, velocity, tau)


def send(efforts, states, at_once=10):
    for first in range(0, len(states), at_once):
        efforts.push(JointSide(*(v[first : first + at_once] for v in vars(states).values())))


PUSH = np.array([0.0, -6.0])


def test_positions_that_a_driver_wraps_make_no_efforts_of_their_own():
    motion = pushed(ROBOT, TRUTH, 0.0 * PUSH, seconds=3.0)
    turned = motion.q + np.array([np.pi - np.median(motion.q[:, 0]), 0.0])
    wrapped = np.where(turned > np.pi, turned - 2.0 * np.pi, turned)
    assert np.abs(np.diff(wrapped[:, 0])).max() > 6.0
    found = []
    for q in (turned, wrapped):
        efforts, published, contacts = publishing()
        send(efforts, states_of(motion._replace(q=q), measured=False))
        found.append((np.array([message.effort for message in published]), len(contacts)))
    np.testing.assert_allclose(found[1][0], found[0][0], atol=1e-6)
    assert found[1][1] == found[0][1]


def test_a_contact_ends_where_other_parameters_are_calibrated():
    efforts, _, contacts = publishing()
    motion = pushed(ROBOT, TRUTH, PUSH, seconds=3.0, begin=2.5)
    send(efforts, states_of(motion))
    begun = [one.joint for one in contacts if one.event == JointContact.BEGAN]
    efforts.use(efforts.watch_of(ROBOT, TRUTH, LEVEL))
    ended = [one for one in contacts if one.event == JointContact.ENDED]
    assert sorted(one.joint for one in ended) == sorted(begun)
    assert (ended[-1].joint, stamp_of(ended[-1])) == (ROBOT.joint_names[1], motion.stamps[-1])
    assert 0.4 < ended[-1].duration < 0.51


@pytest.mark.parametrize("measured", [True, False])
def test_a_push_is_published_as_effort_and_as_contact(measured):
    efforts, published, contacts = publishing()
    motion = pushed(ROBOT, TRUTH, PUSH, seconds=3.0, begin=2.5)
    send(efforts, states_of(motion, measured=measured))
    contact = contacts[0]  # the shoulder may feel the beginning of the push for a moment
    assert (contact.robot, contact.joint) == ("scara", ROBOT.joint_names[1])
    assert contact.event == JointContact.BEGAN
    assert -0.001 < (stamp_of(contact) - motion.stamps[0]) * 1e-9 - 2.5 < 0.03
    assert abs(contact.effort) > contact.threshold > 0.0
    np.testing.assert_allclose(published[-1].effort, PUSH, atol=0.3)
    assert list(published[-1].name) == list(ROBOT.joint_names)
    # 100 Hz of 1000, and the first.
    assert 290 <= len(published) <= 302
    report = efforts.report()
    assert report.message == f"contact: {ROBOT.joint_names[1]}"
    assert {v.key: v.value for v in report.values}["contacts"] == str(
        sum(c.event == JointContact.BEGAN for c in contacts)
    )


def test_diagnostics_say_what_is_being_learned():
    efforts, published, _ = publishing(known=False, contact_learning_time=5.0)
    motion = pushed(ROBOT, TRUTH, PUSH, seconds=2.0, begin=9.0)
    send(efforts, states_of(motion))
    assert not published
    assert efforts.report().message == "no parameters yet"
    efforts.use(efforts.watch_of(ROBOT, TRUTH, LEVEL))
    send(efforts, states_of(motion))
    assert efforts.report().message == "learning thresholds from free motion, 40 %"


def test_efforts_of_the_wrong_sign_are_an_error_until_thresholds_are_known():
    efforts, _, contacts = publishing()
    free = pushed(ROBOT, TRUTH, 0.0 * PUSH, seconds=4.0)
    reversed_ = free._replace(tau=free.tau * [1.0, -1.0])
    send(efforts, states_of(reversed_.part(slice(0, 2000))))
    report = efforts.report()
    assert report.level == DiagnosticStatus.ERROR
    assert ROBOT.joint_names[1] in report.message
    assert "sign" in report.message
    send(efforts, states_of(free.part(slice(2000, 4000))))
    assert efforts.report().level == DiagnosticStatus.OK
    assert not contacts


def test_a_velocity_that_is_missing_costs_its_sample_only():
    efforts, published, contacts = publishing()
    states = states_of(pushed(ROBOT, TRUTH, 0.0 * PUSH, seconds=2.0))
    states.velocity[1503] = np.nan
    send(efforts, states)
    report = efforts.report()
    assert "velocities" in report.message
    assert {v.key: v.value for v in report.values}["states_observed"] == "1999"
    assert not contacts
    assert len(published) > 190


def test_publication_goes_on_after_the_clock_was_set_back():
    efforts, published, _ = publishing()
    motion = pushed(ROBOT, TRUTH, 0.0 * PUSH, seconds=0.5)
    send(efforts, states_of(motion))
    before = len(published)
    send(efforts, states_of(motion._replace(stamps=motion.stamps - 10**10)))
    assert len(published) == 2 * before


def test_parameters_are_replaced_when_states_have_been_worked_on():
    efforts, *_ = publishing()
    other, done = efforts.watch_of(ROBOT, TRUTH, LEVEL), []

    def replaced():
        efforts.use(other)
        done.append("replaced")

    meanwhile = threading.Thread(target=replaced)

    class Interrupted:
        """Observes states, and is replaced while it does."""

        def push(self, *joints):
            meanwhile.start()
            meanwhile.join(0.05)  # longer than it takes where nothing holds it
            done.append("states")
            return efforts.watch_of(ROBOT, TRUTH, LEVEL).push(*joints)

        def end(self):
            return ()

    efforts.use(Interrupted())
    efforts.push(states_of(pushed(ROBOT, TRUTH, 0.0 * PUSH, seconds=0.1)))
    meanwhile.join()
    assert done == ["states", "replaced"]


@pytest.mark.parametrize(("spike", "level"), [(0.0, DiagnosticStatus.OK), (4000.0, None)])
def test_thresholds_that_no_push_can_reach_are_an_error(spike, level):
    joints = tuple(replace(j, limits=JointLimits(effort=100.0)) for j in ROBOT.joints)
    limited = replace(ROBOT, joints=joints)
    parameters = CalibrationParameters(
        robot="scara", observer_stick_speed=(1e-4,), contact_learning_time=1.0
    )
    efforts = ExternalEfforts(Collector(), limited, parameters)
    efforts.use(efforts.watch_of(limited, TRUTH, LEVEL))
    states = states_of(pushed(ROBOT, TRUTH, 0.0 * PUSH, seconds=2.0))
    states.effort[500, 1] += spike
    send(efforts, states)
    report = efforts.report()
    assert report.level == (DiagnosticStatus.ERROR if level is None else level)
    if spike:
        assert f"no contact can be told of {ROBOT.joint_names[1]} (" in report.message
        assert "limit 100" in report.message


def test_wrong_parameters_are_refused_at_the_start():
    with pytest.raises(SettingError, match="stick_speed"):
        publishing(observer_stick_speed=(0.1, 0.1, 0.1))


def test_joints_without_efforts_are_an_error():
    efforts, _, contacts = publishing()
    free = pushed(ROBOT, TRUTH, 0.0 * PUSH, seconds=2.0)
    send(efforts, states_of(free._replace(tau=free.tau * [1.0, 0.0]), noise=0.0))
    report = efforts.report()
    assert report.level == DiagnosticStatus.ERROR
    assert f"efforts of {ROBOT.joint_names[1]} are zero throughout" in report.message
    assert not contacts


def test_the_wrench_at_a_frame_is_published_with_its_deviation(tmp_path):
    path = planar_arm(tmp_path)
    robot = load_robot(path, effort_meaning="joint_torque")
    values, node, push = urdf_prior(path, robot), Collector(), np.array([3.0, -6.0])
    parameters = CalibrationParameters(
        robot=str(path),
        observer_stick_speed=(1e-4,),
        contact_learning_time=1.0,
        wrench_frame="tool",
        wrench_force_only=True,
    )
    efforts = ExternalEfforts(node, robot, parameters)
    efforts.use(efforts.watch_of(robot, values, LEVEL))
    motion = pushed(robot, values, push, seconds=3.0, begin=2.0)
    send(efforts, states_of(motion))
    published, wrenches, deviations = (
        node.topics[f"~/{topic}"]
        for topic in ("external_joint_efforts", "external_wrench", "external_wrench_deviation")
    )
    # None before thresholds are known, then one for every message with efforts.
    assert stamp_of(wrenches[0]) > motion.stamps[990]
    assert [m.header for m in wrenches] == [m.header for m in deviations]
    assert wrenches[-1].header == published[-1].header.__class__(
        stamp=published[-1].header.stamp, frame_id="tool"
    )
    sent = dict(zip(motion.stamps.tolist(), motion.q, strict=True))
    force, error = wrenches[-1].wrench.force, deviations[-1].wrench.force
    expected = planar_force(sent[stamp_of(wrenches[-1])], push)
    np.testing.assert_allclose([force.x, force.y], expected, atol=1.0)
    # Nothing moves along the axes of the two joints.
    assert math.isnan(force.z)
    assert math.isinf(error.z)
    assert 0.0 < error.y < 1.0
    told = {v.key: v.value for v in efforts.report().values}
    assert (told["wrench_frame"], told["told_force_y"], told["told_force_z"]) == (
        "tool",
        "1.00",
        "0.00",
    )


@pytest.mark.parametrize("frame", ["joint_6", "link_6"])
def test_a_wrench_at_a_joint_is_at_the_link_that_it_moves(frame):
    robot, node = load_robot("tx40"), Collector()
    assert (robot.joints[-1].name, robot.joints[-1].link) == ("joint_6", "link_6")
    values = CalibrationParameters(robot="tx40", external_efforts=True, wrench_frame=frame)
    wrench = ExternalWrench(node, robot, values)
    wrench.publish(np.array([BEGIN]), np.full((1, 6), 0.3), *np.ones((2, 1, 6)))
    (message,) = node.topics["~/external_wrench"]
    assert message.header.frame_id == "link_6"


def test_a_frame_that_the_robot_does_not_have_is_refused_at_the_start():
    with pytest.raises(SettingError, match="no moving link of scara"):
        publishing(wrench_frame="flange")
