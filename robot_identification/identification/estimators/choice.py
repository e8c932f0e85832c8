"""The methods of identification, by name, and how one of them is applied to rows.

What commands, services, reports and result files know of a method they read here.  Another
estimator is a class of its own (:mod:`.estimators.estimator`) and a line in :data:`ESTIMATORS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from robot_identification.errors import SettingError
from robot_identification.identification.estimators.energy import ENERGY
from robot_identification.identification.estimators.estimator import Choice, Estimator, Fit, Method
from robot_identification.identification.estimators.stacked import OLS, WLS, Huber, LeastSquares
from robot_identification.identification.estimators.weighting import Weighting
from robot_identification.identification.one_joint.base_estimate import ONE_JOINT
from robot_identification.identification.rows.source import RowSource, without_samples
from robot_identification.identification.rows.whole_rows import samples_behind
from robot_identification.identification.statistics.joint_noise import (
    refuse_absurd_samples,
    refuse_silent_joints,
)

ESTIMATORS: Mapping[str, Estimator] = {e.name: e for e in (OLS, WLS, ENERGY, ONE_JOINT)}
"""Methods that estimate from rows, by name."""
DIDIM = Method(
    name="didim",
    title="DIDIM",
    help="closed-loop simulation in place of the measured motion, from efforts and references",
    measured_motion=False,
)
METHODS: Mapping[str, Method] = {**ESTIMATORS, DIDIM.name: DIDIM}
"""All methods, by name."""
DEFAULT = WLS.name
"""The method where none is named."""
STACKED: tuple[str, ...] = tuple(name for name, e in ESTIMATORS.items() if e.stacked)
"""Methods that solve the rows of all joints at once."""


def method_of(name: str) -> Method:
    """Return what a method says of itself; little for one that only another version knows."""
    return METHODS.get(name) or Method(name, title=name, help="", measured_motion=False)


def estimator_of(choice: Choice) -> Estimator:
    """Return the estimator that a choice asks for.

    Raises:
        SettingError: there is none of that name, or it cannot do what is asked for.
    """
    estimator = ESTIMATORS.get(choice.method)
    if estimator is None:
        raise SettingError("method", choice.method, f"choose one of {', '.join(ESTIMATORS)}")
    estimator.check(choice)
    if choice.robust is not None and isinstance(estimator, LeastSquares):
        return Huber.of(estimator, choice.robust)
    return estimator


def refuse_without_samples(choice: Choice) -> None:
    """Refuse a choice that goes over the samples, or cannot be at all, before rows are made.

    Raises:
        SettingError: it does.
    """
    estimator = estimator_of(choice)
    if estimator.needs_samples:
        raise without_samples(estimator.title)


def fit(choice: Choice, source: RowSource) -> Fit:
    """Estimate base parameters from rows.

    Args:
        choice: how to estimate; its weights are one per bag, or none.
        source: where the rows come from.

    Raises:
        NotExcitedError: the rows do not determine every base parameter.
        RecordingError: the recordings are of no use; NoEffortError where nobody measured efforts.
        AbsurdSamplesError: samples are so large that numbers overflow.
        SettingError: a setting is not possible.
        CancelledError: the caller of the source wants to stop.
    """
    estimator = estimator_of(choice)
    if estimator.needs_samples:
        samples_behind(source, estimator.title)
    if len(source.bags) == 1:
        choice = replace(choice, weighting=Weighting())
    measured = source.rows(estimator.bands(choice, source))
    bags = measured.factors if source.scheme == "bags" else [measured.merged()]
    refuse_silent_joints(bags, source.bags)
    refuse_absurd_samples(bags, source.bags)
    return estimator.fit(choice, source, measured)
