"""A ROS domain that no other test process on this machine has."""

import fcntl
import os
import random
import tempfile
from pathlib import Path

# Ports of these domains are clear of those that Linux hands out by itself.
DOMAINS = range(1, 101)


def claim():
    """Return the number of a domain that is this process's until it ends.

    Raises:
        RuntimeError: all are taken.
    """
    folder = Path(tempfile.gettempdir()) / "robot_identification_domains"
    folder.mkdir(exist_ok=True)
    for number in random.sample(DOMAINS, len(DOMAINS)):
        file = os.open(folder / str(number), os.O_RDWR | os.O_CREAT)  # open until the process ends
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
        else:
            return number
    raise RuntimeError(f"every ROS domain of {DOMAINS} is in use by other tests")
