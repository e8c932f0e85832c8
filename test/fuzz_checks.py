"""What must hold of what a reader made of a damaged file."""

import re
import zlib

import numpy as np
import yaml

from fuzzed_bags import same_samples
from robot_identification.files import results
from robot_identification.files.bags.cdr import dynamic_states
from robot_identification.files.bags.cdr import joint_states as joint_state_cdr
from robot_identification.robot.geometry import forward_kinematics

COMPUTED = {"sha256", "warnings", "rows", "grouping", "relative_std_percent", "simulations"}
COMPUTED |= {"essential", "std_robust", "verdict"}  # read of all parameters or of none
OCTAL = re.compile(rb"[^.\w][-+]?0[0-9]")


def require(condition, what):
    """Say that something was read that must not have been."""
    if not condition:
        raise AssertionError(what)


def finite(*arrays):
    """Tell whether every number is finite."""
    return all(np.isfinite(np.asarray(a, dtype=float)).all() for a in arrays if a is not None)


def check_robot(robot, _):
    """A robot whose kinematics can be computed."""
    n = len(robot.joints)
    require(n >= 1 and len(set(robot.joint_names)) == n, "joint names")
    require(all(name and isinstance(name, str) for name in robot.joint_names), "names are text")
    require(finite(robot.gravity), "gravity")
    for number, joint in enumerate(robot.joints):
        require(-1 <= joint.antecedent < number, "antecedents")
        require(np.abs(joint.rotation @ joint.rotation.T - np.eye(3)).max() < 1e-9, "rotation")
        require(np.linalg.det(joint.rotation) > 0, "rotation")
        require(finite(joint.translation), "translation")
        limits = joint.limits
        require((limits.lower is None) == (limits.upper is None), "one limit alone")
        require(limits.lower is None or limits.lower <= limits.upper, "order of limits")
        for value in (limits.velocity, limits.acceleration, limits.jerk, limits.effort):
            require(value is None or (finite(value) and value > 0), "limits")
    require(np.linalg.matrix_rank(robot.motor_matrix) >= 1, "transmission")
    require(finite(robot.motor_matrix), "transmission")
    require(finite(forward_kinematics(robot, np.full(n, 0.7))), "kinematics")
    if robot.controller is not None:
        require(robot.controller.rate_hz > 0, "rate")
        require(all(len(gain) == n for gain in robot.controller.gains.values()), "gains")


def stated(data):
    """Return a document as another reader understands it, None where the readers may differ.

    One in eight is read without libyaml, on which the parsers stand too.
    """
    loader = yaml.SafeLoader if zlib.crc32(data) % 8 == 0 else yaml.CSafeLoader
    try:
        return None if OCTAL.search(data) else yaml.load(data, Loader=loader)
    except (yaml.YAMLError, ValueError):
        return None


def same_numbers(found, wanted):
    """Tell whether an array holds the numbers that another reader found."""
    wanted = np.array(wanted, dtype=float)
    return found.shape == wanted.shape and np.array_equal(found, wanted)


def check_values(found, data):
    """Values of parameters, each of which stands in the file."""
    robot, values_read = found
    require(finite(values_read), "finite")
    wanted = stated(data)
    if wanted is not None:
        table = dict(zip(robot.all_parameter_names, values_read, strict=True))
        for name, value in table.items():
            require(value == float(wanted["parameters"].get(name, 0.0)), f"value of {name}")


def check_trajectory(trajectory, data):
    """A trajectory with the numbers of the file."""
    require((np.diff(trajectory.times) > 0).all(), "times")
    wanted = stated(data)
    if wanted is None:
        return
    points = wanted["points"]
    require(list(trajectory.joint_names) == wanted["joint_names"], "names")
    require(same_numbers(trajectory.times, [p["time_from_start"] for p in points]), "times")
    for name in ("positions", "velocities", "accelerations"):
        read = getattr(trajectory, name)
        require((read is None) == all(name not in p for p in points), f"{name} are there")
        if read is not None:
            require(same_numbers(read, [p[name] for p in points]), name)


def check_plan(wanted):
    """Nothing but the planned trajectory passes for the plan."""

    def check(found, _):
        for name in ("times", "positions", "velocities", "accelerations"):
            require(np.array_equal(getattr(found[0], name), getattr(wanted, name)), name)

    return check


