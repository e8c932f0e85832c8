"""The parsers that are fuzzed: their inputs, how they are damaged, and what must hold if read.

Each parser takes a damaged file.  Nothing but a RobotIdentificationError may come out of it, and
what is read must be a robot, a trajectory, and so on, with the numbers that stand in the file.
"""

import atexit
import random
import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import yaml
from rosbags.typesys import Stores, get_typestore

import fuzz_checks
from fuzzed_bags import NAMES, write_bag
from made_up_plans import random_plan
from made_up_results import made_up_result, with_everything
from mutations import (
    damaged_bytes,
    damaged_message,
    damaged_trajectory,
    damaged_xml,
    damaged_yaml,
    packed_tree,
)
from robot_identification.errors import BagError
from robot_identification.excitation import trajectory as trajectories
from robot_identification.excitation.certificate import certify
from robot_identification.identification import cross_validation, history, huber
from robot_identification.identification.payload import known
from robot_identification.nodes import fault_files
from robot_identification.robot import (
    content_digest,
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
from robot_identification.robot.loading import load_robot
from robot_identification.storage import (
    bag_files,
    bag_trajectories,
    bags,
    joint_state_cdr,
    payload_files,
    plans,
    priors,
    result_entries,
    results,
)
from robot_identification.storage import trajectories as trajectory_files
from robot_identification.storage.export import urdf_files, urdf_rewriting, xml_surgery

CONFIG = Path(__file__).resolve().parents[1] / "config"
ROBOT = "three_dof"
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
URDF_LATIN = b'<?xml version="1.0" encoding="iso-8859-1"?>\n<!-- \xe9 -->\n' + URDF
PAYLOAD = b"""mass: 3.5
centre: [0.01, -0.02, 0.1]
inertia: [0.02, 0.001, 0, 0.03, -0.002, 0.025]
"""
FAULTS = b"""seed: 3
faults:
  - {kind: not_a_number, from: 2.0, until: 3.0, probability: 0.5, joint: elbow, signal: effort}
  - {kind: clock_jump, from: 1, by: -0.5, seed: 7}
  - {kind: rename, joint: hip, to: knee}
"""
WRIST = b"""name: wrist
effort_meaning: motor_torque
gravity: [0, 0, -9.81]
joints:
  - name: bend
    type: revolute
    geometry: {alpha: -pi/2, d: 0.1, theta: 0, r: 0}
    transmission: 45
    limits: {lower: -2.09, upper: 2.33, velocity: 5.5, acceleration: 32, effort: 27, jerk: 900}
  - name: turn
    type: revolute
    geometry: {alpha: pi/2, d: 0, theta: pi, r: 0}
    transmission: {bend: 32, turn: 32}
    limits: {lower: -4.71, upper: 4.71, velocity: 12.2, acceleration: 63, effort: 16}
couplings:
  - {parameter: Ia2, kind: inertia, terms: [{on: {bend: 1}, of: {turn: 1}}]}
  - {parameter: Fcm2, kind: coulomb, terms: [{on: {bend: 1, turn: 1}, of: {bend: 1, turn: 1}}]}
processing: {cutoff_hz: 100, rate_hz: 50, velocity_threshold: [0.05, 0.12], ends: keep}
controller: {law: computed_torque, rate_hz: 2000, gains: {kp: [400, 400], kd: [40, 40]}}
workspace: {lower: [-1, -1, 0], upper: [1, 1, 2], tool: [0, 0, 0.1]}
experiment: {trajectory: tx40, rate_hz: 1000, position_noise: 1e-4, effort_noise: [0.1, 0.1],
             seeds: [1, 2], natural_frequency: 20, damping: 1}
"""
PARALLELOGRAM = b"""name: parallelogram
effort_meaning: joint_torque
gravity: [0, 0, -9.81]
joint_defaults: {type: revolute, drive_inertia: false, offset: false}
joints:
  - {name: crank, geometry: {alpha: 0, d: 0, theta: 0, r: 0}}
  - {name: rocker, geometry: {alpha: 0, d: 0, theta: 0, r: 0}, antecedent: base}
  - {name: coupler, geometry: {alpha: 0, d: 0.6, theta: 0, r: 0}, antecedent: crank}
loops:
  - {joint: coupler, equals: {rocker: 1, crank: -1}, offset: pi/2}
"""
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
        syntax: what errors say where the outer syntax is wrong.
    """

    seeds: tuple[bytes, ...]
    suffix: str
    read: Callable[[Path], Any]
    check: Callable[[Any, bytes], None]
    structured: Callable[[random.Random, bytes], bytes]
    modules: tuple[ModuleType, ...]
    syntax: re.Pattern[str] = re.compile(
        "not valid YAML|not UTF-8|the file is empty|not well-formed XML"
    )

    def damaged(self, rng, corpus, *, structured):
        """Return a damaged input."""
        if structured:
            return self.structured(rng, rng.choice(self.seeds))
        return damaged_bytes(rng, rng.choice(corpus), self.seeds)


def from_yaml(seeds):
    """Return how YAML documents are damaged behind their syntax; the trees are read once."""
    trees = {seed: packed_tree(yaml.safe_load(seed)) for seed in seeds}
    return lambda rng, seed: damaged_yaml(rng, trees[seed])


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
    """Return shipped files without their comments."""
    texts = [(CONFIG / folder / f"{name}.yaml").read_bytes() for name in names]
    return tuple(re.sub(rb"(?m)^ *#.*\n| +#.*$", b"", text) for text in texts)


def robot_files():
    """Return the parser of robot files."""
    seeds = (*config("robots", ROBOT, "emps"), WRIST, PARALLELOGRAM)
    modules = (document, loading, schema, yaml_format, yaml_sections)
    return Parser(
        seeds, ".yaml", load_with_loops, fuzz_checks.check_robot, from_yaml(seeds), modules
    )


def load_with_loops(path):
    """Load a robot, closed loops included."""
    return load_robot(path, closed_loops=True)


def urdfs():
    """Return the parser of URDFs."""
    modules = (xml_document, urdf, urdf_elements)
    return Parser((URDF,), ".urdf", load_robot, fuzz_checks.check_robot, damaged_xml, modules)


def described_arm():
    """Return the robot of the URDF."""
    return urdf.parse_urdf(URDF.decode(), "arm").robot


def urdf_priors():
    """Return the reader of the values that a URDF states."""
    robot = described_arm()

    def read(path):
        given = urdf_prior.given_by_urdf(path, robot)
        return urdf_prior.urdf_prior(path, robot) * given

    modules = (urdf_prior, urdf, urdf_elements, xml_document)
    return Parser((URDF,), ".urdf", read, fuzz_checks.check_finite, damaged_xml, modules)


def rewritten_urdfs():
    """Return the writer of inertials into a URDF that is there."""
    robot = described_arm()
    wanted = urdf_prior.values_of_urdf(URDF.decode(), robot)

    def read(path):
        text, encoding = urdf_files.read_urdf_text(path)
        return urdf_files.identified_urdf(robot, wanted, text).encode(encoding), encoding

    def check(found, _):
        again = urdf_prior.values_of_urdf(found[0].decode(found[1]), robot)
        fuzz_checks.require(np.allclose(again, wanted, rtol=1e-12, atol=1e-12), "values")

    modules = (urdf_files, urdf_rewriting, xml_surgery, urdf, urdf_elements, xml_document)
    return Parser((URDF, URDF_LATIN), ".urdf", read, check, damaged_xml, modules)


def limit_files():
    """Return the parser of MoveIt's joint_limits.yaml."""
    robot = load_robot(ROBOT)
    return Parser(
        (LIMITS,),
        ".yaml",
        lambda path: joint_limits.with_joint_limits(robot, path),
        fuzz_checks.check_robot,
        from_yaml((LIMITS,)),
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
        fuzz_checks.check_values,
        from_yaml(seeds),
        (document, schema, values),
    )


def prior_files():
    """Return the reader of priors: parameters, of which some are known."""
    robot = load_robot(ROBOT)
    seeds = config("parameters", ROBOT)
    return Parser(
        seeds,
        ".yaml",
        lambda path: priors.read_prior(path, robot),
        fuzz_checks.check_prior,
        from_yaml(seeds),
        (document, schema, values, priors),
    )


def trajectory_parser():
    """Return the parser of trajectory files."""
    seeds = tuple(first_points(seed, 4) for seed in config("trajectories", "scara", "tx40"))
    return Parser(
        seeds,
        ".yaml",
        trajectory_files.read_trajectory,
        fuzz_checks.check_trajectory,
        from_yaml(seeds),
        (document, trajectory_files, trajectories),
    )


def first_points(text, count):
    """Return the first points of a trajectory file, which is read the quicker."""
    return b"".join(re.split(rb"(?m)(?=^  - )", text)[: count + 1])


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
        fuzz_checks.check_plan(planned),
        from_yaml(seeds),
        (document, plans, trajectory_files, trajectories),
    )


