"""The tube of a motion holds every posture to which braking from it leads."""

import numpy as np

from braked_states import tube_of
from made_up_cells import jerked, limits_of
from robot_identification.collision.tube import halves
from robot_identification.robot.files.loading import load_robot
from robot_identification.ros.supervision.braking import _released

NAMES = load_robot("three_dof").joint_names
ACCELERATIONS = np.array([5.0, 8.0, 3.0])
LIMITS = limits_of(acceleration=ACCELERATIONS, jerk=10.0 * ACCELERATIONS)
"""The acceleration falls in 0.1 s."""
STAGES = (0, 0, 1, 1, 1, 2, 2, 2, 2, 2)


def finely_cut(tube):
    """Return (joints, cells) middles and spreads of a tube cut in time, speed and way to rest."""
    ranges = tube.roots()
    for which in STAGES:
        ranges = halves(ranges, np.full(len(ranges), which))
    cells = tube.cells(ranges)
    return cells.posture.T.copy(), cells.spread.T.copy()


def outside(cells, posture):
    """Return by how much a posture lies outside the nearest cell, at least."""
    middles, spreads = cells
    return (np.abs(posture[:, None] - middles) - spreads).max(axis=0).min()


def random_jerks(rng):
    """Return a motion whose jerk is at one of its limits or 0."""
    jerks = rng.choice([-1.0, 0.0, 1.0], (8, 3)) * LIMITS.jerk
    steps = np.tile(rng.uniform(0.02, 0.1, 8), 4)
    times = np.concatenate([[0.0], np.cumsum(steps)])
    return jerked(NAMES, times, np.vstack([jerks, -jerks, -jerks, jerks]))


def test_braking_from_anywhere_stays_in_the_tube():
    """Also where the jerk changes while the acceleration falls: it brakes 0.02 rad further then."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        motion = random_jerks(rng)
        cells = finely_cut(tube_of(motion, LIMITS))
        for time in rng.uniform(0.0, motion.duration, 40):
            k = rng.choice([1.0, rng.uniform(0.2, 1.0)])
            q, v, a = (values[0] for values in motion.sample(time))
            stop = _released(LIMITS, motion.joint_names, q, k * v, k**2 * a)
            for posture in stop.sample(rng.uniform(0.0, stop.duration, 8))[0]:
                assert outside(cells, posture) <= 1e-9
            assert outside(cells, stop.positions[-1]) <= 1e-9
