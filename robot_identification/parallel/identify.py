"""From many bags to one result: divide, fold in parallel, merge; again from where it broke off."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from robot_identification.errors import RecordingError
from robot_identification.files.atomic import made_folder
from robot_identification.files.bags.joint_states.reading import JOINT_STATES
from robot_identification.files.parts import Skipped, read_part
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.estimators.choice import DEFAULT, refuse_without_samples
from robot_identification.identification.estimators.estimator import Choice
from robot_identification.identification.parts import Part, identify_parts
from robot_identification.identification.result import IdentificationResult
from robot_identification.parallel.bags import BagFile, without_copies
from robot_identification.parallel.jobs import Job, RobotReference, StatesTopic, jobs_for
from robot_identification.parallel.pool import Tell, work
from robot_identification.parallel.settings import common_settings
from robot_identification.robot.drives import require_effort_meaning
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.processing import ProcessingSettings

Progress = Callable[[str, float], None]
_DIED = "a process died while reading it, by the memory it took or by a fault; it was left out"


@dataclass(frozen=True)
class ManyBags:
    """Result of the identification from many bags.

    Attributes:
        result: the identification.
        skipped: bags that were left out, with the reason.
        reused: jobs that had been done by an earlier run.
        jobs: number of jobs.
    """

    result: IdentificationResult
    skipped: tuple[Skipped, ...]
    reused: int
    jobs: int


def identify_many(
    robot_source: str,
    bags: Sequence[BagFile],
    folder: str | Path,
    *,
    workers: int,
    scheduler: str | None = None,
    effort_meaning: str | None = None,
    topic: str = JOINT_STATES,
    interfaces: Mapping[str, str] | None = None,
    overrides: ProcessingSettings | None = None,
    choice: Choice | None = None,
    held_out: Sequence[BagFile] = (),
    weights: Mapping[str, float] | None = None,
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> ManyBags:
    """Identify the base parameters of a robot from many bags.

    Every bag is read some samples at a time, so that memory does not grow with the data.  What has
    been folded is kept in part files; another run with the same bags and settings goes on there.

    Args:
        robot_source: robot file, URDF, or name of a shipped robot.
        bags: from :func:`~.bags.find_bags`.
        folder: where part files go; made if it is not there.
        workers: number of processes.
        scheduler: address of a Dask scheduler, whose workers must see the same files.
        effort_meaning: of the recorded efforts, in place of what the robot file says.
        topic: topic of the joint states (sensor_msgs/JointState, control_msgs/DynamicJointState).
        interfaces: signal -> name of its interface in a DynamicJointState, where that is not the
            usual one.
        overrides: settings that replace recommended and derived ones.
        choice: how to estimate, without another look at the samples; by default by weighted least
            squares.
        held_out: bags that are predicted, not fitted; settings do not depend on them.
        weights: what bags count, by their paths; 1 where nothing is said.
        progress: told the stage and the fraction that is done.
        tell: takes sentences for people, such as that nobody works.

    Raises:
        RobotDescriptionError, UnknownRobotError: the robot cannot be loaded.
        SettingError: a setting is not possible, the choice goes over the samples again, or nobody
            has said what effort means.
        RecordingError: no bag is of any use.
        NotExcitedError: all of them together do not determine every base parameter.
        OutputError: a part file cannot be written.
        SchedulerGoneError: the scheduler has ended.
    """
    report = progress or _silent
    report("settings", 0.0)
    choice = choice or Choice(DEFAULT)
    refuse_without_samples(choice)
    robot = load_robot(robot_source, effort_meaning=effort_meaning)
    require_effort_meaning(robot)
    parts_folder = made_folder(folder)
    unseen = {bag.path for bag in held_out}
    single, copies = without_copies([*(b for b in bags if b.path not in unseen), *held_out])
    fitted, rest = ([b for b in single if (b.path in unseen) == out] for out in (False, True))
    if not fitted:
        raise RecordingError("no bag to fit; give one that is not held out")
    states = StatesTopic(topic, dict(interfaces or {}))
    processing = common_settings(robot, fitted, states, overrides or ProcessingSettings())
    source = Path(robot_source)
    name = str(source.absolute()) if source.exists() else robot_source
    reference = RobotReference(name, robot.digest, effort_meaning)
    jobs = [
        job
        for group in (fitted, rest)  # each in jobs of its own, for their Gram matrices add up
        for job in jobs_for(reference, processing, states, group, parts_folder)
    ]
    outcome = _Outcome(sum(job.size for job in jobs), report)
    failed = work(jobs, outcome.done, workers=workers, scheduler=scheduler, tell=tell)
    again = [alone for job in failed for alone in job.one_by_one()]
    dead: tuple[Job, ...] = ()
    if again:
        dead = work(again, outcome.done, workers=workers, scheduler=scheduler, tell=tell)
    skipped = [*copies, *(Skipped(job.bags[0].path, _DIED) for job in dead)]
    report("merge", 1.0)
    of_fit, of_rest = (
        _parts([j for j in outcome.finished if (j.bags[0].path in unseen) == out], skipped)
        for out in (False, True)
    )
    result = identify_parts(
        base_parameters(robot), processing, of_fit, choice, held_out=of_rest, weights=weights
    )
    return ManyBags(result, tuple(skipped), outcome.reused, len(jobs))


def _silent(_stage: str, _fraction: float) -> None:
    """Report to nobody."""


class _Outcome:
    """Which jobs are done."""

    def __init__(self, size: int, report: Progress) -> None:
        self.finished: list[Job] = []
        self.reused = 0
        self._size, self._report, self._passed = max(size, 1), report, 0

    def done(self, job: Job, before: bool) -> None:
        self.finished.append(job)
        self.reused += before
        self._passed += job.size
        self._report("bags", self._passed / self._size)


def _parts(jobs: Sequence[Job], skipped: list[Skipped]) -> Iterator[Part]:
    """Yield what was folded, in the order of the bags, and note what was left out."""
    for job in sorted(jobs, key=lambda job: job.bags[0].path):
        stored = read_part(job.part, job.key)
        if stored is None:
            raise RecordingError(f"{job.part} was there and is no longer; run again")
        skipped += stored.skipped
        if stored.part is not None:
            yield stored.part
