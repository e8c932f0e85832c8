"""Plan an identification that moves one joint at a time: experiments, their order, certificate."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np

from robot_identification.errors import NotCertifiedError, SettingError
from robot_identification.excitation.certification.certificate import Certificate
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.objective.unidentified import Unidentified
from robot_identification.excitation.one_joint.blocks import Block, BlockPlanner
from robot_identification.excitation.one_joint.schedule import Scheduled, scheduled, stretched
from robot_identification.excitation.one_joint.settings import OneJointSettings
from robot_identification.excitation.plan import certified, start_posture
from robot_identification.excitation.search.optimizers import Cancelled, refuse_cancelled
from robot_identification.excitation.search.points import Progress
from robot_identification.identification.one_joint.conversion import JointwiseParameters
from robot_identification.presentation import Drawn, Stored
from robot_identification.robot.model import RobotModel

METHOD = "one-joint"
"""Name of the method, in options and files."""

_ATTEMPTS = 3
_NARROWER = 0.7
_INNER = 0.999  # of the position ranges: room for rounding
_JERK_SHARE = 0.98  # the rest is for the rounding of the times of points to whole nanoseconds


@dataclass(frozen=True, repr=False)
class OneJointPlan(Stored, Drawn):
    """A certified motion of one joint at a time.

    Attributes:
        robot: name of the robot.
        joint_names: names of its joints.
        trajectory: all experiments with moves between them, from rest to rest at the start.
        certificate: passed.
        settings: how it was planned.
        blocks: what is told by what, from the last joint to the first.
        schedule: the experiments in order.
        unknown: names of the base parameters that stay unknown, because parameters that the motion
            does not tell take part in them.
        seconds: time that planning took.
        description: the robot.
    """

    robot: str
    joint_names: tuple[str, ...]
    trajectory: Trajectory
    certificate: Certificate
    settings: OneJointSettings
    blocks: tuple[Block, ...]
    schedule: tuple[Scheduled, ...]
    unknown: tuple[str, ...]
    seconds: float
    description: RobotModel = field(compare=False)

    @property
    def unidentified(self) -> tuple[Unidentified, ...]:
        """The parameters that are not identifiable from the motion, with the reason."""
        return tuple(
            Unidentified(name, block.reason) for block in self.blocks for name in block.missing
        )

    def under_way(self, time: float) -> int:
        """Return the place in ``schedule`` of what is done at a time, or comes next.

        Args:
            time: on the clock of the trajectory, in s.

        Returns:
            The number of experiments where all of them are over.
        """
        return sum(run.end <= time for run in self.schedule)

    def since(self, number: int) -> Trajectory:
        """Return what is left from an experiment on, to continue after a pause.

        It begins at rest in the posture of the experiment, on a clock of its own, and wants a
        certificate and an approach of its own.

        Args:
            number: place of the experiment in ``schedule``.

        Raises:
            SettingError: there is no such experiment.
        """
        if not 0 <= number < len(self.schedule):
            raise SettingError("number", number, f"must lie in 0 to {len(self.schedule) - 1}")
        whole = self.trajectory
        first = int(np.argmin(np.abs(whole.times - self.schedule[number].begin)))
        return Trajectory(
            whole.joint_names,
            whole.times[first:] - whole.times[first],
            whole.positions[first:],
            None if whole.velocities is None else whole.velocities[first:],
            None if whole.accelerations is None else whole.accelerations[first:],
        )

    @property
    def condition_number(self) -> float:
        """The worst among the column-scaled small systems."""
        return max((b.condition_number for b in self.blocks if b.names), default=float("inf"))

    @property
    def headline(self) -> str:
        """Robot, number of experiments and duration, in one line."""
        return (
            f"{len(self.schedule)} experiments of one joint at a time in "
            f"{self.trajectory.duration:.4g} s for {self.robot}"
        )

    def summary(self) -> dict[str, object]:
        """Return the plain data of a plan that ``--json`` prints; the keys are stable.

        ``condition_number`` is the worst of the small systems, ``rows`` the number of experiments;
        there is no ``equilibrium``, since no system of the whole robot is solved.
        """
        return {
            "robot": self.robot,
            "method": METHOD,
            "condition_number": self.condition_number,
            "equilibrium": None,
            "rows": len(self.schedule),
            "optimizer": "exchange",
            "blocks": [
                {
                    "joint": self.joint_names[block.joint],
                    "parameters": list(block.names),
                    "equations": list(block.equations),
                    "condition_number": block.condition_number if block.names else None,
                }
                for block in self.blocks
            ],
            "experiments": self.records(),
            "missing_parameters": {one.name: one.reason for one in self.unidentified},
            "unknown_base_parameters": list(self.unknown),
            "seed": self.settings.seed,
            "seconds": self.seconds,
            "points": len(self.trajectory.times),
            "duration": self.trajectory.duration,
            **self.certificate.summary(),
        }

    def records(self) -> list[dict[str, object]]:
        """Return one row per experiment: when, which joint moves, whose effort tells, equation."""
        names = self.joint_names
        return [
            {
                "begin": run.begin,
                "end": run.end,
                "moves": names[run.experiment.motion.moving],
                "creeps": names[run.experiment.motion.measured]
                if run.experiment.motion.creeps
                else None,
                "tells": names[run.block],
                "equation": run.experiment.motion.equation,
                "posture": [float(x) for x in run.experiment.posture],
            }
            for run in self.schedule
        ]


def plan_one_joint(
    robot: RobotModel,
    settings: OneJointSettings | None = None,
    *,
    surroundings: Surroundings | None = None,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> OneJointPlan:
    """Plan the experiments of Lin 1992, Algorithm 2, and certify the whole motion.

    Where obstacles or the box of the tool point are in the way, other postures nearer to the start
    are tried; where efforts are too large, the motion is slowed down.

    Args:
        robot: a serial robot with limits of position, velocity and acceleration.
        settings: how to move it.
        surroundings: prior model and obstacles.
        progress: told the stage and the fraction that is done.
        cancelled: asked before every block, and once more after the certificate, whether to stop.

    Raises:
        MissingLimitError: a joint lacks a limit.
        SettingError: the robot is no chain, a setting is wrong, or the start is outside of the
            limits.
        RankError: the inertia constants do not span the base parameters.
        NotCertifiedError: no joint can move, or no motion that passes every check was found.
        CancelledError: if ``cancelled`` says so.
    """
    begin = time.monotonic()
    chosen = settings or OneJointSettings()
    robot, around = (surroundings or Surroundings()).at_reference(robot)
    _refuse_unknown(robot, chosen)
    limits = MotionLimits.of(robot)
    posture = start_posture(robot, limits, chosen.start, around)
    limits = replace(limits, jerk=_JERK_SHARE * limits.jerk)
    parameters = JointwiseParameters.of(robot)
    certificate: Certificate | None = None
    for attempt in range(_ATTEMPTS):
        nearer = chosen.reach * _NARROWER**attempt
        trial = replace(chosen, reach=nearer, seed=chosen.seed + attempt)
        planner = BlockPlanner(parameters, limits.tightened(_INNER), trial, posture, around)
        blocks = _blocks(planner, robot, progress, cancelled)
        wanted, schedule = scheduled(blocks, posture, limits, chosen)
        trajectory, certificate = certified(robot, wanted, posture, around)
        refuse_cancelled(cancelled)
        if certificate.passed:
            return OneJointPlan(
                robot=robot.name,
                joint_names=robot.joint_names,
                trajectory=trajectory,
                certificate=certificate,
                settings=chosen,
                blocks=blocks,
                schedule=stretched(schedule, trajectory.duration / wanted.duration),
                unknown=parameters.base_names_with([n for b in blocks for n in b.missing]),
                seconds=time.monotonic() - begin,
                description=robot,
            )
    if certificate is not None:
        certificate.require()
    raise NotCertifiedError("limits", "no motion was found")


def _refuse_unknown(robot: RobotModel, settings: OneJointSettings) -> None:
    for setting in ("locked", "cramped"):
        for name in getattr(settings, setting):
            if name not in robot.joint_names:
                raise SettingError(
                    setting,
                    name,
                    f"no joint has this name; choose from {', '.join(robot.joint_names)}",
                )


def _blocks(
    planner: BlockPlanner, robot: RobotModel, progress: Progress | None, cancelled: Cancelled | None
) -> tuple[Block, ...]:
    """Return the blocks from the last joint to the first.

    Raises:
        CancelledError: if ``cancelled`` says so.
        NotCertifiedError: there is nothing that can be told.
    """
    count = len(robot.joints)
    found: list[Block] = []
    for joint in range(count - 1, -1, -1):
        refuse_cancelled(cancelled)
        if progress is not None:
            progress(f"experiments for {robot.joint_names[joint]}", 1.0 - (joint + 1) / count)
        block = planner.plan(joint)
        if block is not None:
            found.append(block)
    if not any(block.experiments for block in found):
        reasons = dict.fromkeys(block.reason for block in found)
        raise NotCertifiedError("limits", f"no joint can move alone: {'; '.join(reasons)}")
    return tuple(found)
