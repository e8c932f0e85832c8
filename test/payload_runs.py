"""Runs of a robot without and with a payload, whose truth is known."""

import numpy as np

from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.payload.runs import Columns, fold
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.robot.bodies import Body
from robot_identification.robot.drives import as_recorded
from robot_identification.robot.mounting import mounting
from robot_identification.signals.filtered import FilteredSegment
from robot_identification.signals.processing.complete import Processing

RATE = 200.0
BODY = Body(
    2.0,
    [0.08, -0.02, 0.06],
    [[0.006, 0.0005, -0.0004], [0.0005, 0.007, 0.0003], [-0.0004, 0.0003, 0.004]],
)
QUANTITIES = np.array([BODY.mass, *BODY.centre, *BODY.inertia[np.triu_indices(3)]])


def processing_of(robot, threshold=0.05):
    return Processing(
        cutoff_hz=20.0,
        filter_order=4,
        difference_order=2,
        rate_hz=40.0,
        velocity_threshold=(threshold,) * len(robot.joints),
        velocity_threshold_window=0.0,
        velocity_threshold_scope="joint",
        drop_start=0,
        drop_end=0,
        ends="cut",
        residual_divisor="rows-parameters",
        reasons={},
    )


def motion(robot, seed, duration=10.0, still=(), posture=None):
    """Return positions, velocities and accelerations of a motion by sums of three sines.

    Joints that stand still do so at the posture, or somewhere.
    """
    rng = np.random.default_rng(seed)
    joints = len(robot.joints)
    t = np.arange(0.0, duration, 1.0 / RATE)[:, None]
    q, qd, qdd = (np.zeros((len(t), joints)) for _ in range(3))
    q += rng.uniform(-1.0, 1.0, joints)
    if posture is not None:
        q[:, list(still)] = posture
    for _ in range(3):
        a, w, p = (rng.uniform(*r, joints) for r in ((0.2, 0.7), (0.8, 5.0), (0.0, 6.0)))
        a[list(still)] = 0.0
        q += a * np.sin(w * t + p)
        qd += a * w * np.cos(w * t + p)
        qdd -= a * w * w * np.sin(w * t + p)
    return t[:, 0], q, qd, qdd


def segment(robot, values, moved, *, noise=0.0, seed=0, factors=None):
    """Return a run whose positions and derivatives are exact, with white noise on the efforts."""
    t, q, qd, qdd = moved
    effort = inverse_dynamics(robot, values, q, qd, qdd)
    if factors is not None:
        effort = as_recorded(robot, effort, factors)
    effort = effort + np.random.default_rng(seed).normal(size=effort.shape) * noise
    return FilteredSegment(t, q.T, qd.T, qdd.T, effort.T, 1.0 / RATE)


_BASES = {}


def columns_of(robot, place=None):
    if robot.name not in _BASES:
        _BASES[robot.name] = base_parameters(robot)
    return Columns(_BASES[robot.name], place or mounting(robot), np.array([], dtype=np.intp))


def folded(columns, segments, *, motors=None, threshold=0.05):
    processing = processing_of(columns.base.robot, threshold)
    source = WholeRows.of_segments(columns.base, ("run",), [segments], processing, blocks=False)
    return fold(columns, source, motors=motors)
