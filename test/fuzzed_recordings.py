"""Parsers of what is in a bag: serialised messages, and its metadata."""

import atexit
import re
import shutil
import tempfile
from pathlib import Path

import numpy as np
from rosbags.typesys import Stores, get_typestore

import fuzz_checks
import made_up_states
from fuzz_parser import Parser, from_yaml
from fuzzed_bags import NAMES, write_bag
from made_up_plans import random_plan
from mutations import damaged_message, damaged_trajectory
from robot_identification.errors import BagError
from robot_identification.excitation.motions import trajectory as trajectories
from robot_identification.files.bags import file_checks
from robot_identification.files.bags import files as bag_files
from robot_identification.files.bags import trajectories as bag_trajectories
from robot_identification.files.bags.cdr import dynamic_states, layouts, values
from robot_identification.files.bags.cdr import joint_states as joint_state_cdr
from robot_identification.files.bags.cdr.values import LayoutError
from robot_identification.files.bags.joint_states import reading as bags
from robot_identification.files.bags.joint_states import signals as joint_state_signals
from robot_identification.robot.files.loading import load_robot

ROBOT = "three_dof"


def read_message(path):
    """Read one serialised JointState, as the reader of bags does."""
    data = path.read_bytes()
    table = np.frombuffer(data, dtype=np.uint8)[None]
    try:
        layout = joint_state_cdr.layout_of(data)
        layout.check_end(len(data))
        layout.stamps(table)
    except LayoutError as error:
        raise BagError(path, str(error)) from error
    return layout, table


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
        (joint_state_cdr, layouts, values),
        re.compile("serialised as|ends within its stamp"),
    )


def read_dynamic_message(path):
    """Read one serialised DynamicJointState, as the reader of bags does."""
    data = path.read_bytes()
    table = np.frombuffer(data, dtype=np.uint8)[None]
    try:
        layout = dynamic_states.dynamic_layout_of(data)
        layout.check_end(len(data))
        layout.stamps(table)
    except LayoutError as error:
        raise BagError(path, str(error)) from error
    return layout, table


def dynamic_messages():
    """Return the parser of serialised states with interfaces of every joint."""
    own = {"position": 0.5, "velocity": -1.0, "effort": 2.0, "temperature": 40.0}
    seeds = (
        made_up_states.state(1_700_000_000_123_456_789, dict.fromkeys(NAMES, own)),
        made_up_states.state(1_700_000_000_123_456_789, {"a": own, "": {}, "b": {"effort": 1.0}}),
    )
    return Parser(
        seeds,
        ".cdr",
        read_dynamic_message,
        fuzz_checks.check_dynamic_message,
        damaged_message,
        (dynamic_states, layouts, values),
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
        (bag_files, file_checks, bags, joint_state_signals),
        re.compile("not valid YAML|not UTF-8"),
    )
