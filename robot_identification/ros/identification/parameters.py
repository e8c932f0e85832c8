"""Parameters of the identification node."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.identification.didim.settings import DidimSettings
from robot_identification.identification.friction.options import CHOICES, STATED
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.ros.common.parameters.shared import RobotParameters, SharedParameters
from robot_identification.ros.identification.streaming import StreamingOptions
from robot_identification.settings import same, setting


@dataclass(frozen=True)
class IdentificationParameters(RobotParameters):
    """Parameters of the node identification: memory, and defaults of requests."""

    output_directory: str = same(SharedParameters, "output_directory")
    effort_meaning: str = same(
        SharedParameters,
        "effort_meaning",
        help="what the efforts of bags are; empty: what the robot file says; live recordings say "
        "so themselves",
    )
    max_recordings: int = setting(
        "live recordings kept in memory; those of others are forgotten first, then the oldest",
        20,
        minimum=1,
        maximum=10000,
    )
    max_memory_mb: int = setting(
        "memory for the samples of live recordings; what is forgotten first makes room",
        1024,
        minimum=1,
        maximum=1000000,
        unit="MB",
    )
    prior: str = setting(
        "parameter file that the start prior of DIDIM stands for; empty: the one of this package "
        "that is named as the robot",
        "",
        path=True,
    )
    good_enough_std: float = setting(
        "relative standard deviation, as a fraction, at which every parameter must be known for a "
        "result to be called good enough",
        0.1,
        minimum=0.0,
        maximum=10.0,
        live=True,
    )
    friction: str = setting(
        "friction laws of requests that name none: stated by the robot file, coulomb-viscous, or "
        "auto, chosen by the data",
        STATED,
        choices=tuple(CHOICES),
        live=True,
    )
    velocity_threshold_window: float = same(
        ProcessingSettings,
        "velocity_threshold_window",
        help="decimation steps around a row of a live recording in which speeds must stay above "
        "their thresholds, where the request does not say; negative: that of a bag, which the "
        "robot file may recommend",
        default=-1.0,
        minimum=-1.0,
        live=True,
    )
    didim_max_iterations: int = same(
        DidimSettings,
        "max_iterations",
        help="largest number of Gauss-Newton steps of DIDIM, where the request does not say",
        live=True,
    )
    streaming: bool = setting(
        "whether identified_parameters are refreshed while a recording runs; holds for the next "
        "one",
        True,
        live=True,
    )
    refresh_period: float = same(
        StreamingOptions, "refresh_period", help="{}; holds for the next recording", live=True
    )
    streaming_settle: float = same(StreamingOptions, "settle", live=True)
    streaming_essential: bool = setting(
        "whether streamed estimates keep the essential parameters only, which good_enough then "
        "means",
        False,
        live=True,
    )

    @property
    def live_processing(self) -> ProcessingSettings:
        """Settings of the signal processing of live recordings where requests have none."""
        window = self.velocity_threshold_window
        return ProcessingSettings(velocity_threshold_window=None if window < 0.0 else window)
