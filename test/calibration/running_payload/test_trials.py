"""Deviations that free motion has told are tried on the free motion itself."""

from functools import partial

import numpy as np
import pytest

from carried_payloads import SETTINGS, Carrying, new_watch
from robot_identification.calibration.running_payload.body import prior_deviations
from robot_identification.calibration.running_payload.innovations import mean_square
from robot_identification.calibration.running_payload.knowledge import Knowledge
from robot_identification.calibration.running_payload.noise import learned_noise
from robot_identification.calibration.running_payload.rows import ROW_PERIOD, Segment
from robot_identification.calibration.running_payload.trials import (
    halves_of,
    told_by,
    tried_changes,
    tried_payloads,
)


@pytest.fixture(scope="module")
def free_motion():
    """Return what gives the halves of a free motion for a noise, its noise, and unknowns."""
    stream = new_watch()._stream
    whole = Segment.joined(stream.push(*Carrying().part(60.0)))
    prior = np.ones(stream.unknowns.count)
    prior[stream.unknowns.payload] = prior_deviations(SETTINGS)
    before = Knowledge.before(prior)
    noise = learned_noise(whole.rows[:, :, -1], whole.kept, whole.begins)
    known = told_by(before, noise, whole)
    bare = np.where(np.arange(stream.unknowns.count) < 10, 0.0, known.values)
    left = whole.rows[:, :, -1] - whole.rows[:, :, :-1] @ bare
    noise = learned_noise(left, whole.kept, whole.begins)
    return partial(halves_of, whole, before), noise, stream.unknowns


def test_deviations_that_are_right_are_not_enlarged_and_others_are(free_motion):
    halves, noise, unknowns = free_motion
    none = np.zeros((unknowns.count, 1))
    assert tried_payloads(halves(noise), noise, none, ROW_PERIOD) == 1.0
    for share in (0.5, 0.25):
        small = noise.scaled(share)
        found = tried_payloads(halves(small), small, none, ROW_PERIOD)
        assert 0.7 < found * share < 1.4


def test_thresholds_of_changes_are_enlarged_where_noise_is_larger_than_told(free_motion):
    halves, noise, unknowns = free_motion
    assert tried_changes(halves(noise), noise, unknowns, 1.0) < 1.5
    small = noise.scaled(0.5)
    assert tried_changes(halves(small), small, unknowns, 1.0) > 2.0


def test_squares_that_noise_explains_say_nothing_of_its_size():
    rng = np.random.default_rng(0)
    squares = rng.chisquare(40, size=1000)
    found = np.array([mean_square(square, 40) for square in squares])
    assert np.count_nonzero(found > 1.0) == pytest.approx(50, abs=25)
    assert mean_square(80.0, 40) == 2.0
    assert mean_square(10.0, 40) == mean_square(5.0, 0) == 1.0
