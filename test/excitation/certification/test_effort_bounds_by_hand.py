"""Bounds of efforts of a hinge that is swung by 1 rad, worked out by hand and state by state."""

import numpy as np
import pytest

from robot_identification.collision.tube import BrakingLaw, Tube
from robot_identification.excitation.certification import effort_bounds
from robot_identification.excitation.certification.effort_bounds import efforts
from robot_identification.excitation.motions.braking import release_time, shortest_braking
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.timing import motion_extrema
from robot_identification.excitation.motions.trajectory import Trajectory
from small_robots import pendulum, pendulum_values

LIMITS = {"lower": -3.0, "upper": 3.0, "velocity": 4.0, "acceleration": 8.0}


def sweep(times=(0.0, 1.0), places=(0.0, 1.0)):
    still = np.zeros((len(times), 1))
    return Trajectory(("hinge",), np.array(times), np.array(places)[:, None], still, still)


def tube_of(motion, bounds):
    law = BrakingLaw(bounds.acceleration, shortest_braking(bounds), release_time(bounds))
    extrema = motion_extrema(motion.coefficients, np.diff(motion.times))
    return Tube.of(motion.times, motion.coefficients, extrema, law, np.zeros(1))


def hinge(motion=None, gravity=0.0, limits=None, **values):
    """Return robot, parameters, tube and limits of a hinge that is swung."""
    robot = pendulum(gravity=gravity, **{**LIMITS, **(limits or {})})
    bounds = MotionLimits.of(robot)
    return robot, pendulum_values(**values), tube_of(motion or sweep(), bounds), bounds


def found(motion=None, **about):
    """Return the efforts of a hinge, and what it is: parameters, limits, motion."""
    return efforts(*hinge(motion, **about))


