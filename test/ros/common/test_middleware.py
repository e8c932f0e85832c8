"""Processes stay within earshot of each other, whatever stalls them."""

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from robot_identification.ros.clients.client import Client
from robot_identification.ros.clients.processes import NodeProcesses, command
from robot_identification.ros.common import middleware, qos
from robot_identification.ros.common.middleware import (
    NoDomainError,
    private_domain,
    this_machine_only,
    use_own_profiles,
)
from robot_identification.share import share_directory
from stalled_nodes import stalled

pytestmark = pytest.mark.ros

PROFILES = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")
CHOICES = ("FASTDDS_BUILTIN_TRANSPORTS", *PROFILES)
SAY_DOMAIN = """import os
from robot_identification.ros.common.middleware import private_domain
del os.environ["ROS_DOMAIN_ID"]
print(private_domain()["ROS_DOMAIN_ID"])
"""
PARTICIPANT = """import sys, time
import rclpy
rclpy.init(domain_id=int(sys.argv[1]))
node = rclpy.create_node("participant")
print("here", flush=True)
time.sleep(3600.0)
"""
CONFIG = share_directory() / "config"


@pytest.fixture
def nothing_chosen(monkeypatch):
    for name in (*CHOICES, "ROS_AUTOMATIC_DISCOVERY_RANGE", "RMW_IMPLEMENTATION"):
        monkeypatch.setenv(name, "")  # so that what is set meanwhile is undone
        monkeypatch.delenv(name)


