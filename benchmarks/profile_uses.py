"""Where the time of the three uses goes: live, as a service, offline.

Offline is profiled in this process.  Live and service run through DDS, in processes of their own;
shares of a core are those that the kernel counts.  Offline stays on one core.

Usage: profile_uses.py [live] [service] [offline] [--seconds S] [--points N]
"""

from __future__ import annotations

import argparse
import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # small matrices: more threads would only slow down

from profiling import live, offline, service

from robot_identification.ros.common.middleware import private_domain

USES = ("live", "service", "offline")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("uses", nargs="*", help=f"some of {', '.join(USES)}; by default all")
    parser.add_argument("--seconds", type=float, default=40.0, help="of motion, live and service")
    parser.add_argument("--points", type=int, default=120, help="that the offline motion visits")
    options = parser.parse_args()
    chosen = options.uses or USES
    if set(chosen) - set(USES):
        parser.error(f"choose from {', '.join(USES)}")
    os.environ.update(private_domain())
    if "live" in chosen:
        live.measure(options.seconds)
    if "service" in chosen:
        service.measure(options.seconds)
    if "offline" in chosen:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # the profiler sees one thread
        offline.measure(options.points)


if __name__ == "__main__":
    main()
