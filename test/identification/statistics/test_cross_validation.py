"""Errors on bags, and on blocks of a single one, that had no part in the fit."""

from dataclasses import replace

import numpy as np
import pytest

from robot_identification.errors import (
    NotExcitedError,
    NotPredictiveError,
    RecordingError,
    SettingError,
)
from robot_identification.files.results import dump, read_result
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.estimators.least_squares import RelativeError
from robot_identification.identification.identify import identify
from robot_identification.identification.rows.factor import JointFactor, merge, triangle_of
from robot_identification.identification.statistics.cross_validation import (
    CrossValidation,
    Fold,
    cross_validate,
    cross_validation_entries,
    cross_validation_of,
    fold_entries,
    fold_of,
    others,
    refuse_worse_than_zero,
    validation_warnings,
)
from robot_identification.identification.validate import validate
from several_bags import STATED, arm

pytestmark = pytest.mark.usefixtures("undiagnosed")


@pytest.fixture(scope="module")
def bags():
    return arm(parts=3)


@pytest.mark.parametrize("method", ["ols", "wls", "one-joint", "energy"])
def test_a_bag_left_out_is_predicted_as_by_identifying_without_it(bags, method):
    robot, recordings, _ = bags
    found = identify(robot, recordings, method=method, overrides=STATED).cross_validation
    assert found.scheme == "bags"
    assert [fold.name for fold in found.folds] == ["part 0", "part 1", "part 2"]
    for left_out, fold in enumerate(found.folds):
        rest = [r for i, r in enumerate(recordings) if i != left_out]
        values = identify(robot, rest, method=method, overrides=STATED).estimate.values
        expected = validate(robot, values, [recordings[left_out]], overrides=STATED)
        np.testing.assert_allclose(fold.error.total, expected.relative_error.total, rtol=1e-8)
        np.testing.assert_allclose(fold.error.joints, expected.relative_error.joints, rtol=1e-8)
        assert fold.rows == expected.rows


def test_essential_parameters_stay_essential_without_a_bag(bags):
    robot, recordings, _ = bags
    result = identify(robot, recordings, overrides=STATED, essential=EliminationRule("ratio", 20.0))
    assert not result.elimination.kept.all()
    every = identify(robot, recordings, overrides=STATED)
    one, other = result.cross_validation.error.total, every.cross_validation.error.total
    assert one == pytest.approx(other, rel=0.02)
    assert one != other


def test_blocks_of_a_single_bag(bags):
    robot, (first, *_), _ = bags
    result = identify(robot, [first], overrides=STATED)
    found = result.cross_validation
    assert found.scheme == "blocks"
    assert len(found.folds) == 5
    assert found.folds[0].name.startswith("0.")
    assert sum(fold.rows[0] for fold in found.folds) == result.estimate.rows[0]
    assert found.error.total > result.estimate.relative_error.total
    energy = identify(robot, [first], overrides=STATED, method="energy").cross_validation
    assert energy.error.total == pytest.approx(found.error.total, rel=0.1)


def test_an_answer_that_predicts_its_own_blocks_worse_than_zero_is_refused(bags):
    """Efforts that have nothing to do with the motion."""
    robot, (first, *_), _ = bags
    noise = np.random.default_rng(0)

    def noisy(segment):
        effort = noise.standard_normal(segment.effort.shape) * 100.0 * segment.effort.std(axis=0)
        return replace(segment, effort=effort)

    spoilt = replace(first, segments=tuple(map(noisy, first.segments)))
    for method in ("ols", "wls"):
        with pytest.raises(NotPredictiveError, match="worse than by zero") as caught:
            identify(robot, [spoilt], overrides=STATED, method=method)
        assert caught.value.error >= 1.0
        assert caught.value.blocks
        assert all(error >= 1.0 for error in caught.value.blocks.values())


def test_factors_of_all_others(bags):
    robot, recordings, _ = bags
    own = [identify(robot, [r], overrides=STATED).factors for r in (*recordings, recordings[0])]
    for number, left in enumerate(others(own)):
        rest = [factors for i, factors in enumerate(own) if i != number]
        for joint, factor in enumerate(left):
            expected = merge([factors[joint] for factors in rest])
            np.testing.assert_allclose(
                factor.triangle.T @ factor.triangle,
                expected.triangle.T @ expected.triangle,
                rtol=1e-10,
                atol=1e-9,
            )
            assert factor.rows == expected.rows


