"""Work of a process on a job: its bags folded into one part file, whatever their length."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

from robot_identification.errors import (
    RecordingError,
    RobotDescriptionError,
    RobotIdentificationError,
)
from robot_identification.files.bags.cdr.dynamic_states import interfaces_of
from robot_identification.files.bags.joint_states.stream import stream_joint_states
from robot_identification.files.parts import Skipped, StoredPart, read_part, write_part
from robot_identification.identification.base.parameters import BaseParameters, base_parameters
from robot_identification.identification.parts import Part
from robot_identification.identification.rows.bands import BandGrams, summed
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.rows.growing import StreamingIdentification
from robot_identification.identification.source import Source
from robot_identification.identification.statistics.joint_noise import (
    refuse_absurd_samples,
    refuse_silent_joints,
)
from robot_identification.parallel.bags import BagFile
from robot_identification.parallel.jobs import Job, RobotReference
from robot_identification.robot.files.loading import load_robot
from robot_identification.signals.clock.setback import SetbackSearch
from robot_identification.signals.clock.stamps import StampOrder

# Samples among which a late one still finds its place.
_HOLD = 2048

Folded = tuple[Source, tuple[JointFactor, ...], BandGrams]


def work_on(data: dict[str, Any]) -> bool:
    """Fold the bags of a job, unless that has been done before.

    A bag that is of no use is left out and noted in the part file.

    Args:
        data: the job as plain data.

    Returns:
        Whether the part file was there already.

    Raises:
        RobotDescriptionError: this process finds another description of the robot.
        OutputError: the part file cannot be written.
    """
    job = Job.from_data(data)
    key = job.key
    if read_part(job.part, key) is not None:
        return True
    base = _base(job.robot)
    folded: list[Folded] = []
    skipped = []
    for bag in job.bags:
        outcome = _folded_or_skipped(base, job, bag)
        if isinstance(outcome, Skipped):
            skipped.append(outcome)
        else:
            folded.append(outcome)
    write_part(job.part, key, StoredPart(_joined(folded), tuple(skipped)))
    return False


def _folded_or_skipped(base: BaseParameters, job: Job, bag: BagFile) -> Folded | Skipped:
    try:
        return fold_bag(base, job, bag)
    except RobotIdentificationError as error:
        return Skipped(bag.path, str(error))


@lru_cache(maxsize=2)
def _base(reference: RobotReference) -> BaseParameters:
    robot = load_robot(reference.source, effort_meaning=reference.effort_meaning)
    if robot.digest != reference.digest:
        raise RobotDescriptionError(
            "differs from the description that the work began with; all machines must see the "
            "same files, and none may change meanwhile",
            path=reference.source,
        )
    return base_parameters(robot)


def fold_bag(base: BaseParameters, job: Job, bag: BagFile) -> Folded:
    """Fold a bag; memory does not grow with its length.

    Args:
        base: base parameters of the robot.
        job: settings and topic.
        bag: the bag.

    Returns:
        Where the rows come from, one factor per joint, and the Gram matrices.

    Raises:
        BagError: the bag is damaged, or lacks the topic.
        InputError: its samples are of no use.
    """
    identification = StreamingIdentification(
        base.robot, base, bag.path, overrides=job.settings, prompt=False
    )
    order, setbacks = StampOrder(_HOLD), SetbackSearch(bag.path)
    with stream_joint_states(
        bag.path,
        base.robot.joint_names,
        topic=job.topic.name,
        interfaces=interfaces_of(job.topic.interfaces),
        velocities=job.settings.velocities == "measured",
    ) as stream:
        for samples in stream.batches():
            setbacks.push(samples.stamps)
            identification.push(order.push(samples))
        setbacks.end()
        if (rest := order.end()) is not None:
            identification.push(rest)
        identification.finish()
        digest, warnings = stream.digest(), list(stream.warnings)
    folded = identification.folded()
    if folded is None:
        raise RecordingError(
            f"{bag.path}: no row is left of {identification.samples} samples in "
            f"{identification.duration:.3g} s; longer unbroken motion is needed"
        )
    factors = folded.kept.merged()
    refuse_silent_joints([factors], [bag.path])
    refuse_absurd_samples([factors], [bag.path])
    if order.late or order.duplicates:
        warnings.append(
            f"{bag.path}: {order.late} samples came too late to take their place, and "
            f"{order.duplicates} had the stamp of another; both were left out"
        )
    source = identification.source
    source = replace(source, digest=digest, warnings=(*warnings, *source.warnings))
    return source, factors, folded.kept.bands[0]


def _joined(folded: list[Folded]) -> Part | None:
    if not folded:
        return None
    sources, factors, grams = zip(*folded, strict=True)
    return Part(sources, factors, summed(grams))
