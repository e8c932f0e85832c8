"""Parameters of the identification node."""

from __future__ import annotations

from robot_identification.identification.didim.settings import DidimSettings
from robot_identification.nodes.outputs import OUTPUT_DIRECTORY
from robot_identification.nodes.parameters import ROBOT, ParameterSpec, Type, effort_meaning

GOOD_ENOUGH = ParameterSpec(
    "good_enough_std",
    Type.DOUBLE,
    "relative standard deviation, as a fraction, at which every parameter must be known for a "
    "result to be called good enough",
    default=0.1,
    minimum=0.0,
    maximum=10.0,
    read_only=False,
)
LIVE_WINDOW = ParameterSpec(
    "velocity_threshold_window",
    Type.DOUBLE,
    "decimation steps around a row of a live recording in which speeds must stay above their "
    "thresholds, where the request does not say; negative: that of a bag, which the robot file may "
    "recommend",
    default=-1.0,
    minimum=-1.0,
    maximum=10.0,
    read_only=False,
)
MAX_ITERATIONS = ParameterSpec.of(
    DidimSettings.table()["max_iterations"],
    name="didim_max_iterations",
    description="largest number of Gauss-Newton steps of DIDIM, where the request does not say",
    read_only=False,
)
STREAMING = ParameterSpec(
    "streaming",
    Type.BOOL,
    "whether identified_parameters are refreshed while a recording runs; holds for the next one",
    default=True,
    read_only=False,
)
REFRESH_PERIOD = ParameterSpec(
    "refresh_period",
    Type.DOUBLE,
    "time between two streamed estimates, s; holds for the next recording",
    default=1.0,
    minimum=0.05,
    maximum=3600.0,
    read_only=False,
)
STREAMING_SETTLE = ParameterSpec(
    "streaming_settle",
    Type.DOUBLE,
    "motion from which streamed estimates derive the settings that the robot file leaves open, s",
    default=8.0,
    minimum=1.0,
    maximum=120.0,
    read_only=False,
)
STREAMING_ESSENTIAL = ParameterSpec(
    "streaming_essential",
    Type.BOOL,
    "whether streamed estimates keep the essential parameters only, which good_enough then means",
    default=False,
    read_only=False,
)
PARAMETERS = (
    ROBOT,
    OUTPUT_DIRECTORY,
    effort_meaning(
        "what the efforts of bags are; empty: what the robot file says; live recordings say so "
        "themselves"
    ),
    ParameterSpec(
        "max_recordings",
        Type.INTEGER,
        "live recordings kept in memory; those of others are forgotten first, then the oldest",
        default=20,
        minimum=1,
        maximum=10000,
    ),
    ParameterSpec(
        "max_memory_mb",
        Type.INTEGER,
        "memory for the samples of live recordings, MB; what is forgotten first makes room",
        default=1024,
        minimum=1,
        maximum=1000000,
    ),
    ParameterSpec(
        "prior",
        Type.STRING,
        "parameter file that the start prior of DIDIM stands for; empty: the one of this package "
        "that is named as the robot",
        default="",
    ),
    GOOD_ENOUGH,
    LIVE_WINDOW,
    MAX_ITERATIONS,
    STREAMING,
    REFRESH_PERIOD,
    STREAMING_SETTLE,
    STREAMING_ESSENTIAL,
)
