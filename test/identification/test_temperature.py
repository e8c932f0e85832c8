"""Friction that changes with a measured temperature: read, identified, refused."""

import numpy as np
import pytest

from robot_identification.dynamics.direct import DirectModel
from robot_identification.dynamics.regressor import Regressor, inverse_dynamics
from robot_identification.errors import (
    MissingSignalError,
    RecordingError,
    RobotDescriptionError,
    SampleError,
    SettingError,
    ShapeError,
)
from robot_identification.excitation.objective.effort_rows import DynamicObservation
from robot_identification.files.bags.recordings import read_recordings
from robot_identification.files.tables.columns import Columns
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.identify import identify
from robot_identification.identification.validate import validate
from robot_identification.robot.files.document import parse_document
from robot_identification.robot.files.robot_yaml.robot import build
from robot_identification.signals.recording import Recording
from sprung_arm import motion

pytestmark = pytest.mark.usefixtures("undiagnosed")

FILE = """\
name: arm
effort_meaning: joint_torque
joints:
  - {name: base_joint, type: revolute, geometry: {r: 0.5}}
  - name: shoulder
    type: revolute
    geometry: {alpha: -pi/2, d: 0.35}
    temperature: {reference: 30, topic: /shoulder/temperature}
  - {name: slide, type: prismatic, geometry: {alpha: pi/2, d: 0.4}TEMPERATURE}
"""
BEGIN, END = 22.0, 41.0  # degrees Celsius of the shoulder
CHANGING = ("viscous_friction", "coulomb_friction", "offset")
CHANGES = {"FvT2": -0.4, "FcT2": -0.15, "offT2": 0.05}


def arm(slide="", text=FILE):
    return build(parse_document(text.replace("TEMPERATURE", slide), "arm.yaml"))


@pytest.fixture(scope="module")
def measured():
    """Forty seconds in which the shoulder warms up, exponentially; time, motion, efforts."""
    robot = arm()
    names = list(robot.all_parameter_names)
    values = np.array([float(name[:2] in ("XX", "YY", "ZZ", "Ia")) for name in names])
    known = {"M1": 9.0, "M2": 9.0, "M3": 9.0, "MX2": 2.0, "MZ3": 1.0, "Fv2": 9.0, "Fc2": 7.0}
    for name, value in {**known, **CHANGES}.items():
        values[names.index(name)] = value
    t, q, qd, qdd = motion()
    celsius = np.full(q.shape, np.nan)
    celsius[:, 1] = END - (END - BEGIN) * np.exp(-t / 15.0)
    signals = [np.ascontiguousarray(x.T) for x in (q, qd, qdd)]
    regressor = Regressor(robot, np.arange(len(names)))
    rows = regressor.compact(*signals, temperature=np.ascontiguousarray(celsius.T))
    efforts = np.column_stack(
        [values[own.columns] @ rows[own.rows] for own in regressor.joint_rows]
    )
    rng = np.random.default_rng(2)
    return t, q, efforts + 0.05 * rng.normal(size=efforts.shape), celsius


def changes(result):
    values = dict(zip(result.regrouping.names, result.estimate.values, strict=True))
    return {name: values[name] for name in CHANGES}


def test_every_term_that_can_change_gets_a_parameter_per_kelvin():
    robot = arm(", coulomb_friction: false, temperature: {reference: 20}")
    assert robot.all_parameter_names[-5:] == (*CHANGES, "FvT3", "offT3")
    assert [robot.unit_of(name) for name in ("FvT2", "FcT2", "FvT3")] == [
        "N m s/rad/K",
        "N m/K",
        "N s/m/K",
    ]
    names = base_parameters(robot).names
    assert names[-5:] == (*CHANGES, "FvT3", "offT3")


def test_changes_are_identified_where_the_joint_warms_up(measured):
    t, q, effort, celsius = measured
    robot = arm()
    recording = Recording.from_arrays(robot, t, q, effort, temperature=celsius)
    result = identify(robot, [recording])
    for name, value in changes(result).items():
        place = list(result.regrouping.names).index(name)
        assert abs(value - CHANGES[name]) < 4.0 * result.estimate.larger_std[place]
        assert value == pytest.approx(CHANGES[name], rel=0.2)
    told = validate(robot, result.estimate.values, [recording]).relative_error.total
    assert told == pytest.approx(result.estimate.relative_error.total, rel=0.2)
    plain = arm(text=FILE.replace("temperature: {reference: 30, topic: /shoulder/temperature}", ""))
    worse = identify(plain, [Recording.from_arrays(plain, t, q, effort)])
    assert worse.estimate.relative_error.total > 2.0 * result.estimate.relative_error.total


def test_temperatures_come_more_seldom_than_samples(measured):
    """One in two hundred, the others NaN; straight lines between them are near enough."""
    t, q, effort, celsius = measured
    robot = arm()
    seldom = np.full(celsius.shape, np.nan)
    seldom[::200] = celsius[::200]
    few = identify(robot, [Recording.from_arrays(robot, t, q, effort, temperature=seldom)])
    every = identify(robot, [Recording.from_arrays(robot, t, q, effort, temperature=celsius)])
    for one, other in zip(changes(few).values(), changes(every).values(), strict=True):
        assert one == pytest.approx(other, rel=0.02)


