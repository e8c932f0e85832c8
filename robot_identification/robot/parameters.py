"""Names and places of the standard parameters of a robot.

Every joint has fourteen, in this order: the six entries of the inertia tensor at the origin of
frame j and the first moments and mass of link j, then drive inertia, viscous and Coulomb friction
and offset of joint j.  The parameters of couplings follow those of the last joint.
"""

from __future__ import annotations

INERTIAL = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
JOINT = ("Ia", "Fv", "Fc", "off")
PER_JOINT = INERTIAL + JOINT

DRIVE_INERTIA = 10
VISCOUS_FRICTION = 11
COULOMB_FRICTION = 12
OFFSET = 13

UNITS = {
    **dict.fromkeys(("XX", "XY", "XZ", "YY", "YZ", "ZZ"), "kg m^2"),
    **dict.fromkeys(("MX", "MY", "MZ"), "kg m"),
    "M": "kg",
}


def joint_parameter_names(number: int) -> tuple[str, ...]:
    """Return the fourteen names of joint ``number`` (counted from 1), such as ``XX1``."""
    return tuple(f"{name}{number}" for name in PER_JOINT)


def joint_offset(joint: int) -> int:
    """Return the index of the first standard parameter of joint ``joint`` (counted from 0)."""
    return joint * len(PER_JOINT)


def kind_of(name: str) -> str:
    """Return what a standard parameter is, such as ``Fv`` for ``Fv2`` and for ``Fvm6``."""
    return name.rstrip("0123456789").rstrip("m")


def unit(name: str, *, prismatic: bool) -> str:
    """Return the SI unit of a standard parameter such as ``Fv2``.

    Args:
        name: name of the parameter.
        prismatic: whether the joint that it belongs to translates.
    """
    kind = kind_of(name)
    if kind in UNITS:
        return UNITS[kind]
    force, motion = ("N", "m") if prismatic else ("N m", "rad")
    if kind == "Ia":
        return "kg" if prismatic else "kg m^2"
    if kind == "Fv":
        return f"{force} s/{motion}"
    return force
