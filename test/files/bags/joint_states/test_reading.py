import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from rosbags.typesys import Stores, get_typestore

from made_up_bags import NAMES, START, message, numbers, write_messages
from robot_identification.errors import (
    BagError,
    JointNameError,
    MeasuredVelocityError,
    MissingSignalError,
    SampleError,
    TopicError,
)
from robot_identification.files.bags.cdr.joint_states import MESSAGE_TYPE
from robot_identification.files.bags.joint_states import columns as joint_state_columns
from robot_identification.files.bags.joint_states.reading import read_joint_states
from robot_identification.files.bags.joint_states.stream import stream_joint_states
from robot_identification.files.bags.writing import write_bag, write_joint_states
from robot_identification.files.mcap import message_batches
from robot_identification.signals.raw_samples import RawSamples
from shared_data import measured_data, requires

STORAGES = ["sqlite3", "mcap"]


def samples_of(messages=300, *, velocity=True, reference=False):
    stamps = START + 1_000_000 * np.arange(messages, dtype=np.int64)
    return RawSamples(
        stamps,
        numbers(messages, seed=1),
        numbers(messages, seed=2) if velocity else None,
        numbers(messages, seed=3),
        numbers(messages, seed=4) if reference else None,
    )


def assert_same(read: RawSamples, written: RawSamples, places=(0, 1, 2)):
    np.testing.assert_array_equal(read.stamps, written.stamps)
    for name in ("position", "velocity", "effort", "reference"):
        found, expected = getattr(read, name), getattr(written, name)
        if expected is None:
            assert found is None
        else:
            np.testing.assert_array_equal(found, expected[:, list(places)])


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("velocity", [True, False])
def test_joint_states_survive_a_bag_bit_by_bit(tmp_path, storage, velocity):
    written = samples_of(velocity=velocity, reference=True)
    write_joint_states(tmp_path / "bag", NAMES, written, storage=storage)
    read = read_joint_states(tmp_path / "bag", NAMES, reference_topic="/joint_reference")
    assert_same(read.samples, written)
    assert all("SQLite has no checksums" in warning for warning in read.warnings)
    assert len(read.warnings) == (storage == "sqlite3")
    assert read.source == str(tmp_path / "bag")


@pytest.mark.parametrize("storage", STORAGES)
def test_states_without_a_stamp_have_the_times_of_recording(tmp_path, storage):
    position, effort = numbers(50, seed=1), numbers(50, seed=2)
    states = [message(0, NAMES, q, effort=tau) for q, tau in zip(position, effort, strict=True)]
    path = write_messages(tmp_path / "bag", states, storage=storage)
    read = read_joint_states(path, NAMES)
    assert_array_equal(read.samples.stamps, START + 1_000_000 * np.arange(50))
    assert_array_equal(read.samples.position, position)
    assert any("no state has a stamp" in line for line in read.warnings)


def test_a_stream_of_states_without_a_stamp_has_the_times_of_recording(tmp_path, monkeypatch):
    for module in (joint_state_columns, message_batches):
        monkeypatch.setattr(module, "_BATCH", 8)
    position, effort = numbers(50, seed=1), numbers(50, seed=2)
    states = [message(0, NAMES, q, effort=tau) for q, tau in zip(position, effort, strict=True)]
    states.insert(0, message(0, ["finger"], np.ones(1), effort=np.ones(1)))
    path = write_messages(tmp_path / "bag", states)
    with stream_joint_states(path, NAMES) as stream:
        batches = list(stream.batches())
        assert sum("no state has a stamp" in line for line in stream.warnings) == 1
    assert len(batches) > 1
    stamps = np.concatenate([batch.stamps for batch in batches])
    assert_array_equal(stamps, START + 1_000_000 * np.arange(1, 51))
    assert_array_equal(np.concatenate([batch.position for batch in batches]), position)


def test_a_stamp_of_zero_among_others_is_one(tmp_path):
    states = [message(1_000_000 * i, NAMES, np.ones(3), effort=np.ones(3)) for i in range(50)]
    read = read_joint_states(write_messages(tmp_path / "bag", states), NAMES)
    assert_array_equal(read.samples.stamps, 1_000_000 * np.arange(50))


