"""Signal processing of the recordings of a result, so that others are processed alike."""

from __future__ import annotations

from collections.abc import Mapping

from robot_identification.identification.estimators.choice import method_of
from robot_identification.identification.periodic.settings import PERIODS
from robot_identification.identification.result import IdentificationResult
from robot_identification.robot.processing import ProcessingSettings

# Numbers of samples, which are others at another sampling rate: derived again from the cut-off.
_SAMPLES = frozenset(("drop_start", "drop_end"))
# All others of an average over periods are those of its rows alone.
_PERIODIC = frozenset(("velocity_threshold",))
# All others of DIDIM are those of a simulation, whose positions need no filter.
_DIDIM = frozenset(("rate_hz",))


def settings_of(result: IdentificationResult) -> ProcessingSettings:
    """Return the settings of the signal processing that a result was identified with.

    Left open is what followed from the sampling rate of its recordings.

    Args:
        result: the result.
    """
    wanted = frozenset(result.settings) if method_of(result.method).measured_motion else _DIDIM
    if PERIODS in result.settings:
        wanted = _PERIODIC
    return ProcessingSettings.of(
        {
            name: entry["value"]
            for name, entry in result.settings.items()
            if name in wanted and not (name in _SAMPLES and _is_derived(entry))
        }
    )


def _is_derived(entry: Mapping[str, object]) -> bool:
    return str(entry["reason"]).startswith("derived")
