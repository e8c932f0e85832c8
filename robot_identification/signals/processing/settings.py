"""Settings of the signal processing: by option, else as in a result, a robot file, or from data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from robot_identification.errors import RecordingError, SettingError
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import EndTreatment, ProcessingSettings
from robot_identification.setting_kinds import Setting
from robot_identification.signals.filters import filtering
from robot_identification.signals.joint_columns import refuse_other_joints
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.processing.derived import (
    NYQUIST_SHARE,
    DataProperties,
    Derived,
)
from robot_identification.signals.recording import Recording

RESULT = "result"
"""Who states a setting that parameters were identified with."""

_STREAMED = "counts from the first sample"
# Settings that are chosen for a filter, and those that say which filter that is: how far end
# effects reach, and how much of a standstill a row holds.  With another filter they are void.
_CHOSEN_FOR: Mapping[str, tuple[str, ...]] = {
    "ends": ("cutoff_hz", "rate_hz"),
    "drop_start": ("cutoff_hz",),
    "drop_end": ("cutoff_hz",),
    "velocity_threshold_window": ("cutoff_hz", "rate_hz"),
}


def resolve_processing(
    robot: RobotModel,
    recordings: Sequence[Recording],
    options: ProcessingSettings | None = None,
    *,
    identified: ProcessingSettings | None = None,
) -> Processing:
    """Return complete settings for recordings of a robot.

    What neither an option nor a result nor the robot file states is derived from the data by
    :class:`~robot_identification.signals.processing.derived.DataProperties`.  So is what one of
    them has chosen for its own cut-off or rate, where another one goes before these: rows that the
    end effects of one filter spare are spoilt by those of a slower one.

    Args:
        robot: its file may recommend some settings.
        recordings: what is to be processed, at least one.
        options: what the caller states; it goes before everything else.
        identified: what the parameters were identified with that the recordings are compared
            with; it goes before the robot file.

    Raises:
        SettingError: a value is impossible, or does not suit the sampling rate.
        RecordingError: there is no recording.
        JointNameError: a recording has other joints than the robot.
    """
    if not recordings:
        raise RecordingError("no recording was given")
    refuse_other_joints(robot, recordings)
    data = DataProperties(recordings)
    chosen = _Chosen(
        {
            "option": options or ProcessingSettings(),
            RESULT: identified or ProcessingSettings(),
            "robot file": robot.processing,
        }
    )
    for name, setting in ProcessingSettings.table().items():
        if setting.usual is not None:
            chosen.take(name, partial(usual, setting))
    order, differences = chosen.values["filter_order"], chosen.values["difference_order"]
    chosen.take("cutoff_hz", lambda: data.cutoff(chosen.stated("rate_hz")))
    cutoff = chosen.bound_cutoff(data)
    filtering.butterworth(cutoff, order, data.longest_period)
    rate = chosen.take("rate_hz", lambda: data.rate(cutoff))
    chosen.warnings += data.rate_warnings(cutoff, order, rate)
    row_noise: tuple[float, ...] = ()
    if chosen.values["velocities"] == "derived":  # measured ones have a noise of their own
        row_noise = tuple(data.row_noise(cutoff, rate).tolist())
        if not chosen.reasons["cutoff_hz"].startswith("derived"):
            chosen.warnings += data.row_noise_warnings(cutoff, rate)
    joints = len(robot.active_joints)
    thresholds = chosen.take("velocity_threshold", lambda: data.thresholds(cutoff, order))
    chosen.values["velocity_threshold"] = per_joint(thresholds, joints)
    for name in ("drop_start", "drop_end"):
        chosen.take(name, lambda: _drop(data, chosen.values["ends"], cutoff, order, differences))
    return Processing(
        **chosen.values,
        reasons=chosen.reasons,
        warnings=tuple(dict.fromkeys(chosen.warnings)),
        row_noise=row_noise,
    )


def streamed(processing: Processing) -> Processing:
    """Return settings as a stream follows them: it counts from the first sample, whoever pins."""
    if processing.decimation_pins == "first":
        return processing
    who = processing.reasons.get("decimation_pins", "option")
    reason = f"{_STREAMED}, whatever the {who} pins: the end of a stream is not known"
    reasons = {**processing.reasons, "decimation_pins": reason}
    return replace(processing, decimation_pins="first", reasons=reasons)


def processing_warnings(processing: Processing) -> tuple[str, ...]:
    """Return a line for all that is doubtful, or that a stream did not follow (`streamed`)."""
    reason = processing.reasons.get("decimation_pins", "")
    unlike = (f"decimation {reason}",) if reason.startswith(_STREAMED) else ()
    return (*processing.warnings, *unlike)


def different_settings(
    identified: ProcessingSettings, used: Processing
) -> dict[str, dict[str, object]]:
    """Return the settings by which recordings are not processed as those of a result were.

    Args:
        identified: what the result states; nothing is said of what it leaves open.
        used: how the recordings are processed.

    Returns:
        Name -> ``identified`` and ``used``, the two values, and ``reason``, where the second one
        is from; plain data.
    """
    joints = len(used.velocity_threshold)
    found: dict[str, dict[str, object]] = {}
    for name, entry in used.entries().items():
        stated = getattr(identified, name)
        if stated is not None and name == "velocity_threshold":
            stated = list(per_joint(stated, joints))
        if stated is not None and stated != entry["value"]:
            found[name] = {
                "identified": stated, "used": entry["value"], "reason": entry["reason"],
            }  # fmt: skip
    return found


class _Chosen:
    """Values of settings and the reasons for them, as they are decided one by one.

    Args:
        stated: who states settings -> these; the first one counts.
    """

    def __init__(self, stated: Mapping[str, ProcessingSettings]) -> None:
        self._layers = stated
        self.values: dict[str, Any] = {}
        self.reasons: dict[str, str] = {}
        self.warnings: list[str] = []

    def take(self, name: str, derive: Callable[[], Derived]) -> Any:
        """Decide a setting: what is stated, or else what is derived."""
        void = ""
        for who, settings in self._layers.items():
            if (value := getattr(settings, name)) is None:
                continue
            if other := self._replaced(name, settings):
                void += f"; not {value}, which the {who} says for {other}"
                continue
            self.values[name], self.reasons[name] = value, who
            return value
        self.values[name], reason, warnings = derive()
        self.reasons[name] = reason + void
        self.warnings += warnings
        return self.values[name]

    def stated(self, name: str) -> Any:
        """Return what is stated of a setting by the first who does; None where nobody does."""
        values = (getattr(settings, name) for settings in self._layers.values())
        return next((value for value in values if value is not None), None)

    def bound_cutoff(self, data: DataProperties) -> float:
        """Lower the cut-off of a result where the recordings come at a lower rate than its own."""
        value, limit = float(self.values["cutoff_hz"]), data.largest_cutoff
        if self.reasons["cutoff_hz"] == RESULT and value > limit:
            self.reasons["cutoff_hz"] = f"{RESULT}: {value:.4g} Hz, {data.about_limit()}"
            self.values["cutoff_hz"] = limit
            self.warnings.append(
                f"the parameters were identified with a cut-off of {value:.4g} Hz, and these "
                f"recordings allow no more than {limit:.4g} Hz, {NYQUIST_SHARE:g} of half their "
                "sampling rate"
            )
        return float(self.values["cutoff_hz"])

    def _replaced(self, name: str, settings: ProcessingSettings) -> str:
        """Return for which filter settings say something, where another filter is taken."""
        for filter_name in _CHOSEN_FOR.get(name, ()):
            own = getattr(settings, filter_name)
            if own is not None and own != self.stated(filter_name):
                return f"its own {filter_name} of {own:g}"
        return ""


def usual(setting: Setting) -> Derived:
    """Return what a setting is where nothing is said or derived, and why."""
    reason = f": {setting.reason}" if setting.reason else ""
    return Derived(setting.usual, f"default{reason}")


def _drop(
    data: DataProperties, ends: EndTreatment, cutoff: float, order: int, differences: int
) -> Derived:
    if ends == "keep":
        return Derived(0, "derived: ends are kept")
    return data.drop(cutoff, order, differences)


def per_joint(thresholds: Sequence[float], joints: int) -> tuple[float, ...]:
    """Return one velocity threshold per joint, from none, one for all, or one for each.

    Raises:
        SettingError: there is another number of them.
    """
    if len(thresholds) == joints:
        return tuple(float(threshold) for threshold in thresholds)
    if len(thresholds) <= 1:
        return (float(thresholds[0]) if thresholds else 0.0,) * joints
    raise SettingError(
        "velocity_threshold",
        ", ".join(f"{threshold:g}" for threshold in thresholds),
        f"{len(thresholds)} values for {joints} joints; give one per joint, or one for all",
    )
