"""Requests that take as long as tests want: the same data under many names."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from live_nodes import BEGIN, RATE, ROBOT, motion
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.signals.raw_samples import RawSamples

_OWN = 10


def names_of(bag, count):
    """Return the paths of so many links to a bag: read again under each name."""
    folder = bag.with_name(f"{bag.name}_links")
    folder.mkdir(exist_ok=True)
    links = [folder / str(number) for number in range(count)]
    for link in links:
        if not link.is_symlink():
            link.symlink_to(bag)
    return [str(link) for link in links]


@cache
def _bag(seed):
    """Return a bag with the motion of the SCARA, and noise of its own."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    q, tau = motion()
    tau = tau + 1e-6 * np.random.default_rng(seed).standard_normal(tau.shape)
    stamps = BEGIN + np.rint(np.arange(len(q)) * 1e9 / RATE).astype(np.int64)
    write_joint_states(folder / "bag", ROBOT.joint_names, RawSamples(stamps, q, None, tau))
    return folder / "bag"


def many_bags(count):
    """Return the paths of so many bags with the motion of the SCARA.

    More than ten, which nobody waits for, are one under as many names: that it would count twice is
    seen when all have been read.
    """
    if count > _OWN:
        return names_of(_bag(0), count)
    return [str(_bag(seed)) for seed in range(count)]
