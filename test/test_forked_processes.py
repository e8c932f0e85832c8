"""A forked program is to all who look at it what an executed one is."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import forked_processes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is forked")

SAY = """
import json, os, signal, sys, threading
from pathlib import Path
print(json.dumps({
    "arguments": sys.argv,
    "mark": os.environ["MARK"],
    "variables": sorted(os.environ),
    "folder": os.getcwd(),
    "parent": os.getppid(),
    "leads a session": os.getsid(0) == os.getpgid(0) == os.getpid(),
    "ignored": [n for n in signal.Signals if signal.getsignal(n) == signal.SIG_IGN],
    "interrupted": signal.getsignal(signal.SIGINT) is signal.default_int_handler,
    "blocked": list(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
    "files": sorted(os.listdir("/proc/self/fd")),
    "threads": threading.active_count(),
    "module": sys.modules["__main__"].__name__,
    "input": sys.stdin.read(),
}))
sys.exit(7)
"""
# Asleep for a short time at once: a signal just before a sleep is heard when that is over.
SLEEP = """
import time
print('ready', flush=True)
while True:
    time.sleep(0.05)
"""


def said(popen, folder, session):
    line = [sys.executable, "-c", SAY, "one", "two words", "ü"]
    process = popen(
        line,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env={**os.environ, "MARK": "a=b ü"},
        cwd=folder,
        start_new_session=session,
    )
    out, _ = process.communicate()
    return process.returncode, json.loads(out)


@pytest.mark.parametrize("session", [True, False])
def test_it_has_the_surroundings_of_an_executed_one(tmp_path, session):
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
    try:
        forked = said(forked_processes.Popen, tmp_path, session)
        executed = said(subprocess.Popen, tmp_path, session)
    finally:
        signal.signal(signal.SIGUSR1, before)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    assert forked == executed
    code, told = forked
    assert code == 7
    assert told["parent"] == os.getpid()
    assert told["threads"] == 1
    assert signal.SIGUSR1 in told["ignored"]
    assert told["blocked"] == [signal.SIGUSR2]
    assert told["leads a session"] is session


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_it(number):
    with forked_processes.Popen(
        [sys.executable, "-c", SLEEP], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"ready\n"
        assert process.poll() is None
        process.send_signal(number)
        assert process.wait() == -number
        assert (b"KeyboardInterrupt" in process.stderr.read()) is (number == signal.SIGINT)


def test_an_error_ends_it_with_a_traceback_and_what_is_done_at_the_end():
    program = "import atexit; atexit.register(print, 'the end'); [][0]"
    done = forked_processes.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout == "the end\n"
    assert done.stderr.endswith("IndexError: list index out of range\n")


@pytest.mark.parametrize(
    "program",
    [
        "print('said', end='')",
        "import sys; sys.exit(300)",
        "import sys; sys.exit('what is wrong')",
        "import atexit; atexit.register(print, 'the end')",
        "import threading; threading.Timer(0.1, print, ['later']).start()",
        "import ctypes; ctypes.CDLL(None).printf(b'said by a library')",
        "import sys; sys.stdout = open('/dev/full', 'w'); print('lost')",
    ],
)
def test_it_ends_as_an_executed_one(program):
    line = [sys.executable, "-c", program]
    forked, executed = (
        run(line, capture_output=True, text=True) for run in (forked_processes.run, subprocess.run)
    )
    assert (forked.returncode, forked.stdout) == (executed.returncode, executed.stdout)
    assert forked.stderr == executed.stderr


def test_it_is_forked_in_the_usual_environment_only():
    show = "import sys; print('rclpy' in sys.modules)"

    def is_forked(**environment):
        line = [sys.executable, "-c", show]
        done = forked_processes.run(
            line, capture_output=True, text=True, check=True, env={**os.environ, **environment}
        )
        return done.stdout == "True\n"

    assert is_forked(ANYTHING="else")
    assert not is_forked(NUMBA_DEBUG_CACHE="1"), "Numba reads it when it is loaded"


def test_programs_that_colcon_has_installed_are_forked_where_they_are_for_this_python(
    tmp_path, monkeypatch
):
    program, other = tmp_path / "node", tmp_path / "other"
    program.write_text("#!/usr/bin/env python3\n")
    other.mkdir()
    (other / "python3").write_text("#!/bin/sh\n")
    (other / "python3").chmod(0o755)
    own = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", os.pathsep.join([own, str(other)]))
    assert forked_processes._of_python([str(program), "one"]) == ([str(program), "one"], False)
    monkeypatch.setenv("PATH", os.pathsep.join([str(other), own]))
    assert forked_processes._of_python([str(program), "one"]) == ([], False)
