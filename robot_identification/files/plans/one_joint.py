"""Plans that move one joint at a time, on disk: plan files that also hold their experiments."""

from __future__ import annotations

from pathlib import Path

import yaml

from robot_identification.excitation.one_joint.plan import METHOD, OneJointPlan
from robot_identification.files.atomic import write_text_atomically
from robot_identification.files.plans.plans import certified_text


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
