"""Whether the node identification can make anything of a motion, asked before it begins."""

from types import SimpleNamespace

import pytest
from robot_identification.msg import RobotInUse

from robot_identification.errors import SettingError
from robot_identification.robot.files.loading import load_robot
from robot_identification.ros.clients.client import ClientTimeoutError
from robot_identification.ros.clients.live_run import LiveRun
from robot_identification.ros.clients.verbs import Verbs

TEXT = """
name: arm
effort_meaning: current
joints: [{name: turn, type: revolute, geometry: {}%s}]
"""


class Transport:
    """Gives out what was said of robots; waiting is over at once."""

    def __init__(self):
        self.heard = {}
        self.node = SimpleNamespace(
            create_subscription=lambda _kind, topic, take, _profile: self.heard.update(
                {topic: take}
            )
        )

    def wait_for(self, condition, timeout, what):
        if not (value := condition()):
            raise ClientTimeoutError(f"no {what} within {timeout:g} s")
        return value


@pytest.fixture
def asked(tmp_path):
    """Return what asks, after a node has said that it has the robot of a file."""

    def ask(more="", *, node="identification", meaning="current", method="", **changed):
        path = tmp_path / "arm.yaml"
        path.write_text(TEXT % more)
        said = {"robot_hash": load_robot(path).digest, "file": str(path)} | changed
        transport = Transport()
        live = LiveRun(Verbs(transport))
        transport.heard["robots_in_use"](
            RobotInUse(node=f"/cell/{node}", robot="arm", effort_meaning=meaning, **said)
        )
        live.require_identification(method)

    return ask


def test_currents_without_a_drive_gain_are_refused_with_what_to_do(asked):
    with pytest.raises(SettingError, match=r"joint turn needs one.*drive-gains"):
        asked()


def test_efforts_that_can_be_converted_are_accepted(asked):
    asked(", drive_gain: 2.0")
    asked(meaning="joint_torque")


def test_didim_without_a_controller_is_refused(asked):
    with pytest.raises(SettingError, match=r"declares none; DIDIM has to simulate it"):
        asked(meaning="joint_torque", method="didim")
    asked(meaning="joint_torque", method="wls")


def test_where_the_robot_of_the_node_is_not_known_nothing_is_refused(asked, tmp_path):
    asked(node="acquisition")
    asked(file=str(tmp_path / "elsewhere.yaml"))
    asked(robot_hash="of a file that was changed since")
