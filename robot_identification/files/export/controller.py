"""Parameters of a model-based controller, as a parameter file of ROS 2."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robot_identification.files.export.bodies import LinkBody, Mechanism
from robot_identification.files.export.text import Data, yaml_text
from robot_identification.robot.couplings import Coupling
from robot_identification.robot.joint import Joint
from robot_identification.robot.model import RobotModel

_HEADING = (
    "Dynamic parameters of {robot}, on the joint side.",
    "masses in kg, centres of mass in m, inertias about the centre of mass in kg m^2 in the order",
    "xx xy xz yy yz zz (tensor entries), in the frame of the link beside them; gravity in m/s^2.",
    "standard_values: the same about the origins of the robot's frames, of each joint",
    "{kinds}, then the couplings'{springs}.",
    "effort = rigid bodies + couplings + terms of the joint, with v its velocity:",
    "{terms}",
    "A coupling term adds on[i] * value * f(v) to the effort of joint i, with v the sum of",
    "of[j] * velocity of joint j, and f(v) = {functions}.",
)


_SPRINGS = (
    "A spring between two points, given in the robot's frames of these joints or in the base, adds",
    "force * dl/dq to the effort of every joint that changes its length l, with the force",
    "preload + stiffness * (l - length) of a coil spring, and of a gas spring",
    "-preload + stiffness * (l - length).",
)

_TEMPERATURES = (
    "At the temperature T of a joint in degrees Celsius, FvT * (T - temperature_reference) adds to",
    "its viscous friction, FcT likewise to its Coulomb friction, and offT to its offset.",
)

_USERS = (
    "Parameters of terms of users ({users}) multiply functions that only the packages know which",
    "give these terms (entry points robot_identification.joint_terms).",
)


def controller_yaml(mechanism: Mechanism) -> str:
    """Return a parameter file of ROS 2 that holds everything of a robot's dynamics.

    Every node that loads it has the parameters ``dynamics.joints``,
    ``dynamics.by_joint.<joint>.mass`` and so on, ``dynamics.couplings.<parameter>.value``, and all
    standard parameters at the origins of the robot's frames as ``dynamics.standard_values``.
    """
    robot = mechanism.robot
    values: dict[str, Data] = {
        "robot": robot.name,
        "robot_hash": robot.digest,
        "base": robot.base_link,
        "gravity": [float(g) for g in robot.gravity],
        "joints": list(robot.joint_names),
        "by_joint": {
            body.joint: _joint(robot, joint, body)
            for joint, body in zip(robot.joints, mechanism.joints, strict=True)
        },
        "couplings": _couplings(mechanism),
        **({"springs": _springs(mechanism)} if robot.springs else {}),
        "standard_names": list(robot.all_parameter_names),
        "standard_values": [float(value) for value in mechanism.values],
        "standard_units": [robot.unit_of(name) for name in robot.all_parameter_names],
    }
    return yaml_text({"/**": {"ros__parameters": {"dynamics": values}}}, heading=_heading(robot))


def _heading(robot: RobotModel) -> list[str]:
    """Return what the values mean, line by line."""
    terms = robot.layout.terms
    functions = (f"{t.kind.formula} ({t.kind.value})" for t in terms if t.couples)
    said = {
        "robot": " ".join(robot.name.split()),
        "kinds": " ".join(robot.layout.kinds),
        "springs": ", then the springs'" * bool(robot.springs),
        "users": ", ".join(dict.fromkeys(own.name for own in robot.user_terms)),
        "functions": ", ".join(functions),
        "terms": "\n".join(
            f"  {t.key}{f' * {t.kind.formula}' if t.kind.formula else ''}, {' or '.join(t.units)}"
            + "".join(f"; {s.symbol} is {t.key}_{s.name}" for s in t.kind.shapes)
            for t in terms
        ),
    }
    lines = (
        *_HEADING,
        *_SPRINGS * bool(robot.springs),
        *_TEMPERATURES * bool(robot.temperature_terms),
        *_USERS * bool(robot.user_terms),
    )
    return "\n".join(lines).format(**said).splitlines()


def _joint(robot: RobotModel, own: Joint, joint: LinkBody) -> dict[str, Data]:
    body = joint.body
    return {
        "link": joint.link,
        "mass": body.mass,
        "centre_of_mass": [float(x) for x in body.centre],
        "inertia": [float(x) for x in body.inertia[np.triu_indices(3)]],
        **{term.key: joint.terms[term.name] for term in robot.layout.terms},
        **_shapes(own),
        **({"temperature_reference": own.temperature.reference} if own.temperature else {}),
    }


def _shapes(joint: Joint) -> dict[str, Data]:
    """Return the shape parameters of the terms of a joint, such as ``stribeck_friction_speed``."""
    return {
        f"{term.key}_{shape.name}": float(value)
        for term in joint.joint_terms
        for shape, value in zip(term.kind.shapes, joint.shape_of(term), strict=True)
    }


def _couplings(mechanism: Mechanism) -> dict[str, Data]:
    """Return the couplings by parameter; a parameter may stand in several."""
    found: dict[str, Data] = {}
    for coupling in mechanism.robot.couplings:
        name = coupling.parameter
        while name in found:
            name += "_"
        found[name] = _coupling(mechanism, coupling)
    return found


def _coupling(mechanism: Mechanism, coupling: Coupling) -> dict[str, Data]:
    terms: dict[str, Data] = {
        f"term_{number}": {"on": _floats(term.on), "of": _floats(term.of)}
        for number, term in enumerate(coupling.terms, 1)
    }
    return {
        "parameter": coupling.parameter,
        "kind": coupling.kind.value,
        "value": mechanism.value(coupling),
        "unit": mechanism.robot.unit_of(coupling.parameter),
        **terms,
    }


def _springs(mechanism: Mechanism) -> dict[str, Data]:
    robot = mechanism.robot
    values = dict(zip(robot.all_parameter_names, mechanism.values.tolist(), strict=True))
    return {
        spring.name: {
            "kind": spring.kind.value,
            "length": spring.length,
            "preload": values.get(spring.preload_name, 0.0),
            "stiffness": values.get(spring.stiffness_name, 0.0),
            **{
                side: {
                    "joint": robot.joint_names[end.joint] if end.joint >= 0 else robot.base_link,
                    "point": list(end.point),
                }
                for side, end in zip(("first", "second"), spring.ends, strict=True)
            },
        }
        for spring in robot.springs
    }


def _floats(factors: Mapping[str, float]) -> dict[str, Data]:
    """Return factors as floats, which parameters of ROS 2 tell from integers."""
    return {name: float(factor) for name, factor in factors.items()}
