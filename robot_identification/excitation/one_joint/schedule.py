"""Order of the experiments of one joint at a time, with slow moves between them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.timing import durations_between_rests
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.one_joint.blocks import Block
from robot_identification.excitation.one_joint.experiments import Experiment
from robot_identification.excitation.one_joint.motions import joined
from robot_identification.excitation.one_joint.settings import OneJointSettings
from robot_identification.robot.arrays import Array

_LEAST = 0.2


@dataclass(frozen=True)
class Scheduled:
    """An experiment and when it runs.

    Attributes:
        experiment: what is done.
        block: index of the joint whose block it is for.
        begin: time on the clock of the trajectory, in s; the robot is at rest.
        end: time of its end, at rest in the same posture.
    """

    experiment: Experiment
    block: int
    begin: float
    end: float


def scheduled(
    blocks: Sequence[Block], start: Array, limits: MotionLimits, settings: OneJointSettings
) -> tuple[Trajectory, tuple[Scheduled, ...]]:
    """Return all experiments with slow moves between them, from the start and back to it.

    Args:
        blocks: with the experiments, in their order.
        start: (joints,) posture at the beginning and at the end, in rad or m.
        limits: of the robot.
        settings: how fast the moves are, and whether joints move one after the other.
    """
    parts: list[Trajectory] = []
    schedule: list[Scheduled] = []
    here, clock = start, 0.0
    for block in blocks:
        waiting = list(block.experiments)
        while waiting:
            nearest = min(waiting, key=lambda e: float(np.abs(e.posture - here).max()))
            waiting = [experiment for experiment in waiting if experiment is not nearest]
            run = nearest.trajectory
            parts += [*_moves(run.joint_names, here, nearest.posture, limits, settings), run]
            clock = sum(part.duration for part in parts)
            schedule.append(Scheduled(nearest, block.joint, clock - run.duration, clock))
            here = nearest.posture
    parts += _moves(parts[0].joint_names, here, start, limits, settings)
    return joined(parts), tuple(schedule)


def _moves(
    joint_names: tuple[str, ...],
    here: Array,
    there: Array,
    limits: MotionLimits,
    settings: OneJointSettings,
) -> list[Trajectory]:
    """Return slow moves from rest to rest: one of all joints, or one for every joint that moves."""
    slow = limits.tightened(1.0, settings.between, settings.between)
    moving = np.flatnonzero(here != there)
    ways = [here]
    for joints in moving[:, None] if settings.moves == "singly" else [moving]:
        way = ways[-1].copy()
        way[joints] = there[joints]
        ways.append(way)
    still = np.zeros((2, len(here)))
    return [
        Trajectory(
            joint_names,
            np.append(0.0, durations_between_rests(np.array(pair), slow, limits, _LEAST)),
            np.array(pair),
            still,
            still,
        )
        for pair in itertools.pairwise(ways)
        if not np.array_equal(*pair)
    ]


def stretched(schedule: Sequence[Scheduled], factor: float) -> tuple[Scheduled, ...]:
    """Return the schedule of a motion that takes longer by a factor."""
    return tuple(replace(s, begin=s.begin * factor, end=s.end * factor) for s in schedule)
