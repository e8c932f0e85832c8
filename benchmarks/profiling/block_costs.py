"""Live: what every step costs on the way from a block of samples to a published estimate."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from rclpy.serialization import deserialize_message, serialize_message
from robot_identification.msg import SampleBlock
from soaking.arm import Arm

from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.rows.growing import StreamingIdentification
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.ros.acquisition.recorder import Block, Counts
from robot_identification.ros.identification.recordings.live_recordings import LiveRecordings
from robot_identification.ros.messages.blocks import block_message, raw_block
from robot_identification.ros.messages.results import result_message
from robot_identification.signals.raw_samples import RawSamples

_BLOCK, _EVERY, _ROWS = 100, 10, 2000


def block_costs(arm: Arm, rate: float) -> dict[str, float]:
    """Return the median processor seconds of every step.

    Args:
        arm: what sends the states.
        rate: of the states, Hz.
    """
    base = base_parameters(arm.robot)
    stream = StreamingIdentification(arm.robot, base, "run", overrides=ProcessingSettings())
    kept = LiveRecordings(10**9, 2)
    taken: dict[str, list[float]] = {}

    def timed(name: str, work: Callable[..., Any], *arguments: Any) -> Any:
        begin = time.process_time()
        result = work(*arguments)
        taken.setdefault(name, []).append(time.process_time() - begin)
        return result

    def told(result: Any) -> Any:
        return result_message(result, arm.robot, stamp=0, gap=base.gap, good_enough_std=10.0)

    for block in _blocks(arm, rate):
        message = timed("acquisition: message of a block", block_message, block, arm.robot)
        sent = timed("acquisition: serialised", serialize_message, message)
        come = timed("identification: deserialised", deserialize_message, sent, SampleBlock)
        read = timed("identification: arrays", raw_block, come)
        timed("identification: kept in memory", kept.add, read, come.effort_meaning)
        timed("identification: filters, regressor, factors", stream.push, read.samples)
        if stream.rows > _ROWS and block.sequence % _EVERY == 0:
            result = timed("an estimate, once a second", stream.result)
            found = timed("its message", told, result)
            timed("its message, serialised", serialize_message, found)
    return {name: float(np.median(values)) for name, values in taken.items()}


def _blocks(arm: Arm, rate: float) -> Iterator[Block]:
    """Yield blocks of what the arm sends."""
    with np.load(arm.motion) as file:
        columns = {name: file[name] for name in file.files}
    samples = len(columns["position"])
    signals = [columns[n] + columns[f"{n}_noise"][:samples] for n in ("position", "effort")]
    stamps = np.round(1e9 / rate * np.arange(samples)).astype(np.int64) + 10**9
    for number, first in enumerate(range(0, samples, _BLOCK)):
        part = slice(first, first + _BLOCK)
        raw = RawSamples(stamps[part], signals[0][part], None, signals[1][part])
        counts = Counts(received=first + len(raw.stamps))
        yield Block("run", number, first, False, raw, counts)
