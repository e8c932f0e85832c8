"""Launch files under the real launch, which comes with an installed ROS 2 and not with its wheels.

What ``ros2 launch`` does is done here by the same steps in a process of its own.
"""

import os
import re
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from robot_identification.ros.launching.suites import BAGS, LIVE, SIMULATED

try:
    import launch_ros.actions  # noqa: F401
    from launch.actions import OpaqueFunction

    from launch import LaunchContext, LaunchDescription
except ImportError:
    pytest.skip("there is no launch here", allow_module_level=True)

ROOT = Path(__file__).resolve().parents[3]
SUITES = {"live": LIVE, "simulation": SIMULATED, "offline": BAGS}
PROGRAM = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import AnyLaunchDescriptionSource

path, *words = sys.argv[1:]
service = LaunchService(argv=words)
included = IncludeLaunchDescription(
    AnyLaunchDescriptionSource(path),
    launch_arguments=[tuple(word.split(":=", 1)) for word in words],
)
service.include_launch_description(LaunchDescription([included]))
sys.exit(service.run())
"""
INCLUDING = """
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import AnyLaunchDescriptionSource


def generate_launch_description():
    return LaunchDescription([
        DeclareLaunchArgument("robots", default_value="two"),
        IncludeLaunchDescription(
            AnyLaunchDescriptionSource({path!r}),
            launch_arguments=[("robot", "nowhere.yaml")],
        ),
    ])
"""

pytestmark = pytest.mark.ros


class Launched:
    """A launch that runs, and what it has said."""

    def __init__(self, folder, path, words, mark):
        self.log = folder / f"{uuid.uuid4().hex}.log"
        self.mark = mark
        prefixes = [sys.prefix, os.environ.get("AMENT_PREFIX_PATH", "")]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, str(path), *words],
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=folder,
                start_new_session=True,
                env={
                    **os.environ,
                    "AMENT_PREFIX_PATH": os.pathsep.join(filter(None, prefixes)),
                    "LAUNCH_MARK": mark,
                },
            )

    @property
    def said(self):
        return self.log.read_text(errors="replace")

    def wait_for(self, *texts):
        while not all(text in self.said for text in texts):
            assert self.process.poll() is None, self.said
            time.sleep(0.05)

    def wait_until_signals_are_heard(self):
        """Wait until no node of the launch ends at once by SIGINT: a moment after it is ready."""
        nodes = re.findall(r"\[\w+-\d+\]: process started with pid \[(\d+)\]", self.said)
        while not all(self._hears(pid) for pid in nodes):
            time.sleep(0.01)

    def _hears(self, pid):
        status = Path(f"/proc/{pid}/status").read_text()
        caught = int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16)
        return bool(caught >> (signal.SIGINT - 1) & 1)

    def wait(self):
        return self.process.wait()

    def left(self):
        """Return the processes that are there, this one's launch not among them."""
        return [
            path.parent.name for path in Path("/proc").glob("[0-9]*/environ") if self._has(path)
        ]

    def _has(self, path):
        try:
            return f"LAUNCH_MARK={self.mark}".encode() in path.read_bytes()
        except OSError:
            return False  # it has ended, or is not ours

    def wait_until_nothing_is_left(self):
        while self.left():
            time.sleep(0.05)


@pytest.fixture
def start(tmp_path):
    """Return what begins a launch of a file of this package or of a path; it ends with the test."""
    running = []

    def begin(name, *words):
        path = ROOT / "launch" / f"{name}.launch.py" if isinstance(name, str) else name
        running.append(Launched(tmp_path, path, words, uuid.uuid4().hex))
        return running[-1]

    yield begin
    for one in running:
        for pid in one.left():
            os.kill(int(pid), signal.SIGKILL)
        one.process.wait()


def refused(launched):
    """Return the line by which a launch refuses to begin, with an exit code."""
    assert launched.wait() == 1
    (line,) = [line for line in launched.said.splitlines() if "[ERROR]" in line]
    assert "process started" not in launched.said
    assert "Traceback" not in launched.said
    return line


