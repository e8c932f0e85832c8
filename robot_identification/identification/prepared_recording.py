"""From samples as they were measured to a recording that identification takes.

Bags and live recordings pass here alike: the joint side, one clock, the part that is asked for, and
the delay of the efforts behind the motion, told or taken out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from robot_identification.identification.delays.effort_delay import with_known_delay
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.conditioning import joint_side_recording
from robot_identification.signals.raw_samples import RawSamples
from robot_identification.signals.recording import Recording
from robot_identification.signals.temperature import StampedTemperatures, with_temperatures


def prepared_recording(
    samples: RawSamples,
    robot: RobotModel,
    *,
    source: str,
    digest: str = "",
    effort_topic: str = "",
    effort_delay: float = 0.0,
    delay_estimated: bool = False,
    processing: ProcessingSettings | None = None,
    begin: float = 0.0,
    end: float = 1.0,
    positions_needed: bool = True,
    warnings: Sequence[str] = (),
    temperatures: Mapping[str, StampedTemperatures] | None = None,
    refused: int = 0,
    cancelled: Callable[[], bool] | None = None,
) -> Recording:
    """Return a recording on the joint side and on one clock, of which the effort delay is known.

    Args:
        samples: as measured, in order of arrival.
        robot: says what positions and efforts mean.
        source: where the samples came from.
        digest: SHA-256 of the source.
        effort_topic: of efforts that have a topic of their own; empty: they come with the joint
            states.
        effort_delay: by which efforts were moved already, in s.
        delay_estimated: whether efforts are moved by the estimate of their delay; otherwise that of
            efforts with a topic of their own is told in ``warnings``.
        processing: settings of the signal processing that the caller states, for that estimate.
        begin: where the part that is asked for begins, as a fraction of the recording, or as
            ``Seconds``.
        end: where it ends, likewise.
        positions_needed: whether positions must be there and finite.
        warnings: what is known of the samples already.
        temperatures: name of a joint -> its temperatures, where they were measured.
        refused: samples that were left out already, for they are not numbers.
        cancelled: asked now and then whether to stop.

    Raises:
        InputError: the samples are of no use.
        RecordingError: efforts are to be moved, and their delay cannot be estimated.
        SettingError: a setting is not possible.
        CancelledError: if ``cancelled`` says so.
    """
    whole = joint_side_recording(
        samples, robot, source=source, digest=digest, positions_needed=positions_needed
    )
    received = whole.statistics.received + refused
    whole = replace(whole, statistics=replace(whole.statistics, received=received, refused=refused))
    if temperatures:
        whole = with_temperatures(whole, temperatures)
    recording = replace(
        whole.between(begin, end),
        warnings=(*warnings, *whole.warnings),
        effort_topic=effort_topic,
        effort_delay=effort_delay,
    )
    return with_known_delay(
        robot,
        recording,
        estimated=delay_estimated,
        processing=processing,
        cancelled=cancelled,
    )
