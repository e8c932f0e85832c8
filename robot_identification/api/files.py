"""Results as files: one function for each kind."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import singledispatch
from pathlib import Path
from typing import Any, Literal, get_args

from robot_identification.api.calibration import export
from robot_identification.api.payload import IdentifiedDriveGains, IdentifiedPayload
from robot_identification.calibration.calibrated import CalibratedParameters
from robot_identification.errors import SettingError
from robot_identification.excitation.one_joint.plan import OneJointPlan
from robot_identification.excitation.plan import Plan
from robot_identification.excitation.simulated_recording import SimulatedRecording
from robot_identification.files.atomic import write_text_atomically
from robot_identification.files.bags.libraries.interface import Storage
from robot_identification.files.bags.trajectories import SentTrajectory
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.files.payloads import write_drive_gains, write_payload
from robot_identification.files.plans.plans import write_one_joint_plan, write_plan
from robot_identification.files.results import write_result
from robot_identification.identification.result import IdentificationResult
from robot_identification.presentation import Stored, plain

Told = Literal["trajectory", "samples", "both"]


@singledispatch
def save(result: Stored, path: str | Path) -> None:
    """Write a result to a file; of those without a format of their own, the summary as JSON.

    Args:
        result: what is written.
        path: the file; it appears whole or not at all.

    Raises:
        OutputError: it cannot be written.
    """
    text = json.dumps(plain(result.summary()), indent=2, allow_nan=False)
    write_text_atomically(path, text + "\n")


@save.register
def _(result: IdentificationResult, path: str | Path) -> None:
    write_result(path, result)


@save.register
def _(result: CalibratedParameters, path: str | Path, **more: Any) -> None:
    """Write the parameter file, and others beside it that :func:`~.calibration.export` knows."""
    export(result.description, result, parameter_file=path, **more)


@save.register
def _(result: IdentifiedPayload, path: str | Path) -> None:
    write_payload(path, result.result, result.consistent)


@save.register
def _(result: IdentifiedDriveGains, path: str | Path) -> None:
    write_drive_gains(path, result.result)


@save.register
def _(result: Plan, path: str | Path) -> None:
    write_plan(path, result)


@save.register
def _(result: OneJointPlan, path: str | Path) -> None:
    write_one_joint_plan(path, result)


@save.register
def _(
    result: SimulatedRecording,
    path: str | Path,
    *,
    reference: Told = "trajectory",
    storage: Storage = "mcap",
) -> None:
    """Write a bag.

    Args:
        result: the recording.
        path: the folder to be made.
        reference: what the bag tells of the reference: the message on /joint_trajectory, its
            samples on /joint_reference, or both.
        storage: ``mcap`` or ``sqlite3``.
    """
    if reference not in ("trajectory", "samples", "both"):
        raise SettingError("reference", reference, "choose trajectory, samples or both")
    if storage not in get_args(Storage):
        raise SettingError("storage", storage, f"choose {' or '.join(get_args(Storage))}")
    samples, sent = result.samples, None
    if reference == "trajectory":
        samples = replace(samples, reference=None)
    if reference != "samples":
        sent = SentTrajectory(int(samples.stamps[0]), result.trajectory)
    names = result.description.active_names
    write_joint_states(path, names, samples, trajectory=sent, storage=storage)
