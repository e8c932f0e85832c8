"""The parsers that are fuzzed: their inputs, how they are damaged, and what must hold if read.

Each parser takes a damaged file.  Nothing but a RobotIdentificationError may come out of it, and
what is read must be a robot, a trajectory, and so on, with the numbers that stand in the file.
"""

import random
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import yaml

from made_up_plans import random_plan
from made_up_results import made_up_result
from mutations import damaged_bytes, damaged_message, damaged_xml, damaged_yaml
from robot_identification.errors import BagError
from robot_identification.excitation import trajectory as trajectories
from robot_identification.excitation.certificate import certify
from robot_identification.robot import (
    document,
    joint_limits,
    loading,
    schema,
    urdf,
    urdf_elements,
    urdf_prior,
    values,
    xml_document,
    yaml_format,
    yaml_sections,
)
from robot_identification.robot.kinematics import forward_kinematics
from robot_identification.robot.loading import load_robot
from robot_identification.storage import joint_state_cdr, plans, results
from robot_identification.storage import trajectories as trajectory_files

CONFIG = Path(__file__).resolve().parents[1] / "config"
ROBOT = "three_dof"
OCTAL = re.compile(rb"[^.\w][-+]?0[0-9]")
URDF = b"""<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0.1 0 0.2" rpy="0 0.5 0"/><mass value="3.5"/>
<inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.12" iyz="0" izz="0.09"/></inertial></link>
<link name="lower"><inertial><mass value="2"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<link name="tool"/>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
<origin xyz="0 0 0.3" rpy="0 1.57 0"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" velocity="3" effort="100"/>
<dynamics damping="0.3" friction="0.2"/></joint>
<joint name="elbow" type="prismatic"><parent link="upper"/><child link="lower"/>
<origin xyz="0.4 0 0"/><axis xyz="0 0 -1"/><limit lower="-1" upper="1" effort="50"/></joint>
<joint name="flange" type="fixed"><parent link="lower"/><child link="tool"/></joint></robot>"""
LIMITS = b"""joint_limits:
  joint_1: {has_velocity_limits: true, max_velocity: 2.0, has_acceleration_limits: true,
            max_acceleration: 5.0, has_position_limits: true, min_position: -1.0, max_position: 1.0}
  joint_2: {max_effort: 20.0, has_jerk_limits: false}
"""


@dataclass(frozen=True)
class Parser:
    """A parser, and how it is fuzzed.

    Attributes:
        seeds: undamaged inputs.
        suffix: how the names of its files end.
        read: reads a file; raises RobotIdentificationError.
        check: refuses what must not have been read so; takes what was read and the input.
        structured: damages an input behind its outer syntax.
        modules: whose lines are counted for its coverage.
    """

    seeds: tuple[bytes, ...]
    suffix: str
    read: Callable[[Path], Any]
    check: Callable[[Any, bytes], None]
    structured: Callable[[random.Random, bytes], bytes]
    modules: tuple[ModuleType, ...] = field(default=())

    def damaged(self, rng, corpus, *, structured):
        """Return a damaged input."""
        if structured:
            return self.structured(rng, rng.choice(self.seeds))
        return damaged_bytes(rng, rng.choice(corpus), self.seeds)


def from_yaml(seeds):
    """Return how YAML documents are damaged behind their syntax; the trees are read once."""
    trees = {seed: yaml.safe_load(seed) for seed in seeds}
    return lambda rng, seed: damaged_yaml(rng, trees[seed])


def require(condition, what):
    """Say that something was read that must not have been."""
    if not condition:
        raise AssertionError(what)


def finite(*arrays):
    """Tell whether every number is finite."""
    return all(np.isfinite(np.asarray(a, dtype=float)).all() for a in arrays if a is not None)


