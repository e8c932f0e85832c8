"""Plans that move one joint at a time, on disk: plan files that also hold their experiments."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

from robot_identification.excitation.one_joint.plan import OneJointPlan
from robot_identification.storage.atomic import write_text_atomically
from robot_identification.storage.plans import certificate_summary, certified_text

METHOD = "one-joint"


def one_joint_summary(plan: OneJointPlan) -> Mapping[str, object]:
    """Return the plain data of a plan that ``--json`` prints; the keys are stable.

    ``condition_number`` is the worst of the small systems, ``rows`` the number of experiments;
    there is no ``equilibrium``, since no system of the whole robot is solved.
    """
    return {
        "robot": plan.robot,
        "method": METHOD,
        "condition_number": plan.condition_number,
        "equilibrium": None,
        "rows": len(plan.schedule),
        "optimizer": "exchange",
        "blocks": [
            {
                "joint": plan.joint_names[block.joint],
                "parameters": list(block.names),
                "equations": list(block.equations),
                "condition_number": block.condition_number if block.names else None,
            }
            for block in plan.blocks
        ],
        "experiments": experiment_entries(plan),
        "missing_parameters": {one.name: one.reason for one in plan.unidentified},
        "unknown_base_parameters": list(plan.unknown),
        "seed": plan.settings.seed,
        "seconds": plan.seconds,
        **certificate_summary(plan.trajectory, plan.certificate),
    }


def experiment_entries(plan: OneJointPlan) -> list[dict[str, object]]:
    """Return one entry per experiment: when, which joint moves, whose effort tells, equation."""
    names = plan.joint_names
    return [
        {
            "begin": run.begin,
            "end": run.end,
            "moves": names[run.experiment.motion.moving],
            "creeps": names[run.experiment.motion.measured]
            if run.experiment.motion.creeps
            else None,
            "tells": names[run.block],
            "equation": run.experiment.motion.equation,
            "posture": [float(x) for x in run.experiment.posture],
        }
        for run in plan.schedule
    ]


def write_one_joint_plan(path: str | Path, plan: OneJointPlan) -> None:
    """Write a plan; it appears whole or not at all.

    It is read by :func:`~robot_identification.storage.plans.read_plan`.

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
    more = {"method": METHOD, "experiments": experiment_entries(plan)}
    text = certified_text(plan.robot, plan.trajectory, plan.certificate, comment)
    rest = yaml.safe_dump(more, sort_keys=False, default_flow_style=None, width=1000)
    return text + rest
