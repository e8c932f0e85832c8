"""The same rows, however they come: whole, in blocks, or folded apart and merged."""

from dataclasses import dataclass, replace
from itertools import cycle

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from long_recordings import BASE, RATE, ROBOT, samples
from robot_identification.calibration.calibrate import calibrate
from robot_identification.errors import ResultFileError, ResultMismatchError, SettingError
from robot_identification.files.results import read_result, write_result
from robot_identification.identification.estimators import least_squares
from robot_identification.identification.estimators.choice import (
    ESTIMATORS,
    METHODS,
    STACKED,
    estimator_of,
)
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.estimators.estimator import (
    Choice,
    Deviations,
    Estimator,
    Fit,
)
from robot_identification.identification.estimators.huber import HuberSettings
from robot_identification.identification.estimators.weighting import Weighting
from robot_identification.identification.identify import identify
from robot_identification.identification.merging import merge_results
from robot_identification.identification.parts import Part, identify_parts
from robot_identification.identification.rows.growing import StreamingIdentification
from robot_identification.identification.statistics.reliability import (
    excitation,
    parameter_reliability,
)
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.conditioning import joint_side_recording
from robot_identification.signals.processing.settings import resolve_processing
from robot_identification.signals.raw_samples import RawSamples

pytestmark = pytest.mark.usefixtures("undiagnosed")

DROP, FACTOR = 60, 4
STATED = ProcessingSettings(
    cutoff_hz=20.0,
    rate_hz=RATE / FACTOR,
    velocity_threshold=(0.05, 0.05),
    drop_start=DROP,
    drop_end=DROP,
)
RAW = samples(30.0)


def part(raw, begin, end):
    """Return samples of which decimation from either end keeps the same ones."""
    places = slice(begin, end - (end - begin - 2 * DROP - 1) % FACTOR)
    return RawSamples(raw.stamps[places], raw.position[places], None, raw.effort[places])


WHOLE = part(RAW, 0, len(RAW.stamps))


def recording(raw, name="run"):
    return joint_side_recording(raw, ROBOT, source=name)


def stream(raw, sizes, name="run"):
    """Return an identification of samples that came in blocks of some sizes, again and again."""
    found = StreamingIdentification(ROBOT, BASE, name, overrides=STATED, prompt=False)
    first, blocks = 0, cycle(sizes)
    while first < len(raw.stamps):
        places = slice(first, first + next(blocks))
        found.push(RawSamples(raw.stamps[places], raw.position[places], None, raw.effort[places]))
        first = places.stop
    found.finish()
    return found


def near(one, other, deviations):
    """Tell whether estimates agree to a part of their standard deviations."""
    away = np.abs(one.estimate.values - other.estimate.values)
    return bool((away <= deviations * other.estimate.std).all())


@pytest.fixture(scope="module")
def at_once():
    return identify(ROBOT, [recording(WHOLE)], overrides=STATED)


@pytest.fixture(scope="module")
def in_one_block():
    return stream(WHOLE, [len(WHOLE.stamps)]).result()


@settings(max_examples=7, deadline=None)
@given(sizes=st.lists(st.integers(1, 2000), min_size=1, max_size=8))
def test_the_sizes_of_blocks_do_not_matter(at_once, in_one_block, sizes):
    if sum(sizes) < 8 * len(sizes):  # thousands of blocks of a few samples take their time
        sizes = [8 * size for size in sizes]
    found = stream(WHOLE, sizes).result()
    assert found.estimate.rows == at_once.estimate.rows
    scale = np.abs(in_one_block.estimate.values).max()
    np.testing.assert_allclose(
        found.estimate.values, in_one_block.estimate.values, rtol=1e-9, atol=1e-9 * scale
    )
    np.testing.assert_allclose(
        found.estimate.std_robust, in_one_block.estimate.std_robust, rtol=1e-7
    )
    assert near(found, at_once, 1e-3)


