"""Bags with interfaces of every joint (control_msgs/DynamicJointState)."""

import numpy as np
import pytest

from made_up_bags import NAMES, START, message, numbers, write_messages
from made_up_states import state, states
from robot_identification.errors import (
    BagError,
    JointNameError,
    MissingSignalError,
    SettingError,
)
from robot_identification.files.bags.cdr.dynamic_states import (
    DEFINITIONS,
    MESSAGE_TYPE,
    dynamic_layout_of,
    interfaces_of,
)
from robot_identification.files.bags.cdr.joint_states import MESSAGE_TYPE as JOINT_STATE
from robot_identification.files.bags.cdr.values import LayoutError
from robot_identification.files.bags.joint_states.reading import read_joint_states
from robot_identification.files.bags.joint_states.stream import stream_joint_states
from robot_identification.files.bags.recordings import read_recordings
from robot_identification.files.bags.writing import write_bag
from robot_identification.files.tables.columns import Columns
from robot_identification.robot.files.document import parse_document
from robot_identification.robot.files.robot_yaml.robot import build
from robot_identification.signals.temperature import temperatures_at

TOPIC = "/dynamic_joint_states"


WARMING = """\
name: leg
effort_meaning: joint_torque
joints:
  - {name: hip, type: revolute, geometry: {d: 0.1}}
  - {name: knee, type: revolute, geometry: {d: 0.4}, temperature: {reference: 30}}
  - {name: ankle, type: revolute, geometry: {d: 0.4}}
"""
CELSIUS = 25.0 + 0.01 * np.arange(2000)


def leg(text=WARMING):
    return build(parse_document(text, "leg.yaml"))


def write_warming(folder, *, beside=False, interface="temperature"):
    """Write a bag of a leg whose knee warms up; beside: in messages beside its joint states."""
    values = [numbers(len(CELSIUS), seed=seed) for seed in (0, 1)]
    with write_bag(folder / "bag") as bag:
        for k, (q, tau) in enumerate(zip(*values, strict=True)):
            stamp = START + 1_000_000 * k
            own = {n: {"position": q[j], "effort": tau[j]} for j, n in enumerate(NAMES)}
            if beside:
                own = {name: {} for name in NAMES}
                plain = message(stamp, NAMES, q, effort=tau)
                bag.write("/joint_states", JOINT_STATE, stamp, plain)
            own["knee"][interface] = CELSIUS[k]
            bag.write(TOPIC, MESSAGE_TYPE, stamp, state(stamp, own))
    return folder / "bag"


@pytest.mark.parametrize("beside", [False, True], ids=["states", "beside"])
def test_temperatures_of_joints_come_with_the_recording(tmp_path, beside):
    bag = write_warming(tmp_path, beside=beside)
    topic = "/joint_states" if beside else TOPIC
    (found,) = read_recordings([bag], leg(), topic=topic)
    assert set(found.temperatures) == {"knee"}
    times = np.linspace(0.0, 1.9, 50)
    celsius = temperatures_at(found, times)[1]
    np.testing.assert_allclose(celsius, 25.0 + 10.0 * times)


def test_interfaces_of_recordings_are_named_as_columns_are_and_have_no_units(tmp_path):
    bag = write_warming(tmp_path, interface="motor")
    (found,) = read_recordings(
        [bag], leg(), topic=TOPIC, columns=Columns.of({"temperature": "motor"})
    )
    assert set(found.temperatures) == {"knee"}
    with pytest.raises(SettingError, match=r"effort\[mA\]: interfaces of joints are in SI units"):
        read_recordings([bag], leg(), topic=TOPIC, columns=Columns.of({"effort[mA]": "effort"}))


def test_interfaces_of_plain_joint_states_are_refused(tmp_path):
    """Their efforts would be taken for those of the interface that was asked for."""
    bag, current = write_warming(tmp_path, beside=True), Columns.of({"effort": "current"})
    with pytest.raises(SettingError, match=r"effort: .*/joint_states of .*bag has JointState"):
        read_recordings([bag], leg(), columns=current)
    assert read_recordings([bag], leg(), columns=current, columns_needed=False)
    with (
        stream_joint_states(bag, NAMES, interfaces=interfaces_of(current.names)) as stream,
        pytest.raises(BagError, match="/joint_states has JointState, without interfaces such as"),
    ):
        next(stream.batches())
    assert read_recordings([bag], leg(), columns=Columns.of({"temperature": "temperature"}))


def read(folder, messages, names=NAMES, **options):
    bag = write_messages(folder / "bag", messages, topic=TOPIC, kind=MESSAGE_TYPE)
    return read_joint_states(bag, names, topic=TOPIC, **options)


@pytest.mark.parametrize("storage", ["sqlite3", "mcap"])
def test_they_are_the_joint_states_bit_by_bit(tmp_path, storage):
    messages, values = states(200)
    bag = write_messages(
        tmp_path / "bag", messages, topic=TOPIC, kind=MESSAGE_TYPE, storage=storage
    )
    found = read_joint_states(bag, NAMES, topic=TOPIC)
    np.testing.assert_array_equal(found.samples.stamps, START + 1_000_000 * np.arange(200))
    for name, expected in zip(("position", "velocity", "effort"), values, strict=True):
        np.testing.assert_array_equal(getattr(found.samples, name), expected)
    assert found.temperatures is None


def test_joints_are_found_by_name_among_others_in_every_message(tmp_path):
    names = ("gripper", "ankle", "hip", "knee")
    straight, values = states(6, names=names)
    turned, _ = states(6, names=names[::-1])
    _, other = states(6, names=names[::-1])
    found = read(tmp_path, [*straight[:3], *turned[3:]]).samples
    order = [names.index(name) for name in NAMES]
    np.testing.assert_array_equal(found.position[:3], values[0, :3][:, order])
    np.testing.assert_array_equal(found.position[3:], other[0, 3:][:, [3 - i for i in order]])


