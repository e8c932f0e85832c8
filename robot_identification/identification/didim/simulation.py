"""Simulation of the experiments of DIDIM, with accelerations that its friction explains.

A simulation gives positions, velocities, efforts, and the friction that acted, sticking included.
With the same parameters they fix the accelerations, so that for every sample

    effort = W(q, qd, qdd, shares) chi

holds to rounding, at reversals and at rest too.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from robot_identification.compiled import as_compiled
from robot_identification.dynamics import reference as references
from robot_identification.dynamics.direct import Plant
from robot_identification.dynamics.friction import coulomb_terms_of
from robot_identification.dynamics.kernels import direct as direct_kernels
from robot_identification.dynamics.reference import Reference
from robot_identification.dynamics.simulation.fixed_step import (
    ClosedLoop,
    LoopState,
    SimulatedSamples,
)
from robot_identification.dynamics.tree import Floats
from robot_identification.errors import CancelledError, MassMatrixError, SettingError
from robot_identification.identification.didim.experiments import Experiment
from robot_identification.robot.arrays import Array, read_only
from robot_identification.robot.model import RobotModel
from robot_identification.signals.filtered import FilteredSegment


class ExplainedMotion(NamedTuple):
    """Motion of the robot under the efforts of a simulation.

    Attributes:
        acceleration: (samples, joints) in rad/s^2 or m/s^2.
        shares: (samples, motions) of the friction motions of
            :func:`~robot_identification.dynamics.friction.coulomb_terms_of`.
    """

    acceleration: Floats
    shares: Floats


def explain(robot: RobotModel, plant: Plant, samples: SimulatedSamples) -> ExplainedMotion:
    """Return accelerations and friction shares of a simulated motion.

    Args:
        robot: the robot.
        plant: the parameters that it was simulated with.
        samples: from :class:`~robot_identification.dynamics.simulation.fixed_step.ClosedLoop`.

    Raises:
        MassMatrixError: if the mass matrix of a sample is not positive definite.
    """
    signals = samples.position, samples.velocity, samples.effort, samples.slip
    q, qd, effort, slip = as_compiled(*signals)
    driving = np.empty(q.shape)
    direct_kernels.driving_efforts(plant, q, qd, effort, slip, driving)
    none = np.empty((0, q.shape[1]))
    smooth = plant._replace(motion=none, action=none, load=plant.load._replace(present=False))
    acceleration = np.empty(q.shape)
    failed = direct_kernels.accelerations(smooth, q, qd, driving, acceleration)
    if failed >= 0:
        raise MassMatrixError(robot.name, int(failed))
    motions = coulomb_terms_of(robot).motions
    shares = np.sign(qd @ motions.T)
    place = {tuple(motion): i for i, motion in enumerate(motions)}
    shares[:, [place[tuple(motion)] for motion in plant.motion]] = samples.slip
    return ExplainedMotion(acceleration, shares)


Cancelled = Callable[[], bool]

# Control steps between two looks at whether to stop: some ten milliseconds of work.
_CHUNK = 5000
_RATE_TOLERANCE = 0.01
_AT_REST = 1e-9


def simulate(
    robot: RobotModel, values: Array, experiment: Experiment, cancelled: Cancelled | None = None
) -> FilteredSegment:
    """Return the samples of an experiment with the motion of a simulated robot.

    Args:
        robot: the robot, with the controller to simulate.
        values: (full columns,) its parameters.
        experiment: what to follow, and the measured efforts.
        cancelled: asked now and then whether to stop.

    Raises:
        CancelledError: if ``cancelled`` says so.
        SimulationError: if the motion breaks down.
        MassMatrixError: if the mass matrix of a sample is not positive definite.
        SettingError: if the sampling rate does not divide the rate of the controller.
    """
    rate, sample_rate = _rates(robot, experiment.period)
    loop = ClosedLoop(robot, values, rate_hz=rate, sample_rate_hz=sample_rate)
    reference = experiment.reference._replace(origin=0, lead=float(experiment.time[0]))
    state = _initial(loop, reference)
    steps = (experiment.samples - 1) * loop.every + 1
    parts: list[SimulatedSamples] = []
    for begin in range(0, steps, _CHUNK):
        if cancelled is not None and cancelled():
            raise CancelledError("identification was cancelled")
        state, samples = loop.advance(state, reference, min(_CHUNK, steps - begin))
        parts.append(samples)
    return _explained(robot, loop, _joined(parts), experiment)


def simulate_all(
    robot: RobotModel,
    values: Array,
    experiments: Sequence[Experiment],
    cancelled: Cancelled | None = None,
) -> list[FilteredSegment]:
    """Simulate independent experiments in parallel threads; see :func:`simulate`."""
    workers = min(len(experiments), os.cpu_count() or 1)
    if workers == 1:
        return [simulate(robot, values, experiment, cancelled) for experiment in experiments]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda e: simulate(robot, values, e, cancelled), experiments))


def _rates(robot: RobotModel, period: float) -> tuple[float, float]:
    """Return the rates of controller and samples, the first a multiple of the second.

    The clock of a recording may differ a little from that of the controller.
    """
    declared = math.nan if robot.controller is None else robot.controller.rate_hz
    every = round(declared * period)
    if every < 1 or abs(declared * period / every - 1.0) > _RATE_TOLERANCE:
        raise SettingError(
            "rate_hz",
            declared,
            f"samples of {1.0 / period:.6g} Hz do not fit a controller of {declared:g} Hz, which "
            "must be a multiple; correct the robot file, or record at a rate that divides it",
        )
    return every / period, 1.0 / period


def _initial(loop: ClosedLoop, reference: Reference) -> LoopState:
    """Return the state at the start: that of the reference.

    Where the controller integrates and the reference rests, the loop settles there first, since
    the integral decays too slowly to be a transient.
    """
    q, qd, _ = (signal[0] for signal in references.sample(reference, [reference.lead]))
    if np.abs(qd).max() < _AT_REST:
        return loop.settled(q) if loop.law.ki.any() else loop.at_rest(q)
    rest = loop.at_rest(q)
    history = np.array(rest.history)
    history[:, 1] = qd
    for k in range(1, len(history)):
        history[-k % len(history), 0] = q - k * loop.period * qd
    return replace(rest, velocity=qd, history=history)


def _joined(parts: Sequence[SimulatedSamples]) -> SimulatedSamples:
    if len(parts) == 1:
        return parts[0]
    names = ("time", "position", "velocity", "effort", "slip")
    return SimulatedSamples(
        *(read_only(np.concatenate([getattr(part, name) for part in parts])) for name in names)
    )


def _explained(
    robot: RobotModel, loop: ClosedLoop, samples: SimulatedSamples, experiment: Experiment
) -> FilteredSegment:
    motion = explain(robot, loop.plant, samples)
    used = experiment.used
    return FilteredSegment(
        time=experiment.time[used],
        position=samples.position[used].T,
        velocity=samples.velocity[used].T,
        acceleration=motion.acceleration[used].T,
        effort=experiment.effort[used].T,
        period=experiment.period,
        shares=motion.shares[used].T,
        measured=experiment.used_measured,
    )