@pytest.mark.parametrize("name", SUITES)
def test_descriptions_can_be_built(name):
    path, suite = ROOT / "launch" / f"{name}.launch.py", SUITES[name]
    space = {"__file__": str(path)}
    exec(compile(path.read_text(), path, "exec"), space)
    description = space["generate_launch_description"]()
    assert isinstance(description, LaunchDescription)
    context = LaunchContext()
    context.launch_configurations["robot"] = "ur10"
    for entity in description.entities:
        made = entity.visit(context)
        if isinstance(entity, OpaqueFunction):
            assert len(made) == 2 * len(suite.nodes), "each node, and what watches its end"
            for one in suite.optional:
                context.launch_configurations[one] = "true"
            assert len(entity.visit(context)) == 2 * len([*suite.nodes, *suite.optional])


@pytest.mark.parametrize("name", ["live", "offline"])
@pytest.mark.parametrize("words", [(), ("namespace:=left",)])
def test_without_a_robot_nothing_starts(start, name, words):
    assert "add robot:=FILE" in refused(start(name, *words))


@pytest.mark.parametrize("name", SUITES)
def test_a_misspelt_argument_is_refused_with_the_nearest_name(start, name):
    line = refused(start(name, "robbot:=ur10"))
    assert "robbot = ur10: no such argument; did you mean robot?" in line


@pytest.mark.parametrize("name", SUITES)
def test_a_params_file_that_is_not_there_or_fits_nothing_is_refused(start, name, tmp_path):
    line = refused(start(name, "robot:=ur10", "params_file:=nowhere.yaml"))
    assert "nowhere.yaml: cannot be read" in line
    path = tmp_path / "own.yaml"
    path.write_text("calibration:\n  ros__parameters:\n    predicct: false\n")
    line = refused(start(name, "robot:=ur10", f"params_file:={path}"))
    assert "own.yaml:3" in line
    assert "did you mean predict" in line


def test_a_launch_file_that_includes_this_one_may_have_arguments_of_its_own(start, tmp_path):
    path = tmp_path / "two.launch.py"
    path.write_text(INCLUDING.format(path=str(ROOT / "launch" / "live.launch.py")))
    launched = start(path, "robots:=three")
    assert launched.wait() == 1
    assert "no such argument" not in launched.said
    assert "nowhere.yaml: neither a file nor a robot" in launched.said


def test_a_node_that_fails_ends_the_launch_and_the_other_nodes(start):
    launched = start("live", "robot:=ur10", "prior:=nowhere.yaml")
    assert launched.wait() == 1
    assert "failed: calibration (exit code 2)" in launched.said
    assert launched.said.count("nowhere.yaml") >= 1
    assert "Traceback" not in launched.said
    launched.wait_until_nothing_is_left()  # a planning process ends a moment after its node


@pytest.mark.slow
def test_ctrl_c_pressed_twice_ends_every_node_in_order(start, tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text("simulated_robot:\n  ros__parameters:\n    seed: 3\n")
    launched = start("simulation", "robot:=ur10", f"params_file:={path}")
    nodes = ("simulated_robot", *LIVE.nodes)
    launched.wait_for(*(f"[{name}]: ready" for name in nodes))
    assert "ready: ur10 at 500 Hz" in launched.said
    launched.wait_until_signals_are_heard()
    os.killpg(launched.process.pid, signal.SIGINT)
    time.sleep(0.02)
    os.killpg(launched.process.pid, signal.SIGINT)
    assert launched.wait() == 0, launched.said
    assert launched.said.count("process has finished cleanly") == len(nodes), launched.said
    assert "Traceback" not in launched.said
    launched.wait_until_nothing_is_left()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_node_is_left_behind_when_launch_itself_is_ended(start, number):
    launched = start("live", "robot:=scara")
    launched.wait_for(*(f"[{name}]: ready" for name in LIVE.nodes))
    launched.process.send_signal(number)
    assert launched.wait() != 0
    launched.wait_until_nothing_is_left()


@pytest.mark.slow
def test_a_value_that_looks_like_a_number_stays_a_text(start, tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(
        'acquisition:\n  ros__parameters:\n    effort_joints: ["1"]\n    bag_directory: "12"\n'
        "excitation:\n  ros__parameters:\n    tracking_error_limit: [1, 0.5]\n"
    )
    launched = start("live", "robot:=scara", f"params_file:={path}")
    launched.wait_for("[acquisition]: ready", "[excitation]: ready")
    launched.process.send_signal(signal.SIGINT)
    assert launched.wait() == 0, launched.said
