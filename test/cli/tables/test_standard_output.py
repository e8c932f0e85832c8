"""What becomes of a command whose standard output cannot be written, or is not read."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import forked_processes

COMMANDS = (
    ("base-parameters", "scara"),
    ("base-parameters", "tx40", "--json"),
    ("--help",),
    ("--version",),
)


def run(arguments, output):
    return forked_processes.run(
        [sys.executable, "-m", "robot_identification.cli.main", *arguments],
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_full_disk_is_one_line_and_an_exit_code(arguments):
    with Path("/dev/full").open("w") as full:
        done = run(arguments, full)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("robot-identification")
    assert "standard output" in line
    assert "No space left" in line


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_reader_that_has_gone_ends_a_command_quietly(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = run(arguments, writer)
    finally:
        os.close(writer)
    assert done.stderr == ""
    assert done.returncode == 141, "as of a program that SIGPIPE has ended"


def test_what_went_wrong_first_is_told_where_nobody_reads_either():
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = run(("base-parameters", "nowhere.yaml"), writer)
    finally:
        os.close(writer)
    assert done.returncode == 2
    assert "nowhere.yaml" in done.stderr


def test_a_closed_standard_output_is_no_error():
    line = [sys.executable, "-m", "robot_identification.cli.main", "base-parameters", "scara"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *line], capture_output=True, check=False
    )
    assert done.returncode == 0
    assert done.stderr == b""