@settings(max_examples=6, deadline=None)
@given(cut=st.integers(1500, 4500), method=st.sampled_from(STACKED))
def test_halves_merge_to_what_both_give_together(cut, method):
    halves = [part(RAW, 0, cut), part(RAW, cut, len(RAW.stamps))]
    recordings = [recording(half, f"half {i}") for i, half in enumerate(halves)]
    together = identify(ROBOT, recordings, method=method, overrides=STATED)
    apart = [identify(ROBOT, [one], method=method, overrides=STATED) for one in recordings]
    merged = merge_results(apart)
    for name in ("values", "std", "weights"):
        ours, theirs = (getattr(r.estimate, name) for r in (merged, together))
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * np.abs(theirs).max())

    streams = [
        stream(half, [1000], one.source) for half, one in zip(halves, recordings, strict=True)
    ]
    parts = [
        Part((one.source,), (rows.kept.merged(),), rows.kept.bands[0])
        for one in streams
        for rows in [one.folded()]
    ]
    processing = resolve_processing(ROBOT, recordings, STATED)
    folded = identify_parts(BASE, processing, parts, Choice(method))
    assert folded.estimate.rows == together.estimate.rows
    assert near(folded, together, 1e-3)
    np.testing.assert_allclose(folded.estimate.std_robust, together.estimate.std_robust, rtol=0.1)
    assert [fold.name for fold in folded.cross_validation.folds] == ["half 0", "half 1"]


def test_essential_parameters_are_found_alike(at_once):
    rule = EliminationRule("ratio", 3.0)
    whole = identify(ROBOT, [recording(WHOLE)], overrides=STATED, essential=rule)
    streamed = stream(WHOLE, [137]).result(Choice("wls", rule))
    assert not whole.elimination.kept.all()
    np.testing.assert_array_equal(streamed.elimination.kept, whole.elimination.kept)
    assert near(streamed, whole, 1e-2)


def test_what_goes_over_the_samples_is_refused_where_only_rows_are_kept():
    found = stream(WHOLE, [1000])
    for choice in (Choice("energy"), Choice("wls", robust=HuberSettings())):
        with pytest.raises(SettingError, match="goes over the samples"):
            found.result(choice)


def test_one_joint_at_a_time_works_with_rows_that_came_in_blocks():
    found = stream(WHOLE, [1000]).result(Choice("one-joint"))
    whole = identify(ROBOT, [recording(WHOLE)], method="one-joint", overrides=STATED)
    assert near(found, whole, 1e-3)


def test_every_estimator_says_what_it_cannot_do():
    assert list(METHODS) == [*ESTIMATORS, "didim"]
    for name, estimator in ESTIMATORS.items():
        assert estimator.name == name
        assert estimator.title
        assert estimator.help
    with pytest.raises(SettingError, match="choose one of ols, wls, energy, one-joint"):
        estimator_of(Choice("didim"))
    for asked in ({"essential": EliminationRule()}, {"robust": HuberSettings()}):
        with pytest.raises(SettingError, match="works with the methods ols and wls"):
            estimator_of(Choice("energy", **asked))
    with pytest.raises(SettingError, match="works with the method wls"):
        estimator_of(Choice("ols", weighting=Weighting(bag_noise=True)))


@dataclass(frozen=True)
class WithoutFactors(Estimator):
    """Least squares whose results keep nothing of the rows, as instrumental variables would."""

    def fit(self, choice, source, measured):
        estimate = least_squares.ordinary(measured.merged(), source.names, source.divisor)
        return Fit(estimate, None, measured.factors, None)

    def deviations(self, solved, rows):
        return Deviations(solved.estimate.std, None)


def test_an_estimator_need_not_keep_factors(at_once, monkeypatch, tmp_path):
    made_up = WithoutFactors("made-up", "made-up least squares", "for a test", keeps_factors=False)
    monkeypatch.setitem(ESTIMATORS, made_up.name, made_up)
    monkeypatch.setitem(METHODS, made_up.name, made_up)
    found = identify(ROBOT, [recording(WHOLE)], method=made_up.name, overrides=STATED)
    assert found.factors is None
    path = tmp_path / "result.yaml"
    write_result(path, found)
    assert read_result(path) == found
    assert excitation(found) is None
    assert len(parameter_reliability(found)) == len(found.regrouping.names)
    with pytest.raises(ResultMismatchError, match="keeps no factors of its rows"):
        calibrate(ROBOT, found)
    with pytest.raises(SettingError, match="merge works with ols, wls"):
        merge_results([found, found])
    write_result(path, replace(at_once, factors=None))
    with pytest.raises(ResultFileError, match="factors of no joint"):
        read_result(path)


