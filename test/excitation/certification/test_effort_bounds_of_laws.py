"""Bounds of efforts of robots with every friction law there is, and with springs."""

from dataclasses import replace

import numpy as np
import pytest

from braked_states import largest_efforts, tube_of, with_limits
from lawful_robots import LAWS, known_values, with_spring, with_terms
from made_up_plans import random_plan
from random_robots import random_robot
from robot_identification.errors import SettingError
from robot_identification.excitation.certification import effort_bounds
from robot_identification.excitation.certification.certificate import certify
from robot_identification.excitation.certification.effort_bounds import efforts
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.terms.joint_terms import DEFAULT_TERMS
from robot_identification.robot.terms.springs import SpringKind
from robot_identification.robot.terms.temperature import TemperatureDependence
from robot_identification.robot.terms.user_terms import UserParameter, UserTerm
from small_robots import pendulum

RIPPLE = UserTerm(
    (UserParameter("Rs", "ripple", ("N m", "N")),), lambda q, v, a: np.sin(100.0 * q)[:, None]
)


def case(seed, names, kind=None):
    """Return a robot with laws, values of its parameters, its limits and a motion."""
    rng = np.random.default_rng(seed)
    plain = random_robot(rng, rng.integers(2, 5))
    plain = with_limits(plain, rng, range(len(plain.joints)) if seed % 4 == 1 else ())
    robot = with_terms(plain, names, rng)
    if kind is not None:
        robot = with_spring(robot, rng, kind)
    values = known_values(plain, robot, rng)
    return robot, values, MotionLimits.of(robot), random_plan(robot, rng, points=4)


def compared(robot, values, limits, motion):
    """Return (joints,) the largest sampled efforts, the bounds, what is said to be reached."""
    found = efforts(robot, values, tube_of(motion, limits), limits)
    most = largest_efforts(robot, values, motion, limits, np.random.default_rng(0))
    peaks = found.peaks
    return most, np.array([p.bound for p in peaks]), np.array([p.reached for p in peaks])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", LAWS)
def test_no_state_exceeds_the_bound_of_a_law_and_the_bound_is_tight(name, seed):
    most, bound, reached = compared(*case(seed, [name]))
    assert (most <= bound * (1.0 + 1e-9)).all()
    assert (bound <= 1.04 * reached).all()
    assert (most >= 0.93 * bound).all()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", list(SpringKind))
def test_no_state_exceeds_the_bound_with_a_spring_and_the_bound_is_tight(kind, seed):
    most, bound, reached = compared(*case(seed, [], kind))
    assert (most <= bound * (1.0 + 1e-9)).all()
    assert (bound <= 1.04 * reached).all()
    assert (most >= 0.93 * bound).all()


@pytest.mark.parametrize("seed", range(4))
def test_no_state_exceeds_the_bound_of_all_laws_together(seed, monkeypatch):
    """Trees of revolute and prismatic joints, with a spring that friction of loads follows.

    The search ends early, with bounds that are less tight and hold all the same.
    """
    monkeypatch.setattr(effort_bounds, "_MANY_CELLS", 30_000)
    kind = list(SpringKind)[seed % 2]
    most, bound, reached = compared(*case(seed, LAWS, kind))
    assert (most <= bound * (1.0 + 1e-9)).all()
    assert (reached <= bound).all()
    assert (bound <= 1.5 * reached).all()
    assert (most >= 0.65 * bound).all()


def hinge(motion=None, *, effort=None, terms=(), shapes=None, **values):
    """Return a hinge with friction laws, values of its parameters, and a sweep of 1 rad in 1 s."""
    limits = {"lower": -3.0, "upper": 3.0, "velocity": 4.0, "acceleration": 8.0, "effort": effort}
    robot = pendulum(gravity=9.81, **limits)
    own = replace(robot.joints[0], terms=DEFAULT_TERMS | set(terms), shapes=shapes or {})
    robot = replace(robot, joints=(own,))
    known = {"ZZ1": 0.1, "MX1": 1.0, "M1": 1.0} | {f"{name}1": x for name, x in values.items()}
    found = np.array([known.get(name, 0.0) for name in robot.all_parameter_names])
    still = np.zeros((2, 1))
    ends = [[0.0], [1.0]] if motion is None else motion
    return robot, found, Trajectory(("hinge",), [0.0, 1.0], ends, still, still)


