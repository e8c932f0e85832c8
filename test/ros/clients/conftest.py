"""What tests of clients share: a transport that they move."""

import pytest

from hand_moved_transport import Transport
from robot_identification.ros.clients import asking


@pytest.fixture
def transport(monkeypatch):
    made = Transport()
    monkeypatch.setattr(asking.time, "monotonic", lambda: made.now)
    return made
