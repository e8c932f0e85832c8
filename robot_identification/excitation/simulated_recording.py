"""A recording of a simulated robot: closed loop, sensors, and stamps."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.dynamics.simulation.sensors import Sensors, SensorSettings
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.presentation import Stored, sample_records
from robot_identification.robot.drives import as_recorded, from_joint_side
from robot_identification.robot.model import RobotModel
from robot_identification.settings import Settings, per_joint, same, setting
from robot_identification.signals.conditioning import joint_side_recording
from robot_identification.signals.raw_samples import RawSamples
from robot_identification.signals.recording import Recording

START_STAMP = 1_000_000_000
FASTEST_DEFAULT_RATE = 1000.0
_NANOSECONDS = 1e9
_PER_JOINT = "{}; one or one per joint"


@dataclass(frozen=True)
class SimulationSettings(Settings):
    """Settings of a simulated recording."""

    # That of the robot file's experiment, else that of the controller, divided so that it is at
    # most 1 kHz.
    rate_hz: float | None = setting(
        "rate of the joint states", above=0.0, unit="Hz", option="--rate", metavar="HZ"
    )
    duration: float | None = setting(
        "simulated time; default: the trajectory's", above=0.0, unit="s", metavar="S"
    )
    controller_rate_hz: float | None = setting(
        "rate of the controller; default: as the robot file says",
        above=0.0,
        unit="Hz",
        option="--controller-rate",
        metavar="HZ",
    )
    position_noise: tuple[float, ...] = same(
        SensorSettings,
        "position_noise",
        help=_PER_JOINT,
        option="--noise-position",
        metavar="S[,S...]",
    )
    effort_noise: tuple[float, ...] = same(
        SensorSettings, "effort_noise", help=_PER_JOINT, option="--noise-effort", metavar="S[,S...]"
    )
    seed: int = setting("seed of the noise", 0, minimum=0, metavar="N")
    # What is recorded is made with those of the robot file.
    drive_gain_factors: tuple[float, ...] = setting(
        "true drive gains as multiples of those in the robot file, one or one per joint",
        (1.0,),
        above=0.0,
        metavar="F[,F...]",
    )


@dataclass(frozen=True, repr=False)
class SimulatedRecording(Stored):
    """A simulated recording and how it came about.

    Attributes:
        samples: what the robot file says is recorded, with the reference beside it.
        trajectory: what the robot followed, in the order of its joints.
        rate_hz: rate of the samples.
        duration: simulated time in s.
        tracking_error: largest distance from the reference, (joints,) in rad or m.
        seed: seed of the noise.
        description: the robot.
    """

    samples: RawSamples
    trajectory: Trajectory
    rate_hz: float
    duration: float
    tracking_error: tuple[float, ...]
    seed: int
    description: RobotModel = field(compare=False)

    @property
    def headline(self) -> str:
        """Robot, number of samples, duration and rate, in one line."""
        return (
            f"{self.description.name}: {len(self.samples.stamps)} samples, {self.duration:.4g} s "
            f"at {self.rate_hz:g} Hz"
        )

    def records(self) -> list[dict[str, object]]:
        """Return one row per sample, as recorded."""
        samples = self.samples
        signals = {name: getattr(samples, name) for name in ("position", "velocity", "effort")}
        time = (samples.stamps - samples.stamps[0]) / _NANOSECONDS
        return sample_records(time, self.description.active_names, signals)

    def summary(self) -> dict[str, object]:
        """Return the plain data of the recording that ``--json`` prints; the keys are stable."""
        names = self.description.active_names
        return {
            "robot": self.description.name,
            "samples": len(self.samples.stamps),
            "rate_hz": self.rate_hz,
            "duration": self.duration,
            "seed": self.seed,
            "tracking_error": dict(zip(names, self.tracking_error, strict=True)),
        }

    def recording(self) -> Recording:
        """Return it on the joint side and on one clock, to identify from.

        Raises:
            RecordingError: it is too short.
        """
        return joint_side_recording(
            self.samples, self.description, source=self.headline, digest=self.samples.digest()
        )


def simulated_recording(
    robot: RobotModel,
    values: npt.ArrayLike,
    trajectory: Trajectory,
    settings: SimulationSettings | None = None,
) -> SimulatedRecording:
    """Simulate a robot that follows a trajectory, and what its sensors record of it.

    The robot holds the first point until it has come to rest; the recording begins when the
    trajectory does, with the stamp ``START_STAMP``.  After its end the robot holds the last point.
    Efforts of the points are added to those of the controller.

    Args:
        robot: the robot, with its controller.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
        trajectory: what to follow, joints in any order.
        settings: how.

    Raises:
        SettingError: if a setting is wrong, or the robot lacks a controller or says not what
            efforts mean.
        TrajectoryError: if the trajectory moves other joints.
        SimulationError: if the motion breaks down.
    """
    given = SimulationSettings() if settings is None else settings
    ordered = trajectory.reordered(robot.active_names)
    sensors = Sensors(robot, _sensor_settings(robot, given), given.seed)
    rate_hz = given.rate_hz or _default_rate(robot, given)
    duration = given.duration or float(ordered.times[-1])
    loop = ClosedLoop(robot, values, rate_hz=given.controller_rate_hz, sample_rate_hz=rate_hz)
    samples = loop.run(ordered.reference, duration, efforts=ordered.sample_efforts)
    measured = sensors.measure(samples)
    factors = per_joint("drive_gain_factors", given.drive_gain_factors, len(robot.active_joints))
    wanted = ordered.sample(samples.time)[0]
    raw = RawSamples(
        stamps=START_STAMP + np.rint(samples.time * _NANOSECONDS).astype(np.int64),
        position=measured.position,
        velocity=measured.velocity,
        effort=as_recorded(robot, measured.effort, factors),
        reference=from_joint_side(robot, wanted, None, None).position,
    )
    error = np.abs(samples.position - wanted).max(axis=0)
    distances = tuple(float(x) for x in error)
    return SimulatedRecording(raw, ordered, rate_hz, duration, distances, given.seed, robot)


def _default_rate(robot: RobotModel, settings: SimulationSettings) -> float:
    """Return the rate of the samples where nobody states one."""
    if robot.experiment is not None:
        return robot.experiment.rate_hz
    declared = FASTEST_DEFAULT_RATE if robot.controller is None else robot.controller.rate_hz
    rate = settings.controller_rate_hz or declared
    return rate / max(1, math.ceil(rate / FASTEST_DEFAULT_RATE - 1e-9))


def _sensor_settings(robot: RobotModel, settings: SimulationSettings) -> SensorSettings:
    joints = len(robot.active_joints)
    none = (0.0,) * joints
    return SensorSettings(
        position_noise=per_joint("position_noise", settings.position_noise, joints),
        effort_noise=per_joint("effort_noise", settings.effort_noise, joints),
        position_resolution=none,
        effort_resolution=none,
    )
