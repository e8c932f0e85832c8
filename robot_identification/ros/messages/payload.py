"""Payloads and drive gains as messages."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from geometry_msgs.msg import Inertia, Vector3

from robot_identification.calibration.payload_body import ConsistentPayload
from robot_identification.identification.payload.body import BodyEstimate
from robot_identification.identification.payload.calibrate_drives import DriveGainResult
from robot_identification.identification.payload.identify import PayloadResult
from robot_identification.msg import PayloadBody
from robot_identification.robot.arrays import Array
from robot_identification.robot.bodies import Body
from robot_identification.ros.messages.common import floats
from robot_identification.ros.messages.results import setting_messages


def body_message(
    frame: str,
    joint: str,
    estimate: BodyEstimate,
    standard: Array,
    covariance: Array,
    consistent: Body | None,
) -> PayloadBody:
    """Return an estimated payload as a message.

    Args:
        frame: that it is described in.
        joint: that moves it.
        estimate: mass, centre of mass and inertia about it.
        standard: (10,) standard parameters.
        covariance: (10, 10) of these.
        consistent: the nearest physically consistent body; None where there is none.
    """
    return PayloadBody(
        frame=frame,
        joint=joint,
        inertia=inertia_message(consistent),
        values=floats(estimate.values),
        std=floats(estimate.std),
        lower=floats(estimate.lower),
        upper=floats(estimate.upper),
        standard=floats(standard),
        covariance=floats(covariance.ravel()),
    )


def inertia_message(body: Body | None) -> Inertia:
    """Return mass, centre of mass and inertia about it; NaN where there is no body."""
    if body is None:
        nowhere = Vector3(x=math.nan, y=math.nan, z=math.nan)
        moments = [math.nan] * 6
        mass = math.nan
    else:
        x, y, z = map(float, body.centre)
        nowhere = Vector3(x=x, y=y, z=z)
        moments = [float(value) for value in body.inertia[np.triu_indices(3)]]
        mass = float(body.mass)
    ixx, ixy, ixz, iyy, iyz, izz = moments
    return Inertia(m=mass, com=nowhere, ixx=ixx, ixy=ixy, ixz=ixz, iyy=iyy, iyz=iyz, izz=izz)


def fill_payload(
    response: Any, result: PayloadResult, consistent: ConsistentPayload | None
) -> None:
    """Fill the response of IdentifyPayload.

    Args:
        response: what to fill.
        result: the payload as identified.
        consistent: the nearest physically consistent body; None where there is none.
    """
    estimate, mounting = result.estimate, result.mounting
    response.payload = body_message(
        mounting.frame,
        result.joint_names[mounting.joint],
        estimate.body,
        estimate.values,
        estimate.covariance,
        None if consistent is None else consistent.body,
    )
    response.consistent = consistent is not None
    response.distance = math.nan if consistent is None else consistent.distance
    response.rank = estimate.rank
    response.condition_number = estimate.condition_number
    response.joint_names = list(result.joint_names)
    response.residual_std = floats(estimate.residual_std)
    response.error_bare = floats(estimate.error_bare)
    response.error_loaded = floats(estimate.error_loaded)
    response.error_without = floats(estimate.error_without)
    response.rows_bare, response.rows_loaded = estimate.rows
    _fill_provenance(response, result)


def fill_gains(response: Any, result: DriveGainResult) -> None:
    """Fill the response of IdentifyDriveGains."""
    estimate = result.estimate
    response.frame = result.mounting.frame
    response.joint = result.joint_names[result.mounting.joint]
    response.joint_names = list(result.joint_names)
    response.factor, response.std = floats(estimate.factors), floats(estimate.std)
    response.lower, response.upper = map(floats, result.interval)
    response.believed, response.drive_gain = floats(result.believed), floats(result.gains)
    response.parameter_names = list(result.base_names)
    response.parameter_values = floats(estimate.parameters)
    response.parameter_std = floats(estimate.parameter_std)
    response.condition_number = estimate.condition_number
    response.residual_std = floats(estimate.residual_std)
    response.relative_error = floats(estimate.relative_error)
    response.rows, response.iterations = estimate.rows, estimate.iterations
    _fill_provenance(response, result)


def _fill_provenance(response: Any, result: PayloadResult | DriveGainResult) -> None:
    response.settings = setting_messages(result.settings)
    response.seconds = result.seconds
    response.warnings = list(result.warnings)
