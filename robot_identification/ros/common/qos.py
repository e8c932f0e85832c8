"""Quality of service of every topic of this package, in one place."""

from __future__ import annotations

from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy


def _profile(
    reliability: ReliabilityPolicy,
    depth: int,
    durability: DurabilityPolicy = DurabilityPolicy.VOLATILE,
) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=reliability,
        durability=durability,
    )


STATES_OUT = _profile(ReliabilityPolicy.RELIABLE, 2000)
"""Joint states as the simulated robot sends them: 2 s at 1 kHz are kept for slow readers."""

STATES_IN_LOSSY = _profile(ReliabilityPolicy.BEST_EFFORT, 2000)
"""Joint states of a driver that offers best effort only."""

STATES_IN = _profile(ReliabilityPolicy.BEST_AVAILABLE, 2000)
"""Joint states as received: reliable where the driver offers it, deep enough for stalls."""

STATES_WATCHED = _profile(ReliabilityPolicy.BEST_EFFORT, 500)
"""Joint states that are watched: fits every driver; half a second at 1 kHz, taken in at a go."""

BLOCKS = _profile(ReliabilityPolicy.RELIABLE, 200, DurabilityPolicy.TRANSIENT_LOCAL)
"""Numbered blocks of samples: kept, so that nobody misses the first while they find each other."""

ANNOUNCED = _profile(ReliabilityPolicy.RELIABLE, 20, DurabilityPolicy.TRANSIENT_LOCAL)
"""Names of the recordings that begin: who starts late still learns the last ones."""

COMMANDS = _profile(ReliabilityPolicy.RELIABLE, 10)
"""Trajectories and other commands."""

EFFORTS = _profile(ReliabilityPolicy.RELIABLE, 1000)
"""Feed-forward efforts, sent some way ahead of the time from which they hold."""

SERVICES = _profile(ReliabilityPolicy.RELIABLE, 1000)
"""Requests and responses: a flood of them is answered to the last, none is pushed out."""

STATUS = _profile(ReliabilityPolicy.RELIABLE, 10)
"""Status, progress and diagnostics."""

STATUS_LATCHED = _profile(ReliabilityPolicy.RELIABLE, 10, DurabilityPolicy.TRANSIENT_LOCAL)
"""Status of a node: a node that starts late receives the last one; no change in between is lost."""

LATCHED = _profile(ReliabilityPolicy.RELIABLE, 1, DurabilityPolicy.TRANSIENT_LOCAL)
"""Results: a node that starts late still receives the last one."""

ARRIVED_WITHIN = Duration(seconds=4)
"""Time that a node that ends waits until its last message has arrived.

A heartbeat of Fast DDS as it comes (3 s), with which lost messages are asked for, and less than the
5 s that launch gives.
"""