def test_a_bag_unlike_the_others_is_named_with_its_joint():
    robot, recordings, _ = arm(parts=4)
    base = base_parameters(robot)
    assert not any("unlike" in line for line in _warnings(robot, recordings))

    def other_friction(recording):
        segments = []
        for segment in recording.segments:
            velocity = np.gradient(segment.position[:, 1], recording.period)
            effort = segment.effort.copy()
            effort[:, 1] += 4.0 * np.sign(velocity)
            segments.append(replace(segment, effort=effort))
        return replace(recording, segments=tuple(segments))

    changed = [*recordings[:2], other_friction(recordings[2]), recordings[3]]
    (line,) = [line for line in _warnings(robot, changed) if "unlike the others" in line]
    assert f"bag part 2, {base.robot.joint_names[1]}: " in line


def _warnings(robot, recordings):
    return identify(robot, recordings, overrides=STATED).warnings


def test_a_bag_that_alone_tells_some_parameters_cannot_be_predicted(bags):
    robot, recordings, _ = bags
    at_rest = [
        replace(
            r,
            segments=tuple(replace(s, position=np.zeros_like(s.position)) for s in r.segments),
        )
        for r in recordings[:2]
    ]
    result = identify(
        robot, [*at_rest, recordings[2]], overrides=replace(STATED, velocity_threshold=())
    )
    folds = result.cross_validation.folds
    assert [fold.error is None for fold in folds] == [False, False, True]
    assert "ZZ1R" in folds[2].reason
    assert any(line.startswith("bag part 2 cannot be predicted") for line in result.warnings)


def test_bags_that_are_held_out(bags, tmp_path):
    robot, recordings, _ = bags
    result = identify(robot, recordings[:2], held_out=recordings[2:], overrides=STATED)
    without = identify(robot, recordings[:2], overrides=STATED)
    np.testing.assert_array_equal(result.estimate.values, without.estimate.values)
    (fold,) = result.held_out_bags
    assert (fold.name, fold.fitted) == ("part 2", None)
    assert result.held_out.total == pytest.approx(fold.error.total, rel=1e-14)
    assert [source.name for source in result.sources] == ["part 0", "part 1"]
    path = tmp_path / "result.yaml"
    path.write_text(dump(result))
    back = read_result(path)
    assert dump(back) == dump(result)
    assert back.held_out_bags[0].error.total == fold.error.total


def test_more_weights_than_bags_are_refused(bags):
    from robot_identification.identification.estimators.weighting import Weighting

    robot, recordings, _ = bags
    with pytest.raises(SettingError, match="one for each of 3 bags"):
        identify(robot, recordings, weighting=Weighting((1.0, 2.0)))


JOINTS = ("hip", "knee")


