"""Efforts that a motion needs, by an identified model: what a feed-forward controller computes.

Usage: predict_effort.py ROBOT RESULT
"""

import sys

import numpy as np

from robot_identification.dynamics.regressor import Regressor
from robot_identification.files.results import read_result
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.robot.files.loading import load_robot


def main() -> None:
    """Predict for one second of sinusoids."""
    robot = load_robot(sys.argv[1])
    values = read_result(sys.argv[2]).estimate.values

    time = np.linspace(0.0, 1.0, 5)[:, None]
    rate = 2.0 * np.pi * np.ones(len(robot.joints))
    position, velocity, acceleration = (
        0.3 * np.sin(rate * time),
        0.3 * rate * np.cos(rate * time),
        -0.3 * rate**2 * np.sin(rate * time),
    )
    regressor = Regressor(robot, base_parameters(robot).base_columns)
    effort = regressor.dense(position, velocity, acceleration) @ values
    for instant, row in zip(time[:, 0], effort, strict=True):
        print(f"{instant:5.2f} s  " + "  ".join(f"{value:9.3f}" for value in row))


if __name__ == "__main__":
    main()
