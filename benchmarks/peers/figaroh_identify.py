"""Identify with figaroh 1.0: run by ``figaroh_ur10.py``, needs numpy and figaroh only.

Usage: figaroh_identify.py INPUT.npz OUTPUT.npz

INPUT holds the URDF, the names of the joints, the settings and two sets of signals, `train` and
`test`; with `filtered` figaroh takes positions, velocities and accelerations as they are, without
it its own filter and differences make them from the positions of `train`.  OUTPUT holds the efforts
that the identified model predicts for the motions of `test` and of `random`.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np


def main() -> None:
    """Identify and predict."""
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    with np.load(source) as archive:
        given = {name: archive[name] for name in archive.files}
    begin = time.perf_counter()
    import pinocchio
    from figaroh.identification.base_identification import BaseIdentification
    from pinocchio.robot_wrapper import RobotWrapper

    imported = time.perf_counter() - begin

    class Identification(BaseIdentification):
        """Hands figaroh the signals of a bag."""

        def load_trajectory_data(self, data_source: str | None = None) -> dict[str, Any]:  # noqa: ARG002
            return {
                "timestamps": given["train_time"],
                "positions": given["train_position"],
                "velocities": None,
                "accelerations": None,
                "torques": given["train_effort"],
            }

        def process_kinematics_data(self, filter_config: dict[str, Any] | None = None) -> None:
            if not given["filtered"]:
                super().process_kinematics_data(filter_config)
                return
            self.processed_data = {
                "timestamps": given["train_time"],
                "positions": given["train_position"],
                "velocities": given["train_velocity"],
                "accelerations": given["train_acceleration"],
            }

    begin = time.perf_counter()
    # figaroh's own loader wants the meshes too.
    robot = RobotWrapper(pinocchio.buildModelFromUrdf(str(given["urdf"])))
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "robot.yaml"
        config.write_text(configuration(given), encoding="utf-8")
        identification = Identification(robot, str(config))
    joints = [robot.model.joints[robot.model.getJointId(str(name))] for name in given["joints"]]
    identification.identif_config |= {
        "act_idxq": [joint.idx_q for joint in joints],
        "act_idxv": [joint.idx_v for joint in joints],
    }
    identification.initialize()
    identification.solve(
        decimate=True,
        decimation_factor=int(given["factor"]),
        plotting=False,
        wls=bool(given["wls"]),
    )
    seconds = time.perf_counter() - begin
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    predicted = {
        f"{part}_effort": predict(identification, *(given[f"{part}_{s}"] for s in SIGNALS))
        for part in ("test", "random")
    }
    np.savez(
        target,
        parameters=len(identification.phi_base),
        seconds=seconds,
        imported=imported,
        memory=memory,
        **predicted,
    )


SIGNALS = ("position", "velocity", "acceleration")


def predict(identification: Any, *motion: np.ndarray) -> np.ndarray:
    """Return (samples, joints) efforts of the identified model."""
    from figaroh.tools.regressor import build_regressor_basic, build_regressor_reduced

    dense = build_regressor_basic(identification.robot, *motion, identification.identif_config)
    # Nothing public predicts for another motion.
    reduced = build_regressor_reduced(dense, identification._idx_eliminated)  # noqa: SLF001
    base = reduced[:, identification._base_indices]  # noqa: SLF001
    efforts: np.ndarray = base @ identification.phi_base
    return efforts.reshape(-1, len(motion[0])).T


def configuration(given: dict[str, Any]) -> str:
    """Return figaroh's unified configuration of the run."""
    names = [str(name) for name in given["joints"]]
    zeros = [0.0] * len(names)
    return f"""
robot:
  name: robot
tasks:
  identification:
    enabled: true
    joints: {{active_joints: {names}}}
    mechanics:
      friction_coefficients: {{viscous: {zeros}, static: {zeros}}}
      actuator_inertias: {zeros}
      joint_offsets: {zeros}
    problem:
      model_components: {{friction: true, actuator_inertia: true, joint_offset: true}}
    coupling: {{has_coupled_wrist: false}}
    signal_processing:
      sampling_frequency: {float(given["rate"])}
      cutoff_frequency: {float(given["cutoff"])}
      filter_order: {int(given["order"])}
      filter_params: {{med_fil: 1}}
"""


if __name__ == "__main__":
    main()