def states(motion, acceleration, release=0.02, seed=0, count=3000):
    """Return random states (q, v, a) of the motion at any speed, of its end, and of braking."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(motion.times[0], motion.times[-1], count)
    q, v, a = (values[:, 0] for values in motion.sample(t))
    k, u = np.where(rng.random(count) < 0.5, 1.0, rng.random(count)), release
    v, a = k * v, k**2 * a

    def falling(x):
        return (
            q + v * u * x + a * u**2 * (x**2 / 2.0 - x**3 / 6.0),
            v + a * u * (x - x**2 / 2.0),
            a * (1.0 - x),
        )

    q1, w, _ = falling(np.ones(count))
    own, s = np.maximum(1.5 * np.abs(w) / acceleration, 1e-3 * k), rng.random(count)
    braking = (
        q1 + w * own * (s - s**3 + s**4 / 2.0),
        w * (1.0 - 3.0 * s**2 + 2.0 * s**3),
        w / own * (6.0 * s**2 - 6.0 * s),
    )
    parts = zip(falling(np.zeros(count)), falling(rng.random(count)), braking, strict=True)
    return tuple(np.concatenate(part) for part in parts)


@pytest.mark.parametrize("motion", [sweep(), sweep((1.0, 1.3, 2.0), (0.0, 0.5, 1.0))])
@pytest.mark.parametrize(
    "values",
    [
        {"ZZ": 1.0, "MX": 0.0},
        {"ZZ": 0.1, "MX": 0.0, "Fv": 5.0},
        {"ZZ": 0.1, "MX": 0.0, "Fc": 3.0},
        {"ZZ": 0.5, "MX": 1.0, "gravity": 9.81},
        {"ZZ": 0.2, "MX": -0.5, "gravity": 9.81, "Fv": 1.0, "Fc": 0.5},
    ],
)
def test_no_state_exceeds_the_bound_and_the_bound_is_tight(motion, values):
    told = found(motion, **values)
    (peak,) = told.peaks
    q, v, a = states(motion, 8.0)
    gravity, Fv, Fc = (values.get(name, 0.0) for name in ("gravity", "Fv", "Fc"))
    sign = np.where(np.abs(v) < 1e-9, 1.0, np.sign(v))
    taken = values["ZZ"] * a + values["MX"] * gravity * np.cos(q) + Fv * v + Fc * sign
    most = float(np.abs(taken).max())
    assert told.kept
    assert most <= peak.bound * (1.0 + 1e-9)
    assert peak.reached <= peak.bound <= 1.04 * peak.reached
    assert most >= 0.93 * peak.bound
    assert most >= 0.95 * peak.reached


def peak_of(**about):
    (peak,) = found(**about).peaks
    return peak


def test_friction_takes_most_in_the_middle_of_the_motion_at_full_speed():
    t = np.linspace(0.0, 1.0, 10_001)
    speed, bend = 30 * t**2 - 60 * t**3 + 30 * t**4, 60 * t - 180 * t**2 + 120 * t**3
    taken = 5.0 * speed + 0.1 * bend
    peak = peak_of(ZZ=0.1, MX=0.0, Fv=5.0)
    assert peak.reached == pytest.approx(taken.max(), rel=0.02)
    assert peak.reached <= taken.max() * (1.0 + 1e-9)
    assert peak.time == pytest.approx(t[taken.argmax()], abs=0.06)
    assert (peak.speed, peak.braking, peak.unit, peak.joint) == (1.0, False, "N m", "hinge")
    assert peak.limit == np.inf
    later = peak_of(motion=sweep((2.0, 3.0)), ZZ=0.1, MX=0.0, Fv=5.0)
    assert later.time == pytest.approx(peak.time + 2.0)


def test_inertia_takes_most_while_it_brakes():
    """The deceleration of 8 rad/s^2 is more than the motion has: 5.77."""
    peak = peak_of(ZZ=1.0, MX=0.0)
    assert peak.reached == pytest.approx(8.0, rel=0.02)
    assert peak.bound == pytest.approx(8.0, rel=0.035)
    assert peak.braking
    gentle = peak_of(ZZ=1.0, MX=0.0, limits={"acceleration": 5.8, "jerk": 1e4})
    assert gentle.reached == pytest.approx(10.0 / np.sqrt(3.0), rel=0.02)
    assert not gentle.braking


def test_a_limit_that_is_exceeded_ends_the_search_early():
    kept = found(ZZ=1.0, MX=0.0, limits={"effort": 9.0})
    over = found(ZZ=1.0, MX=0.0, limits={"effort": 7.0})
    assert (kept.kept, over.kept) == (True, False)
    assert over.cells < kept.cells
    assert over.peaks[0].exceeds
    assert over.peaks[0].reached <= 8.0 * (1.0 + 1e-9)
    assert over.peaks[0].bound >= over.peaks[0].reached


@pytest.mark.parametrize(("effort", "kept"), [(11.825, True), (11.80, False)])
def test_limits_are_told_from_efforts_to_a_thousandth(effort, kept):
    """Gravity takes 9.81 N m and friction 2 N m of a hinge that is held sideways."""
    still = sweep(places=(0.0, 0.0))
    told = found(still, gravity=9.81, MX=1.0, Fc=2.0, limits={"effort": effort})
    assert told.kept == kept
    assert told.cells < 5000


@pytest.mark.parametrize(("effort", "kept"), [(7.9, False), (8.1, True)])
def test_efforts_a_little_beyond_the_limit_are_found_at_once(effort, kept):
    told = found(ZZ=1.0, MX=0.0, limits={"effort": effort})
    assert told.kept == kept
    assert told.cells < 1000


def test_more_cells_than_there_may_be_are_not_looked_at(monkeypatch):
    whole = found(**HEAVY)
    monkeypatch.setattr(effort_bounds, "_MOST_CELLS", whole.cells // 4)
    cut = found(**HEAVY)
    assert whole.cells // 4 < cut.cells < whole.cells
    assert cut.peaks[0].bound > 1.04 * whole.peaks[0].reached
    for share, kept in ((1.05, True), (0.99, False)):
        limits = {"effort": share * cut.peaks[0].bound}
        assert found(**HEAVY, limits=limits).kept == kept, "as far as was looked"


HEAVY = {"ZZ": 0.5, "MX": 1.0, "gravity": 9.81}


@pytest.mark.parametrize(("beyond", "halves"), [(1.08, 0), (1.1, 2)])
def test_the_tolerance_grows_with_the_square_of_many_cells(monkeypatch, beyond, halves):
    """Of 1 % it is 9 % at three times as many: a bound 8 % beyond what is reached is enough."""
    search, cell = search_of(ZZ=1.0, MX=0.0), np.array([[0.0, 0.1, 0.4, 0.5, 1.0, -1.0, -1.0]])
    upper, _ = search.look(cell)
    search._reached[:] = upper[0] / beyond
    monkeypatch.setattr(effort_bounds, "_TOLERANCE", 0.01)
    monkeypatch.setattr(effort_bounds, "_MANY_CELLS", 1.0)
    search.cells = 2
    assert len(search.refined(cell)) == halves


def test_many_cells_end_sooner(monkeypatch):
    whole = found(**HEAVY)
    monkeypatch.setattr(effort_bounds, "_MANY_CELLS", whole.cells / 8.0)
    assert found(**HEAVY).cells < whole.cells


def test_efforts_far_below_their_limit_need_not_be_told_from_each_other():
    """To a five-hundredth of the limit: 12.7 of 1e4 N m are not looked for any closer."""
    whole, far = found(**HEAVY), found(**HEAVY, limits={"effort": 1e4})
    assert far.cells < whole.cells
    assert far.peaks[0].bound <= far.peaks[0].reached + 20.0
    near = found(**HEAVY, limits={"effort": 200.0}).peaks[0]
    assert near.bound <= near.reached + 0.4


@pytest.mark.parametrize(
    ("values", "cells"),
    [(HEAVY, 700), ({"ZZ": 0.2, "MX": -0.5, "gravity": 9.81, "Fv": 1.0, "Fc": 0.5}, 3000)],
)
def test_cells_are_cut_where_it_helps(values, cells):
    """Cut across the wrong range, they become a thousand times as many."""
    assert found(**values).cells < cells


def test_what_takes_no_effort_has_its_peak_at_the_beginning():
    """In the first of five cells of a fifth of a second."""
    peak = peak_of(ZZ=0.0, MX=0.0)
    assert (peak.reached, peak.bound, peak.speed) == (0.0, 0.0, 1.0)
    assert peak.time == pytest.approx(0.1)
    assert peak_of(motion=sweep((2.0, 3.0)), ZZ=0.0, MX=0.0).time == pytest.approx(2.1)
    assert found(ZZ=0.0, MX=0.0).cells < 500, "no cell is cut for bounds that are reached"


def test_efforts_of_small_robots_are_told_as_tightly():
    """Of a thousandth of the inertia: 8 mN m while it brakes."""
    peak = peak_of(ZZ=1e-3, MX=0.0)
    assert peak.reached == pytest.approx(8e-3, rel=0.02)
    assert peak.bound == pytest.approx(8e-3, rel=0.035)


# A hinge that is in motion at both ends; with a limit of jerk of 40 rad/s^3 its acceleration takes
# 0.2 s to fall, and then it always brakes for sqrt(6 4 / 40) s.

JERKY = {"jerk": 40.0}
LOSES = 1.5 / np.sqrt(0.6)  # largest deceleration of braking, in a second, as a share of the speed


def cut(begin, end, way):
    """Return a motion of one second between two velocities and accelerations."""
    ends = np.array([begin, end])
    return Trajectory(
        ("hinge",), np.array([0.0, 1.0]), np.array([[0.0], [way]]), ends[:, :1], ends[:, 1:]
    )


def test_braking_begins_no_sooner_than_the_motion():
    """At 3.9 rad/s, less 3 rad/s^2 for 0.1 s; 0.1 s before the begin it would be 3.9 rad/s."""
    slowing, most = cut((3.9, -3.0), (2.0, 0.0), 2.6), 3.6 * LOSES
    peak = peak_of(motion=slowing, ZZ=1.0, MX=0.0, limits=JERKY)
    assert most <= peak.bound <= 1.035 * most
    assert 0.97 * most <= peak.reached <= most * (1.0 + 1e-9)
    assert peak.braking
    assert found(slowing, ZZ=1.0, MX=0.0, limits={**JERKY, "effort": 1.02 * most}).kept
    assert not found(slowing, ZZ=1.0, MX=0.0, limits={**JERKY, "effort": 0.98 * most}).kept


def test_the_motion_counts_from_its_very_beginning():
    peak = peak_of(motion=cut((3.9, -3.0), (2.0, 0.0), 2.6), ZZ=0.0, MX=0.0, Fv=1.0, limits=JERKY)
    assert peak.reached == pytest.approx(3.9, rel=0.02)
    assert peak.bound >= 3.9
    assert not peak.braking


def test_braking_begins_as_late_as_the_motion_ends():
    """At 3 rad/s, and 3 rad/s^2 for 0.1 s more; beyond the end both would grow."""
    quickening, most = cut((2.0, 0.0), (3.0, 3.0), 2.2), 3.3 * LOSES
    peak = peak_of(motion=quickening, ZZ=1.0, MX=0.0, limits=JERKY)
    assert most <= peak.bound <= 1.035 * most
    assert 0.96 * most <= peak.reached <= most * (1.0 + 1e-9)
    assert found(quickening, ZZ=1.0, MX=0.0, limits={**JERKY, "effort": 1.02 * most}).kept


def search_of(*motion, **about):
    return effort_bounds._Search(*hinge(*motion, **about))


WHOLE, SOME, NONE = (1.0, 1.0), (1.0, 0.0), (0.0, 0.0)


@pytest.mark.parametrize(
    ("cell", "counts"),
    [
        ((0.0, 0.05, 0.0, 1.0, -1.0, 0.0), WHOLE),  # the motion, and while acceleration falls
        ((0.9, 1.0, 0.0, 1.0, -1.0, -0.5), WHOLE),
        ((0.0, 0.2, 1.0, 1.0, 0.0, 1.0), SOME),  # -0.1 to 0.1 s
        ((0.1, 0.2, 1.0, 1.0, 0.0, 0.5), WHOLE),
        ((0.02, 0.04, 0.2, 0.3, 0.0, 0.1), SOME),  # from -0.01 s
        ((0.03, 0.04, 0.2, 0.3, 0.0, 0.1), WHOLE),
        ((0.0, 0.05, 0.6, 0.8, 0.0, 1.0), NONE),  # before -0.01 s
        ((0.9, 1.1, 1.0, 1.0, 0.0, 1.0), WHOLE),
        ((0.9, 1.1, 0.5, 1.0, 0.0, 1.0), SOME),  # to 1.05 s
        ((0.0, 1.1, 0.5, 1.0, 0.0, 1.0), SOME),  # from -0.1 s to 1.05 s
        ((1.05, 1.1, 0.2, 0.6, 0.0, 1.0), SOME),  # from 0.99 s
        ((1.05, 1.1, 0.1, 0.4, 0.0, 1.0), NONE),  # from 1.01 s
    ],
)
def test_cells_whose_braking_begins_outside_the_motion_are_left_out(cell, counts):
    """Of a second; braking at the share k of the speed begins 0.1 k s before the time of a cell.

    A cell of which a part begins outside is bounded, but says of no effort that it is reached.
    """
    upper, lower = np.ones((2, 1, 1))
    search_of(ZZ=1.0, MX=0.0, limits=JERKY)._keep_to_the_motion(
        np.array([[0.0, *cell]]), upper, lower
    )
    assert (upper.item(), lower.item()) == counts


def test_braking_from_the_last_states_is_followed_for_half_of_the_fall_of_the_acceleration():
    _, _, tube, _ = hinge(sweep((1.0, 1.3, 2.0), (0.0, 0.5, 1.0)), limits=JERKY)
    cells = effort_bounds._roots(tube)
    for way, ends in (((-1.0, 0.0), (0.3, 0.7)), ((1.0, 2.0), (0.4, 0.8))):
        own = cells[(cells[:, 5:] == way).all(axis=1)]
        assert (own[:, 3:5] == (0.0, 1.0)).all()
        for piece, end in enumerate(ends):
            begins, last = own[own[:, 0] == piece, 1:3].T
            assert begins[0] == 0.0
            np.testing.assert_array_equal(begins[1:], last[:-1])
            assert last[-1] == pytest.approx(end)


@pytest.mark.parametrize("acceleration", [8.0, 0.4])
@pytest.mark.parametrize("limits", [{}, JERKY])
def test_ways_to_rest_are_followed_for_as_long_as_the_slowest_joint_brakes(limits, acceleration):
    """From 1.875 rad/s or more; a joint whose jerk is limited has its shortest time besides."""
    search = search_of(ZZ=1.0, MX=0.0, limits={**limits, "acceleration": acceleration})
    shortest = search._tube.braking.shortest.item()
    quickest = 1.5 * search._tube.fastest.item() / acceleration
    assert quickest >= 1.5 * 1.875 / acceleration
    (_, (longest,)) = search._arguments[0]
    expected = (0.0, shortest, quickest) if limits else (quickest, 0.0, 0.0)
    np.testing.assert_allclose(longest, expected)


@pytest.mark.parametrize(("share", "bounded"), [(0.9989, True), (0.9991, False), (1.0, False)])
def test_a_bound_keeps_a_limit_with_a_thousandth_to_spare(share, bounded):
    search = search_of(ZZ=1.0, MX=0.0, limits={"effort": 20.0})
    search._bound[:] = share * 20.0
    assert search.bounded == bounded


@pytest.mark.parametrize(
    ("begin", "braking"), [(-1.0, False), (-0.75, False), (-0.5, True), (0.0, True)]
)
def test_braking_is_told_from_the_second_half_of_the_fall_of_the_acceleration_on(begin, braking):
    search = search_of(ZZ=1.0, MX=0.0)
    search._where[0, 5:] = begin, 0.0
    (peak,) = search.found(kept=True).peaks
    assert peak.braking == braking


def test_single_states_are_looked_at_first():
    """Four times of every fifth of a second, at full and half speed, along the motion and at nine
    states of braking from there."""
    search = search_of(ZZ=1.0, MX=0.0, limits={"effort": 1.0})
    states = effort_bounds._samples(search._tube)
    piece, begin, end, k, fastest, s, latest = states.T
    assert (piece == 0.0).all()
    for first, last in ((begin, end), (k, fastest), (s, latest)):
        np.testing.assert_array_equal(first, last)
    np.testing.assert_allclose(np.unique(begin.round(9)), np.arange(0.025, 1.0, 0.05))
    assert set(k) == {0.5, 1.0}
    np.testing.assert_array_equal(np.unique(s), [-1.0, *np.arange(9) / 8.0])
    assert len(states) == len(np.unique(states, axis=0)) == 20 * 2 * 10
    # A limit that one of them exceeds by far ends the search with them.
    assert found(ZZ=1.0, MX=0.0, limits={"effort": 1.0}).cells == 400


def test_a_cell_is_cut_where_its_states_differ_most_as_shares_of_their_limits():
    """Half way the sweep has 1.875 rad/s and -30 rad/s^3, and the limits are 4 and 8.

    Positions count as they are, velocities and accelerations as shares of their limits; these
    weigh 0.3, 0.2 and 0.3.
    """
    search = search_of(ZZ=1.0, MX=0.0)
    _, parts = search.look(np.array([[0.0, 0.49, 0.51, 0.9, 1.0, -1.0, -1.0]]))
    time = 0.01 * (0.3 * 1.875 + 0.3 * 0.95**2 * 30.0 / 8.0)
    np.testing.assert_allclose(parts[0], [time, 0.05 * 0.2 * 1.875 / 4.0, 0.0], rtol=2e-3)
    assert search.cells == 1


def test_of_efforts_too_large_for_arithmetic_nothing_is_known():
    told = found(ZZ=1e308, MX=1e308, gravity=9.81, limits={"effort": 1e300})
    assert not told.kept
    endless = found(ZZ=1e308, MX=1e308, gravity=9.81)
    assert not endless.kept
    assert endless.peaks[0].bound == np.inf