def result_files():
    """Return the parser of result files."""
    robot, rng = load_robot("emps"), np.random.default_rng(0)
    truth = values.load_values("emps", robot)
    plain = made_up_result(robot, truth, rng, noise=0.01)
    texts = results.dump(plain), results.dump(with_everything(plain))
    seeds = tuple(text.encode() for text in texts)
    trees = {seed: (yaml.safe_load(seed), without_checksum(seed)) for seed in seeds}
    return Parser(
        seeds,
        ".yaml",
        results.read_result,
        fuzz_checks.check_result(texts),
        lambda rng, seed: damaged_yaml(rng, packed_tree(rng.choice(trees[seed]))),
        (results, result_entries, content_digest, huber, cross_validation, history),
    )


def without_checksum(text):
    """Return what a result file holds, without its checksum."""
    return {name: value for name, value in yaml.safe_load(text).items() if name != "sha256"}


def payloads():
    """Return the parser of payloads that people state."""
    return Parser(
        (PAYLOAD, b"mass: 2.5\n"),
        ".yaml",
        payload_files.read_payload,
        fuzz_checks.check_payload,
        from_yaml((PAYLOAD, b"mass: 2.5\n")),
        (document, payload_files, known),
    )


def fault_lists():
    """Return the parser of files of faults."""
    return Parser(
        (FAULTS,),
        ".yaml",
        fault_files.read_faults,
        fuzz_checks.check_faults,
        from_yaml((FAULTS,)),
        (document, fault_files),
    )


