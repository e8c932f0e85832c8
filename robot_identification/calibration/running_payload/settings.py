"""Settings of the running estimate of a payload."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.dynamics.external_efforts.settings import ExternalEffortSettings
from robot_identification.settings import Settings, same, setting


@dataclass(frozen=True)
class RunningPayloadSettings(Settings):
    """Settings of the running estimate of a payload, and of the changes that it tells."""

    learning_time: float = setting(
        "of motion of the bare robot from which its residual is learned",
        60.0,
        minimum=10.0,
        maximum=300.0,
        unit="s",
    )
    false_changes: float = setting(
        "false changes of the payload that are accepted in an hour of motion",
        0.01,
        above=0.0,
        maximum=3600.0,
    )
    memory: float = setting(
        "motion that the estimate of a payload rests on; older one fades",
        60.0,
        minimum=1.0,
        maximum=36000.0,
        unit="s",
    )
    friction_memory: float = setting(
        "time constant with which changes of friction are followed, as joints warm up",
        5.0,
        minimum=1.0,
        maximum=36000.0,
        unit="s",
    )
    parameter_memory: float = setting(
        "motion that corrections of the calibrated parameters rest on, beside the calibration",
        600.0,
        minimum=10.0,
        maximum=360000.0,
        unit="s",
    )
    doubt: float = setting(
        "share by which the efforts of a joint for the payload may be others than those of the "
        "model, by drive gains and uneven gears; smaller changes are not looked for",
        0.02,
        minimum=0.0,
        maximum=1.0,
    )
    load_friction: float = setting(
        "deviation of the share of the payload's efforts by which friction of a joint grows, "
        "before anything is known of it",
        0.05,
        minimum=0.0,
        maximum=1.0,
    )
    effort_delay: float = setting(
        "deviation of the time by which the payload's efforts of a joint are late, before anything "
        "is known of it",
        0.005,
        minimum=0.0,
        maximum=0.1,
        unit="s",
    )
    largest_mass: float = setting(
        "deviation of masses before anything is known: payloads are about as heavy, or lighter",
        10.0,
        above=0.0,
        maximum=10000.0,
        unit="kg",
    )
    reach: float = setting(
        "deviation of the centre of mass from the frame before anything is known, on each axis",
        0.3,
        above=0.0,
        maximum=10.0,
        unit="m",
    )
    gyration: float = setting(
        "usual radius of gyration: moments of inertia about the centre of mass are taken for the "
        "mass times its square, and as much more or less",
        0.07,
        above=0.0,
        maximum=10.0,
        unit="m",
    )
    least_mass: float = setting(
        "of a payload: where the interval of the mass lies below it, there is none",
        0.1,
        above=0.0,
        maximum=1000.0,
        unit="kg",
    )
    stick_speed: tuple[float, ...] = same(ExternalEffortSettings, "stick_speed")

    @property
    def unevenness(self) -> float:
        """Standard deviation of the error of a row's effort for the payload, as a share of it.

        A quarter of the doubt, which is the most that is expected.
        """
        return self.doubt / 4.0
