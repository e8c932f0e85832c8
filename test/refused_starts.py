"""Nodes that refuse to start."""

import os
import subprocess

from robot_identification.nodes.processes import command


def refused_start(node, parameters, parameter_files=(), **environment):
    """Run a node until it ends by itself, which must be with exit code 2; return what it says."""
    done = subprocess.run(
        command(node, parameters=parameters, parameter_files=parameter_files),
        capture_output=True,
        text=True,
        timeout=60.0,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    return done.stderr + done.stdout
