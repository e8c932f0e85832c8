"""Temperatures of joints while they come, with subscriptions and a clock moved by hand."""

import logging
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from hypothesis import given
from hypothesis import strategies as st
from sensor_msgs.msg import Temperature

from control_messages import control_msgs  # noqa: F401
from diagnostics import values_of
from made_up_states import live_state
from robot_identification.errors import SettingError
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.terms.temperature import TemperatureDependence
from robot_identification.ros.acquisition import temperatures as module
from robot_identification.ros.acquisition.temperatures import JointTemperatures, TemperatureLog
from robot_identification.ros.common.diagnostics import OK, STALE, WARN
from robot_identification.ros.common.joint_states import Sample
from robot_identification.signals.temperature import (
    StampedTemperatures,
    joined,
    thinned,
)

BEGIN = 1_700_000_000_000_000_000
SCARA = load_robot("scara")
USUAL = {name: name for name in ("position", "velocity", "effort", "temperature")}


def warming(*topics):
    """Return the SCARA with joints whose friction depends on a temperature; None: it does not."""
    joints = tuple(
        joint if topic is None else replace(joint, temperature=TemperatureDependence(30.0, topic))
        for joint, topic in zip(SCARA.joints, topics, strict=True)
    )
    return replace(SCARA, joints=joints)


