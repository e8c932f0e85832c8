"""Nodes that the tests of a module share."""

import uuid

import pytest

from faults.driver import FaultySuite
from robot_identification.ros.clients.client import Client
from robot_identification.ros.clients.processes import NodeProcesses


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    """Return the suite behind a fault injector, ready."""
    namespace = f"/f{uuid.uuid4().hex[:12]}"
    folder = tmp_path_factory.mktemp("faults")
    with NodeProcesses(folder) as processes, Client(namespace, watch=processes.check) as client:
        suite = FaultySuite(client, processes, namespace, folder)
        suite.start_all()
        yield suite


@pytest.fixture(scope="module")
def recording(faulty):
    """Return a recording without a fault that has been identified."""
    (last,), _ = faulty.record_with()
    assert faulty.identify(last.recording).success
    return last.recording
