"""All parsers that are fuzzed, and those of trajectories, plans, results, payloads and faults."""

import re

import numpy as np
import yaml

import fuzz_checks
import fuzzed_recordings
import fuzzed_robots
from fuzz_parser import Parser, config, yaml_parser
from made_up_plans import random_plan
from made_up_results import made_up_result, with_everything
from mutations import damaged_yaml, packed_tree
from robot_identification.excitation.certification.certificate import certify
from robot_identification.excitation.motions import trajectory as trajectories
from robot_identification.files import payloads as payload_files
from robot_identification.files import results
from robot_identification.files.plans import plans
from robot_identification.files.plans import trajectories as trajectory_files
from robot_identification.identification import history
from robot_identification.identification.estimators import huber
from robot_identification.identification.payload import known
from robot_identification.identification.statistics import cross_validation
from robot_identification.robot.files import document, values
from robot_identification.robot.files.loading import load_robot
from robot_identification.ros.simulation import fault_injector

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


def trajectory_parser():
    """Return the parser of trajectory files."""
    seeds = tuple(first_points(seed, 4) for seed in config("trajectories", "scara", "tx40"))
    return yaml_parser(
        seeds,
        trajectory_files.read_trajectory,
        fuzz_checks.check_trajectory,
        *(document, trajectory_files, trajectories),
    )


def first_points(text, count):
    """Return the first points of a trajectory file, which is read the quicker."""
    return b"".join(re.split(rb"(?m)(?=^  - )", text)[: count + 1])


def plan_files():
    """Return the reader of plans, which certifies them again."""
    robot = load_robot("tx40")
    planned = random_plan(robot, np.random.default_rng(0), points=3)
    text = plans.certified_text(robot.name, planned, certify(robot, planned), "A plan")
    return yaml_parser(
        (text.encode(),),
        lambda path: plans.read_plan(path, robot),
        fuzz_checks.check_plan(planned),
        *(document, plans, trajectory_files, trajectories),
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
        (results, document, document, huber, cross_validation, history),
    )


def without_checksum(text):
    """Return what a result file holds, without its checksum."""
    return {name: value for name, value in yaml.safe_load(text).items() if name != "sha256"}


def payloads():
    """Return the parser of payloads that people state."""
    return yaml_parser(
        (PAYLOAD, b"mass: 2.5\n"),
        payload_files.read_payload,
        fuzz_checks.check_payload,
        *(document, payload_files, known),
    )


def fault_lists():
    """Return the parser of files of faults."""
    return yaml_parser(
        (FAULTS,), fault_injector.read_faults, fuzz_checks.check_faults, document, fault_injector
    )


def parsers():
    """Return what makes each parser, by name."""
    return {
        "robot": fuzzed_robots.robot_files,
        "urdf": fuzzed_robots.urdfs,
        "urdf-prior": fuzzed_robots.urdf_priors,
        "urdf-rewriting": fuzzed_robots.rewritten_urdfs,
        "joint-limits": fuzzed_robots.limit_files,
        "parameters": fuzzed_robots.parameter_files,
        "prior": fuzzed_robots.prior_files,
        "trajectory": trajectory_parser,
        "plan": plan_files,
        "result": result_files,
        "payload": payloads,
        "faults": fault_lists,
        "message": fuzzed_recordings.messages,
        "dynamic-message": fuzzed_recordings.dynamic_messages,
        "trajectory-message": fuzzed_recordings.trajectory_messages,
        "bag-metadata": fuzzed_recordings.metadata_files,
    }
