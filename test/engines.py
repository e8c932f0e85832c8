"""Torques of a URDF and of what is exported beside it, by engines that nobody here wrote."""

import re
from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pinocchio as pin
import pytest
import yaml

EXAMPLES = "cmeel.prefix/share/example-robot-data/robots"


def example(name):
    """Return the file of a published robot."""
    try:
        package = metadata.distribution("example-robot-data")
    except metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    return Path(package.locate_file(f"{EXAMPLES}/{name}"))


def pinocchio_torques(urdf, table, names, q, qd, qdd):
    """Return (samples, joints) efforts: rigid bodies, armature, friction and offset.

    Args:
        urdf: text of the URDF; urdfdom parses it.
        table: text of the armature table.
        names: joints, in the order of the columns.
        q: (samples, joints) positions; likewise ``qd`` and ``qdd``.
    """
    model = pin.buildModelFromXML(urdf)
    data = model.createData()
    joints = [model.joints[model.getJointId(name)] for name in names]
    assert len(joints) == model.njoints - 1
    place = [joint.idx_v for joint in joints]
    beside = {key: dict(entry) for key, entry in yaml.safe_load(table).items() if key != "joints"}
    armature = np.zeros(model.nv)
    armature[place] = [beside["armature"][name] for name in names]
    model.armature = armature
    np.testing.assert_array_equal(
        np.asarray(model.damping)[place], [beside["damping"][name] for name in names]
    )
    np.testing.assert_array_equal(
        np.asarray(model.upperDryFrictionLimit)[place], [beside["friction"][name] for name in names]
    )
    offset = np.array([beside["offset"][name] for name in names])
    torques = np.empty_like(q)
    for i in range(len(q)):
        v, a = np.zeros(model.nv), np.zeros(model.nv)
        v[place], a[place] = qd[i], qdd[i]
        torques[i] = pin.rnea(model, data, _configuration(model, joints, q[i]), v, a)[place]
    damping = np.asarray(model.damping)[place]
    friction = np.asarray(model.upperDryFrictionLimit)[place]
    return torques + damping * qd + friction * np.sign(qd) + offset


def _configuration(model, joints, q):
    """Return what Pinocchio calls q: cosine and sine for a joint without limits."""
    full = np.zeros(model.nq)
    for joint, value in zip(joints, q, strict=True):
        whole = [np.cos(value), np.sin(value)] if joint.nq == 2 else [value]
        full[joint.idx_q : joint.idx_q + joint.nq] = whole
    return full


def mujoco_torques(urdf, mjcf, names, q, qd, qdd, assets=None):
    """Return (samples, joints) efforts of rigid bodies, armature and damping, as MuJoCo sees them.

    The URDF's joints get the armature of the default classes of the MJCF file; friction and
    damping must be the same in both.
    """
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(urdf, assets=assets or {})
    assert model.njnt == len(names)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
    classes = {
        entry.get("class"): {k: float(v) for k, v in entry.find("joint").attrib.items()}
        for entry in ET.fromstring(mjcf).iterfind("default/default")
    }
    place = np.array([model.joint(name).dofadr[0] for name in names])
    at = np.array([model.joint(name).qposadr[0] for name in names])
    for i, name in enumerate(names):
        model.dof_armature[place[i]] = classes[name]["armature"]
        assert model.dof_damping[place[i]] == classes[name]["damping"]
        assert model.dof_frictionloss[place[i]] == classes[name]["frictionloss"]
    data = mujoco.MjData(model)
    model.dof_frictionloss[:] = 0.0
    torques = np.empty_like(q)
    for i in range(len(q)):
        data.qpos[at], data.qvel[place], data.qacc[place] = q[i], qd[i], qdd[i]
        mujoco.mj_inverse(model, data)
        torques[i] = data.qfrc_inverse[place]
    return torques


def mesh_assets(path, urdf):
    """Return the meshes that a URDF of example-robot-data names, for MuJoCo."""
    folder = path
    while folder.name != "robots":
        folder = folder.parent
    names = set(re.findall(r'filename="[^"]*?example-robot-data/robots/([^"]*\.stl)"', urdf))
    return {Path(name).name: (folder / name).read_bytes() for name in names}
