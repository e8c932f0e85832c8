"""Statuses of a node: the same with the package diagnostic_updater and without it."""

import importlib.util
import sys

import pytest
from rclpy.clock import ClockType

import fake_updater
import ros_nodes
from robot_identification.errors import SettingError
from robot_identification.ros.common.diagnostics import OK, WARN, NodeDiagnostics, status_of

REAL = importlib.util.find_spec("diagnostic_updater") is not None
UPDATERS = ["none", "fake", *(["installed"] if REAL else [])]


@pytest.fixture(params=UPDATERS)
def updater(request, monkeypatch):
    """Have diagnostic_updater missing, faked, or as it is installed."""
    found = {"none": None, "fake": fake_updater.module()}
    if request.param in found:
        monkeypatch.setitem(sys.modules, "diagnostic_updater", found[request.param])
    return request.param


class Told:
    """A node, its diagnostics and what these publish."""

    def __init__(self, node):
        self.node, self.arrays = node, []
        self.diagnostics = NodeDiagnostics(node, 2.0)
        self.diagnostics._updater.publisher = self

    def publish(self, array):
        self.arrays.append(array)


@pytest.fixture
def told(updater):
    with ros_nodes.node(namespace="left") as node:
        yield Told(node)


def test_all_parts_are_told_in_one_message_by_name_robot_and_values(told):
    node = told.node
    told.diagnostics.of_robot("tx40")
    told.diagnostics.add(
        lambda: status_of(node, WARN, "late", {"age": 2.5}, part="joint states", robot="tx40")
    )
    told.diagnostics.add(lambda: status_of(node, OK, "fine", {"sent": 3}))
    told.diagnostics.update()
    (array,) = told.arrays
    first, second = array.status
    assert (first.level, first.name) == (WARN, "/left/arm: joint states")
    assert (first.hardware_id, first.message) == ("tx40", "late")
    assert [(pair.key, pair.value) for pair in first.values] == [("age", "2.5")]
    assert (second.level, second.name, second.message) == (OK, "/left/arm", "fine")
    assert array.header.stamp.sec > 0


def test_every_message_asks_anew(told):
    count = iter(range(10))
    told.diagnostics.add(lambda: status_of(told.node, OK, f"{next(count)}", {}))
    told.diagnostics.update()
    told.diagnostics.update()
    assert [array.status[0].message for array in told.arrays] == ["0", "1"]


def test_a_node_without_parts_says_nothing(told):
    told.diagnostics.update()
    assert not told.arrays


def test_a_node_that_lets_go_of_its_parts_says_nothing_and_may_have_others(told):
    for text in ("one", "two"):
        told.diagnostics.add(lambda text=text: status_of(told.node, OK, text, {}))
    told.diagnostics.clear()
    told.diagnostics.update()
    assert not told.arrays
    told.diagnostics.add(lambda: status_of(told.node, OK, "another", {}))
    told.diagnostics.update()
    assert [[one.message for one in array.status] for array in told.arrays] == [["another"]]


def test_the_time_between_messages_rests_with_no_simulation(told):
    (timer,) = told.node.timers
    assert timer.clock.clock_type is ClockType.STEADY_TIME
    assert timer.timer_period_ns == 2_000_000_000


def test_a_period_may_be_given_by_the_name_that_diagnostic_updater_has_for_it(updater):
    with ros_nodes.node("-p", "diagnostic_updater.period:=0.25") as node:
        assert NodeDiagnostics(node, 2.0).period == 0.25
        (timer,) = node.timers
        assert timer.timer_period_ns == 250_000_000


@pytest.mark.parametrize("value", ["0.0", "3", "soon", "1e9"])
def test_a_period_that_none_can_be_is_refused(updater, value):
    with (
        ros_nodes.node("-p", f"diagnostic_updater.period:={value}") as node,
        pytest.raises(SettingError, match=r"diagnostic_updater.period = .*from 0.1 to 60.0"),
    ):
        NodeDiagnostics(node)