def test_columns_of_a_table_are_temperatures(measured, tmp_path):
    t, q, effort, celsius = measured
    table = np.column_stack([t, q, effort, np.nan_to_num(celsius)])
    header = ["t", *(f"{s}{n}" for s in ("q", "tau", "T") for n in (1, 2, 3))]
    path = tmp_path / "log.csv"
    np.savetxt(path, table, delimiter=",", header=",".join(header), comments="")
    robot = arm()
    columns = Columns.of({"temperature": "T{n}"})
    (recording,) = read_recordings([path], robot, columns=columns)
    series = recording.temperatures["shoulder"]
    np.testing.assert_allclose(series.celsius[[0, -1]], [BEGIN, celsius[-1, 1]], atol=1e-6)
    with pytest.raises(MissingSignalError, match="no temperature for joint shoulder"):
        identify(robot, read_recordings([path], robot))


def test_temperatures_come_on_a_topic_of_their_own(measured, tmp_path):
    t, q, effort, celsius = measured
    robot = arm()
    bag = written_bag(tmp_path / "bag", robot.joint_names, t, q, effort, celsius[:, 1])
    (recording,) = read_recordings([bag], robot)
    assert len(recording.temperatures["shoulder"].time) == len(t[::200])
    found = changes(identify(robot, [recording]))
    assert found["FvT2"] == pytest.approx(CHANGES["FvT2"], rel=0.1)


def written_bag(path, names, t, q, effort, celsius):
    """Write joint states, and a temperature every second, as rosbag2 does."""
    from rosbags.rosbag2 import Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    types = store.types
    stamp, header = types["builtin_interfaces/msg/Time"], types["std_msgs/msg/Header"]
    states, warmth = types["sensor_msgs/msg/JointState"], types["sensor_msgs/msg/Temperature"]
    start = 1_700_000_000_000_000_000
    with Writer(path, version=9) as writer:
        on = {
            kind: writer.add_connection(topic, kind.__msgtype__, typestore=store)
            for topic, kind in (("/joint_states", states), ("/shoulder/temperature", warmth))
        }
        for i, seconds in enumerate(t):
            ns = start + round(seconds * 1e9)
            head = header(stamp=stamp(sec=ns // 10**9, nanosec=ns % 10**9), frame_id="")
            message = states(
                header=head, name=list(names), position=q[i], velocity=np.zeros(0), effort=effort[i]
            )
            writer.write(on[states], ns, store.serialize_cdr(message, states.__msgtype__))
            if i % 200 == 0:
                message = warmth(header=head, temperature=float(celsius[i]), variance=0.0)
                writer.write(on[warmth], ns, store.serialize_cdr(message, warmth.__msgtype__))
    return path


def test_a_temperature_that_does_not_vary_tells_nothing(measured):
    t, q, effort, celsius = measured
    robot = arm()
    steady = np.full(celsius.shape, 31.0)
    recording = Recording.from_arrays(robot, t, q, effort, temperature=steady)
    with pytest.raises(RecordingError, match="shoulder varies by 0 K"):
        identify(robot, [recording])


def test_a_recording_without_the_temperature_is_refused_by_its_joint(measured):
    t, q, effort, _ = measured
    robot = arm()
    with pytest.raises(MissingSignalError, match="no temperature for joint shoulder"):
        identify(robot, [Recording.from_arrays(robot, t, q, effort)])


def test_temperatures_are_carried_over_a_minute_and_no_longer(measured):
    t, q, effort, celsius = measured
    robot = arm()
    late = np.full(celsius.shape, np.nan)
    late[-400:] = np.linspace(30.0, 33.0, 400)[:, None]
    stretched = 3.0 * t  # two minutes, of which the last six seconds have temperatures
    recording = Recording.from_arrays(robot, stretched, q, effort, temperature=late)
    with pytest.raises(RecordingError, match="temperature of shoulder was not measured for"):
        identify(robot, [recording])


def test_what_is_no_temperature_is_refused(measured):
    t, q, effort, celsius = measured
    robot = arm()
    with pytest.raises(ShapeError, match="temperature"):
        Recording.from_arrays(robot, t, q, effort, temperature=celsius[:, 1])
    hot = np.array(celsius)
    hot[3, 1] = np.inf
    with pytest.raises(SampleError, match="temperature of joint shoulder is inf at sample 3"):
        Recording.from_arrays(robot, t, q, effort, temperature=hot)


def test_models_without_temperatures_are_those_at_the_reference():
    robot = arm()
    values = np.ones(len(robot.all_parameter_names))
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 5, 3))
    efforts = inverse_dynamics(robot, values, q, qd, qdd)
    changed = values.copy()
    changed[-3:] = 50.0
    np.testing.assert_array_equal(inverse_dynamics(robot, changed, q, qd, qdd), efforts)
    np.testing.assert_array_equal(
        DirectModel(robot, values).bias(q, qd), DirectModel(robot, changed).bias(q, qd)
    )
    with pytest.raises(SettingError, match="planning does not know temperatures"):
        DynamicObservation(base_parameters(robot), lambda motion: motion)


@pytest.mark.parametrize(
    ("slide", "more", "problem"),
    [
        (", temperature: {topic: /warm}", "", "reference"),
        (
            f", {', '.join(f'{key}: false' for key in CHANGING)}, temperature: {{reference: 20}}",
            "",
            "neither viscous nor Coulomb friction nor an offset",
        ),
        ("", "loops: [{joint: slide, equals: {shoulder: 0.1}}]\n", "robots with loops"),
    ],
)
def test_what_a_robot_file_cannot_say_is_told(slide, more, problem):
    with pytest.raises(RobotDescriptionError, match=problem):
        arm(slide, FILE + more)
