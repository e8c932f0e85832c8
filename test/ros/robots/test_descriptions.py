"""Descriptions on a topic, with a topic, a clock and pauses that a test moves by hand."""

import logging
from types import SimpleNamespace

import pytest
from rclpy.executors import ExternalShutdownException
from std_msgs.msg import String

from diagnostics import values_of
from robot_identification.errors import RobotDescriptionError
from robot_identification.files.descriptions import description_digest
from robot_identification.ros.common.diagnostics import ERROR, OK, STALE
from robot_identification.ros.robots import descriptions
from robot_identification.ros.robots.descriptions import DescriptionListener, publishers_told

URDF = """<robot name="turner"><link name="base"/><link name="arm"/>
<joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" velocity="1" effort="9"/></joint></robot>"""
OTHER = URDF.replace('upper="1"', 'upper="2"')
TOPIC = "/arm/robot_description"


class Bench:
    """A node that listens to a topic.

    Attributes:
        coming: moments, in s, with what comes then; None: ROS is shut down.
        now: the time in s.
        reports: statuses, as /diagnostics have them.
    """

    def __init__(self, monkeypatch):
        self.coming, self.now, self.reports, self.publishers = [], 0.0, [], []
        self.running = True
        monkeypatch.setattr(descriptions.qos, "create_subscription", self.subscribed)
        self.listener = DescriptionListener(self, "robot_description", "", clock=lambda: self.now)

    def subscribed(self, _node, kind, topic, callback, profile):
        assert (kind, topic) == (String, "robot_description")
        assert profile.durability.name == "TRANSIENT_LOCAL"
        self.callback = callback
        return SimpleNamespace(handle=self, topic_name=TOPIC)

    def spin(self):
        """Do what an executor does."""
        while message := self.take_message(String, False):
            self.callback(message[0])

    # As the handle of a subscription

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def take_message(self, kind, raw):
        assert (kind, raw) == (String, False)
        if not self.coming or self.coming[0][0] > self.now:
            return None
        text = self.coming.pop(0)[1]
        if text is None:
            self.running = False
            return None
        return String(data=text), {}

    # The bench

    def wait(self, **options):
        return self.listener.wait(self.report, 1.0, self.pause, **options)

    def pause(self, seconds):
        self.now += seconds

    def report(self):
        if self.listener.said.kept:
            self.spin()
        self.reports.append(self.listener.report("turner"))
        return self.reports[-1]

    # As a node

    @property
    def context(self):
        return SimpleNamespace(ok=lambda: self.running)

    def get_logger(self):
        return logging.getLogger("arm")

    def get_fully_qualified_name(self):
        return "/arm/acquisition"

    def get_publishers_info_by_topic(self, topic):
        assert topic == TOPIC
        return self.publishers


@pytest.fixture
def bench(monkeypatch, tmp_path, caplog):
    monkeypatch.setenv("ROS_HOME", str(tmp_path))
    caplog.set_level(logging.INFO)
    return Bench(monkeypatch)


def test_a_description_that_is_there_is_taken_without_waiting(bench, caplog):
    bench.coming = [(0.0, URDF)]
    kept = bench.wait()
    assert kept.urdf.read_text() == URDF
    assert bench.now == 0.0
    assert not caplog.records


def test_waiting_is_told_in_the_log_and_on_diagnostics_until_one_comes(bench, caplog):
    bench.coming = [(25.0, URDF)]
    bench.wait()
    assert bench.now == pytest.approx(25.0, abs=0.2)
    first, *repeated = (record.getMessage() for record in caplog.records)
    assert first == f"waiting for a description of the robot on {TOPIC}"
    assert len(repeated) == 2
    assert "waiting for 10 s" in repeated[0]
    assert "start robot_state_publisher" in repeated[0]
    assert 20 < len(bench.reports) <= 25
    for status in bench.reports[:-1]:
        assert (status.level, status.name) == (STALE, "/arm/acquisition: robot description")
        assert values_of(status)["topic"] == TOPIC


@pytest.mark.parametrize("come", [2.9, 3.0, 3.05, 3.1])
def test_nothing_is_told_of_a_description_before_its_robot_is_known(bench, come):
    """Nor where a report is due when the description comes: it would name no robot."""
    bench.coming = [(come, URDF)]
    bench.wait()
    assert bench.reports
    assert {status.level for status in bench.reports} == {STALE}


def test_a_node_that_is_ended_waits_no_longer(bench):
    bench.coming = [(3.0, None)]
    with pytest.raises(ExternalShutdownException):
        bench.wait()


def test_a_description_of_no_use_is_refused_as_a_file_is(bench):
    bench.coming = [(1.0, "<robot name='a'/>")]
    with pytest.raises(RobotDescriptionError, match=f"{TOPIC}.*no links"):
        bench.wait()


def test_the_file_and_its_hash_are_told(bench):
    bench.coming = [(0.0, URDF)]
    kept = bench.wait()
    status = bench.report()
    assert (status.level, status.message) == (OK, f"described by {kept.source}")
    assert status.hardware_id == "turner"
    values = values_of(status)
    assert values["sha256"] == values["newest_sha256"] == kept.digest
    assert values["file"] == str(kept.source)


@pytest.mark.parametrize("text", [OTHER, "no description at all"])
def test_another_description_is_told_and_never_taken_over(bench, caplog, text):
    bench.coming = [(0.0, URDF), (5.0, text)]
    kept = bench.wait()
    assert bench.report().level == OK
    bench.now = 5.0
    status = bench.report()
    assert status.level == ERROR
    assert "describes another robot" in status.message
    assert "restart all nodes" in status.message
    assert values_of(status)["sha256"] == kept.digest
    assert bench.listener.said.kept is kept
    bench.report()
    assert [record.levelname for record in caplog.records] == ["ERROR"]


def test_the_hash_of_the_newest_is_told_too(bench):
    bench.coming = [(0.0, URDF), (5.0, OTHER)]
    bench.wait()
    bench.now = 5.0
    told = values_of(bench.report())
    assert told["newest_sha256"] == description_digest(OTHER, "")
    assert told["descriptions_received"] == "2"


def test_a_node_that_must_not_wait_for_long_says_what_it_has_waited_for(bench):
    bench.coming = [(30.0, URDF)]
    with pytest.raises(RobotDescriptionError, match="waiting for 5 s for a robot on"):
        bench.wait(longest=5.0)


def test_the_first_description_again_is_no_other(bench):
    bench.coming = [(0.0, URDF), (5.0, OTHER), (6.0, URDF)]
    bench.wait()
    bench.now = 5.0
    assert bench.report().level == ERROR
    bench.now = 6.0
    assert bench.report().level == OK


def test_two_publishers_that_contradict_each_other_are_noticed_at_once(bench):
    bench.coming = [(0.0, URDF), (0.0, OTHER)]
    bench.wait()
    assert bench.report().level == ERROR


def publisher(kind="std_msgs/msg/String", durability="TRANSIENT_LOCAL"):
    profile = SimpleNamespace(durability=SimpleNamespace(name=durability))
    return SimpleNamespace(topic_type=kind, qos_profile=profile)


@pytest.mark.parametrize(("publishers", "told"), [
    ([], "nobody publishes there: start robot_state_publisher"),
    ([publisher("sensor_msgs/msg/JointState")], "of type sensor_msgs/msg/JointState, not std_msgs"),
    ([publisher(durability="VOLATILE")], "does not latch"),
    ([publisher()], "has sent nothing"),
])  # fmt: skip
def test_why_nothing_comes_is_told_as_far_as_it_is_known(publishers, told):
    assert told in publishers_told(publishers)