NOISE = np.random.default_rng(0).standard_normal(WHOLE.effort.shape)
NOISY = replace(WHOLE, effort=WHOLE.effort + np.array([0.5, 0.05]) * NOISE)


def lossy(raw, share, longest, seed):
    """Return samples of which bursts were lost."""
    rng, kept = np.random.default_rng(seed), np.ones(len(raw.stamps), dtype=bool)
    while np.count_nonzero(~kept) < share * len(kept):
        length = rng.integers(1, longest + 1)
        first = rng.integers(60, len(kept) - length - 60)
        kept[first : first + length] = False
    return raw.at(np.flatnonzero(kept))


@settings(max_examples=5, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(
    share=st.sampled_from([0.001, 0.05, 0.2]),
    longest=st.sampled_from([1, 5, 12]),
    seed=st.integers(0, 99),
    sizes=st.lists(st.integers(20, 2000), min_size=1, max_size=8),
)
def test_where_samples_were_lost_blocks_do_not_matter_either(share, longest, seed, sizes):
    raw = lossy(NOISY, share, longest, seed)
    found, at_once = stream(raw, sizes), stream(raw, [len(raw.stamps)]).result()
    result = found.result()
    np.testing.assert_allclose(result.estimate.values, at_once.estimate.values, rtol=1e-6)
    assert result.estimate.rows == at_once.estimate.rows
    assert result.sources == at_once.sources
    offline = identify(ROBOT, [recording(raw)], overrides=STATED)
    assert result.estimate.rows == offline.estimate.rows
    assert near(result, offline, 1.0)  # whose band is that of the motion, not of the cut-off
    assert (
        result.sources[0].bridged
        == offline.sources[0].bridged
        == len(WHOLE.stamps) - len(raw.stamps)
    )
    assert result.sources[0].rows_missed == offline.sources[0].rows_missed


def test_a_stream_that_was_torn_goes_on_as_the_bag_does():
    raw = NOISY.at(np.r_[0:2500, 2640:2720, 2900 : len(NOISY.stamps)])
    ends = replace(STATED, ends="keep", drop_start=0, drop_end=0)
    offline = identify(ROBOT, [recording(raw)], overrides=ends)
    assert [segment.torn for segment in recording(raw).segments] == [
        (False, True),
        (True, True),
        (True, False),
    ]
    for size in (37, 1000):
        found = StreamingIdentification(ROBOT, BASE, "run", overrides=ends, prompt=False)
        for first in range(0, len(raw.stamps), size):
            found.push(raw.at(slice(first, first + size)))
        found.finish()
        assert near(found.result(), offline, 1e-3)
        assert found.result().estimate.rows == offline.estimate.rows
    assert "320 samples lost in 2 gaps; the recording was split there" in offline.warnings[0]


def test_lost_samples_cost_nothing_but_their_rows():
    at_once = identify(ROBOT, [recording(NOISY)], overrides=STATED)
    lossless = sum(at_once.estimate.rows)
    for share, longest in ((0.01, 1), (0.2, 1), (0.1, 5), (0.2, 5)):
        found = identify(ROBOT, [recording(lossy(NOISY, share, longest, 0))], overrides=STATED)
        assert near(found, at_once, 1.5)
        assert lossless - sum(found.estimate.rows) == found.sources[0].rows_missed
        assert found.estimate.relative_error.total < 1.2 * at_once.estimate.relative_error.total
        (told,) = [line for line in found.warnings if "bridged" in line]
        assert f"{found.sources[0].rows_missed} rows were left out for it" in told


def test_what_was_lost_is_kept_in_a_result_file(tmp_path):
    found = identify(ROBOT, [recording(lossy(WHOLE, 0.2, 12, 1))], overrides=STATED)
    assert found.sources[0].rows_missed > 0
    path = tmp_path / "result.yaml"
    write_result(path, found)
    assert read_result(path).sources == found.sources
