"""Weights between bags: stated, and from the noise of each."""

from dataclasses import replace

import numpy as np
import pytest

from robot_identification.errors import SettingError
from robot_identification.identification.estimators.weighting import Weighting
from robot_identification.identification.identify import identify
from several_bags import NOISE, STATED, arm, with_efforts

pytestmark = pytest.mark.usefixtures("undiagnosed")


def noisier(recording, factor, seed):
    """Return a recording with noise of a level added."""
    rng, level = np.random.default_rng(seed), factor * NOISE
    return with_efforts(recording, lambda effort: effort + level * rng.normal(size=effort.shape))


@pytest.fixture(scope="module")
def bags():
    robot, recordings, truth = arm(parts=2)
    return robot, recordings, truth


@pytest.mark.parametrize("method", ["ols", "wls"])
def test_a_bag_of_weight_three_counts_as_three_of_it(bags, method):
    robot, (one, two), _ = bags
    weighted = identify(
        robot, [one, two], method=method, overrides=STATED, weighting=Weighting((3.0, 1.0))
    )
    copied = identify(robot, [one, one, one, two], method=method, overrides=STATED)
    np.testing.assert_allclose(weighted.estimate.values, copied.estimate.values, rtol=1e-2)
    if method == "ols":  # weights of joints count rows, of which the copies have more
        np.testing.assert_allclose(weighted.estimate.values, copied.estimate.values, rtol=1e-9)
    assert weighted.settings["bag_weights"]["value"] == [3.0, 1.0]
    plain = identify(robot, [one, two], method=method, overrides=STATED)
    assert not np.allclose(weighted.estimate.values, plain.estimate.values, rtol=1e-3)
    uniform = identify(
        robot, [one, two], method=method, overrides=STATED, weighting=Weighting((2.0, 2.0))
    )
    np.testing.assert_array_equal(uniform.estimate.values, plain.estimate.values)


def test_noise_of_bags_is_found_and_weighs_them(bags):
    robot, (one, two), truth = bags
    loud = noisier(two, 5.0, seed=1)
    plain = identify(robot, [one, loud], overrides=STATED)
    weighted = identify(robot, [one, loud], overrides=STATED, weighting=Weighting(bag_noise=True))
    levels = np.array(weighted.settings["bag_noise"]["value"])
    np.testing.assert_allclose(levels[1] / levels[0], np.sqrt(26.0), rtol=0.15)
    alone = identify(robot, [one], overrides=STATED)
    assert np.median(weighted.estimate.std / plain.estimate.std) < 0.6
    assert np.median(weighted.estimate.std_robust / alone.estimate.std_robust) < 1.05
    error = (weighted.estimate.values - truth) / weighted.estimate.std_robust
    assert np.abs(error).max() < 4.0


@pytest.mark.parametrize(
    "weighting", [Weighting(bag_noise=True), Weighting((9.0, 1.0)), Weighting()]
)
def test_deviations_respect_the_noise_of_every_bag(weighting):
    """The spread over 15 runs is what std_robust says, whatever the weights are."""
    robot, (one, two, *_), _ = arm(parts=4, level=0.0)
    runs = []
    for seed in range(15):
        pair = [noisier(one, 2.0, 2 * seed), noisier(two, 6.0, 2 * seed + 1)]
        runs.append(identify(robot, pair, overrides=STATED, weighting=weighting).estimate)
    spread = np.std([run.values for run in runs], axis=0, ddof=1)
    told = np.mean([run.std_robust for run in runs], axis=0)
    np.testing.assert_allclose(told / spread, 1.0, atol=0.55)
    assert 0.8 < np.median(told / spread) < 1.25


def test_weights_that_no_bag_can_have_are_refused(bags):
    for weight in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(SettingError, match="bag_weights"):
            Weighting((1.0, weight))
    robot, recordings, _ = bags
    for method, weighting in (("energy", Weighting((1.0, 2.0))), ("ols", Weighting((), True))):
        with pytest.raises(SettingError, match="works with the method"):
            identify(robot, recordings, method=method, weighting=weighting)


def test_noise_of_a_single_bag_changes_nothing(bags):
    robot, (one, _), _ = bags
    plain = identify(robot, [one], overrides=STATED)
    noted = identify(robot, [one], overrides=STATED, weighting=Weighting(bag_noise=True))
    np.testing.assert_array_equal(noted.estimate.values, plain.estimate.values)
    assert replace(noted, seconds=0.0).settings == plain.settings
