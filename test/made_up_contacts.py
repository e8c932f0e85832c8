"""Motions of robots that are pushed: efforts exact, but for the push that only the robot feels."""

from typing import NamedTuple

import numpy as np

from robot_identification.dynamics.regressor import inverse_dynamics

BEGIN = 1_700_000_000_000_000_000


class Pushed(NamedTuple):
    """Samples of a motion, and the external efforts in it."""

    stamps: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    external: np.ndarray

    def part(self, samples):
        return Pushed(*(array[samples] for array in self))

    @property
    def measured(self):
        return self[:4]


def pushed(robot, values, push, *, seconds=1.0, rate=1000.0, begin=0.0, time=None, amplitude=0.5):
    """Return a motion of sines, pushed by constant efforts (joints,) from the time `begin` on."""
    joints = len(robot.joints)
    if time is None:
        time = np.arange(round(seconds * rate)) / rate
    speed = 2.0 * np.pi * np.linspace(0.3, 0.7, joints)
    angle = speed * time[:, None] + np.arange(joints)
    q, qd = amplitude * np.sin(angle), amplitude * speed * np.cos(angle)
    external = np.where(time[:, None] >= begin, push, 0.0)
    tau = inverse_dynamics(robot, values, q, qd, -(speed**2) * q) - external
    return Pushed(BEGIN + np.rint(time * 1e9).astype(np.int64), q, qd, tau, external)


PLANAR = """<robot name="planar"><link name="base"/>
{links}
<joint name="mount" type="fixed"><parent link="fore"/><child link="tool"/>
<origin xyz="0.4 0 0"/></joint>
<link name="tool"/></robot>"""
JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="{x} 0 0"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" velocity="3" effort="50"/></joint>
<link name="{child}"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
<inertia ixx="0.01" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>"""


def planar_arm(folder):
    """Write the URDF of two joints about z, with a tool behind a fixed joint; return its path."""
    rows = ("shoulder", "base", "upper", 0.0), ("elbow", "upper", "fore", 0.5)
    links = "\n".join(
        JOINT.format(name=name, parent=parent, child=child, x=x) for name, parent, child, x in rows
    )
    path = folder / "planar.urdf"
    path.write_text(PLANAR.format(links=links))
    return path


def planar_force(position, effort):
    """Return the (2,) force in the axes of that tool that moves the joints with such efforts."""
    along = 0.5 * np.array([np.sin(position[1]), np.cos(position[1])])
    across = np.array([0.0, 0.4])
    return np.linalg.solve(np.stack([along + across, across]), effort)