def check_robot(robot, _):
    """A robot whose kinematics can be computed."""
    n = len(robot.joints)
    require(n >= 1 and len(set(robot.joint_names)) == n, "joint names")
    require(all(name and isinstance(name, str) for name in robot.joint_names), "names are text")
    require(finite(robot.gravity), "gravity")
    for number, joint in enumerate(robot.joints):
        require(-1 <= joint.antecedent < number, "antecedents")
        require(np.abs(joint.rotation @ joint.rotation.T - np.eye(3)).max() < 1e-9, "rotation")
        require(np.linalg.det(joint.rotation) > 0, "rotation")
        require(finite(joint.translation), "translation")
        limits = joint.limits
        require((limits.lower is None) == (limits.upper is None), "one limit alone")
        require(limits.lower is None or limits.lower <= limits.upper, "order of limits")
        for value in (limits.velocity, limits.acceleration, limits.jerk, limits.effort):
            require(value is None or (finite(value) and value > 0), "limits")
    require(np.linalg.matrix_rank(robot.motor_matrix) >= 1, "transmission")
    require(finite(robot.motor_matrix), "transmission")
    require(finite(forward_kinematics(robot, np.full(n, 0.7))), "kinematics")
    if robot.controller is not None:
        require(robot.controller.rate_hz > 0, "rate")
        require(all(len(gain) == n for gain in robot.controller.gains.values()), "gains")


def stated(data):
    """Return a document as another reader understands it, None where the readers may differ."""
    try:
        return None if OCTAL.search(data) else yaml.safe_load(data)
    except (yaml.YAMLError, ValueError):
        return None


def same_numbers(found, wanted):
    """Tell whether an array holds the numbers that another reader found."""
    wanted = np.array(wanted, dtype=float)
    return found.shape == wanted.shape and np.array_equal(found, wanted)


def check_values(found, data):
    """Values of parameters, each of which stands in the file."""
    robot, values_read = found
    require(finite(values_read), "finite")
    wanted = stated(data)
    if wanted is not None:
        table = dict(zip(robot.all_parameter_names, values_read, strict=True))
        for name, value in table.items():
            require(value == float(wanted["parameters"].get(name, 0.0)), f"value of {name}")


def check_trajectory(trajectory, data):
    """A trajectory with the numbers of the file."""
    require((np.diff(trajectory.times) > 0).all(), "times")
    wanted = stated(data)
    if wanted is None:
        return
    points = wanted["points"]
    require(list(trajectory.joint_names) == wanted["joint_names"], "names")
    require(same_numbers(trajectory.times, [p["time_from_start"] for p in points]), "times")
    for name in ("positions", "velocities", "accelerations"):
        read = getattr(trajectory, name)
        require((read is None) == all(name not in p for p in points), f"{name} are there")
        if read is not None:
            require(same_numbers(read, [p[name] for p in points]), name)


def check_plan(wanted):
    """Nothing but the planned trajectory passes for the plan."""

    def check(found, _):
        for name in ("times", "positions", "velocities", "accelerations"):
            require(np.array_equal(getattr(found[0], name), getattr(wanted, name)), name)

    return check


def check_result(wanted):
    """A result is read as it was written, or it says that nothing vouches for it."""

    def check(result, _):
        if not any("no checksum" in warning for warning in result.warnings):
            require(results.dump(result) == wanted, "a result that nobody wrote")
            return
        base, joints = len(result.regrouping.names), len(result.joint_names)
        require(len(result.regrouping.leading) == base, "leading")
        require(result.regrouping.projection.shape[0] == base, "projection")
        require(result.estimate.values.shape == result.estimate.std.shape == (base,), "values")
        require(result.estimate.weights.shape == (joints,), "weights")
        require(finite(result.regrouping.beta, result.estimate.values), "finite")
        require(all(finite(factor.triangle) for factor in result.factors), "finite")
        text = results.dump(result)
        require("kind:" in text, "can be written")

    return check


def check_message(found, data):
    """A serialised message whose arrays lie inside it."""
    layout, table = found
    require(layout.end <= len(data), "end")
    for name, count in zip(joint_state_cdr.ARRAYS, layout.counts, strict=True):
        require(layout.numbers(table, name).shape == (1, count), name)
    require(0 <= int(data[8:12][::-1].hex(), 16) < 10**9, "nanoseconds")


def read_message(path):
    """Read one serialised JointState, as the reader of bags does."""
    data = path.read_bytes()
    table = np.frombuffer(data, dtype=np.uint8)[None]
    try:
        layout = joint_state_cdr.layout_of(data)
        layout.check_end(len(data))
        layout.stamps(table)
    except joint_state_cdr.LayoutError as error:
        raise BagError(path, str(error)) from error
    return layout, table


def config(folder, *names):
    """Return shipped files."""
    return tuple((CONFIG / folder / f"{name}.yaml").read_bytes() for name in names)