@pytest.mark.parametrize(("storage", "suffix"), [("sqlite3", ".db3"), ("mcap", ".mcap")])
def test_bare_file_is_a_bag_too(tmp_path, storage, suffix):
    written = samples_of()
    write_joint_states(tmp_path / "bag", NAMES, written, storage=storage)
    (file,) = (tmp_path / "bag").glob("*" + suffix)
    read = read_joint_states(file, NAMES)
    assert_same(read.samples, written)
    assert read.digest == hashlib.sha256(file.read_bytes()).hexdigest()
    assert read.digest == read_joint_states(tmp_path / "bag", NAMES).digest


@pytest.mark.parametrize("storage", STORAGES)
def test_folder_without_metadata_is_read_with_a_warning(tmp_path, storage):
    written = samples_of()
    write_joint_states(tmp_path / "bag", NAMES, written, storage=storage)
    (tmp_path / "bag" / "metadata.yaml").unlink()
    read = read_joint_states(tmp_path / "bag", NAMES)
    assert_same(read.samples, written)
    assert "no metadata.yaml" in read.warnings[-1]


@pytest.mark.parametrize("storage", STORAGES)
@settings(max_examples=15)
@given(
    orders=st.lists(st.permutations(range(4)), min_size=1, max_size=60),
    crowded=st.booleans(),
)
def test_names_permuted_in_every_message_change_nothing(tmp_path_factory, storage, orders, crowded):
    names = (*NAMES, "gripper")
    values = {name: numbers(len(orders), 4, seed) for seed, name in enumerate("pve")}
    messages = [
        message(
            START + i,
            [names[place] for place in order],
            *(values[name][i, list(order)] for name in "pve"),
        )
        for i, order in enumerate(orders)
    ]
    path = write_messages(tmp_path_factory.mktemp("bags") / "bag", messages, storage=storage)
    with pytest.MonkeyPatch.context() as patch:
        if crowded:  # more layouts than are read by one view each
            patch.setattr(joint_state_columns, "_MOST_LAYOUTS", 1)
        read = read_joint_states(path, NAMES).samples
    np.testing.assert_array_equal(read.stamps, START + np.arange(len(orders)))
    for name, found in zip("pve", (read.position, read.velocity, read.effort), strict=True):
        np.testing.assert_array_equal(found, values[name][:, :3])


def test_batches_are_joined(tmp_path, monkeypatch):
    monkeypatch.setattr(joint_state_columns, "_BATCH", 7)
    written = samples_of(100)
    write_joint_states(tmp_path / "bag", NAMES, written)
    assert_same(read_joint_states(tmp_path / "bag", NAMES).samples, written)


def test_messages_of_rosbags_own_serialiser_are_read(tmp_path):
    store = get_typestore(Stores.ROS2_JAZZY)
    kind = store.types[MESSAGE_TYPE]
    header, time = store.types["std_msgs/msg/Header"], store.types["builtin_interfaces/msg/Time"]
    values = numbers(20)
    messages = [
        bytes(
            store.serialize_cdr(
                kind(
                    header=header(time(sec=5 + i, nanosec=7), frame_id="world" * (i % 3)),
                    name=list(NAMES),
                    position=values[i],
                    velocity=np.zeros(0),
                    effort=2.0 * values[i],
                ),
                MESSAGE_TYPE,
            )
        )
        for i in range(20)
    ]
    read = read_joint_states(write_messages(tmp_path / "bag", messages), NAMES).samples
    np.testing.assert_array_equal(read.stamps, 7 + 10**9 * (5 + np.arange(20)))
    np.testing.assert_array_equal(read.position, values)
    np.testing.assert_array_equal(read.effort, 2.0 * values)
    assert read.velocity is None


def test_messages_of_other_joints_are_ignored_and_counted(tmp_path):
    own = [message(START + i, NAMES, np.ones(3), None, np.ones(3)) for i in range(10)]
    other = [message(START + i, ("gripper",), np.ones(1)) for i in range(4)]
    path = write_messages(tmp_path / "bag", [*own[:5], *other, *own[5:]])
    read = read_joint_states(path, NAMES)
    assert len(read.samples.stamps) == 10
    assert "4 messages are of other joints" in read.warnings[-1]


