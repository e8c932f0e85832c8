"""Hostile sequences of joint states against the state machine, without ROS and without a clock."""

from __future__ import annotations

import copy
import multiprocessing
from collections import Counter
from dataclasses import dataclass

import numpy as np

from hostile.lies import Liar
from made_up_plans import random_plan
from oracles.quintic_curve import shares
from robot_identification.excitation.certification.certificate import certify
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.files.loading import load_robot
from robot_identification.ros.planning.planning import Sources, load_machine
from robot_identification.ros.supervision.braking import BrakingLimits
from robot_identification.ros.supervision.clock import Instant
from robot_identification.ros.supervision.phases import MotionSettings, Phase
from robot_identification.ros.supervision.supervisor import MotionSupervisor
from watched_motion import BEGIN, STEP, watched
from watched_motion import state as joint_state

TRACKING = 0.1
BEFORE = 12
LONGEST = 40
MINUTE = 60.0
MOTION_LASTS = 5000
"""Sequences after which another motion takes the place of the one before."""
NANOSECONDS = 1_000_000_000


@dataclass(frozen=True)
class Case:
    """A robot and a minute of motion.

    Attributes:
        limits: of the robot itself.
        braking: limits that braking keeps.
        run: the motion.
    """

    limits: MotionLimits
    braking: BrakingLimits
    run: Trajectory


def case(robot: str, rng: np.random.Generator) -> Case:
    """Return a random motion that is certified as the node does it, a minute at least."""
    joints = len(load_robot(robot).joints)
    machine = load_machine(Sources(robot, tracking_error=(TRACKING,) * joints))
    run = random_plan(machine.robot, rng, points=8)
    while run.duration < MINUTE:
        run = random_plan(machine.robot, rng, points=round(1.2 * len(run.times)))
    certificate = certify(machine.robot, run)
    certificate.require()
    time = machine.braking_time(certificate)
    limits = BrakingLimits(machine.limits, machine.declared, time=time, lag_time=1.0)
    return Case(machine.declared, limits, run)


def worst(robot: str, sequences: int, seed: int, workers: int) -> dict[str, object]:
    """Return the largest share of every limit over all sequences, and how the motions ended."""
    context = multiprocessing.get_context("spawn")
    shares_of = np.array_split(np.arange(sequences), workers)
    jobs = [(robot, len(part), seed + 1000 * i) for i, part in enumerate(shares_of)]
    with context.Pool(workers) as pool:
        parts = pool.starmap(_part, jobs)
    reasons: Counter[str] = Counter()
    for part in parts:
        reasons.update(part[1])
    return {
        "sequences": sequences,
        "shares": dict(
            zip(("position", "velocity", "acceleration"), np.max([p[0] for p in parts], axis=0),
                strict=True)
        ),
        "ends": dict(reasons.most_common()),
    }  # fmt: skip


def _part(robot: str, sequences: int, seed: int) -> tuple[list[float], Counter[str]]:
    rng, most, reasons = np.random.default_rng(seed), np.zeros(3), Counter()
    for number in range(sequences):
        if number % MOTION_LASTS == 0:
            given = case(robot, rng)
            begun = _begun(given)
        motion, commands = _sequence(given, begun, rng)
        most = np.max([most, *(shares(c.sent, given.limits) for c in commands)], axis=0)
        reasons[f"{motion.phase.name} {motion.reason.name}"] += 1
    return most.tolist(), reasons


def _begun(given: Case) -> MotionSupervisor:
    """Return the motion just after its begin."""
    names, states = given.run.joint_names, watched(given.run.joint_names, given.limits, TRACKING)
    settings = MotionSettings(tracking_error=np.full(len(names), TRACKING))
    motion = MotionSupervisor(given.braking, states, settings, given.run)
    for i in range(40):
        now = BEGIN - (40 - i) * STEP
        states.add(joint_state(now, given.run.positions[0], names=names), Instant(now, now - BEGIN))
    motion.begin(Instant(BEGIN, 0))
    return motion


def _sequence(
    given: Case, begun: MotionSupervisor, rng: np.random.Generator
) -> tuple[MotionSupervisor, list]:
    """Follow to a random moment, then lie; return the motion and what it commanded after begin."""
    motion = copy.copy(begun)
    names, joints = given.run.joint_names, len(given.run.joint_names)
    motion.states = watched(names, given.limits, TRACKING)
    start, commands = motion.command.start, []
    time = rng.uniform(0.0, given.run.duration)
    period = float(rng.choice((0.001, 0.002, 0.005, 0.008)))
    node_step = 0.0
    liar, length = Liar(rng, joints), int(rng.integers(1, LONGEST))
    times = time + period * np.arange(1, BEFORE + length + 1)
    places = given.run.sample(times - rng.uniform(0.0, 0.004, times.size))[0]
    for i, (time, true) in enumerate(zip(times, places, strict=True)):
        lying = i >= BEFORE
        sent = liar.state(time, true) if lying else (time, true, [])
        if lying and rng.random() < 0.01:
            node_step = rng.choice((-0.9, 0.05, 0.9)) * rng.random()
        steady = start + round(time * NANOSECONDS) - BEGIN
        now = Instant(BEGIN + steady + round(node_step * NANOSECONDS), steady)
        if sent is not None:
            stamp = max(start + round(sent[0] * NANOSECONDS), 0)
            message = joint_state(min(stamp, 2**62), np.array(sent[1]), sent[2], names)
            motion.states.add(message, now)
        if lying or i == BEFORE - 1:
            command = motion.tick(now) if rng.random() < 0.98 else motion.stop(now)
            commands += [command] if command is not None else []
        if commands:
            break
    if not commands and motion.phase is Phase.RUNNING:
        commands.append(motion.stop(now))
    return motion, commands
