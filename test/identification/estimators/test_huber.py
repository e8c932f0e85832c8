"""Outliers that least squares follow and Huber's estimate does not."""

import numpy as np
import pytest

from robot_identification.errors import SettingError
from robot_identification.files.results import dump, read_result
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.estimators.huber import HuberSettings
from robot_identification.identification.estimators.weighting import Weighting
from robot_identification.identification.identify import identify
from robot_identification.identification.merging import merge_results
from several_bags import NOISE, STATED, arm, with_efforts

pytestmark = pytest.mark.usefixtures("undiagnosed")

HUBER = HuberSettings()


def spikes(share, seed=0):
    """Return a change that adds single wrong samples of both joints, all to one side."""
    rng = np.random.default_rng(seed)
    return lambda effort: effort + 150.0 * NOISE * (rng.random(effort.shape) < share)


def contacts(share, samples=60, seed=0):
    """Return a change that adds pushes of 0.3 s to the second joint."""
    rng = np.random.default_rng(seed)

    def change(effort):
        pushed = effort.copy()
        for start in rng.integers(0, len(effort) - samples, round(share * len(effort) / samples)):
            pushed[start : start + samples, 1] += 60.0 * NOISE[1]
        return pushed

    return change


@pytest.mark.parametrize(
    ("parts", "change"),
    [(1, spikes(0.01)), (3, spikes(0.05)), (1, contacts(0.05)), (2, contacts(0.03))],
    ids=["1 % spikes", "5 % spikes in three bags", "5 % contact", "3 % contact in two bags"],
)
def test_outliers_hardly_move_the_estimate(parts, change):
    robot, clean, truth = arm(parts)
    recordings = [with_efforts(recording, change) for recording in clean]
    reference = identify(robot, clean, overrides=STATED).estimate
    plain = identify(robot, recordings, overrides=STATED).estimate
    result = identify(robot, recordings, overrides=STATED, robust=HUBER)
    limited = result.estimate
    assert result.robustness.converged
    off = np.abs(limited.values - truth) / np.maximum(limited.std_robust, reference.std_robust)
    assert off.max() < 4.0
    assert np.median(off) < 1.5
    missed = np.abs(plain.values - truth) / reference.std_robust
    assert missed.max() > 10.0
    assert np.linalg.norm(limited.values - truth) < 0.25 * np.linalg.norm(plain.values - truth)


def test_outliers_are_counted_and_their_times_told():
    robot, (one, two), _ = arm(2)
    start, stop = 4000, 4100

    def push(effort):
        pushed = effort.copy()
        pushed[start:stop, 1] += 60.0 * NOISE[1]
        return pushed

    result = identify(robot, [one, with_efforts(two, push)], overrides=STATED, robust=HUBER)
    told = {(entry.bag, entry.joint): entry for entry in result.robustness.outliers}
    joint = robot.joint_names[1]
    assert len(told) == 4
    assert told["part 0", joint].outlying <= 2
    entry = told["part 1", joint]
    assert 7 <= entry.outlying <= 30  # 0.5 s of 20 rows a second, and what decimation smears
    time, residual = entry.worst[0]
    begin = two.segments[0].time[0]
    assert start / 200.0 - 0.1 < time - begin < stop / 200.0 + 0.1
    assert residual == pytest.approx(60.0 * NOISE[1], rel=0.2)
    assert entry.scale == pytest.approx(told["part 0", joint].scale)
    assert entry.rows >= entry.limited >= entry.outlying
    (line,) = [line for line in result.warnings if line.startswith("outliers:")]
    assert f"most of {joint} in part 1" in line


def test_deviations_hold_with_outliers():
    robot, (clean, *_), _ = arm(4, level=0.0)
    pushed = with_efforts(clean, contacts(0.03))
    runs = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        noisy = with_efforts(
            pushed,
            lambda effort, rng=rng: effort + 3.0 * NOISE * rng.standard_normal(effort.shape),
        )
        runs.append(identify(robot, [noisy], overrides=STATED, robust=HUBER).estimate)
    spread = np.std([run.values for run in runs], axis=0, ddof=1)
    for name in ("std", "std_robust"):
        told = np.mean([getattr(run, name) for run in runs], axis=0)
        assert 0.75 < np.median(told / spread) < 1.6, name  # as if contacts came at random


def test_without_outliers_little_is_lost():
    robot, recordings, _ = arm(2)
    plain = identify(robot, recordings, overrides=STATED).estimate
    limited = identify(robot, recordings, overrides=STATED, robust=HUBER).estimate
    assert np.abs(limited.values - plain.values).max() < 1.0 * plain.std_robust.max()
    assert np.median(limited.std / plain.std) < 1.1
    wide = identify(robot, recordings, overrides=STATED, robust=HuberSettings(50.0)).estimate
    np.testing.assert_allclose(wide.values, plain.values, rtol=1e-6)


def test_limits_work_with_noise_of_bags_essential_parameters_and_files(tmp_path):
    robot, clean, truth = arm(2)
    rng = np.random.default_rng(5)
    loud = with_efforts(clean[1], lambda e: e + 4.0 * NOISE * rng.standard_normal(e.shape))
    bags = [with_efforts(clean[0], contacts(0.04)), loud]
    noise = Weighting(bag_noise=True)
    every = identify(robot, bags, overrides=STATED, robust=HUBER, weighting=noise)
    off = np.abs(every.estimate.values - truth) / every.estimate.std_robust
    assert off.max() < 4.0
    result = identify(
        robot,
        bags,
        overrides=STATED,
        robust=HUBER,
        weighting=noise,
        essential=EliminationRule("ratio", 60.0),
    )
    assert result.robustness.converged
    kept = result.elimination.kept
    assert 0 < kept.sum() < len(kept)
    np.testing.assert_allclose(
        result.estimate.std_robust[kept], every.estimate.std_robust[kept], rtol=0.5
    )
    scales = {(o.bag, o.joint): o.scale for o in result.robustness.outliers}
    for joint in robot.joint_names:
        assert 3.0 < scales["part 1", joint] / scales["part 0", joint] < 5.0
    path = tmp_path / "result.yaml"
    path.write_text(dump(result))
    assert dump(read_result(path)) == dump(result)


def test_factors_with_limited_efforts_merge_like_others():
    robot, clean, _ = arm(2)
    bags = [with_efforts(recording, contacts(0.04, seed=1)) for recording in clean]
    apart = [identify(robot, [bag], overrides=STATED, robust=HUBER) for bag in bags]
    together = identify(robot, bags, overrides=STATED, robust=HUBER)
    merged = merge_results(apart)
    off = np.abs(merged.estimate.values - together.estimate.values)
    assert (off < together.estimate.std_robust).all()


@pytest.mark.parametrize("threshold", [0.0, -1.0, np.nan, np.inf])
def test_a_threshold_that_cannot_be_is_refused(threshold):
    with pytest.raises(SettingError, match="threshold = "):
        HuberSettings(threshold)