@contextmanager
def participant(domain):
    """Have another process take part in a domain."""
    line = [sys.executable, "-c", PARTICIPANT, str(domain)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "here\n"
            yield process
        finally:
            process.kill()


def chosen():
    return {name: os.environ[name] for name in CHOICES if name in os.environ}


@pytest.mark.usefixtures("nothing_chosen")
@pytest.mark.parametrize(
    ("rclpy", "generation"), [("7.1.5", 2), ("9.1.2", 3)], ids=["jazzy", "kilted"]
)
def test_profiles_are_used_that_this_fast_dds_understands(monkeypatch, rclpy, generation):
    monkeypatch.setattr(middleware, "version", lambda _package: rclpy)
    use_own_profiles()
    name = PROFILES[generation - 2]
    assert chosen() == {name: str(CONFIG / f"fastdds{generation}.xml")}
    localhost = str(CONFIG / f"fastdds{generation}_localhost.xml")
    assert this_machine_only() == {
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT",
        name: localhost,
    }


@pytest.mark.parametrize("which", ["", "_localhost"])
def test_profiles_say_the_same_to_fast_dds_2_and_3(which):
    second, third = ((CONFIG / f"fastdds{n}{which}.xml").read_text() for n in (2, 3))
    translated = second.replace("heartbeatPeriod", "heartbeat_period")
    assert elements(translated) == elements(third)


@pytest.mark.parametrize("generation", [2, 3])
@pytest.mark.parametrize("which", ["", "_localhost"])
def test_profiles_ask_ten_times_a_second_for_what_was_missed(generation, which):
    """With the heartbeat of Fast DDS as it comes that takes 3 s; benchmarks/stalls.py measures."""
    root = ET.parse(CONFIG / f"fastdds{generation}{which}.xml").getroot()
    (period,) = (e for e in root.iter() if e.tag.rpartition("}")[2].startswith("heartbeat"))
    assert [part.text for part in period] == ["0", "100000000"]


def elements(text):
    """Return tag, attributes and text of every element of a file, in order."""
    return [(e.tag, e.attrib, (e.text or "").strip()) for e in ET.fromstring(text).iter()]


@pytest.mark.usefixtures("nothing_chosen")
@pytest.mark.parametrize("name", CHOICES)
def test_what_somebody_has_chosen_stays(monkeypatch, name):
    monkeypatch.setenv(name, "mine")
    use_own_profiles()
    assert chosen() == {name: "mine"}


@pytest.mark.usefixtures("nothing_chosen")
def test_a_domain_of_its_own_unless_one_is_set(monkeypatch):
    monkeypatch.delenv("ROS_DOMAIN_ID")
    assert 1 <= int(private_domain()["ROS_DOMAIN_ID"]) <= 100
    assert this_machine_only().items() <= private_domain().items()
    use_own_profiles()
    assert this_machine_only().items() <= private_domain().items()
    set_ones = {"ROS_DOMAIN_ID": "7", "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}
    for name, value in set_ones.items():
        monkeypatch.setenv(name, value)
    assert private_domain() == set_ones


def test_a_domain_of_another_process_or_with_participants_is_not_given(monkeypatch):
    own = int(os.environ["ROS_DOMAIN_ID"])  # claimed when the tests began
    ended = [sys.executable, "-c", SAY_DOMAIN]
    another = int(subprocess.run(ended, check=True, capture_output=True, text=True).stdout)
    with participant(another) as first, participant(another):
        first.kill()  # and leaves its port to nobody
        first.wait()
        for number in (own, another):
            monkeypatch.setattr(middleware, "_DOMAINS", range(number, number + 1))
            with pytest.raises(NoDomainError, match=f"{number} are all in use.*ROS_DOMAIN_ID"):
                middleware.claimed_domain()


@pytest.mark.usefixtures("nothing_chosen")
@pytest.mark.parametrize("name", CHOICES)
def test_choices_of_a_users_own_do_not_lift_the_bounds_of_this_machine(monkeypatch, name):
    monkeypatch.setenv(name, "mine")
    found = private_domain()
    assert found["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"
    assert name not in found


@pytest.mark.usefixtures("nothing_chosen")
def test_other_middleware_is_told_in_the_way_of_ros(monkeypatch):
    monkeypatch.setenv("RMW_IMPLEMENTATION", "rmw_cyclonedds_cpp")
    assert this_machine_only() == {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}


def udp_ports(pid):
    """Return the UDP ports at which a process listens."""
    links = [str(fd.readlink()) for fd in Path(f"/proc/{pid}/fd").iterdir()]
    sockets = {link[len("socket:[") : -1] for link in links if link.startswith("socket:[")}
    rows = [row.split() for row in Path("/proc/net/udp").read_text().splitlines()[1:]]
    return {int(row[1].partition(":")[2], 16) for row in rows if row[9] in sockets}


@pytest.mark.usefixtures("nothing_chosen")
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, which Linux has")
@pytest.mark.parametrize("apart", [True, False], ids=["this machine only", "default"])
def test_nodes_are_not_reached_through_shared_memory(tmp_path, monkeypatch, apart):
    for name, value in (this_machine_only() if apart else {}).items():
        monkeypatch.setenv(name, value)
    multicast = 7400 + 250 * int(os.environ["ROS_DOMAIN_ID"])
    line = command("acquisition", parameters={"robot": "scara"}, namespace="/apart")
    with NodeProcesses(tmp_path) as nodes, Client("/apart", watch=nodes.check) as client:
        process = nodes.start("acquisition", line)
        assert not client.call(Trigger, "acquisition/stop").success
        assert "fastrtps_port" not in Path(f"/proc/{process.pid}/maps").read_text()
        assert "fastrtps_port" not in Path("/proc/self/maps").read_text()
        assert (multicast in udp_ports(process.pid)) is not apart


@pytest.mark.usefixtures("nothing_chosen")
@pytest.mark.parametrize("apart", [True, False], ids=["this machine only", "default"])
def test_what_a_stalled_node_missed_reaches_it(tmp_path, monkeypatch, apart):
    for name, value in (this_machine_only() if apart else {}).items():
        monkeypatch.setenv(name, value)
    line = command("acquisition", parameters={"robot": "scara"}, namespace="/stalled")
    with NodeProcesses(tmp_path) as nodes, Client("/stalled", watch=nodes.check) as client:
        process = nodes.start("acquisition", line)
        client.call(Trigger, "acquisition/stop")
        driver = client.node.create_publisher(JointState, "joint_states", qos.STATES_OUT)
        client.wait_for(driver.get_subscription_count, 60.0, "reader of states")
        with stalled(process, driver):
            answer = client.begin(Trigger, "acquisition/stop")
        client.wait_for(answer.done, 60.0, "answer")
    assert not answer.result().success
