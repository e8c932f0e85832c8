"""States with interfaces of every joint, as the acquisition node takes them."""

import sys

import numpy as np
import pytest
from robot_identification.msg import DataSelection
from robot_identification.srv import Identify

from control_messages import control_msgs  # noqa: F401
from live_nodes import motion, states
from made_up_states import live_state as message
from robot_identification.errors import (
    JointNameError,
    MissingSignalError,
    RecordingError,
    SampleError,
    SettingError,
    ShapeError,
)
from robot_identification.files.bags.cdr.dynamic_states import INTERFACES, MESSAGE_TYPE
from robot_identification.ros.acquisition.dynamic_states import (
    DynamicStateReader,
    dynamic_joint_state,
)
from robot_identification.ros.common import qos
from robot_identification.ros.common.joint_states import stamp_of
from robot_identification.share import share_directory

pytestmark = pytest.mark.usefixtures("control_msgs")

NAMES = ("hip", "knee")
STAMP = 1_700_000_000_123_456_789


def whole(**changes):
    """Return what two joints say, with changes such as ``hip_effort=nan``; None: no interface."""
    joints = {
        name: {"position": k + 1.0, "velocity": k + 10.0, "effort": k + 100.0}
        for k, name in enumerate(NAMES)
    }
    for place, value in changes.items():
        joint, _, interface = place.partition("_")
        if value is None:
            del joints[joint][interface]
        else:
            joints[joint][interface] = value
    return joints


def read(joints, **options):
    return DynamicStateReader(NAMES, "/states", INTERFACES, **options).read(
        message(STAMP, joints), 7
    )


def test_a_gripper_with_states_of_its_own_does_not_concern_the_robot_and_tells_where_it_stands():
    reader = DynamicStateReader(NAMES, "/states", INTERFACES)
    reader.read(message(STAMP, whole()), 0)
    gripper = message(STAMP, {"finger": {"velocity": 0.0, "position": 0.03}, "pad": {"force": 1.0}})
    assert not reader.concerns(gripper)
    assert reader.concerns(message(STAMP, whole()))
    assert reader.position_of(gripper, "finger") == 0.03
    assert reader.position_of(gripper, "pad") is None
    assert reader.position_of(gripper, "lift") is None


def test_every_signal_is_that_of_its_joint_and_interface():
    sample = read(whole())
    assert sample.stamp == STAMP
    assert sample.position.tolist() == [1.0, 2.0]
    assert sample.velocity.tolist() == [10.0, 11.0]
    assert sample.effort.tolist() == [100.0, 101.0]


def test_permuted_joints_and_interfaces_and_further_ones_make_the_same_sample():
    joints = {"gripper": {}, **whole(hip_voltage=48.0)}
    turned = {name: dict(reversed(own.items())) for name, own in reversed(joints.items())}
    assert read(turned) == read(joints) == read(whole())


def test_a_message_after_another_may_have_another_order():
    reader = DynamicStateReader(NAMES, "/states", INTERFACES)
    turned = {name: dict(reversed(own.items())) for name, own in reversed(whole().items())}
    samples = [reader.read(message(STAMP, own), 0) for own in (whole(), turned, whole())]
    assert samples[0] == samples[1] == samples[2]


@pytest.mark.parametrize("change", [{"knee_velocity": None}, {"knee_velocity": np.nan}])
def test_a_velocity_that_is_missing_or_no_number_counts_as_absent(change):
    assert read(whole(**change)).velocity is None


@pytest.mark.parametrize("signal", ["position", "effort"])
def test_a_joint_without_an_interface_is_named_with_those_that_it_has(signal):
    with pytest.raises(MissingSignalError, match=f"interface {signal} .there: .*velocity.*knee"):
        read(whole(**{f"knee_{signal}": None}))


