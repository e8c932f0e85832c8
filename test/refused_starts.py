"""Nodes that refuse to start."""

import os
import runpy
import signal
import subprocess
import sys
import tempfile
from functools import cache

import pytest

from robot_identification.ros.clients.interruption import INTERRUPTS
from robot_identification.ros.clients.processes import command
from robot_identification.ros.common.middleware import claimed_domain


def refused_start(node, parameters, parameter_files=(), **environment):
    """Run a node until it ends by itself, which must be with exit code 2; return what it says.

    The program runs in this process, unless it is to have an environment of its own: half of the
    time of a process goes into loading what is loaded here.
    """
    line = command(node, parameters=parameters, parameter_files=parameter_files)
    code, said = _run_apart(line, environment) if environment else _run_here(line)
    assert code == 2, said
    assert "Traceback" not in said
    return said


def _run_apart(line, environment):
    done = subprocess.run(
        line,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    return done.returncode, done.stdout


def _run_here(line):
    """Run an executable of Python; return its exit code and what it says, its C libraries too.

    Its domain is one without others: clients of earlier tests of this process are not discovered.
    """
    handlers = {number: signal.getsignal(number) for number in INTERRUPTS}
    outputs = {number: os.dup(number) for number in (1, 2)}
    with tempfile.TemporaryFile("w+") as log, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", line)
        patch.setenv("ROS_DOMAIN_ID", _domain())
        for number in outputs:
            os.dup2(log.fileno(), number)
        try:
            with pytest.raises(SystemExit) as end:
                runpy.run_path(line[0], run_name="__main__")
        finally:
            for number, output in outputs.items():
                os.dup2(output, number)
                os.close(output)
            for number, handler in handlers.items():
                signal.signal(number, handler)
        log.seek(0)
        return end.value.code, log.read()


@cache
def _domain():
    return str(claimed_domain())
