"""Samples out of published files that are no bags, on the side of the joints, in SI units."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from robot_identification.signals.raw_samples import RawSamples

_START = 1_700_000_000_000_000_000
"""Stamp of the first sample, in ns: the files tell times since the start, and bags need dates."""

_TX40_PERIOD = 200_000  # ns, ``ts`` of the configuration published beside the data
_TX40_RATIOS = (32.0, 32.0, 45.0, -48.0, 45.0, 32.0)  # ``N`` of that configuration


def emps_samples(folder: Path) -> RawSamples:
    """Return what the EMPS recorded, from ``DATA_EMPS.mat``.

    The file holds time ``t`` in s, position ``qm`` and reference ``qg`` in m, the control signal
    ``vir`` in V and the gain ``gtau`` of the drive in N/V (Janot, Gautier and Brunot 2019).
    """
    from scipy.io import loadmat

    data = loadmat(str(folder / "DATA_EMPS.mat"))
    return RawSamples(
        stamps=_START + np.rint(1e9 * data["t"][:, 0]).astype(np.int64),
        position=data["qm"].astype(float),
        velocity=None,
        effort=float(data["gtau"][0, 0]) * data["vir"],
        reference=data["qg"].astype(float),
    )


def tx40_samples(folder: Path) -> RawSamples:
    """Return what the TX-40 recorded, from ``pos_read_data.csv`` and ``curr_data.csv``.

    The files hold motor positions in rad and motor torques in N m, a row every 0.2 ms.  Motor 6
    turns with joint 5 too, by its own ratio (Nguyen et al. 2023, ``identification.py`` there).
    """
    positions, torques = _table(folder / "pos_read_data.csv"), _table(folder / "curr_data.csv")
    motion, effort = np.diag(_TX40_RATIOS), np.diag(_TX40_RATIOS)
    motion[5, 4] = effort[4, 5] = _TX40_RATIOS[5]
    return RawSamples(
        stamps=_START + _TX40_PERIOD * np.arange(len(positions), dtype=np.int64),
        position=positions @ np.linalg.inv(motion).T,
        velocity=None,
        effort=torques @ effort.T,
    )


def _table(path: Path) -> npt.NDArray[np.float64]:
    return np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