@pytest.mark.parametrize("signal", ["position", "effort"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_number_is_refused(signal, value):
    with pytest.raises(SampleError, match=f"{signal}.*knee.*7"):
        read(whole(**{f"knee_{signal}": value}))


def test_efforts_from_elsewhere_are_not_asked_for():
    assert read(whole(knee_effort=None), efforts=False).effort.tolist() == [0.0, 0.0]


def test_a_joint_that_is_missing_or_stands_twice_is_refused():
    with pytest.raises(JointNameError, match="knee"):
        read({"hip": whole()["hip"]})
    twice = message(STAMP, whole())
    twice.joint_names = ["hip", "knee", "hip"]
    twice.interface_values = [*twice.interface_values, twice.interface_values[0]]
    with pytest.raises(RecordingError, match="hip is named twice"):
        DynamicStateReader(NAMES, "/states", INTERFACES).read(twice, 0)


def test_lists_that_do_not_belong_together_are_refused():
    told = message(STAMP, whole())
    told.interface_values = told.interface_values[:1]
    reader = DynamicStateReader(NAMES, "/states", INTERFACES)
    with pytest.raises(ShapeError, match="one per joint"):
        reader.read(told, 0)
    told = message(STAMP, whole())
    told.interface_values[1].values = [1.0]
    with pytest.raises(ShapeError, match=r"values of knee.*one per interface"):
        reader.read(told, 0)


def test_interfaces_may_have_names_of_their_own():
    names = INTERFACES | {"effort": "current", "temperature": "motor_temperature"}
    reader = DynamicStateReader(NAMES, "/states", names)
    told = message(STAMP, whole(hip_current=3.0, knee_current=4.0, knee_motor_temperature=41.5))
    assert reader.read(told, 0).effort.tolist() == [3.0, 4.0]
    np.testing.assert_array_equal(reader.temperatures(told), [np.nan, 41.5])


def test_without_control_msgs_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "control_msgs.msg", None)
    monkeypatch.setitem(sys.modules, "control_msgs", None)
    with pytest.raises(SettingError, match=r"joint_states_type = x: .*apt-get install"):
        dynamic_joint_state("joint_states_type", "x")


@pytest.mark.ros
def test_a_recording_of_interfaces_gives_the_result_of_its_bag_with_temperatures(
    control_msgs,  # noqa: F811
    make_suite,
    tmp_path,
):
    from control_msgs.msg import DynamicJointState

    suite = make_suite()
    options = {"robot": str(warming_scara(tmp_path))}
    suite.start(
        "acquisition",
        **options,
        joint_states_type=MESSAGE_TYPE,
        temperature_interface="motor_temperature",
        block_period=0.05,
        diagnostics_period=0.1,
        bag_directory=str(tmp_path),
    )
    suite.start("identification", **options)
    node = suite.client.node
    suite.driver = node.create_publisher(DynamicJointState, "dynamic_joint_states", qos.STATES_OUT)
    suite.wait_for_acquisition()
    suite.verbs.require("identification")
    recording = suite.record(warming_states())[0].recording
    bag = tmp_path / recording
    suite.wait((bag / "metadata.yaml").exists, "end of the bag")
    live = suite.identify_ended(recording)
    data = DataSelection(
        bags=[str(bag)],
        joint_states_topic=f"{suite.namespace}/dynamic_joint_states",
        interfaces=["temperature=motor_temperature"],
    )
    read = suite.verbs.answers.ask(Identify.Request(data=data))
    assert live.success, live.message
    assert read.success, read.message
    found = {p.name: p.value for p in live.result.parameters}
    assert found == {p.name: p.value for p in read.result.parameters}
    assert found["FcT1"] == pytest.approx(-0.02, rel=0.02)
    data.interfaces = ["temperature=motor_temperature", "heat=x"]
    refused = suite.verbs.answers.ask(Identify.Request(data=data))
    assert "interfaces = heat=x: give SIGNAL=NAME" in refused.message


def warming_scara(folder):
    """Return a file of the SCARA whose first joint has less friction as it warms up."""
    text = (share_directory() / "config" / "robots" / "scara.yaml").read_text()
    first = "- name: joint_1\n"
    assert first in text
    path = folder / "warming.yaml"
    path.write_text(text.replace(first, f"{first}    temperature: {{reference: 30}}\n"))
    return path


def warming_states():
    """Return its states as it warms up from 25 to 40 degrees; two of them are of no use.

    The joints stand behind a gripper and in the other order.
    """
    sent, speeds = [], np.gradient(motion()[0][:, 0])
    for k, one in enumerate(states()):
        celsius = 25.0 + 0.01 * k
        position, effort = list(one.position), list(one.effort)
        effort[0] -= 0.02 * (celsius - 30.0) * np.sign(speeds[k])
        joints = {
            name: {"effort": tau, "motor_temperature": celsius, "position": q}
            for name, q, tau in zip(one.name, position, effort, strict=True)
        }
        if k == 300:
            joints["joint_2"]["position"] = np.nan
        if k == 900:
            joints["joint_2"] = {}
        ordered = {"gripper": {"position": 0.04}, **dict(reversed(joints.items()))}
        sent.append(message(stamp_of(one), ordered))
    return sent
