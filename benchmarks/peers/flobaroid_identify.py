"""Identify with FloBaRoID 0.9.8: run by ``figaroh_ur10.py --flobaroid-source``, in its environment.

Usage: flobaroid_identify.py INPUT.npz OUTPUT.npz

INPUT and OUTPUT are those of ``figaroh_identify.py``; besides, INPUT names the folder of FloBaRoID
(`source`) and says whether to constrain the parameters to bodies that can exist (`consistent`).
Options that this does not set are those of its example for a measured arm, configs/kuka_lwr4.yaml.
"""

import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

SIGNALS = ("position", "velocity", "acceleration")


def main() -> None:
    """Identify and predict."""
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    with np.load(source) as archive:
        given = {name: archive[name] for name in archive.files}
    begin = time.perf_counter()
    sys.path.insert(0, str(given["source"]))
    from identification.data import Data
    from identifier import Identification

    imported = time.perf_counter() - begin
    zero_where_it_is_expected()
    begin = time.perf_counter()
    settings = options(given)
    with tempfile.TemporaryDirectory() as folder:  # it writes files beside the URDF
        urdf = shutil.copy(str(given["urdf"]), folder)
        identification = Identification(settings, urdf, None, None, None, None)
        data = measured(given, Data(settings))
        identification.data.init_from_data(data)
        identification.estimateParameters()
    seconds = time.perf_counter() - begin
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    predicted = {
        f"{part}_effort": predict(identification, Data(settings), given, part)
        for part in ("test", "random")
    }
    np.savez(
        target,
        parameters=identification.model.num_base_params,
        seconds=seconds,
        imported=imported,
        memory=memory,
        **predicted,
    )


def zero_where_it_is_expected() -> None:
    """Start vectors of iDynTree at zero: FloBaRoID takes new ones for the base at rest.

    Those of iDynTree 15.1.0 hold whatever was in memory, and a fixed base then accelerates.
    """
    from idyntree import bindings

    def zeros(*values: Any) -> Any:
        vector = original(*values)
        if not values:
            vector.zero()
        return vector

    original, bindings.Vector6 = bindings.Vector6, zeros


def options(given: dict[str, Any]) -> dict[str, Any]:
    """Return FloBaRoID's options of the run."""
    import yaml

    example = Path(str(given["source"])) / "configs" / "kuka_lwr4.yaml"
    filters = [float(given["cutoff"]), int(given["order"])]
    settings: dict[str, Any] = yaml.safe_load(example.read_text(encoding="utf-8"))
    return settings | {
        "num_dofs": len(given["joints"]),
        "startOffset": 0,
        "filterLowPass1": filters,
        "filterLowPass2": filters,
        "constrainToConsistent": int(given["consistent"]),
        # What the example knows of its own arm: total mass, hulls of meshes.
        "limitOverallMass": 0,
        "restrictCOMtoHull": 0,
        "createPlots": 0,
        "verbose": 0,
        "selectingBlocks": 0,
    }


def measured(given: dict[str, Any], data: Any) -> dict[str, Any]:
    """Return the signals as FloBaRoID's recorder leaves them."""
    position = np.array(given["train_position"])
    effort, stamps = np.array(given["train_effort"]), given["train_time"]
    rate = float(given["rate"])
    if given["filtered"]:
        velocity, acceleration = given["train_velocity"], given["train_acceleration"]
        return signals(position, velocity, acceleration, effort, stamps) | raw(velocity, rate)
    velocity, acceleration = np.empty_like(position), np.empty_like(position)
    unfiltered = np.empty_like(position)
    data.preprocess(position, velocity, acceleration, effort, stamps, rate, V_raw=unfiltered)
    return signals(position, velocity, acceleration, effort, stamps) | raw(unfiltered, rate)


def raw(velocity: np.ndarray, rate: float) -> dict[str, Any]:
    """Return what FloBaRoID finds the sign of the velocity by."""
    return {"velocities_raw": velocity, "frequency": np.array(rate)}


def signals(
    position: np.ndarray,
    velocity: np.ndarray,
    acceleration: np.ndarray,
    effort: np.ndarray,
    stamps: np.ndarray,
) -> dict[str, Any]:
    """Return arrays of (samples, joints) under FloBaRoID's names."""
    return {
        "positions": position,
        "velocities": velocity,
        "accelerations": acceleration,
        "torques": effort,
        "times": stamps,
    }


def predict(identification: Any, data: Any, given: dict[str, Any], part: str) -> np.ndarray:
    """Return (samples, joints) efforts of the identified model."""
    motion = [np.array(given[f"{part}_{name}"]) for name in SIGNALS]
    stamps = np.arange(len(motion[0])) / float(given["rate"])
    data.init_from_data(signals(*motion, np.zeros_like(motion[0]), stamps))
    model = identification.model
    model.computeRegressors(data)
    if given["consistent"]:
        efforts: np.ndarray = model.YStd @ model.xStd[model.identified_params]
    else:
        efforts = model.YBase @ model.xBase
    return efforts.reshape(len(motion[0]), -1)


if __name__ == "__main__":
    main()