def groups(count=3, rows=20, seed=0):
    """Return regressors (count, 2, rows, 2), efforts, and the factors of groups of two joints."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=(count, 2, rows, 2))
    y = w @ [1.0, 2.0] + rng.normal(size=(count, 2, rows))
    factors = [
        [
            JointFactor(joint, np.arange(2), triangle_of(np.column_stack([w[g, j], y[g, j]])), rows)
            for j, joint in enumerate(JOINTS)
        ]
        for g in range(count)
    ]
    return w, y, factors


def test_errors_are_those_of_the_rows_themselves():
    w, y, factors = groups()
    estimates = np.array([[0.0, 0.0], [1.0, 2.0], [3.0, -1.0]])
    all_of_them = np.array([1.1, 1.9])
    found = cross_validate("bags", "abc", factors, all_of_them, estimates.__getitem__)
    assert [fold.name for fold in found.folds] == ["a", "b", "c"]
    rest = y - np.einsum("gjrp,gp->gjr", w, estimates)
    for number, fold in enumerate(found.folds):
        assert fold.rows == (20, 20)
        np.testing.assert_allclose(fold.effort_rms, np.sqrt(np.mean(y[number] ** 2, axis=1)))
        expected = np.linalg.norm(rest[number], axis=1) / np.linalg.norm(y[number], axis=1)
        np.testing.assert_allclose(fold.error.joints, expected)
        fitted = y[number] - w[number] @ all_of_them
        assert fold.fitted.total == pytest.approx(
            np.linalg.norm(fitted) / np.linalg.norm(y[number])
        )
        assert fold.reason == ""
    assert found.error.total == pytest.approx(np.linalg.norm(rest) / np.linalg.norm(y))
    joints = np.linalg.norm(rest, axis=(0, 2)) / np.linalg.norm(y, axis=(0, 2))
    np.testing.assert_allclose(found.error.joints, joints)


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_the_effort_of_few_rows_is_their_root_mean_square(rows):
    _, y, factors = groups(rows=rows)
    found = cross_validate("bags", "abc", factors, np.zeros(2), lambda _: np.zeros(2))
    for own, fold in zip(y, found.folds, strict=True):
        np.testing.assert_allclose(fold.effort_rms, np.sqrt(np.mean(own**2, axis=1)))
        np.testing.assert_allclose(fold.error.joints, 1.0)


def test_a_group_that_the_others_cannot_predict_does_not_count():
    _, _, factors = groups()

    def without(number):
        if number == 0:
            raise RecordingError("too short")
        if number == 1:
            raise NotExcitedError(("A",), 1e9)
        return np.zeros(2)

    found = cross_validate("bags", "abc", factors, np.zeros(2), without)
    assert [fold.error is None for fold in found.folds] == [True, True, False]
    assert found.folds[0].reason == "too short"
    assert "A" in found.folds[1].reason
    assert found.error.total == pytest.approx(1.0), "nothing predicted leaves all of the effort"
    none = cross_validate("bags", "a", factors[:1], np.zeros(2), lambda _: without(0))
    assert none.error is None


def test_a_joint_without_effort_has_no_error():
    silent = JointFactor("hip", np.arange(2), np.zeros((3, 3)), 1)
    found = cross_validate("bags", "a", [[silent, silent]], np.zeros(2), lambda _: np.zeros(2))
    assert found.folds[0].effort_rms == (0.0, 0.0)
    np.testing.assert_array_equal(found.error.joints, 0.0)
    assert found.error.total == 0.0


def test_a_joint_without_rows_has_no_figure():
    """In the first group; in the second it has some, and those alone count over both."""
    _, _, (first, second, _) = groups()
    absent = JointFactor("knee", np.arange(2), np.zeros((3, 3)), 0)
    found = cross_validate(
        "bags", "ab", [[first[0], absent], second], np.zeros(2), lambda _: np.zeros(2)
    )
    np.testing.assert_array_equal(found.folds[0].error.joints, [1.0, np.nan])
    np.testing.assert_array_equal(found.folds[0].fitted.joints, [1.0, np.nan])
    np.testing.assert_array_equal(found.error.joints, [1.0, 1.0])
    found = cross_validate("bags", "a", [[first[0], absent]], np.zeros(2), lambda _: np.zeros(2))
    np.testing.assert_array_equal(found.error.joints, [1.0, np.nan])


def test_a_single_group_has_no_others():
    _, _, factors = groups(2)
    assert others(factors[:1]) == []
    first, second = others(factors)
    assert first == (*factors[1],)
    assert second == (*factors[0],)


def fold(name, error, fitted=0.1, rms=1.0, reason=""):
    """Return what became of a group of two joints; the error of the second is 0.1."""
    told = None if error is None else RelativeError(error, np.array([error, 0.1]))
    own = None if fitted is None else RelativeError(fitted, np.array([fitted, 0.1]))
    return Fold(name, (5, 5), (rms, 1.0), own, told, reason)


@pytest.mark.parametrize(("error", "told"), [(0.2, False), (0.201, True)])
def test_more_than_twice_the_fitted_error_is_told(error, told):
    lines = validation_warnings(CrossValidation("blocks", (fold("one", error),), None), JOINTS)
    assert len(lines) == told
    if told:
        assert (
            "the error on a block left out of the fit is more than 2 times the fitted" in lines[0]
        )
        assert "block one, hip: 0.201 instead of 0.1; the motion" in lines[0]


def test_a_joint_that_was_fitted_exactly_has_no_larger_error():
    assert (
        validation_warnings(CrossValidation("blocks", (fold("one", 0.1, 0.0),), None), JOINTS) == ()
    )


def test_three_are_named_the_worst_first():
    folds = tuple(fold(str(i), 0.3 + 0.1 * i) for i in range(4))
    (line,) = validation_warnings(CrossValidation("blocks", folds, None), JOINTS)
    assert "block 3, hip: 0.6 instead of 0.1; block 2, hip: 0.5 instead of 0.1; block 1, " in line
    assert "; 1 more; the motion is too poor" in line
    (line,) = validation_warnings(CrossValidation("blocks", folds[:3], None), JOINTS)
    assert "more;" not in line


@pytest.mark.parametrize(
    ("scheme", "count", "told"), [("bags", 4, 1), ("bags", 5, 1), ("bags", 3, 0), ("blocks", 4, 0)]
)
def test_a_bag_is_unlike_three_others_in_newton_metres(scheme, count, told):
    alike = [fold(str(i), 0.1) for i in range(count - 1)]
    odd = fold("odd", 0.1, rms=2.1)
    lines = validation_warnings(CrossValidation(scheme, (*alike, odd), None), JOINTS)
    assert len(lines) == told
    if told:
        assert "bag odd, hip: 0.21 instead of 0.1; such a bag is unlike the others" in lines[0]
    fine = replace(odd, effort_rms=(1.9, 1.0))
    assert not validation_warnings(CrossValidation(scheme, (*alike, fine), None), JOINTS)


def test_what_cannot_be_predicted_or_was_held_out_is_not_compared():
    folds = (fold("a", None, reason="joint hip rests"), fold("b", 0.9, fitted=None))
    lines = validation_warnings(CrossValidation("bags", folds, None), JOINTS)
    assert lines == ("bag a cannot be predicted from the others: joint hip rests",)
    lines = validation_warnings(CrossValidation("blocks", folds, None), JOINTS)
    assert lines[0] == "block a cannot be predicted from the others: joint hip rests"
    assert lines[1].endswith("as where joints move one at a time: give a second bag")


@pytest.mark.parametrize(("total", "refused"), [(0.999, False), (1.0, True)])
def test_a_fit_that_predicts_blocks_as_zero_does_is_refused_and_names_them(total, refused):
    folds = (fold("a", 1.0), fold("b", 0.999), fold("c", None, reason="rests"), fold("d", 1.5))
    error = RelativeError(total, np.full(2, total))
    for scheme in ("bags", "blocks"):
        found = CrossValidation(scheme, folds, error)
        if refused and scheme == "blocks":
            with pytest.raises(NotPredictiveError) as refusal:
                refuse_worse_than_zero(found)
            assert refusal.value.error == total
            assert refusal.value.blocks == {"a": 1.0, "d": 1.5}
        else:
            refuse_worse_than_zero(found)
    refuse_worse_than_zero(CrossValidation("blocks", folds, None))


def test_plain_data_give_the_cross_validation_back():
    whole = RelativeError(0.3, np.array([0.3, 0.2]))
    for found in (
        CrossValidation("bags", (fold("a", None, reason="rests"), fold("b", 0.2)), whole),
        CrossValidation("blocks", (fold("a", 0.2, fitted=None),), None),
    ):
        entries = cross_validation_entries(found, JOINTS)
        back = cross_validation_of(entries, JOINTS)
        assert cross_validation_entries(back, JOINTS) == entries
        assert back.scheme == found.scheme
        assert (back.error is None) == (found.error is None)
    assert entries["folds"][0] == {
        "name": "a",
        "rows": {"hip": 5, "knee": 5},
        "effort_rms": {"hip": 1.0, "knee": 1.0},
        "relative_error": {"total": 0.2, "hip": 0.2, "knee": 0.1},
        "fitted_error": None,
        "reason": "",
    }
    older = fold_entries(replace(fold("a", 0.2), effort_rms=()), JOINTS)
    assert "effort_rms" not in older
    assert fold_of(older, JOINTS).effort_rms == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"relative_error": 0.2}, {"relative_error": {"total": 0.2, "hip": 0.2}},
        {"relative_error": {"total": "0.2", "hip": 0.2, "knee": 0.1}},
        {"relative_error": {"total": True, "hip": 0.2, "knee": 0.1}},
        {"relative_error": {"total": 0.2, "hip": float("nan"), "knee": 0.1}},
    ],
)  # fmt: skip
def test_wrong_plain_data_are_refused(wrong):
    entry = {**fold_entries(fold("a", 0.2), JOINTS), **wrong}
    with pytest.raises((KeyError, TypeError, ValueError)):
        fold_of(entry, JOINTS)


def test_another_scheme_is_refused():
    with pytest.raises(ValueError, match="scheme 'weeks'"):
        cross_validation_of({"scheme": "weeks", "folds": [], "relative_error": None}, JOINTS)


def test_small_efforts_have_errors_too():
    """Millinewtonmetres of a small joint: half of them are left where half is predicted."""
    y = 1e-3 * np.array([1.0, -1.0, 1.0, -1.0])
    factor = JointFactor("hip", np.arange(1), triangle_of(np.column_stack([y, y])), 4)
    found = cross_validate("bags", "a", [[factor]], np.ones(1), lambda _: np.array([0.5]))
    assert found.error.joints == pytest.approx(0.5)
    assert found.error.total == pytest.approx(0.5)


def test_every_group_has_its_name_and_all_of_the_joints():
    _, _, factors = groups()
    with pytest.raises(ValueError, match="zip"):
        cross_validate("bags", "ab", factors, np.zeros(2), lambda _: np.zeros(2))
    with pytest.raises(ValueError, match="zip"):
        others([factors[0], factors[1][:1], factors[2]])


def test_every_joint_has_its_figures():
    for spoilt in ({"effort_rms": (1.0,)}, {"rows": (5,)}, {"effort_rms": (1.0, 1.0, 1.0)}):
        with pytest.raises(ValueError, match="zip"):
            fold_entries(replace(fold("a", 0.2), **spoilt), JOINTS)
    with pytest.raises(ValueError, match="zip"):
        fold_entries(fold("a", 0.2), JOINTS[:1])
