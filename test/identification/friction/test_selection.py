"""The choice of terms: families of joints, blocks left out, rows near standstill."""

from dataclasses import replace

import numpy as np
import pytest

from friction_arm import SETTINGS, arm, chosen, moved, values_of
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.friction.candidates import (
    BLOCKS,
    CandidateRegressor,
    CandidateRows,
    every_candidate,
)
from robot_identification.identification.friction.choice import UNSEEN, unseen
from robot_identification.identification.friction.chosen import Chosen
from robot_identification.identification.friction.evidence import (
    critical_score,
    jackknife_ratio,
    joint_evidence,
)
from robot_identification.identification.friction.folds import Folds
from robot_identification.identification.friction.law import tried_rows
from robot_identification.identification.friction.selection import _Search
from robot_identification.identification.friction.shapes import Settled, Unknown
from robot_identification.identification.friction.trials import Rule, Trials
from robot_identification.identification.identify import identify
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.robot.terms.joint_terms import terms_of
from robot_identification.robot.terms.kinds import TermKind
from robot_identification.signals.processing.settings import resolve_processing


def source_of(robot, recording, settings=SETTINGS):
    processing = resolve_processing(robot, [recording], settings)
    return WholeRows.of(base_parameters(robot), [recording], processing, blocks=False)


class Interrupted(CandidateRegressor):
    """Computes the rows of other samples between the loads of some and their columns.

    So does another thread that works on another block at the same time.
    """

    other = None

    def loads(self, q, qd, qdd):
        found = super().loads(q, qd, qdd)
        if self.other is not None:
            other, self.other = self.other, None
            self.compact(*other)
        return found


def test_what_another_thread_computes_changes_no_rows():
    base = base_parameters(arm())
    rng = np.random.default_rng(0)
    some, other = rng.normal(size=(3, 2, 7)), rng.normal(size=(3, 2, 5))
    candidates = every_candidate()
    opened, speeds = ((1, len(candidates) - 1),), np.ones((2, len(candidates)))
    regressor = Interrupted(base, candidates, opened, speeds, values_of(base.robot))
    expected = regressor.compact(*some)
    regressor.other = other
    np.testing.assert_array_equal(regressor.compact(*some), expected)


@pytest.fixture(scope="module")
def source():
    """Samples of an arm with Coulomb and viscous friction alone."""
    robot = arm()
    return source_of(robot, moved(robot, values_of(robot), duration=15.0, noise=0.3))


@pytest.fixture(scope="module")
def rows(source):
    return CandidateRows.of(source, every_candidate(), None)


def test_evidence_of_several_joints_is_more_than_that_of_each():
    ratios = np.full(6, 2.0)
    alone = joint_evidence(ratios[:1], 9, one_sided=True)
    together = joint_evidence(ratios, 9, one_sided=True)
    assert together == pytest.approx(np.sqrt(6) * alone)
    assert alone < critical_score(0.01) < together


