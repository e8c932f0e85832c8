"""What Pinocchio's model of a URDF lacks, by joint name: a table in YAML."""

from __future__ import annotations

from robot_identification.storage.export.mechanism import Mechanism
from robot_identification.storage.export.yaml_text import yaml_text

_HEADING = (
    "armature: drive inertias on the joint side, kg m^2 or kg, for model.armature.",
    "damping, friction: viscous (N m s/rad, N s/m) and Coulomb friction (N m, N).",
    "offset: effort at rest that is neither gravity nor friction (N m, N).",
)


def armature_yaml(mechanism: Mechanism) -> str:
    """Return a table of drive inertias, friction and offsets by joint name, in joint order."""
    joints = mechanism.joints
    return yaml_text(
        {
            "joints": [joint.name for joint in joints],
            "armature": {joint.name: joint.drive_inertia for joint in joints},
            "damping": {joint.name: joint.link.viscous_friction for joint in joints},
            "friction": {joint.name: joint.link.coulomb_friction for joint in joints},
            "offset": {joint.name: joint.offset for joint in joints},
        },
        heading=_HEADING,
    )
