"""Efforts of a recording beside those that base parameters predict, row by row."""

import numpy as np
import pytest

from robot_identification.errors import ShapeError
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.statistics.prediction import predict
from robot_identification.robot.joint import Joint, JointType
from robot_identification.robot.model import EffortMeaning, RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.conditioning import joint_side_recording
from robot_identification.signals.processing.settings import resolve_processing
from robot_identification.signals.raw_samples import RawSamples

RATE = 100.0
SETTINGS = ProcessingSettings(cutoff_hz=10.0, rate_hz=20.0, velocity_threshold=(0.2, 0.2))


def machine(kind=JointType.REVOLUTE):
    """Return a hinge about an upright axis, with a slide or another hinge beside it."""
    joints = tuple(
        Joint(name, f"{name}_link", one, -1, np.eye(3), np.zeros(3))
        for name, one in (("hinge", JointType.REVOLUTE), ("other", kind))
    )
    torque = EffortMeaning.JOINT_TORQUE
    return RobotModel("machine", "base", joints, np.zeros(3), effort_meaning=torque)


ROBOT = machine(JointType.PRISMATIC)
BASE = base_parameters(ROBOT)


def recording(efforts=(7.0, -5.0), seconds=12.0, robot=ROBOT):
    """Return both joints as they swing by cos t and cos 2t, a gap of a second in the middle."""
    t = np.arange(round(seconds * RATE)) / RATE
    t[len(t) // 2 :] += 1.0
    stamps = 10**9 + np.round(t * 1e9).astype(np.int64)
    position = np.column_stack([np.cos(t), np.cos(2.0 * t)])
    raw = RawSamples(stamps, position, None, np.tile(np.array(efforts), (len(t), 1)))
    return joint_side_recording(raw, robot, source="run")


def values(**given):
    return np.array([given.get(name, 0.0) for name in BASE.leading_names])


def predicted(**given):
    run = recording()
    return predict(BASE, values(**given), run, resolve_processing(ROBOT, [run], SETTINGS))


def test_every_joint_is_predicted_by_its_own_parameters():
    """Offsets are efforts of their own; viscous friction is that of the velocity."""
    found = predicted(off1=2.0, off2=0.5, Fv1=3.0)
    np.testing.assert_allclose(found.predicted[:, 0], 2.0 + 3.0 * found.velocity[:, 0], atol=0.02)
    np.testing.assert_allclose(found.predicted[:, 1], 0.5)
    np.testing.assert_allclose(found.measured, [[7.0, -5.0]] * len(found.time))


def test_rows_have_the_time_the_velocity_and_whether_they_count():
    """At 20 Hz, from both sides of the gap."""
    found = predicted()
    assert found.joint_names == ("hinge", "other")
    steps = np.diff(found.time)
    assert np.median(steps) == pytest.approx(0.05)
    assert steps.max() > 1.0
    inner = found.kept.any(axis=1)
    assert found.time[inner].min() < 3.0 < 10.0 < found.time[inner].max() < 13.0
    t = found.time[inner]
    expected = np.column_stack([-np.sin(t), -2.0 * np.sin(2.0 * t)])
    np.testing.assert_allclose(found.velocity[inner], expected, atol=0.02)
    slow = np.abs(found.velocity) < 0.19
    assert slow.any()
    assert not found.kept[slow].any()
    assert np.mean(found.kept[np.abs(found.velocity) > 0.4]) > 0.5, "but for the ends of both runs"
    assert len(found.kept) == len(found.time) == len(found.predicted) == len(found.measured)


def test_efforts_of_hinges_are_torques_and_of_slides_forces():
    assert predicted().units == ("N m", "N")
    robot = machine()
    run, base = recording(robot=robot), base_parameters(robot)
    found = predict(base, np.zeros(base.rank), run, resolve_processing(robot, [run], SETTINGS))
    assert found.units == ("N m", "N m")


def test_one_value_for_each_base_parameter_is_taken():
    run = recording()
    processing = resolve_processing(ROBOT, [run], SETTINGS)
    for wrong in (np.zeros(BASE.rank + 1), np.zeros(BASE.rank - 1), np.zeros((BASE.rank, 1))):
        with pytest.raises(ShapeError, match=rf"values.*\({BASE.rank},\)"):
            predict(BASE, wrong, run, processing)
