"""What all tests share.  The environment is set before NumPy or ROS is imported."""

import gc
import math
import os
import signal
import subprocess
import sys
from types import SimpleNamespace

# Tests run side by side: one thread of linear algebra each.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

import forked_processes
from robot_identification.ros.clients import asking, client, processes
from robot_identification.ros.clients.client import Client
from robot_identification.ros.common.middleware import private_domain, this_machine_only
from shared_participant import SHARED
from undiagnosed import undiagnosed

__all__ = ["undiagnosed"]

gc.disable()  # until the tests are collected: what is loaded meanwhile stays
_GARBAGE = (5000, 10, 20)  # objects, and collections of each age, before the next one
_WAITING = 0.75  # of the files that wait for nothing have begun when the last of the others does
_WAIT_FOR, _SILENT = Client.wait_for, asking.SILENT

# A domain of its own for each process, whatever is set.
os.environ.pop("ROS_DOMAIN_ID", None)
os.environ.update(private_domain() | this_machine_only())

# The same examples every time.  Time says nothing where compilation or other tests interfere.
settings.register_profile(
    "tests",
    max_examples=30,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("tests")

# Else examples hold constants of the modules that are loaded, which are others in every process.
_PROVIDERS = sys.modules.get("hypothesis.internal.conjecture.providers")
if hasattr(_PROVIDERS, "_get_local_constants"):
    _PROVIDERS._get_local_constants = lambda: _PROVIDERS._local_constants


def pytest_collection_modifyitems(items):
    """Mix files that wait for robots with the others, which fill the time meanwhile.

    The longest waits begin first, and all are over before the others are.
    """
    waits = {}
    for item in items:
        longest = sum(item.get_closest_marker(name) is not None for name in ("ros", "slow"))
        waits[item.path] = max(longest, waits.get(item.path, 0))
    waiting = sorted((path for path, wait in waits.items() if wait), key=lambda path: -waits[path])
    others = [path for path, wait in waits.items() if not wait]
    begins = {path: place / len(waiting) * _WAITING for place, path in enumerate(waiting)}
    begins |= {path: place / len(others) for place, path in enumerate(others)}
    items.sort(key=lambda item: begins[item.path])


def pytest_collection_finish():
    """Have the garbage collector pass over modules and tests, a tenth of the time of the tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GARBAGE)
    gc.enable()


@pytest.fixture(scope="module", autouse=True)
def usual_environment(ros_home):
    """Undo what a module sets for all that follow, as Dask does: what they start is not forked."""
    before = dict(os.environ)
    yield
    for name in os.environ.keys() - before.keys():
        del os.environ[name]
    os.environ.update(before)


@pytest.fixture(scope="session", autouse=True)
def ros_home(tmp_path_factory):
    """Keep the logs of ROS, and what nodes write, out of the home folder."""
    os.environ["ROS_LOG_DIR"] = str(tmp_path_factory.mktemp("ros_log"))
    os.environ["ROS_HOME"] = str(tmp_path_factory.mktemp("ros_home"))


@pytest.fixture(scope="session", autouse=True)
def signals_heard():
    """Hear signals that tests in the background, or under nohup, have inherited as ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def patience():
    """Wait for what nodes do as long as it takes: how soon they are served says nothing here.

    What never comes ends with the time limit of pytest.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "_GRACE", math.inf)
        patch.setattr(asking, "SILENT", math.inf)
        patch.setattr(
            Client,
            "wait_for",
            lambda client, condition, _timeout, what: _WAIT_FOR(client, condition, math.inf, what),
        )
        yield


@pytest.fixture(scope="session", autouse=True)
def shared_participant():
    """Destroy no participant while those of nodes come and go."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client, "_enter", SHARED.enter)
        yield
    SHARED.close()


@pytest.fixture(scope="session", autouse=True)
def forked_nodes():
    """Fork nodes of a process that has loaded what they load, which takes most of their start."""
    names = {name: getattr(subprocess, name) for name in subprocess.__all__}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            processes, "subprocess", SimpleNamespace(**names | {"Popen": forked_processes.Popen})
        )
        yield
    forked_processes.stop()


@pytest.fixture
def executed_nodes(monkeypatch):
    """Execute nodes, as users do: for tests of how they start."""
    monkeypatch.setattr(processes, "subprocess", subprocess)


@pytest.fixture
def giving_up(monkeypatch):
    """Have clients give up when they are told to: for tests of what they say then."""
    monkeypatch.setattr(Client, "wait_for", _WAIT_FOR)
    monkeypatch.setattr(asking, "SILENT", _SILENT)
