"""Settings of the signal processing for many bags, from the beginnings of some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robot_identification.errors import RecordingError, RobotIdentificationError
from robot_identification.files.bags.cdr.dynamic_states import interfaces_of
from robot_identification.files.bags.joint_states.stream import stream_joint_states
from robot_identification.parallel.bags import BagFile
from robot_identification.parallel.jobs import StatesTopic
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.conditioning import joint_side_recording
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.processing.settings import resolve_processing, streamed
from robot_identification.signals.raw_samples import RawSamples, joined_samples
from robot_identification.signals.recording import Recording

_LOOKED_AT = 5
_SECONDS = 60.0


def common_settings(
    robot: RobotModel,
    bags: Sequence[BagFile],
    topic: StatesTopic,
    overrides: ProcessingSettings,
) -> Processing:
    """Return complete settings; what is left open is derived from the beginnings of some bags.

    Args:
        robot: its file may recommend settings.
        bags: at least one.
        topic: where the joint states are.
        overrides: settings that go before everything else.

    Raises:
        SettingError: a setting is impossible, or does not suit the sampling rate.
        RecordingError: none of the bags looked at is of any use.
    """
    looked, reasons = [], []
    for place in _spread(len(bags)):
        try:
            looked.append(_beginning(robot, bags[place], topic))
        except RobotIdentificationError as error:
            reasons.append(str(error))
        if len(looked) == _LOOKED_AT:
            break
    if not looked:
        raise RecordingError(
            f"none of {len(reasons)} bags is of any use, the first because: {reasons[0]}"
        )
    processing = streamed(resolve_processing(robot, looked, overrides))
    derived = {
        name: f"{reason} (the first {_SECONDS:g} s of {len(looked)} of {len(bags)} bags)"
        for name, reason in processing.reasons.items()
        if reason.startswith("derived")
    }
    processing = replace(processing, reasons={**processing.reasons, **derived})
    if "rate_hz" not in derived:
        return processing
    # A minute would ask for a rate that gives it enough rows.
    rate = min(processing.cutoff_hz, 1.0 / max(r.period for r in looked))
    reasons_now = {**processing.reasons, "rate_hz": "derived: the cut-off, with so many bags"}
    return replace(processing, rate_hz=rate, reasons=reasons_now)


def _spread(count: int) -> list[int]:
    """Return all places in an order whose beginning is spread over the whole."""
    first = np.unique(np.linspace(0, count - 1, min(_LOOKED_AT, count)).round().astype(int))
    return [*first.tolist(), *sorted(set(range(count)) - set(first.tolist()))]


def _beginning(robot: RobotModel, bag: BagFile, topic: StatesTopic) -> Recording:
    parts: list[RawSamples] = []
    interfaces = interfaces_of(topic.interfaces)
    with stream_joint_states(
        bag.path, robot.joint_names, topic=topic.name, interfaces=interfaces
    ) as stream:
        for samples in stream.batches():
            parts.append(samples)
            if samples.stamps[-1] - parts[0].stamps[0] > _SECONDS * 1e9:
                break
    samples = joined_samples(parts)
    early = samples.stamps <= samples.stamps.min() + round(_SECONDS * 1e9)
    return joint_side_recording(samples.at(early), robot, source=bag.path)
