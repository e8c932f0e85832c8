"""Processes stay within earshot of each other, whatever stalls them."""

import os
import sys
from pathlib import Path

import pytest
from std_srvs.srv import Trigger

from robot_identification.nodes.client import Client
from robot_identification.nodes.middleware import (
    avoid_shared_memory,
    private_domain,
    this_machine_only,
)
from robot_identification.nodes.processes import NodeProcesses, command

pytestmark = pytest.mark.ros

CHOICES = (
    "FASTDDS_BUILTIN_TRANSPORTS",
    "FASTDDS_DEFAULT_PROFILES_FILE",
    "FASTRTPS_DEFAULT_PROFILES_FILE",
)


@pytest.fixture
def nothing_chosen(monkeypatch):
    for name in (*CHOICES, "ROS_AUTOMATIC_DISCOVERY_RANGE", "RMW_IMPLEMENTATION"):
        monkeypatch.setenv(name, "")  # so that what is set meanwhile is undone
        monkeypatch.delenv(name)


@pytest.mark.usefixtures("nothing_chosen")
def test_udp_is_used_unless_somebody_has_chosen_otherwise(monkeypatch):
    avoid_shared_memory()
    assert os.environ["FASTDDS_BUILTIN_TRANSPORTS"] == "UDPv4"
    monkeypatch.setenv("FASTDDS_BUILTIN_TRANSPORTS", "SHM")
    avoid_shared_memory()
    assert os.environ["FASTDDS_BUILTIN_TRANSPORTS"] == "SHM"
    monkeypatch.delenv("FASTDDS_BUILTIN_TRANSPORTS")
    monkeypatch.setenv("FASTRTPS_DEFAULT_PROFILES_FILE", "mine.xml")
    avoid_shared_memory()
    assert "FASTDDS_BUILTIN_TRANSPORTS" not in os.environ


@pytest.mark.usefixtures("nothing_chosen")
def test_a_domain_of_its_own_unless_one_is_set(monkeypatch):
    monkeypatch.delenv("ROS_DOMAIN_ID")
    assert 1 <= int(private_domain()["ROS_DOMAIN_ID"]) <= 100
    assert this_machine_only().items() <= private_domain().items()
    chosen = {"ROS_DOMAIN_ID": "7", "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}
    for name, value in chosen.items():
        monkeypatch.setenv(name, value)
    assert private_domain() == chosen


@pytest.mark.usefixtures("nothing_chosen")
@pytest.mark.parametrize("name", CHOICES[1:])
def test_profiles_of_a_users_own_do_not_lift_the_bounds_of_this_machine(monkeypatch, name):
    monkeypatch.setenv(name, "mine.xml")
    found = private_domain()
    assert found["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"
    assert found.get(name, "mine.xml") == "mine.xml"


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
