"""The work in portions that a process does at a time; all of them plain data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from robot_identification.files.bags.joint_states.reading import JOINT_STATES
from robot_identification.parallel.bags import BagFile
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.processing.complete import Processing

# A crash loses what a portion has cost: some seconds.  A part file takes some megabytes.
_LARGEST_BYTES = 128 * 2**20
_MOST_BAGS = 16


@dataclass(frozen=True)
class RobotReference:
    """A robot that another process can load again.

    Attributes:
        source: path of its file, absolute, or name of a shipped robot.
        digest: SHA-256 of its description.
        effort_meaning: of the recorded efforts, None for what the robot file says.
    """

    source: str
    digest: str
    effort_meaning: str | None


@dataclass(frozen=True)
class StatesTopic:
    """Where the joint states of all bags are.

    Attributes:
        name: of the topic.
        interfaces: signal -> name of its interface in states with interfaces of every joint, where
            that is not the usual one.
    """

    name: str = JOINT_STATES
    interfaces: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    """Some bags to fold into one part file.

    Attributes:
        robot: the robot.
        settings: complete settings of the signal processing.
        topic: where the joint states are.
        bags: the bags.
        folder: where the part file goes.
    """

    robot: RobotReference
    settings: ProcessingSettings
    topic: StatesTopic
    bags: tuple[BagFile, ...]
    folder: str

    @property
    def key(self) -> str:
        """SHA-256 of everything that the outcome depends on."""
        about = asdict(replace(self, folder=""))
        if not self.topic.interfaces:
            about["topic"] = self.topic.name  # part files of versions before have this key
        return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()

    @property
    def part(self) -> Path:
        """The part file."""
        return Path(self.folder) / f"{self.key}.npz"

    @property
    def size(self) -> int:
        """Size of all bags, in bytes."""
        return sum(bag.size for bag in self.bags)

    def to_data(self) -> dict[str, Any]:
        """Return plain data, for another process."""
        return asdict(self)

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Job:
        """Return the job that plain data describe."""
        settings = dict(data["settings"])
        settings["velocity_threshold"] = tuple(settings["velocity_threshold"])
        return cls(
            RobotReference(**data["robot"]),
            ProcessingSettings(**settings),
            StatesTopic(**data["topic"]),
            tuple(BagFile(**bag) for bag in data["bags"]),
            data["folder"],
        )

    def one_by_one(self) -> tuple[Job, ...]:
        """Return a job for every bag."""
        return tuple(replace(self, bags=(bag,)) for bag in self.bags)


def jobs_for(
    robot: RobotReference,
    processing: Processing,
    topic: StatesTopic,
    bags: Sequence[BagFile],
    folder: str | Path,
) -> tuple[Job, ...]:
    """Divide bags into jobs, alike however many processes there will be.

    Args:
        robot: the robot.
        processing: settings for all of them.
        topic: where the joint states are.
        bags: in their order.
        folder: where part files go.
    """
    values = {field.name: getattr(processing, field.name) for field in fields(ProcessingSettings)}
    settings = ProcessingSettings(**values)
    return tuple(
        Job(robot, settings, topic, group, str(Path(folder).absolute())) for group in _groups(bags)
    )


def _groups(bags: Sequence[BagFile]) -> Iterator[tuple[BagFile, ...]]:
    group: list[BagFile] = []
    for bag in bags:
        full = sum(b.size for b in group) + bag.size > _LARGEST_BYTES or len(group) == _MOST_BAGS
        if group and full:
            yield tuple(group)
            group = []
        group.append(bag)
    if group:
        yield tuple(group)
