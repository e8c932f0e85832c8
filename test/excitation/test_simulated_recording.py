"""What a simulated robot follows."""

import numpy as np

import robot_identification as ri
from robot_identification.excitation.simulated_recording import SimulationSettings
from robot_identification.files.plans.trajectories import read_trajectory
from robot_identification.robot.files.values import load_values
from robot_identification.share import share_directory

SETTINGS = SimulationSettings(duration=2.0)


def test_efforts_of_the_points_are_added_to_those_of_the_controller():
    """With those of the true parameters only the controller's periods keep it from the motion."""
    robot = ri.load_robot("scara")
    motion = read_trajectory(share_directory() / "config" / "trajectories" / "scara.yaml")
    led = ri.with_efforts(robot, load_values("scara", robot), motion)
    plain, better = (
        np.array(ri.simulate(robot, trajectory, settings=SETTINGS).tracking_error)
        for trajectory in (motion, led)
    )
    assert (better < 0.02 * plain).all()
    reversed_led = led.reordered(robot.joint_names[::-1])
    np.testing.assert_array_equal(
        ri.simulate(robot, reversed_led, settings=SETTINGS).tracking_error, better
    )


def test_a_robot_whose_points_hold_its_weight_rests_where_it_is_sent():
    """Its gravity has to be held before the motion begins, as after its end."""
    robot = ri.load_robot("tx40")
    values = load_values("tx40_simulated", robot)
    motion = read_trajectory(share_directory() / "config" / "trajectories" / "tx40.yaml")
    starts = [
        ri.simulate(robot, trajectory, settings=SimulationSettings(duration=0.01)).samples.position
        for trajectory in (motion, ri.with_efforts(robot, values, motion))
    ]
    plain, led = (np.abs(start[0] - motion.positions[0]).max() for start in starts)
    assert led < 0.05 * plain