def test_interfaces_may_stand_in_any_order_and_others_among_them(tmp_path):
    joints = {
        "hip": {"effort": 1.0, "voltage": 48.0, "position": 2.0},
        "knee": {"position": 3.0, "velocity": 4.0, "effort": 5.0},
        "ankle": {"temperature": 40.5, "position": 6.0, "effort": 7.0},
    }
    found = read(tmp_path, [state(START, joints)])
    assert found.samples.position.tolist() == [[2.0, 3.0, 6.0]]
    assert found.samples.effort.tolist() == [[1.0, 5.0, 7.0]]
    assert found.samples.velocity is None
    assert found.without_velocity == ("hip", "ankle")
    np.testing.assert_array_equal(found.temperatures, [[np.nan, np.nan, 40.5]])


def test_interfaces_may_have_names_of_their_own(tmp_path):
    messages, values = states(20, ("position", "current", "motor_temperature"))
    names = interfaces_of({"effort": "current", "temperature": "motor_temperature"})
    found = read(tmp_path, messages, interfaces=names)
    np.testing.assert_array_equal(found.samples.effort, values[1])
    np.testing.assert_array_equal(found.temperatures, values[2])


def test_a_signal_that_no_joint_has_is_missing(tmp_path):
    messages, _ = states(5, ("position", "velocity"))
    with pytest.raises(MissingSignalError, match="no effort for every joint"):
        read(tmp_path, messages)


def test_a_joint_without_the_interface_is_named(tmp_path):
    joints = {name: {"position": 0.0, "effort": 1.0} for name in NAMES}
    del joints["knee"]["effort"]
    with pytest.raises(MissingSignalError, match="no effort for joint knee"):
        read(tmp_path, [state(START, joints)] * 3)
    again = write_messages(
        tmp_path / "again", [state(START, joints)], topic=TOPIC, kind=MESSAGE_TYPE
    )
    assert read_joint_states(again, ("hip", "ankle"), topic=TOPIC).samples.effort.tolist() == [
        [1.0, 1.0]
    ]


def test_what_is_no_number_is_left_out_and_told_by_joint_and_sample(tmp_path):
    messages, _ = states(5)
    joints = {n: {"position": 1.0, "velocity": 1.0, "effort": 1.0} for n in NAMES}
    joints["ankle"]["effort"] = np.nan
    messages[3] = state(START + 3_000_000, joints)
    found = read(tmp_path, messages)
    assert len(found.samples.stamps) == 4
    assert "effort of joint ankle is nan at sample 3" in found.warnings[-1]


def test_a_joint_of_the_robot_that_is_missing_is_named(tmp_path):
    messages, _ = states(5, names=("hip", "knee"))
    with pytest.raises(JointNameError, match="ankle"):
        read(tmp_path, messages)


def test_they_are_streamed_too(tmp_path):
    messages, values = states(50)
    bag = write_messages(tmp_path / "bag", messages, topic=TOPIC, kind=MESSAGE_TYPE)
    with stream_joint_states(bag, NAMES, topic=TOPIC, velocities=True) as stream:
        (batch,) = stream.batches()
    np.testing.assert_array_equal(batch.effort, values[2])
    np.testing.assert_array_equal(batch.velocity, values[1])


def test_messages_beside_joint_states_leave_these_as_they_are(tmp_path):
    with write_bag(tmp_path / "bag") as bag:
        for k, raw in enumerate(states(10)[0]):
            bag.write(TOPIC, MESSAGE_TYPE, START + k, raw)
            plain = message(START + k, NAMES, numbers(1), effort=numbers(1))
            bag.write("/joint_states", JOINT_STATE, START + k, plain)
    assert len(read_joint_states(tmp_path / "bag", NAMES).samples.stamps) == 10


@pytest.mark.parametrize(
    "joints",
    [
        {},
        {"hip": {}},
        {"hip": {"effort": 1.0}, "": {"": 2.0}},
        {"a": {"position": 1.0}, "bc": {}, "def": {"x": 1.0, "effort": 2.0}},
        {"größe": {"position": 1.0, "température": 3.0}},
    ],
)
def test_a_layout_ends_where_the_message_does(joints):
    raw = state(START, joints)
    layout = dynamic_layout_of(raw)
    assert (layout.end, layout.names) == (len(raw), tuple(joints))
    assert layout.interfaces == tuple(tuple(own) for own in joints.values())


def test_every_message_that_is_cut_short_is_refused():
    raw = state(START, {"hip": {"position": 1.0, "effort": 2.0}, "knee": {"effort": 3.0}})
    for size in range(len(raw)):
        with pytest.raises(LayoutError):
            dynamic_layout_of(raw[:size])


def test_lists_of_interfaces_and_of_values_belong_together(tmp_path):
    raw = bytearray(state(START, {"hip": {"position": 1.0, "effort": 2.0}}))
    place = raw.rindex(b"\x02\x00\x00\x00")  # the length of the values
    raw[place] = 1
    with pytest.raises(LayoutError, match="joint hip has 2 interfaces and 1 values"):
        dynamic_layout_of(bytes(raw))
    with pytest.raises(BagError, match="damaged"):
        read(tmp_path, [bytes(raw)], ("hip",))


def test_bags_carry_the_definition_of_what_they_hold(tmp_path):
    write_messages(tmp_path / "bag", states(2)[0], topic=TOPIC, kind=MESSAGE_TYPE, storage="mcap")
    (file,) = (tmp_path / "bag").glob("*.mcap")
    assert all(line.encode() in file.read_bytes() for line in DEFINITIONS[MESSAGE_TYPE].split("\n"))
