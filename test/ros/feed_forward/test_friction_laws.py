"""Friction that Coulomb and viscous friction lack: what an identified law is worth to a controller.

Simulated robot and stream of efforts are those of the nodes, and meet at every hundredth of a
second; the parameters go through the messages.
"""

from dataclasses import replace

import numpy as np
import pytest

import robot_identification as ri
from robot_identification.dynamics.feed_forward import FeedForward
from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.dynamics.simulation.sensors import Sensors, SensorSettings
from robot_identification.files.parameters import with_law_of
from robot_identification.files.plans.trajectories import read_trajectory
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.ros.demo.commissioning import heavy_prior, write_prior
from robot_identification.ros.feed_forward.stream import TorqueStream
from robot_identification.ros.messages.inertial import (
    calibrated_message,
    robot_of_message,
    values_of_message,
)
from robot_identification.ros.simulation.robot import RobotSimulator
from robot_identification.share import share_directory

PLAIN = load_robot("tx40")
REAL = with_law_of("tx40_stribeck_load", PLAIN)
TRUTH = load_values("tx40_stribeck_load", REAL)
SENSORS = ri.SimulationSettings(
    rate_hz=500.0,
    effort_noise=(0.8, 0.8, 0.4, 0.2, 0.2, 0.12),
    position_noise=(1e-5,),
    seed=1,
)
RECORDED = 9000  # samples, the first eighteen seconds of the motion


def motion(name):
    return read_trajectory(share_directory() / "config" / "trajectories" / f"{name}.yaml")


def tracking_error(message):
    """Follow a motion with parameters of a message fed forward; return the root mean square."""
    robot = robot_of_message(message, PLAIN)
    model = FeedForward(robot, values_of_message(message, robot))
    followed = motion("tx40_validation").reordered(PLAIN.joint_names)
    none = (0.0,) * 6
    sensors = Sensors(REAL, SensorSettings(none, none, none, none), seed=0)
    simulator = RobotSimulator(
        ClosedLoop(REAL, TRUTH, sample_rate_hz=500.0), sensors, followed.positions[0]
    )
    stream = TorqueStream(PLAIN.joint_names, rate=100.0, lead=0.5)
    stream.use(model)
    start, measured = 10**9, []
    stream.due(0)
    stream.follow(followed, start, followed.positions[0])
    simulator.follow(followed, start * 1e-9)
    for now in range(0, start + round(followed.duration * 1e9), 10**7):
        for stamp, effort in stream.due(now):
            simulator.add_effort(effort, stamp * 1e-9)
        measured.append(simulator.produce(5).position)
    position = np.concatenate(measured)
    times = np.arange(len(position)) / 500.0 - start * 1e-9
    moving = times >= 0.0
    return np.sqrt(np.mean((position[moving] - followed.sample(times[moving])[0]) ** 2))


@pytest.mark.slow
@pytest.mark.usefixtures("undiagnosed")
def test_the_identified_law_follows_three_times_better_than_coulomb_and_viscous_friction(tmp_path):
    prior = tmp_path / "prior.yaml"
    write_prior(prior, PLAIN, heavy_prior(PLAIN, load_values("tx40_simulated", PLAIN), 1.3))
    recording = ri.simulate(
        PLAIN, motion("tx40"), parameters="tx40_stribeck_load", settings=SENSORS
    )
    recording = replace(recording, samples=recording.samples.at(slice(RECORDED)))
    errors = {}
    for friction in ("coulomb-viscous", "auto"):
        result = ri.identify(PLAIN, recording, friction=friction)
        calibrated = ri.calibrate(PLAIN, result, prior, space="base", consistent=True)
        errors[friction] = tracking_error(
            calibrated_message(calibrated.description, calibrated, stamp=5)
        )
    assert errors["auto"] < errors["coulomb-viscous"] / 3.0