def test_one_joint_does_not_speak_for_all():
    ratios = np.array([100.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert joint_evidence(ratios, 9, one_sided=True) < critical_score(0.05)


def test_evidence_against_a_sign_is_none():
    assert joint_evidence(np.array([-5.0, -5.0]), 9, one_sided=True) < -3.0
    assert joint_evidence(np.array([-5.0, -5.0]), 9, one_sided=False) > 3.0


def test_estimates_that_agree_are_told():
    agreed = np.array([1.0, 1.01, 0.99, 1.0])[:, None]
    assert jackknife_ratio(agreed)[0] > 50.0
    assert jackknife_ratio(agreed - 1.0)[0] == pytest.approx(0.0, abs=1e-9)


SMOOTH = next(i for i, one in enumerate(every_candidate()) if one.replaces)
"""The first smooth sign, which stands in place of a base parameter."""


@pytest.mark.parametrize("keys", [(), ((1, SMOOTH),), ((0, 2), (1, SMOOTH))])
def test_every_block_is_predicted_by_a_fit_to_all_others(rows, keys):
    weights, columns = rows.weights(np.ones(4), slow=True), Chosen(rows, keys).columns()
    squares, values = Folds(rows, weights).squares(columns)
    assert len(squares) == BLOCKS

    def stacked(blocks):
        found = []
        for factor, weight in (pair for own in blocks for pair in zip(own, weights, strict=True)):
            wide = np.zeros((len(factor.triangle), rows.columns + 1))
            wide[:, [*factor.columns, rows.columns]] = weight * factor.triangle
            found.append(wide)
        return np.vstack(found)

    matrix = stacked(block for number, block in enumerate(rows.factors) if number != 3)
    expected = np.linalg.lstsq(matrix[:, columns], matrix[:, -1], rcond=None)[0]
    np.testing.assert_allclose(values[3], expected, rtol=1e-6, atol=1e-8)
    left = stacked(rows.factors[3:4])
    assert squares[3] == pytest.approx(np.sum((left[:, -1] - left[:, columns] @ expected) ** 2))


@pytest.mark.parametrize("key", [(0, 2), (1, 4), (1, SMOOTH)])
def test_a_column_that_is_tried_does_as_it_does_when_it_is_chosen(rows, key):
    folds, chosen = Folds(rows, rows.weights(np.ones(4), slow=True)), Chosen(rows)
    column = rows.column(*key)
    tried = folds.added(chosen.columns(but=[key]), np.array([column]))
    with_it = chosen.plus([key]).columns()
    squares, values = folds.squares(with_it)
    np.testing.assert_allclose(tried.squares[:, 0], squares)
    np.testing.assert_allclose(tried.values, values[:, with_it == column], rtol=1e-6)


def test_rows_near_standstill_count_apart_and_never_more_than_others(rows):
    counts = np.sum([[factor.rows for factor in block] for block in rows.factors], axis=0)
    assert np.all(counts > 0)
    assert rows.counts == pytest.approx(counts[:2] + counts[2:])
    noisy = rows.weights(counts * [1.0, 1.0, 4.0, 0.25], slow=True)
    np.testing.assert_allclose(noisy, [1.0, 1.0, 0.5, 1.0])
    np.testing.assert_allclose(rows.weights(counts * 1.0, slow=False), [1.0, 1.0, 0.0, 0.0])


def test_nothing_stays_without_which_the_error_falls(source, rows):
    search = _Search(source, every_candidate(), None, refines=True)
    junk = Chosen(rows, tuple((joint, place) for joint in (0, 1) for place in (0, 1, 4)))
    folds, _ = search._weighted(junk, Folds(rows, rows.weights(np.ones(4), slow=True)))
    free = Chosen(rows)
    tried = Trials(folds, 1).of(free, junk.keys, Rule(0.0, 0.0, 0.0))
    search._tried |= dict(zip(junk.keys, tried, strict=True))
    left = search._pruned(folds, junk)
    assert len(left.keys) < len(junk.keys)
    error = folds.squares(left.columns())[0].sum()
    for key in left.keys:
        assert folds.squares(left.without(key).columns())[0].sum() > error


def creeping(recording, size):
    """The recording of a joint that creeps a hundredth of a radian before it slides."""
    (segment,) = recording.segments
    q = segment.position[:, 1]
    step, state, creep = np.diff(q, prepend=q[0]), 0.0, np.zeros(len(q))
    for now, moved_by in enumerate(step):
        side = np.sign(moved_by)
        state = side + (state - side) * np.exp(-abs(moved_by) / 0.02)
        creep[now] = state - side
    effort = np.array(segment.effort)
    effort[:, 1] += size * creep
    return replace(recording, segments=(replace(segment, effort=effort),))


def test_creeping_near_standstill_does_not_hide_friction_that_follows_the_load():
    truth = arm("load_friction: true")
    recording = creeping(moved(truth, values_of(truth, Fl2=0.2), duration=20.0), 1.5)
    assert (
        "Fl" in chosen(identify(arm(), [recording], overrides=SETTINGS, friction="auto"))["elbow"]
    )


def test_a_term_that_each_joint_tells_little_of_is_found_of_all_together():
    truth = arm("load_friction: true")
    joints = tuple(replace(joint, terms=joint.terms | {"Fl"}) for joint in truth.joints)
    truth = replace(truth, joints=joints)
    recording = moved(truth, values_of(truth, Fl1=0.15, Fl2=0.15), duration=14.0, noise=0.5)
    result = identify(arm(), [recording], overrides=SETTINGS, friction="auto")
    assert chosen(result) == {"shoulder": {"Fl"}, "elbow": {"Fl"}}
    assert [one.together for one in result.friction.tried if one.chosen] == [True, True]
    told = [row[-1] for row in tried_rows(result.friction, result.joint_names) if row[1] == "Fl"]
    assert told == ["chosen in step 1, with other joints"] * 2


@pytest.mark.parametrize("speed", [0.15, 0.2, 0.25])
def test_no_other_term_makes_up_for_a_speed_between_those_that_are_tried(speed):
    truth = arm(f"stribeck_friction: {{speed: {speed}}}")
    recording = moved(truth, values_of(truth, Fs2=2.0), noise=0.02, seed=1)
    result = identify(arm(), [recording], overrides=SETTINGS, friction="auto")
    assert chosen(result) == {"shoulder": set(), "elbow": {"Fs"}}
    (shape,) = result.friction.shapes
    assert abs(shape.value - speed) < 4.0 * shape.std < 0.02 * speed


def test_a_smooth_sign_that_rises_below_the_threshold_is_refused():
    smooth = terms_of(TermKind.SMOOTH)[0]
    truth = arm("smooth_coulomb_friction: {speed: 0.1}, coulomb_friction: false")
    recording = moved(truth, values_of(truth, Ft2=2.0), duration=10.0)
    own = Unknown(1, smooth, 0)
    for threshold, refused in ((0.0, False), (0.04, False), (0.06, True)):
        settings = replace(SETTINGS, velocity_threshold=(threshold, threshold))
        settled = Settled(source_of(truth, recording, settings))
        assert unseen(settled, own) == refused
    fast = arm("smooth_coulomb_friction: {speed: 0.5}, coulomb_friction: false")
    seen = Settled(source_of(fast, recording, settings))
    assert not unseen(seen, own)
    assert unseen(replace(seen, held=(own,)), own)


def test_what_was_refused_is_chosen_no_more_and_stands_among_what_was_tried():
    truth = arm("smooth_coulomb_friction: {speed: 0.08}, coulomb_friction: false")
    recording = moved(truth, values_of(truth, Ft2=2.0), noise=0.02, seed=1, duration=20.0)
    settings = replace(SETTINGS, velocity_threshold=(0.05, 0.05))
    result = identify(arm(), [recording], overrides=settings, friction="auto")
    assert "Fc" in result.friction.joints[1]
    (told,) = [one for one in result.friction.tried if one.term == "Ft" and one.joint == 1]
    assert not told.chosen
    assert told.reason == UNSEEN
