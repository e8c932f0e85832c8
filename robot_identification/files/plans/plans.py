"""Plans on disk: a trajectory file that carries its certificate and a hash of both.

The file is a trajectory file as others, with more keys.  ``certificate`` lists the checks,
``sha256`` is the hash of robot, trajectory and results; ``limits`` says, for people, which limits
were checked and where each stands; ``model``, ``singular_values_start`` and
``singular_values`` say how well the system is conditioned, before and after the search.  Loading
checks everything but these figures again.

``family`` is ``quintic`` or ``fourier``.  A plan of Fourier series has ``periodic`` as well, with
``base_frequency`` in Hz, ``harmonics``, ``periods``, and ``begins``, the time in s from the start
of the trajectory at which the first whole period begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np
import yaml

from robot_identification.errors import NotCertifiedError, TrajectoryError
from robot_identification.excitation.certification.certificate import Certificate, certify
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.one_joint.plan import METHOD, OneJointPlan
from robot_identification.excitation.plan import SINGULAR_VALUES, SINGULAR_VALUES_START, Plan
from robot_identification.files.atomic import write_text_atomically
from robot_identification.files.plans.periodic import PERIODIC
from robot_identification.files.plans.trajectories import (
    name_text,
    read_trajectory_document,
    trajectory_of,
    trajectory_text,
)
from robot_identification.robot.arrays import Array
from robot_identification.robot.limits import limits_by_joint
from robot_identification.robot.model import RobotModel


def write_plan(path: str | Path, plan: Plan) -> None:
    """Write a plan; it appears whole or not at all.

    Raises:
        OutputError: if the target cannot be written.
    """
    write_text_atomically(path, plan_text(plan))


def plan_text(plan: Plan) -> str:
    """Return what the file of a plan holds."""
    comment = (
        f"Exciting trajectory of {plan.robot} ({plan.settings.model} model, seed "
        f"{plan.settings.points.seed}): condition number {plan.after.condition_number:.4g}, "
        f"{plan.trajectory.duration:.4g} s"
    )
    lines = [f"model: {plan.settings.model}", f"family: {plan.settings.family}"]
    if plan.periodic is not None:
        lines += [PERIODIC + ":", *(f"  {k}: {v!r}" for k, v in asdict(plan.periodic).items())]
    for name, quality in ((SINGULAR_VALUES_START, plan.before), (SINGULAR_VALUES, plan.after)):
        lines.append(f"{name}: [{', '.join(f'{x:.6e}' for x in quality.singular_values)}]")
    text = certified_text(plan.robot, plan.trajectory, plan.certificate, comment)
    return text + "\n".join(lines) + "\n"


def certified_text(
    robot: str, trajectory: Trajectory, certificate: Certificate, comment: str
) -> str:
    """Return a trajectory file that carries its certificate, as text.

    Args:
        robot: name of the robot.
        trajectory: the trajectory.
        certificate: its certificate.
        comment: put before it.
    """
    lines = [trajectory_text(trajectory, comment).rstrip("\n"), f"robot: {name_text(robot)}"]
    lines.append("certificate:")
    lines += [
        f"  {name_text(check.name)}: {str(check.passed).lower()}" for check in certificate.checks
    ]
    lines.append(f'sha256: "{certificate.digest}"')
    if certificate.limits:
        own = {
            joint: {name: [one["value"], one["source"]] for name, one in limits.items()}
            for joint, limits in limits_by_joint(certificate.limits).items()
        }
        told = yaml.safe_dump({"limits": own}, sort_keys=False, default_flow_style=None, width=1000)
        lines.append(told.rstrip("\n"))
    return "\n".join(lines) + "\n"


def read_plan(
    path: str | Path, robot: RobotModel, *, surroundings: Surroundings | None = None
) -> tuple[Trajectory, Certificate]:
    """Read a plan and certify it again, for the robot as it is described now.

    Args:
        path: the file.
        robot: the robot that is to follow it.
        surroundings: what was known when it was planned: prior model and obstacles.

    Returns:
        The trajectory, its joints in the robot's order, and the new certificate, passed.

    Raises:
        RobotDescriptionError: the file cannot be read.
        TrajectoryError: it holds no trajectory, or no certificate.
        NotCertifiedError: trajectory, robot or results are not those that were certified, or a
            check is not passed any more.
        MissingLimitError: the robot lacks a limit.
    """
    document = read_trajectory_document(path)
    trajectory, data = trajectory_of(document), document.data
    digest = data.get("sha256")
    if not isinstance(data.get("certificate"), dict) or not isinstance(digest, str):
        raise TrajectoryError(f"{path}: has no certificate; plan it with excite")
    start = None
    if "start" in data["certificate"] and sorted(trajectory.joint_names) == sorted(
        robot.joint_names
    ):
        start = trajectory.reordered(robot.joint_names).positions[0]
    certificate = certify(robot, trajectory, start=start, surroundings=surroundings)
    certificate.require()
    if certificate.digest != digest:
        raise NotCertifiedError("hash", f"{path}: {_difference(data['certificate'], certificate)}")
    return trajectory.reordered(robot.joint_names), certificate


def _difference(stated: Mapping[str, object], certificate: Certificate) -> str:
    """Return in words why a certificate is not that of a plan, as far as its checks tell."""
    if "effort" in stated and "effort" not in certificate.results:
        return "was certified with the check effort; give the prior that it was planned with"
    if "effort" in certificate.results and "effort" not in stated:
        return "was certified without the check effort; leave the prior out, or plan with it"
    return (
        "trajectory, robot or checks differ from what was certified; state the robot and its "
        "limits as they were, or plan it again"
    )


def read_singular_values(path: str | Path) -> tuple[Array, Array] | None:
    """Return the singular values before and after the search, largest first, as a plan states them.

    Args:
        path: the file.

    Returns:
        Two arrays (columns,); None where the file does not state them.

    Raises:
        RobotDescriptionError: the file cannot be read.
        TrajectoryError: they are not positive numbers.
    """
    data = read_trajectory_document(path).data
    if not isinstance(data, dict) or not {SINGULAR_VALUES_START, SINGULAR_VALUES} <= set(data):
        return None
    try:
        before, after = (
            np.array(data[name], dtype=np.float64)
            for name in (SINGULAR_VALUES_START, SINGULAR_VALUES)
        )
    except (TypeError, ValueError) as error:
        raise TrajectoryError(f"{path}: singular values must be numbers") from error
    if (
        before.ndim != 1
        or before.shape != after.shape
        or not (before >= 0).all() & (after > 0).all()
    ):
        raise TrajectoryError(f"{path}: singular values must be two lists of positive numbers")
    return before, after


def write_one_joint_plan(path: str | Path, plan: OneJointPlan) -> None:
    """Write a plan; it appears whole or not at all.

    It is read by :func:`~robot_identification.files.plans.plans.read_plan`.

    Raises:
        OutputError: if the target cannot be written.
    """
    write_text_atomically(path, one_joint_plan_text(plan))


def one_joint_plan_text(plan: OneJointPlan) -> str:
    """Return what the file of such a plan holds."""
    comment = (
        f"One joint at a time for {plan.robot} (seed {plan.settings.seed}): "
        f"{len(plan.schedule)} experiments, {plan.trajectory.duration:.4g} s"
    )
    more = {"method": METHOD, "experiments": plan.records()}
    text = certified_text(plan.robot, plan.trajectory, plan.certificate, comment)
    rest = yaml.safe_dump(more, sort_keys=False, default_flow_style=None, width=1000)
    return text + rest
