"""Maps of the distance of a pair over the positions of the one or two joints between its bodies."""

import numpy as np
import pytest

from robot_identification.collision.pair_maps import PairMap

STEEPEST = 0.1  # m per rad
LOW, HIGH = np.array([-3.0, -2.0]), np.array([3.0, 2.0])


def distance(q):
    """Return distances that are below 2 cm in a quarter of the range, between 1 and 3 cm."""
    return 0.022 + 0.01 * np.sin(3.0 * q[:, 0]) * np.cos(2.0 * q[:, 1])


class Counted:
    def __init__(self):
        self.cells = 0

    def __call__(self, centres, half):
        self.cells += len(centres)
        found = distance(centres)
        return found, found - STEEPEST * half.sum()


def lowest(begin, end):
    """Return the smallest distance of boxes, at 41 x 41 postures of each."""
    share = np.linspace(0.0, 1.0, 41)
    x, y = np.meshgrid(share, share)
    grid = np.stack([x.ravel(), y.ravel()], axis=1)
    return np.array([distance(a + grid * (b - a)).min() for a, b in zip(begin, end, strict=True)])


def proves(asked, begin, end, wanted):
    return asked.least(begin, end, wanted, np.inf) >= wanted


def boxes(rng, count):
    width = 10.0 ** rng.uniform(-3.0, 0.0, (count, 1)) * rng.uniform(0.1, 1.0, (count, 2))
    begin = rng.uniform(LOW, HIGH - width)
    return begin, begin + width


def test_what_is_proven_holds_and_what_holds_by_a_millimetre_is_proven():
    begin, end = boxes(np.random.default_rng(0), 2000)
    proven = proves(PairMap(LOW, HIGH, Counted()), begin, end, 0.02)
    true = lowest(begin, end)
    assert (true[proven] >= 0.02).all()
    assert proven[true >= 0.021].all()
    assert 200 < proven.sum() < 1800


def test_what_is_known_is_not_asked_again():
    begin, end = boxes(np.random.default_rng(1), 500)
    count = Counted()
    asked = PairMap(LOW, HIGH, count)
    first = proves(asked, begin, end, 0.02)
    cells = count.cells
    assert (proves(asked, begin, end, 0.02) == first).all()
    assert count.cells == cells


def test_nothing_is_proven_beyond_the_positions_that_it_covers():
    begin, end = np.array([[2.9, 0.0]]), np.array([[3.1, 0.1]])
    assert not proves(PairMap(LOW, HIGH, Counted()), begin, end, 0.001)


@pytest.mark.parametrize("wanted", [0.0115, 0.0325])
def test_all_and_nothing(wanted):
    found = proves(PairMap(LOW, HIGH, Counted()), LOW[None], HIGH[None], wanted)
    assert found.tolist() == [wanted < 0.02]


def test_a_bound_is_below_the_smallest_distance_by_no_more_than_the_resolution():
    begin, end = boxes(np.random.default_rng(2), 500)
    least = PairMap(LOW, HIGH, Counted()).least(begin, end, 0.025, 1e-3)
    true = np.minimum(lowest(begin, end), 0.025)
    assert (least <= true + 1e-12).all()
    # The smallest of 41 x 41 postures is not the smallest of all.
    assert (least >= true - 1.2e-3).all()
    assert ((true < 0.025) & (least < 0.025)).sum() > 100
