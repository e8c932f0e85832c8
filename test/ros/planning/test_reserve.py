"""A robot that stands too near to a limit is told which, how near, and where it must go."""

import numpy as np
import pytest

from robot_identification.errors import NotCertifiedError
from robot_identification.ros.planning.planning import Sources, load_machine
from robot_identification.ros.planning.preparation import require_reserve

SOURCES = Sources("scara", tracking_error=(0.1, 0.1))


@pytest.fixture(scope="module")
def machine():
    return load_machine(SOURCES)


def at(machine, joint, side, off):
    """Return a posture with one joint at a distance from the limit that motions keep."""
    posture = machine.limits.middle.copy()
    posture[joint] = getattr(machine.limits, side)[joint] + off
    return posture


@pytest.mark.parametrize(("side", "inward", "aim"), [("upper", -1, "below"), ("lower", 1, "above")])
def test_limit_reserve_and_remedy_are_told(machine, side, inward, aim):
    end, inner = (getattr(limits, side)[1] for limits in (machine.declared, machine.limits))
    posture = machine.limits.middle.copy()
    posture[1] = end + inward * 0.01
    with pytest.raises(NotCertifiedError) as refused:
        require_reserve(machine, posture, SOURCES)
    told = str(refused.value)
    source = machine.described.joints[1].limit_sources[side]
    assert f"joint_2 stands at {posture[1]:.4g}, 0.01 from its {side} limit {end:.4g}" in told
    assert f"({source})" in told
    assert f"a reserve of {abs(end - inner):.4g} there, 0.1 of it for tracking_error_limit" in told
    assert f"move the joint to {aim} {inner:.4g}" in told
    assert "joint_1" not in told


def test_every_joint_is_told_and_one_beyond_its_limit_too(machine):
    posture = machine.declared.upper + 0.02
    with pytest.raises(NotCertifiedError, match=r"joint_1 .* 0\.02 beyond .*; joint_2 .* beyond"):
        require_reserve(machine, posture, SOURCES)


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_where_motions_may_be_a_robot_may_stand(machine, side):
    require_reserve(machine, getattr(machine.limits, side), SOURCES)
    require_reserve(machine, at(machine, 0, side, 0.0), SOURCES)
    with pytest.raises(NotCertifiedError):
        require_reserve(
            machine, at(machine, 0, side, 1e-3 * (1 if side == "upper" else -1)), SOURCES
        )


def test_a_smaller_tracking_error_limit_needs_less_reserve(machine):
    posture = at(machine, 0, "upper", 0.05)
    with pytest.raises(NotCertifiedError):
        require_reserve(machine, posture, SOURCES)
    smaller = Sources("scara", tracking_error=(0.01, 0.01))
    require_reserve(load_machine(smaller), posture, smaller)


def test_both_ends_are_told_at_once(machine):
    posture = np.array([machine.declared.lower[0], machine.declared.upper[1]])
    with pytest.raises(NotCertifiedError, match=r"lower limit .* upper limit"):
        require_reserve(machine, posture, SOURCES)