def check_result(written):
    """A result is read as it was written, or it says that nothing vouches for it."""

    def check(result, data):
        text = results.dump(result)
        if not any("no checksum" in warning for warning in result.warnings):
            require(text in written, "a result that nobody wrote")
            return
        base, joints = len(result.regrouping.names), len(result.joint_names)
        require(len(result.regrouping.leading) == base, "leading")
        require(result.regrouping.projection.shape[0] == base, "projection")
        require(result.estimate.values.shape == result.estimate.std.shape == (base,), "values")
        require(result.estimate.weights.shape == (joints,), "weights")
        require(finite(result.regrouping.beta, result.estimate.values), "finite")
        require(all(finite(factor.triangle) for factor in result.factors), "finite")
        stands, again = (yaml.load(x, Loader=yaml.CSafeLoader) for x in (data, text))
        for name in set(again) - COMPUTED:
            require(stands_in(again[name], stands.get(name)), f"{name} stands in the file")

    return check


def stands_in(found, wanted):
    """Tell whether what was read stands in a file, which may say more."""
    if isinstance(found, dict):
        return isinstance(wanted, dict) and all(
            name in COMPUTED or stands_in(found[name], wanted.get(name)) for name in found
        )
    if isinstance(found, list):
        same = isinstance(wanted, list) and len(found) == len(wanted)
        return same and all(map(stands_in, found, wanted))
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    if isinstance(found, (int, float)) and isinstance(wanted, (int, float)):
        return float(found) == float(wanted) or (found != found and wanted != wanted)
    return type(found) is type(wanted) and found == wanted


def check_message(found, data):
    """A serialised message whose arrays lie inside it."""
    layout, table = found
    require(layout.end <= len(data), "end")
    for name, count in zip(joint_state_cdr.ARRAYS, layout.counts, strict=True):
        require(layout.numbers(table, name).shape == (1, count), name)
    require(0 <= int(data[8:12][::-1].hex(), 16) < 10**9, "nanoseconds")


def check_dynamic_message(found, data):
    """A serialised message of as many sets of interfaces as joints, with a number for each."""
    layout, table = found
    require(layout.end <= len(data), "end")
    require(len(layout.interfaces) == len(layout.names), "interfaces")
    for signal in dynamic_states.SIGNALS:
        require(layout.numbers(table, signal).shape == (1, len(layout.names)), signal)
    require(0 <= int(data[8:12][::-1].hex(), 16) < 10**9, "nanoseconds")


def check_finite(found, _):
    """Numbers, all of them finite."""
    require(finite(found), "finite")


def check_prior(prior, data):
    """A prior whose values stand in the file."""
    require(finite(prior.values), "finite")
    wanted = stated(data)
    if wanted is not None:
        given = wanted["parameters"]
        for name, value, known in zip(prior.names, prior.values, prior.known, strict=True):
            require(bool(known) == (name in given), f"{name} is known")
            require(value == float(given.get(name, 0.0)), f"value of {name}")


def check_payload(payload, data):
    """A payload that can exist, with the mass of the file."""
    require(finite(payload.mass, payload.centre, payload.inertia), "finite")
    require(payload.mass > 0, "mass")
    wanted = stated(data)
    require(wanted is None or payload.mass == float(wanted["mass"]), "mass of the file")


def check_faults(found, data):
    """Faults, as many as the file lists, each with an interval and a probability."""
    require(all(0 <= fault.begin < fault.end for fault in found), "interval")
    require(all(0 <= fault.probability <= 1 for fault in found), "probability")
    require(all(isinstance(fault.seed, int) for fault in found), "seed")
    wanted = stated(data)
    require(wanted is None or len(found) == len(wanted["faults"]), "number of faults")


def check_sent(sent, _):
    """A trajectory that can be followed, or none where there are no points."""
    if sent is not None:
        trajectory = sent.trajectory
        require((np.diff(trajectory.times) > 0).all(), "times")
        require(finite(trajectory.times, trajectory.positions), "finite")
        require(finite(trajectory.velocities, trajectory.accelerations), "finite")
        shape = (len(trajectory.times), len(trajectory.joint_names))
        require(trajectory.positions.shape == shape, "positions")


def check_samples(wanted):
    """A bag is read as it was written, or with a warning."""

    def check(read, _):
        require(read.warnings or same_samples(read.samples, wanted), "samples")

    return check