def test_missing_joint_is_named(tmp_path):
    write_joint_states(tmp_path / "bag", NAMES, samples_of())
    with pytest.raises(JointNameError, match="joint elbow of the robot") as caught:
        read_joint_states(tmp_path / "bag", ("hip", "elbow"))
    assert caught.value.missing == ("elbow",)
    assert caught.value.available == NAMES


def test_bag_of_another_robot_is_refused(tmp_path):
    write_joint_states(tmp_path / "bag", NAMES, samples_of())
    with pytest.raises(JointNameError) as caught:
        read_joint_states(tmp_path / "bag", ("joint_1", "joint_2"))
    assert caught.value.available == NAMES


def test_joint_that_leaves_half_way_is_named(tmp_path):
    messages = [message(START, NAMES, np.ones(3), None, np.ones(3))] * 5
    messages += [message(START + 1, NAMES[:2], np.ones(2), None, np.ones(2))]
    with pytest.raises(JointNameError, match="ankle"):
        read_joint_states(write_messages(tmp_path / "bag", messages), NAMES)


def test_effort_is_needed(tmp_path):
    path = write_messages(tmp_path / "bag", [message(START, NAMES, np.ones(3))] * 5)
    with pytest.raises(MissingSignalError, match="no effort for every joint"):
        read_joint_states(path, NAMES)


def test_position_is_needed(tmp_path):
    messages = [message(START, NAMES, None, None, np.ones(3))] * 5
    with pytest.raises(MissingSignalError, match="no position"):
        read_joint_states(write_messages(tmp_path / "bag", messages), NAMES)


@pytest.fixture
def spoilt(tmp_path):
    """What makes a bag of nine states, some of which are not numbers."""

    def made(signal, value, places, velocity=None):
        arrays = {"position": np.ones((9, 3)), "effort": np.ones((9, 3))}
        arrays[signal][places, 1] = value
        messages = [
            message(START + i, NAMES, arrays["position"][i], velocity, arrays["effort"][i])
            for i in range(9)
        ]
        return write_messages(tmp_path / "bag", messages)

    return made


