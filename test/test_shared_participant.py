"""Clients in the process of the tests: those of one environment share a participant that stays."""

import pytest

from robot_identification.ros.clients.client import Client

pytestmark = pytest.mark.ros


def test_a_client_that_leaves_takes_no_participant_with_it():
    with Client("/first") as first:
        context = first.node.context
    assert context.ok()
    with Client("/second") as second:
        assert second.node.context is context
        assert second.node.get_namespace() == "/second"


def test_a_client_in_another_environment_has_a_participant_of_its_own(monkeypatch):
    with Client() as usual:
        monkeypatch.setenv("ROS_DOMAIN_ID", "101")
        with Client() as apart:
            assert apart.node.context.get_domain_id() == 101
            assert apart.node.context is not usual.node.context
        with Client() as again:
            assert again.node.context is apart.node.context
        assert usual.node.context.get_domain_id() != 101
