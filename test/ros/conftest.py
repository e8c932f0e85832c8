"""Nodes in processes of their own, talked to through DDS; a namespace keeps each set apart."""

import uuid

import pytest

from live_nodes import Suite
from robot_identification.ros.clients.client import Client
from robot_identification.ros.clients.processes import NodeProcesses
from robot_identification.ros.common import stamps as patience


@pytest.fixture
def clock(monkeypatch):
    """The clock of patience, in a list; it stands until somebody moves it."""
    now = [100.0]
    monkeypatch.setattr(patience.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture(scope="module")
def make_suite(tmp_path_factory):
    """Return what makes a suite without nodes; whatever it starts ends with the module."""
    made = []

    def make():
        namespace = f"/t{uuid.uuid4().hex[:12]}"
        processes = NodeProcesses(tmp_path_factory.mktemp("nodes"))
        client = Client(namespace, watch=processes.check)
        made.append((processes, client))
        return Suite(client, processes, namespace)

    yield make
    for processes, client in made:
        client.close()
        processes.stop()


@pytest.fixture(scope="module")
def suite(make_suite):
    """Acquisition and identification for the SCARA, ready."""
    suite = make_suite()
    suite.start("acquisition", block_period=0.05, diagnostics_period=0.1)
    suite.start("identification")
    suite.wait_for_acquisition()
    suite.verbs.require("identification")
    suite.wait_until_blocks_arrive()
    return suite
