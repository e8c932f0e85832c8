"""What a node has run before it is ready: all compiled code that requests need."""

import json
import subprocess
import sys

import pytest

# In a process of its own: other tests have compiled everything in theirs.
_PROGRAM = """
import json, os, sys
from contextlib import suppress
from pathlib import Path
import numpy as np
from numba.core.dispatcher import Dispatcher
from robot_identification.dynamics.reference import sample, through
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import RobotIdentificationError
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.didim.run import identify_didim
from robot_identification.identification.didim.settings import DidimSettings
from robot_identification.identification.didim.starts import full_vector
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.estimators.estimator import Choice
from robot_identification.identification.rows.growing_identification import GrowingIdentification
from robot_identification.identification.identify import identify
from robot_identification.identification.validate import validate
from robot_identification.identification.rows.growing import StreamingIdentification
from robot_identification.ros.identification.warming import warm_up
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.recording import RawSamples, Recording, Segment
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.files.bags.joint_states.reading import read_joint_states


def compiled():
    # Every compiled function that was loaded or made, once for each list of types.
    return {
        (one.py_func.__module__, one.py_func.__name__, str(types))
        for name, module in list(sys.modules.items())
        if name.startswith("robot_identification")
        for one in vars(module).values()
        if isinstance(one, Dispatcher)
        for types in one.signatures
    }


def ready_and_later(name, folder):
    # What has been compiled before requests come, and what they compile.
    robot = load_robot(name, effort_meaning="joint_torque")
    base = base_parameters(robot)
    warm_up(base)
    ready = compiled()

    time = 0.001 * np.arange(10_000)
    tones = 0.5 + 0.4 * np.arange(len(robot.joints))
    followed = through(time, np.sin(2.0 * np.pi * time[:, None] * tones))
    q, qd, qdd = sample(followed, time)
    values = np.linspace(1.0, 2.0, base.rank)
    effort = inverse_dynamics(robot, full_vector(base, values), q, qd, qdd)
    effort += 0.1 * np.random.default_rng(0).normal(size=effort.shape)
    segment = Segment(time, q, None, effort)
    recording = Recording(robot.joint_names, 0.001, (segment,), source="made up")

    stream = StreamingIdentification(robot, base, "made up", settle=0.5)
    stamps = np.rint(1e9 * time).astype(np.int64)
    bag = Path(folder, "bag")
    write_joint_states(bag, robot.joint_names, RawSamples(stamps, q, None, effort), storage="mcap")
    read_joint_states(bag, robot.joint_names)
    for first in range(0, len(time), 100):
        part = slice(first, first + 100)
        stream.push(RawSamples(stamps[part], q[part], None, effort[part]))
        if first == 8000:
            stream.result()
    stream.finish()
    stream.result()
    stated = ProcessingSettings(cutoff_hz=20.0, rate_hz=40.0, velocity_threshold=())
    growing = GrowingIdentification(robot, base, "made up", stated)
    parts = np.split(np.arange(10_000), 50)
    growing.push([RawSamples(stamps[part], q[part], None, effort[part]) for part in parts])
    growing.result(Choice("wls"))
    identify(robot, [recording])
    identify(robot, [recording], method="ols", essential=EliminationRule())
    validate(robot, values, [recording])
    with suppress(RobotIdentificationError):
        settings = DidimSettings(max_iterations=2)
        identify_didim(robot, [recording], [followed], base=base, settings=settings)
    return [sorted(ready), sorted(compiled() - ready)]


# Each robot in a process of its own, which begins with nothing compiled.
for name, folder in zip(sys.argv[1::2], sys.argv[2::2]):
    if os.fork() == 0:
        print(json.dumps([name, *ready_and_later(name, folder)]), flush=True)
        os._exit(0)
    assert os.wait()[1] == 0
"""


USED = (
    "dynamics.kernels.fixed_step",
    "dynamics.kernels.regressor",
    "files.mcap.kernels",
    "signals.filters.decimation_kernels",
    "signals.growing.kernels",
)


ROBOTS = "scara", "tx40"  # without and with coupled joints


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Return what was compiled for each robot, before requests and for them."""
    given = [text for name in ROBOTS for text in (name, str(tmp_path_factory.mktemp(name)))]
    line = [sys.executable, "-c", _PROGRAM, *given]
    done = subprocess.run(line, stdout=subprocess.PIPE, check=True, text=True)
    return {name: rest for name, *rest in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("robot", ROBOTS)
def test_no_request_loads_compiled_code(told, robot):
    ready, later = told[robot]
    modules = {module.partition(".")[2] for module, _, _ in ready}
    assert set(USED) <= modules
    assert later == []
