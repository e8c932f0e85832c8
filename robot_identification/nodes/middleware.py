"""How processes of this package find and reach others.

Fast DDS, the middleware that ROS 2 comes with, passes messages between processes of one machine
through shared memory.  A process that stands still for a second, as one does that was suspended or
that waits for its memory, is taken for dead, and others remove the memory through which it was
reached.  A message that comes just when it goes on can leave it deaf for good.  UDP has no such
memory.  Measured in docs/ros_interfaces.md.
"""

from __future__ import annotations

import os
import random

from robot_identification.share import share_directory

_TRANSPORTS = "FASTDDS_BUILTIN_TRANSPORTS"
_PROFILES = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")  # Fast DDS 2, 3
_DISCOVERY = "ROS_AUTOMATIC_DISCOVERY_RANGE"
_DOMAIN = "ROS_DOMAIN_ID"


def avoid_shared_memory() -> None:
    """Have this process, and those that it starts, use UDP, unless the environment says otherwise.

    To be called before ROS begins.
    """
    if not any(name in os.environ for name in (_TRANSPORTS, *_PROFILES)):
        os.environ[_TRANSPORTS] = "UDPv4"


def private_domain() -> dict[str, str]:
    """Return environment variables for a random ROS domain on this machine; set ones are kept."""
    number = random.SystemRandom().randint(1, 100)
    wanted = {_DOMAIN: str(number), _DISCOVERY: "LOCALHOST"}
    if not any(name in os.environ for name in (_DISCOVERY, *_PROFILES)):
        wanted |= this_machine_only()
    return {name: os.environ.get(name, value) for name, value in wanted.items()}


def this_machine_only() -> dict[str, str]:
    """Return environment variables for processes that look for others on this machine only."""
    if "fastrtps" not in os.environ.get("RMW_IMPLEMENTATION", "rmw_fastrtps_cpp"):
        return {_DISCOVERY: "LOCALHOST"}
    profiles = str(share_directory() / "config" / "fastdds_localhost.xml")
    return {_DISCOVERY: "SYSTEM_DEFAULT"} | dict.fromkeys(_PROFILES, profiles)