def robot_files():
    """Return the parser of robot files."""
    seeds = config("robots", ROBOT, "tx40", "emps", "scara")
    modules = (document, loading, schema, yaml_format, yaml_sections)
    return Parser(seeds, ".yaml", load_with_loops, check_robot, from_yaml(seeds), modules)


def load_with_loops(path):
    """Load a robot, closed loops included."""
    return load_robot(path, closed_loops=True)


def urdfs():
    """Return the parser of URDFs."""
    modules = (xml_document, urdf, urdf_elements)
    return Parser((URDF,), ".urdf", load_robot, check_robot, damaged_xml, modules)


def urdf_priors(folder):
    """Return the reader of the values that a URDF states."""
    path = folder / "arm.urdf"
    path.write_bytes(URDF)
    robot = load_robot(path)

    def check(found, _):
        require(finite(found), "finite")

    def read(path):
        given = urdf_prior.given_by_urdf(path, robot)
        return urdf_prior.urdf_prior(path, robot) * given

    modules = (urdf_prior, urdf, urdf_elements, xml_document)
    return Parser((URDF,), ".urdf", read, check, damaged_xml, modules)


def limit_files():
    """Return the parser of MoveIt's joint_limits.yaml."""
    robot = load_robot(ROBOT)
    seeds = (LIMITS.replace(b"joint_", b"") if "1" in robot.joint_names else LIMITS,)
    names = robot.joint_names
    for number, name in enumerate(names[:2], start=1):
        seeds = (seeds[0].replace(f"joint_{number}".encode(), name.encode()),)
    return Parser(
        seeds,
        ".yaml",
        lambda path: joint_limits.with_joint_limits(robot, path),
        check_robot,
        from_yaml(seeds),
        (document, joint_limits),
    )


def parameter_files():
    """Return the parser of files of standard parameters."""
    robot = load_robot(ROBOT)
    seeds = config("parameters", ROBOT)
    return Parser(
        seeds,
        ".yaml",
        lambda path: (robot, values.load_values(path, robot)),
        check_values,
        from_yaml(seeds),
        (document, schema, values),
    )


def trajectory_parser():
    """Return the parser of trajectory files."""
    seeds = config("trajectories", "scara", "tx40")
    return Parser(
        seeds,
        ".yaml",
        trajectory_files.read_trajectory,
        check_trajectory,
        from_yaml(seeds),
        (document, trajectory_files, trajectories),
    )


def plan_files():
    """Return the reader of plans, which certifies them again."""
    robot = load_robot("tx40")
    planned = random_plan(robot, np.random.default_rng(0), points=3)
    text = plans.certified_text(robot.name, planned, certify(robot, planned), "A plan")
    seeds = (text.encode(),)
    return Parser(
        seeds,
        ".yaml",
        lambda path: plans.read_plan(path, robot),
        check_plan(planned),
        from_yaml(seeds),
        (document, plans, trajectory_files, trajectories),
    )


def result_files():
    """Return the parser of result files."""
    robot, rng = load_robot(ROBOT), np.random.default_rng(0)
    truth = values.load_values(ROBOT, robot)
    text = results.dump(made_up_result(robot, truth, rng, noise=0.01))
    seeds = (text.encode(),)
    return Parser(
        seeds,
        ".yaml",
        results.read_result,
        check_result(text),
        from_yaml(seeds),
        (results,),
    )


def messages():
    """Return the parser of serialised joint states."""
    rng = np.random.default_rng(0)
    rows = [rng.standard_normal((1, 3)) for _ in range(3)]
    names, stamps = ("hip", "knee", "ankle"), np.array([1_700_000_000_123_456_789])
    seeds = (
        joint_state_cdr.encode(stamps, names, *rows)[0].tobytes(),
        joint_state_cdr.encode(stamps, names, rows[0], None, rows[1])[0].tobytes(),
    )
    return Parser(seeds, ".cdr", read_message, check_message, damaged_message, (joint_state_cdr,))


def parsers():
    """Return what makes each parser, by name."""
    folder = Path(tempfile.gettempdir())
    return {
        "robot": robot_files,
        "urdf": urdfs,
        "urdf-prior": lambda: urdf_priors(folder),
        "joint-limits": limit_files,
        "parameters": parameter_files,
        "trajectory": trajectory_parser,
        "plan": plan_files,
        "result": result_files,
        "message": messages,
    }
