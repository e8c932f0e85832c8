"""Settings of the DDS middleware: profiles, domains, this machine only.

Fast DDS, the middleware that ROS 2 comes with, passes messages between processes of one machine
through shared memory.  A process that stands still for a second, as one does that was suspended or
that waits for its memory, is taken for dead, and others remove the memory through which it was
reached.  A message that comes just when it goes on can leave it deaf for good.  UDP has no such
memory, but its sockets overflow within 0.3 s, and of what is lost Fast DDS sends the end again only
with its next heartbeat, every 3 s.  The profiles in ``config/`` ask for UDP, large sockets, and a
heartbeat every 0.1 s while something is missing.  Measured in docs/ros_interfaces.md.
"""

from __future__ import annotations

import os
import random
import socket
from functools import cache
from importlib.metadata import version

from robot_identification.errors import InputError
from robot_identification.share import share_directory

_PROFILE_FILES = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")
_CHOICES = ("FASTDDS_BUILTIN_TRANSPORTS", *_PROFILE_FILES)
_DISCOVERY = "ROS_AUTOMATIC_DISCOVERY_RANGE"
_DOMAIN = "ROS_DOMAIN_ID"
_RCLPY_OF_JAZZY = 7  # the last one with Fast DDS 2

# UDP ports of these domains are below those that Linux hands out by itself.
_DOMAINS = range(1, 101)
_FIRST_PORT, _PORTS_OF_A_DOMAIN = 7400, 250  # as every implementation of DDS counts them
# Ports of a domain, counted from its first.  Participants take the lowest that is free when they
# begin, and those before them may have ended since.
_PARTICIPANTS, _UNUSED = range(10, 50, 2), 249


class NoDomainError(InputError):
    """No ROS domain is free on this machine."""


def use_own_profiles() -> None:
    """Have this process, and those that it starts, use the profiles of this package.

    Where the environment says how Fast DDS shall work, that holds.  To be called before ROS begins.
    """
    if not _is_told_otherwise():
        os.environ.update(_profiles())


def private_domain() -> dict[str, str]:
    """Return environment variables for a ROS domain of this process's own; set ones are kept.

    Others on this machine have another, and nobody beyond it is reached.

    Raises:
        NoDomainError: all domains are in use.
    """
    kept = {name: os.environ[name] for name in (_DOMAIN, _DISCOVERY) if name in os.environ}
    wanted = {_DISCOVERY: "LOCALHOST"}
    if _DOMAIN not in kept:
        wanted[_DOMAIN] = str(_own_domain())
    if _DISCOVERY not in kept and not _is_told_otherwise():
        wanted |= this_machine_only()
    return wanted | kept


def this_machine_only() -> dict[str, str]:
    """Return environment variables for processes that look for others on this machine only."""
    if "fastrtps" not in os.environ.get("RMW_IMPLEMENTATION", "rmw_fastrtps_cpp"):
        return {_DISCOVERY: "LOCALHOST"}
    return {_DISCOVERY: "SYSTEM_DEFAULT"} | _profiles("_localhost")


@cache
def _own_domain() -> int:
    return claimed_domain()


def claimed_domain() -> int:
    """Return a domain without participants, which is this process's until it ends.

    Raises:
        NoDomainError: all domains are in use.
    """
    for number in random.sample(_DOMAINS, len(_DOMAINS)):
        first_port = _FIRST_PORT + _PORTS_OF_A_DOMAIN * number
        claim = _bound(first_port + _UNUSED)
        if claim is None:
            continue
        if all(_is_free(first_port + offset) for offset in _PARTICIPANTS):
            claim.detach()  # open until the process ends
            return number
        claim.close()
    raise NoDomainError(
        f"ROS domains {_DOMAINS[0]} to {_DOMAINS[-1]} are all in use on this machine; end programs "
        f"that use them, or choose a domain with {_DOMAIN}"
    )


def _is_free(port: int) -> bool:
    probe = _bound(port)
    if probe is not None:
        probe.close()
    return probe is not None


def _bound(port: int) -> socket.socket | None:
    """Return a socket at a UDP port of this machine; nothing where another has it."""
    new = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        new.bind(("", port))
    except OSError:
        new.close()
        return None
    return new


def _is_told_otherwise() -> bool:
    """Tell whether the environment says how Fast DDS shall work, other than by these profiles."""
    own = _profiles()
    told = {name: os.environ[name] for name in _CHOICES if name in os.environ}
    return any(told[name] != own.get(name) for name in told)


def _profiles(which: str = "") -> dict[str, str]:
    """Return the environment variable for a file of profiles that this Fast DDS understands."""
    generation = 2 if int(version("rclpy").partition(".")[0]) <= _RCLPY_OF_JAZZY else 3
    profiles = share_directory() / "config" / f"fastdds{generation}{which}.xml"
    return {_PROFILE_FILES[generation - 2]: str(profiles)}
