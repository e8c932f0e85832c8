"""Blocks of rows made in threads: the same factors, to the last bit."""

import os
import threading
import time
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from robot_identification.dynamics.regressor import Regressor, inverse_dynamics
from robot_identification.errors import CancelledError
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.rows.threads import alive, in_order, sensible_threads
from robot_identification.identification.rows.whole import BLOCK_OUTPUTS
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.signals.filtered import FilteredSegment
from robot_identification.signals.processing.complete import Processing

ROBOT = load_robot("tx40")
BASE = base_parameters(ROBOT)
BLOCKS = 5


def settings(rate_hz):
    return Processing(
        20.0, 4, 2, rate_hz, (0.05,) * 6, 1.0, "joint", 0, 0, "cut", "rows-parameters"
    )


def motion(samples):
    rng = np.random.default_rng(0)
    t = np.arange(samples) / 1000.0
    w = 2.0 * np.pi * rng.uniform(0.1, 1.0, (6, 1))
    q, qd, qdd = np.sin(w * t), w * np.cos(w * t), -(w**2) * np.sin(w * t)
    effort = inverse_dynamics(ROBOT, load_values("tx40_simulated", ROBOT), q.T, qd.T, qdd.T).T
    return FilteredSegment(t, q, qd, qdd, effort + rng.normal(size=effort.shape), 1e-3)


def source_of(segment, processing, **options):
    source = WholeRows.of_segments(BASE, ("motion",), [[segment]], processing, blocks=False)
    return replace(source, **options)


@pytest.mark.parametrize(("factor", "rest"), [(1, 500), (1, 10), (4, 500)])
@pytest.mark.parametrize("threads", [2, 3])
def test_factors_and_bands_do_not_depend_on_threads(factor, rest, threads):
    segment = motion((BLOCKS - 1) * BLOCK_OUTPUTS * factor + rest)
    processing = settings(1000.0 / factor)
    alone, together = (
        source_of(segment, processing, threads=used).rows("together") for used in (1, threads)
    )
    for one, other in zip(alone.merged(), together.merged(), strict=True):
        assert one.rows == other.rows > 0
        np.testing.assert_array_equal(one.triangle, other.triangle)
    (grams,), (others,) = alone.bands, together.bands
    for one, other in zip(vars(grams).values(), vars(others).values(), strict=True):
        np.testing.assert_equal(one, other)


@pytest.mark.parametrize("rest", [1, 10, 24, 25])
def test_every_sample_counts_once_where_nothing_is_decimated(rest):
    """The last block can be shorter than what the ends of a decimated one would reach."""
    segment = motion(BLOCK_OUTPUTS + rest)
    every = replace(settings(1000.0), velocity_threshold=(0.0,) * 6, ends="keep")
    factors = source_of(segment, every).rows("none").merged()
    regressor = Regressor(ROBOT, BASE.base_columns)
    W = regressor.dense(segment.position.T, segment.velocity.T, segment.acceleration.T)
    for k, factor in enumerate(factors):
        assert factor.rows == segment.samples
        rows = np.column_stack([W[:, k, factor.columns], segment.effort[k]])
        gram = rows.T @ rows
        found = factor.triangle.T @ factor.triangle
        np.testing.assert_allclose(found, gram, rtol=0, atol=1e-12 * gram.max())


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_every_use_takes_results_in_order_and_few_are_alive(threads):
    begun, taken = [], {"first": [], "second": []}
    ahead = []
    lock = threading.Lock()

    def work(item):
        with lock:
            begun.append(item)
            ahead.append(len(begun) - min(len(own) for own in taken.values()))
        return item**2

    def use(name, made):
        time.sleep(0.001 if name == "first" else 0.0)
        with lock:
            taken[name].append(made)

    in_order(work, range(20), [partial(use, name) for name in taken], threads)
    squares = [item**2 for item in range(20)]
    assert taken == {"first": squares, "second": squares}
    assert sorted(begun) == list(range(20))
    assert max(ahead) <= alive(threads)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_an_error_in_a_use_ends_everything(threads):
    used = []

    def use(made):
        used.append(made)
        if made == 3:
            raise CancelledError("enough")

    with pytest.raises(CancelledError):
        in_order(lambda item: item, range(1000), [use], threads)
    assert used == [0, 1, 2, 3]


def test_an_error_in_a_thread_reaches_the_caller():
    asked = []

    def cancelled():
        asked.append(True)
        return len(asked) > 1

    segment = motion(BLOCKS * BLOCK_OUTPUTS)
    source = source_of(segment, settings(1000.0), threads=2, cancelled=cancelled)
    with pytest.raises(CancelledError):
        source.rows("none")


@pytest.mark.parametrize(
    ("cores", "samples", "threads"), [(1, 10**6, 1), (4, 10**6, 2), (4, 10**3, 1)]
)
def test_a_second_thread_is_for_long_recordings_and_free_cores(
    monkeypatch, cores, samples, threads
):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
    assert sensible_threads(samples) == threads
