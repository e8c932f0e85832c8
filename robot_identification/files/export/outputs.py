"""The files that can be written from a robot and its parameters, by kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from xml.sax.saxutils import quoteattr

import numpy.typing as npt

from robot_identification.files.atomic import check_targets, refuse_inputs, write_files_atomically
from robot_identification.files.export.bodies import (
    LinkBody,
    Mechanism,
    mechanism_of,
)
from robot_identification.files.export.controller import controller_yaml
from robot_identification.files.export.friction import plain_friction
from robot_identification.files.export.text import Data, comment, number, yaml_text
from robot_identification.files.export.urdf import describe, urdf_file, urdf_remarks
from robot_identification.files.export.xacro import xacro_text
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.joint_terms import JointTerm


def armature_yaml(mechanism: Mechanism) -> str:
    """Return a table of joint terms by joint name, in joint order; ``armature`` is Pinocchio's."""
    joints, terms = mechanism.joints, mechanism.robot.layout.terms
    names: Data = [joint.joint for joint in joints]
    values: dict[str, Data] = {
        term.short: {joint.joint: joint.terms[term.name] for joint in joints} for term in terms
    }
    heading = [f"{term.short}: {term.meaning}, {' or '.join(term.units)}." for term in terms]
    return yaml_text({"joints": names, **values}, heading=heading)


_ROOT = "main"  # MuJoCo's class of defaults for everything


def mjcf_text(mechanism: Mechanism) -> str:
    """Return an MJCF file with one default class per joint: armature, damping and frictionloss.

    A model includes it and names the class of each of its joints.  The classes are called after
    the joints; a joint with the name of the class for everything has one of another name, which a
    comment tells.  Of friction laws stands the nearest damping and frictionloss, with a comment
    that says how near.  Other joint terms that MuJoCo does not know, and couplings, are left out.
    """
    known = [term for term in mechanism.robot.layout.terms if term.mujoco]
    names = [joint.joint for joint in mechanism.joints]
    free = next(name for i in range(1, len(names) + 2) if (name := _ROOT + i * "_") not in names)
    classes = [free if name == _ROOT else name for name in names]
    lines = [
        *(comment(joint.remark) for joint in mechanism.joints if joint.remark),
        *([comment(f"the class of the joint {_ROOT} is {free}")] if free in classes else ()),
        f"<mujoco model={quoteattr(mechanism.robot.name)}>",
        "  <default>",
        *(
            line
            for joint, name in zip(mechanism.joints, classes, strict=True)
            for line in _class(joint, name, known)
        ),
        "  </default>",
        "</mujoco>",
        "",
    ]
    return "\n".join(lines)


def _class(joint: LinkBody, name: str, known: Iterable[JointTerm]) -> tuple[str, ...]:
    written = " ".join(f'{term.mujoco}="{number(joint.plain_terms[term.name])}"' for term in known)
    return (
        f"    <default class={quoteattr(name)}>",
        f"      <joint {written}/>",
        "    </default>",
    )


URDF, XACRO = "urdf", "xacro"
BESIDE: Mapping[str, Callable[[Mechanism], str]] = MappingProxyType(
    {
        XACRO: xacro_text,
        "mujoco": mjcf_text,
        "controller": controller_yaml,
        "armature": armature_yaml,
    }
)
KINDS = (URDF, *BESIDE)
PLAIN = frozenset((URDF, XACRO, "mujoco"))
"""Kinds that know Coulomb and viscous friction only."""


def write_outputs(
    targets: Mapping[str, str | Path],
    robot: RobotModel,
    values: npt.ArrayLike,
    *,
    original: str | Path | None = None,
    keep: Iterable[str | Path] = (),
    beside: Sequence[tuple[str | Path, bytes]] = (),
) -> tuple[str, ...]:
    """Write files of several kinds and return remarks about URDF, xacro and friction of others.

    All of them appear, or none.

    Args:
        targets: kind (one of ``KINDS``) -> file.
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
        original: file of a URDF of the robot; the written URDF keeps everything of it but
            inertials and friction, and the other files use its link frames.
        keep: other files that must not be written over, such as the robot file.
        beside: further files and what they hold, which appear together with these.

    Raises:
        OutputError: a target cannot be written, stands twice, or is a file that was read.
        RobotDescriptionError: the original is wrong or of another robot.
        ShapeError: the number of values differs.
        SampleError: a value is NaN or infinite.
        InconsistentParametersError: a link or a friction cannot exist.
    """
    paths = [*targets.values(), *(path for path, _ in beside)]
    check_targets(paths)
    for path in paths:
        refuse_inputs(path, [*keep, *([] if original is None else [original])])
    description = None if original is None or not targets else describe(original, robot)
    mechanisms = {
        kind: mechanism_of(robot, values, description, apart=kind == XACRO)
        for kind in targets
        if kind != URDF
    }
    contents = [*_contents(targets, robot, values, original, mechanisms), *beside]
    remarks = urdf_remarks(robot, values, original) if URDF in targets else ()
    if URDF not in targets and PLAIN & set(targets):
        found = plain_friction(robot, values)
        remarks = tuple(plain.remark for plain in found if plain is not None)
    if XACRO in targets:
        bodies = mechanisms[XACRO].joints
        remarks += tuple(joint.lumped_remark for joint in bodies if joint.lumped)
    write_files_atomically(contents)
    return remarks


def _contents(
    targets: Mapping[str, str | Path],
    robot: RobotModel,
    values: npt.ArrayLike,
    original: str | Path | None,
    mechanisms: Mapping[str, Mechanism],
) -> Iterator[tuple[str | Path, bytes]]:
    """Yield each file with what it is to hold."""
    for kind, path in targets.items():
        if kind == URDF:
            yield path, urdf_file(robot, values, original)
        else:
            yield path, BESIDE[kind](mechanisms[kind]).encode("utf-8")