def messages():
    """Return the parser of serialised joint states."""
    rng = np.random.default_rng(0)
    rows = [rng.standard_normal((1, 3)) for _ in range(3)]
    stamps = np.array([1_700_000_000_123_456_789])
    seeds = (
        joint_state_cdr.encode(stamps, NAMES, *rows)[0].tobytes(),
        joint_state_cdr.encode(stamps, NAMES, rows[0], None, rows[1])[0].tobytes(),
    )
    return Parser(
        seeds,
        ".cdr",
        read_message,
        fuzz_checks.check_message,
        damaged_message,
        (joint_state_cdr,),
        re.compile("serialised as|ends within its stamp"),
    )


def trajectory_messages():
    """Return the parser of serialised trajectories."""
    planned = random_plan(load_robot(ROBOT), np.random.default_rng(0), points=3)
    sent = bag_trajectories.SentTrajectory(1_700_000_000_123_456_789, planned)
    seed, kind = bag_trajectories.encoded(sent), bag_trajectories.MESSAGE_TYPE
    types = get_typestore(Stores.ROS2_JAZZY)
    message = types.deserialize_cdr(seed, kind)
    return Parser(
        (seed,),
        ".cdr",
        lambda path: bag_trajectories.decoded(path.read_bytes(), 1, path, "message 0"),
        fuzz_checks.check_sent,
        lambda rng, _: bytes(types.serialize_cdr(damaged_trajectory(rng, message), kind)),
        (bag_trajectories, trajectories),
        re.compile("cannot be read"),
    )


def metadata_files():
    """Return the reader of the metadata of a bag, beside data that are whole."""
    folder = Path(tempfile.mkdtemp(prefix="metadata_"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    samples, _ = write_bag(folder / "bag", "mcap", messages=3)
    metadata = folder / "bag" / "metadata.yaml"
    seeds = (metadata.read_bytes(),)

    def read(path):
        metadata.write_bytes(path.read_bytes())
        return bags.read_joint_states(metadata.parent, NAMES)

    return Parser(
        seeds,
        ".yaml",
        read,
        fuzz_checks.check_samples(samples),
        from_yaml(seeds),
        (bag_files, bags),
        re.compile("not valid YAML|not UTF-8"),
    )


def parsers():
    """Return what makes each parser, by name."""
    return {
        "robot": robot_files,
        "urdf": urdfs,
        "urdf-prior": urdf_priors,
        "urdf-rewriting": rewritten_urdfs,
        "joint-limits": limit_files,
        "parameters": parameter_files,
        "prior": prior_files,
        "trajectory": trajectory_parser,
        "plan": plan_files,
        "result": result_files,
        "payload": payloads,
        "faults": fault_lists,
        "message": messages,
        "trajectory-message": trajectory_messages,
        "bag-metadata": metadata_files,
    }