class Bench:
    """A node, and what it hears."""

    def __init__(self, monkeypatch, robot, *, states=False, interfaces=USUAL):
        self.callbacks, self.kept, self.now, self.runs = {}, [], 0.0, True
        monkeypatch.setattr(module, "DriverSubscription", self.subscribed)
        self.temperatures = JointTemperatures(
            self, robot, interfaces, states=states, keep=lambda *told: self.kept.append(told),
            recording=lambda: self.runs, clock=lambda: self.now,
        )  # fmt: skip

    def subscribed(self, _node, _kind, topic, callback):
        self.callbacks[topic] = callback
        return SimpleNamespace(topic=f"/arm/{topic}", listen_to_lossy_publishers=lambda: None)

    def get_name(self):
        return "acquisition"

    def get_namespace(self):
        return "/arm"

    def get_logger(self):
        return logging.getLogger("arm")

    def get_fully_qualified_name(self):
        return "/arm/acquisition"

    def resolve_topic_name(self, topic):
        return f"/arm/{topic}"

    def tell(self, topic, celsius, stamp):
        told = Temperature(temperature=celsius)
        told.header.stamp = Time(sec=stamp // 10**9, nanosec=stamp % 10**9)
        self.callbacks[topic](told)

    def taken(self):
        return {n: list(zip(own.stamps - BEGIN, own.celsius, strict=True))
                for n, own in self.temperatures.take().items()}  # fmt: skip


def test_a_topic_of_the_robot_file_is_that_of_its_joint(monkeypatch):
    bench = Bench(monkeypatch, warming("elbow", None))
    bench.tell("elbow", 31.0, BEGIN)
    bench.tell("elbow", 32.0, BEGIN + 5)
    assert bench.taken() == {"joint_1": [(0, 31.0), (5, 32.0)]}
    assert bench.taken() == {}
    assert [one[0] for one in bench.kept] == ["/arm/elbow"] * 2


def test_joints_may_share_a_topic(monkeypatch):
    bench = Bench(monkeypatch, warming("cabinet", "cabinet"))
    bench.tell("cabinet", 31.0, BEGIN)
    assert bench.taken() == {"joint_1": [(0, 31.0)], "joint_2": [(0, 31.0)]}


def test_of_what_came_before_a_recording_the_newest_belongs_to_it(monkeypatch):
    bench = Bench(monkeypatch, warming("elbow", None))
    bench.runs = False
    for k in range(5):
        bench.tell("elbow", 30.0 + k, BEGIN + k)
    assert [one[2].temperature for one in bench.temperatures.newest] == [34.0]
    bench.runs = True
    bench.temperatures.begin()
    bench.tell("elbow", 40.0, BEGIN + 9)
    assert bench.taken() == {"joint_1": [(4, 34.0), (9, 40.0)]}


def test_stamps_of_a_clock_that_was_set_back_are_forgotten(monkeypatch):
    bench = Bench(monkeypatch, warming("elbow", None))
    bench.tell("elbow", 30.0, BEGIN)
    bench.temperatures.next_clock()
    bench.temperatures.begin()
    assert bench.taken() == {}
    assert not bench.temperatures.newest


def test_what_is_no_temperature_is_refused_and_counted(monkeypatch):
    bench = Bench(monkeypatch, warming("elbow", None))
    bench.tell("elbow", float("nan"), BEGIN)
    bench.tell("elbow", float("inf"), BEGIN)
    assert bench.taken() == {}
    values = values_of(bench.temperatures.report())
    assert (values["temperatures_received"], values["temperatures_refused"]) == ("0", "2")
    assert values["last_refusal"] == "temperature of joint_1 is inf"


def test_joints_without_a_topic_have_the_interfaces_of_theirs(monkeypatch, control_msgs):  # noqa: F811
    bench = Bench(monkeypatch, warming("", "elbow"), interfaces=USUAL | {"temperature": "motor"})
    assert set(bench.callbacks) == {"dynamic_joint_states", "elbow"}
    told = live_state(BEGIN, {"joint_2": {"motor": 50.0}, "joint_1": {"x": 1.0, "motor": 33.0}})
    bench.callbacks["dynamic_joint_states"](told)
    bench.tell("elbow", 44.0, BEGIN + 1)
    bench.callbacks["dynamic_joint_states"](live_state(BEGIN, {"finger": {"motor": 20.0}}))
    assert bench.temperatures._refused == 0, "a gripper"
    assert bench.taken() == {"joint_1": [(0, 33.0)], "joint_2": [(1, 44.0)]}


def test_a_topic_that_can_be_none_is_refused_by_its_name(monkeypatch):
    with pytest.raises(SettingError, match="temperature = el-bow: is no name of a topic"):
        Bench(monkeypatch, warming("el-bow", None))


def test_without_control_msgs_the_others_are_recorded_and_it_is_told(monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "control_msgs.msg", None)
    monkeypatch.setitem(sys.modules, "control_msgs", None)
    bench = Bench(monkeypatch, warming("", "elbow"))
    assert set(bench.callbacks) == {"elbow"}
    assert "needs the interfaces of control_msgs" in caplog.text
    status = bench.temperatures.report()
    assert (status.level, "control_msgs" in status.message) == (WARN, True)


def test_temperatures_of_joint_states_are_taken_where_no_topic_goes_before(monkeypatch):
    bench = Bench(monkeypatch, warming("elbow", None), states=True)
    for stamp, celsius in ((BEGIN, [20.0, 25.0]), (BEGIN + 1, [20.0, np.nan]), (BEGIN + 2, None)):
        own = None if celsius is None else np.array(celsius)
        bench.temperatures.add_state(Sample(stamp, np.zeros(2), None, np.zeros(2), own))
    assert bench.taken() == {"joint_2": [(0, 25.0)]}


def test_a_temperature_that_does_not_come_is_told(monkeypatch):
    bench = Bench(monkeypatch, warming("elbow", None))
    status = bench.temperatures.report()
    assert (status.level, status.message) == (STALE, "no temperature of joint_1 yet")
    bench.tell("elbow", 30.0, BEGIN)
    status = bench.temperatures.report()
    assert (status.level, status.name) == (OK, "/arm/acquisition: temperatures")
    assert values_of(status)["celsius_joint_1"] == "30.00"
    bench.now = 61.0
    status = bench.temperatures.report()
    assert status.level == WARN
    assert "no temperature of joint_1 for more than 60 s" in status.message


@given(
    st.lists(st.sampled_from([20.0, 20.5, 21.0]), min_size=1, max_size=60),
    st.sets(st.integers(0, 60)),
    st.sampled_from([2_000_000, 4_000_000_000]),
)
def test_blocks_hold_what_a_bag_of_the_same_messages_says(celsius, ends, step):
    log, parts = TemperatureLog(), []
    stamps = BEGIN + step * np.arange(len(celsius), dtype=np.int64)
    for k, value in enumerate(celsius):
        log.add(int(stamps[k]), value, keep=True)
        if k in ends or k == len(celsius) - 1:
            parts.append({"hip": log.take()})
    live = joined([part for part in parts if part["hip"] is not None])["hip"]
    offline = thinned(StampedTemperatures(stamps, np.array(celsius)))
    assert set(offline.stamps) <= set(live.stamps)
    times = np.linspace(stamps[0], stamps[-1], 333)
    np.testing.assert_array_equal(
        np.interp(times, live.stamps, live.celsius),
        np.interp(times, offline.stamps, offline.celsius),
    )