@pytest.mark.parametrize("signal", ["position", "effort"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_states_that_are_not_numbers_are_left_out_and_told(spoilt, signal, value):
    path = spoilt(signal, value, [2, 6])
    read = read_joint_states(path, NAMES)
    assert (read.samples.stamps - START).tolist() == [0, 1, 3, 4, 5, 7, 8]
    assert np.isfinite(read.samples.position).all()
    assert np.isfinite(read.samples.effort).all()
    assert read.refused == 2
    told = f"2 of 9 states were left out, for they are not numbers; the first: {signal} of joint "
    assert f"{told}knee is {value} at sample 2" in read.warnings[-1]
    with stream_joint_states(path, NAMES) as stream:
        (batch,) = stream.batches()
        assert stream.warnings[-1] == read.warnings[-1]
    np.testing.assert_array_equal(batch.stamps, read.samples.stamps)


@pytest.mark.parametrize("signal", ["position", "effort"])
def test_a_bag_most_of_whose_states_are_not_numbers_is_refused_by_joint_and_sample(spoilt, signal):
    path = spoilt(signal, np.nan, [1, 3, 4, 5, 8])
    with pytest.raises(SampleError) as caught:
        read_joint_states(path, NAMES)
    assert (caught.value.signal, caught.value.joint, caught.value.index) == (signal, "knee", 1)
    with stream_joint_states(path, NAMES) as stream, pytest.raises(SampleError, match="knee"):
        list(stream.batches())


def test_velocities_are_not_missed_where_nothing_is_left_of_a_batch(spoilt, monkeypatch):
    """A driver sends NaN until its hardware has been read, for longer than a batch."""
    monkeypatch.setattr(joint_state_columns, "_BATCH", 2)
    monkeypatch.setattr(message_batches, "_BATCH", 2)
    path = spoilt("effort", np.nan, [0, 1], velocity=np.ones(3))
    with stream_joint_states(path, NAMES, velocities=True) as stream:
        stamps = np.concatenate([batch.stamps for batch in stream.batches()])
    assert (stamps - START).tolist() == [2, 3, 4, 5, 6, 7, 8]


def test_velocities_some_of_which_are_not_numbers_count_as_not_measured(tmp_path):
    messages = [
        message(START + i, NAMES, np.ones(3), np.array([1.0, np.nan if i == 4 else 1.0, 1.0]),
                np.ones(3))
        for i in range(9)
    ]  # fmt: skip
    read = read_joint_states(write_messages(tmp_path / "bag", messages), NAMES)
    assert len(read.samples.stamps) == 9
    assert read.samples.velocity is None
    assert "1 of 9 states have a velocity that is not a number, of joint knee" in read.warnings[-1]


def test_velocity_that_a_driver_fills_with_nan_is_not_measured(tmp_path):
    velocity = np.array([1.0, np.nan, 1.0])
    messages = [message(START + i, NAMES, np.ones(3), velocity, np.ones(3)) for i in range(5)]
    path = write_messages(tmp_path / "bag", messages)
    read = read_joint_states(path, NAMES)
    assert read.samples.velocity is None
    assert read.without_velocity == (NAMES[1],)
    with (
        stream_joint_states(path, NAMES, velocities=True) as stream,
        pytest.raises(MeasuredVelocityError, match=f"joint {NAMES[1]} has no measured velocities"),
    ):
        next(stream.batches())


def test_a_state_without_effort_among_others_is_left_out_and_told(tmp_path):
    messages = [message(START + i, NAMES, np.ones(3), None, np.ones(3)) for i in range(5)]
    messages[3] = message(START + 3, NAMES, np.ones(3))
    read = read_joint_states(write_messages(tmp_path / "bag", messages), NAMES)
    assert (read.samples.stamps - START).tolist() == [0, 1, 2, 4]
    assert "effort of joint hip is nan at sample 3" in read.warnings[-1]


def test_arrays_of_another_length_than_the_names_are_refused(tmp_path):
    raw = bytearray(message(START, NAMES, np.ones(3), None, np.ones(3)))
    raw[-28:-24] = (2).to_bytes(4, "little")
    path = write_messages(tmp_path / "bag", [bytes(raw)] * 5)
    with pytest.raises(BagError, match="3 names and 2 values of effort"):
        read_joint_states(path, NAMES)


def test_joint_named_twice_is_refused(tmp_path):
    messages = [message(START, ("hip", "hip"), np.ones(2), None, np.ones(2))] * 5
    with pytest.raises(BagError, match="names joint hip twice"):
        read_joint_states(write_messages(tmp_path / "bag", messages), ("hip",))


def test_bag_without_the_topic_lists_what_it_has(tmp_path):
    write_joint_states(tmp_path / "bag", NAMES, samples_of(), topic="/left/joint_states")
    with pytest.raises(TopicError, match="the bag has /left/joint_states") as caught:
        read_joint_states(tmp_path / "bag", NAMES)
    assert caught.value.available == ("/left/joint_states",)
    read = read_joint_states(tmp_path / "bag", NAMES, topic="/left/joint_states")
    assert len(read.samples.stamps) == 300


def test_topic_of_another_type_says_which_would_fit(tmp_path):
    with write_bag(tmp_path / "bag") as bag:
        bag.write("/joint_states", "std_msgs/msg/String", START, b"\x00\x01\x00\x00\x01\0\0\0\0")
        state = message(START, NAMES, np.ones(3), None, np.ones(3))
        bag.write("/states", MESSAGE_TYPE, START, state)
    with pytest.raises(TopicError, match=r"holds std_msgs/msg/String, .*; /states would fit"):
        read_joint_states(tmp_path / "bag", NAMES)


@requires("emps")
def test_emps_bag_holds_states_and_reference():
    read = read_joint_states(
        measured_data("emps") / "bag", ["slide"], reference_topic="/joint_reference"
    )
    assert read.samples.position.shape == read.samples.reference.shape == (24841, 1)
    assert read.samples.velocity is None
    assert np.abs(read.samples.reference - read.samples.position).max() < 0.01


@requires("ur10")
def test_bare_file_of_the_ur10_is_read():
    names = [f"wrist_{i}_joint" for i in (3, 2, 1)]
    read = read_joint_states(measured_data("ur10") / "ur10_exciting_trajectory.db3", names)
    assert read.samples.position.shape == read.samples.velocity.shape == (3441, 3)
    assert "SQLite has no checksums" in "".join(read.warnings)
