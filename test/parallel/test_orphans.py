"""Processes that end with the one that has started them."""

import subprocess
import sys

CHILD = """
import os, time
from robot_identification.parallel.orphans import end_with
end_with(os.getppid())
print("begun", flush=True)
time.sleep(1e6)
"""
PARENT = f"""
import subprocess, sys
subprocess.run([sys.executable, "-c", {CHILD!r}])
"""


def test_a_process_ends_when_its_parent_was_killed():
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE) as parent:
        assert parent.stdout.readline() == b"begun\n"
        parent.kill()
        assert parent.stdout.read() == b"", "ends when the child, which writes to it, has ended"
