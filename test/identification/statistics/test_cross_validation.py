"""Errors on bags, and on blocks of a single one, that had no part in the fit."""

from dataclasses import replace

import numpy as np
import pytest

from robot_identification.errors import NotPredictiveError, SettingError
from robot_identification.files.results import dump, read_result
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.identify import identify, validate
from robot_identification.identification.rows.factor import merge
from robot_identification.identification.statistics.cross_validation import others
from several_bags import STATED, arm


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
