"""Efforts that a motion needs, by an identified model: what a feed-forward controller computes.

Usage: predict_effort.py ROBOT RESULT
"""

import sys

import numpy as np

import robot_identification as ri
from robot_identification.dynamics.regressor import Regressor
from robot_identification.identification.belonging import refuse_other_parameters


def main() -> None:
    """Predict for one second of sinusoids."""
    result = ri.load_result(sys.argv[2])
    # The friction law is that of the result, which may be another one than the file states.
    robot = result.model_of(ri.load_robot(sys.argv[1], closed_loops=True))
    base = ri.base_parameters(robot)
    refuse_other_parameters(robot, result, base)

    time = np.linspace(0.0, 1.0, 5)[:, None]
    rate = 2.0 * np.pi * np.ones(len(robot.active_joints))
    position, velocity, acceleration = (
        0.3 * np.sin(rate * time),
        0.3 * rate * np.cos(rate * time),
        -0.3 * rate**2 * np.sin(rate * time),
    )
    regressor = Regressor(robot, base.base_columns)
    effort = regressor.dense(position, velocity, acceleration) @ result.estimate.values
    for instant, row in zip(time[:, 0], effort, strict=True):
        print(f"{instant:5.2f} s  " + "  ".join(f"{value:9.3f}" for value in row))


if __name__ == "__main__":
    main()
