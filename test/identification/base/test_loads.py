"""Friction that follows the load, of slides on which gravity acts as offsets and masses do."""

from dataclasses import replace

import numpy as np
import pytest

from random_tables import random_table_robot, table_robot
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import SettingError
from robot_identification.identification.base.loads import untold_loads
from robot_identification.identification.base.parameters import base_parameters

ARM = [{}, {"alpha": np.pi / 2, "r": 0.1}]
ALONG_GRAVITY, ACROSS = (0, 0, -9.81), (0, -9.81, 0)


def with_terms(robot, joint, *, without=(), more=()):
    joints = list(robot.joints)
    joints[joint] = replace(joints[joint], terms=joints[joint].terms - set(without) | set(more))
    return replace(robot, joints=tuple(joints))


def same_efforts(robot, base, rng):
    """Tell whether standard parameters and the base parameters made of them move alike."""
    standard = rng.uniform(0.1, 1.0, len(base.columns))
    full = np.zeros(len(robot.all_parameter_names))
    full[base.columns] = standard
    motion = [rng.uniform(-1.0, 1.0, (20, len(robot.joints))) for _ in range(3)]
    one, other = (
        inverse_dynamics(robot, values, *motion)
        for values in (full, base.full(base.values(standard)))
    )
    return np.allclose(one, other, rtol=1e-7, atol=1e-7 * np.abs(one).max())


@pytest.mark.parametrize("prismatic", [0.5, 1.0])
def test_base_parameters_tell_every_load_or_are_refused(prismatic):
    made = refused = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        robot = random_table_robot(rng, joints=3, prismatic=prismatic, load_friction=True)
        for joint in np.flatnonzero(rng.random(3) < 0.6):
            robot = with_terms(robot, int(joint), without={"off"})
        try:
            base = base_parameters(robot)
        except SettingError:
            refused += 1
            continue
        made += 1
        assert same_efforts(robot, base, rng), (seed, base.groupings)
    assert made > 5
    assert refused > 5


def test_an_offset_that_acts_as_a_mass_is_to_be_left_out():
    robot = table_robot(ARM, "PR", gravity=ALONG_GRAVITY, load_friction=True)
    with pytest.raises(SettingError, match="off1 acts as M1 does: state offset: false"):
        base_parameters(robot)
    known = with_terms(robot, 0, without={"off"})
    assert same_efforts(known, base_parameters(known), np.random.default_rng(0))
    plain = table_robot(ARM, "PR", gravity=ALONG_GRAVITY)
    assert untold_loads(base_parameters(plain)) == {(0, "Fl"), (0, "Fg")}
    assert untold_loads(base_parameters(with_terms(plain, 0, without={"off"}))) == set()


def test_friction_in_proportion_to_a_constant_weight_is_coulomb_friction():
    robot = table_robot(ARM, "PR", gravity=ALONG_GRAVITY)
    robot = with_terms(robot, 0, without={"off"}, more={"Fg"})
    with pytest.raises(SettingError, match=r"Fg1 acts as Fc1 does.*it is Coulomb friction there"):
        base_parameters(robot)


@pytest.mark.parametrize(
    ("types", "gravity", "joint"), [("PR", ACROSS, 0), ("PR", ALONG_GRAVITY, 1)]
)
@pytest.mark.parametrize("term", ["Fl", "Fg"])
def test_joints_across_gravity_and_those_that_turn_may_have_it(types, gravity, joint, term):
    robot = with_terms(table_robot(ARM, types, gravity=gravity), joint, more={term})
    assert same_efforts(robot, base_parameters(robot), np.random.default_rng(0))