def test_cells_are_cut_by_thrice_the_speed_at_which_friction_bends():
    robot, _, _ = hinge(terms=("Fs", "Ft"), shapes={"Fs": (0.2, 1.0), "Ft": (0.1,)})
    assert effort_bounds._scales(robot, MotionLimits.of(robot)) == pytest.approx([0.3])
    robot, _, _ = hinge(terms=("Fs",), shapes={"Fs": (5.0, 1.0)})
    assert effort_bounds._scales(robot, MotionLimits.of(robot)) == pytest.approx([4.0])


@pytest.mark.parametrize(
    ("terms", "values", "friction"),
    [
        (["Fs"], {"Fc": 2.0, "Fs": 1.5}, 3.5),
        (["Fs"], {"Fc": 2.0, "Fs": -1.5}, 0.5),
        (["Fl"], {"Fc": 2.0, "Fl": 0.1}, 2.981),
        (["Fl", "Fg"], {"Fl": 0.1, "Fg": 0.2}, 2.943),
        (["Ft", "Fr", "Fva"], {"Ft": 3.0, "Fr": 3.0, "Fva": 3.0}, 0.0),
    ],
)
def test_at_rest_what_jumps_counts_either_way_and_what_rises_from_zero_does_not(
    terms, values, friction
):
    """The hinge is held sideways, where gravity takes 9.81 N m."""
    robot, known, motion = hinge([[0.0], [0.0]], terms=terms, effort=20.0, **values)
    (peak,) = certify(robot, motion, surroundings=Surroundings(prior=known)).efforts.peaks
    assert peak.bound == pytest.approx(9.81 + friction)
    assert peak.reached == pytest.approx(9.81 + friction)


def test_a_spring_of_a_joint_takes_its_stiffness_times_the_position():
    robot, known, motion = hinge([[0.5], [0.5]], terms=["Ks"], Ks=10.0)
    (peak,) = certify(robot, motion, surroundings=Surroundings(prior=known)).efforts.peaks
    assert peak.bound == pytest.approx(9.81 * np.cos(0.5) + 5.0)


@pytest.mark.parametrize(("share", "kept"), [(1.05, True), (0.97, False)])
@pytest.mark.parametrize(
    ("terms", "values"),
    [
        (["Fs"], {"Fs": 4.0, "Fc": 1.0}),
        (["Ft", "Fr"], {"Ft": 3.0, "Fr": 2.0}),
        (["Fl"], {"Fl": 0.3}),
        (["Fg", "Ks"], {"Fg": 0.3, "Ks": 5.0}),
    ],
)
def test_a_law_whose_efforts_fit_passes_and_one_whose_do_not_is_refused_by_its_joint(
    terms, values, share, kept
):
    about = {"terms": terms, "shapes": {"Fs": (0.2, 1.0), "Ft": (0.1,)}, **values}
    robot, known, motion = hinge(**about)
    most = largest_efforts(robot, known, motion, MotionLimits.of(robot), np.random.default_rng(0))
    limited, _, _ = hinge(effort=float(share * most[0]), **about)
    certificate = certify(limited, motion, surroundings=Surroundings(prior=known))
    assert certificate.results["effort"] == kept
    detail = next(check.detail for check in certificate.checks if check.name == "effort")
    assert detail.startswith("hinge: ")
    assert ("of the limit" if kept else f"the limit is {share * most[0]:g} N m") in detail


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"user_terms": {"ripple": RIPPLE}}, "the term ripple"),
        ({"temperature": TemperatureDependence(35.0)}, "temperatures"),
    ],
)
def test_what_has_no_bounds_is_refused_by_name(more, what):
    robot, _, motion = hinge()
    robot = replace(robot, joints=(replace(robot.joints[0], **more),))
    values = np.zeros(len(robot.all_parameter_names))
    with pytest.raises(SettingError, match=f"the certificate of efforts does not know {what}"):
        Surroundings(prior=values).efforts(robot, motion, MotionLimits.of(robot))
