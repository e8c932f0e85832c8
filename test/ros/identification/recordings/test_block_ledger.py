"""Whether the blocks of a recording agree, whatever the order in which they come."""

import dataclasses

import numpy as np
import pytest

from robot_identification.ros.acquisition.recorder import Block, Counts
from robot_identification.ros.identification.recordings.block_ledger import Arrival, BlockLedger
from robot_identification.signals.raw_samples import RawSamples

SAMPLES = 10


def block(number, *, samples=SAMPLES, value=1.0, last=False, shift=0, **fields):
    stamps = 1 + np.arange(samples, dtype=np.int64) + SAMPLES * number + shift
    values = np.full((samples, 2), value)
    made = Block(
        "r", number, SAMPLES * number, last, RawSamples(stamps, values, None, values), Counts()
    )
    return dataclasses.replace(made, **fields)


def judged(*blocks, meaning="joint_torque"):
    ledger = BlockLedger()
    return [ledger.judge(one, meaning) for one in blocks], ledger


def test_blocks_in_order_with_some_missing_agree():
    arrivals, ledger = judged(block(0), block(1), block(5), block(6, samples=0, last=True))
    assert arrivals == [Arrival.NEWEST] * 4
    assert (ledger.conflicts, ledger.conflict) == (0, "")


def test_what_comes_late_takes_its_place_and_agrees():
    arrivals, ledger = judged(block(0), block(3), block(1), block(2))
    assert arrivals == [Arrival.NEWEST, Arrival.NEWEST, Arrival.LATE, Arrival.LATE]
    assert ledger.place(2) == 2
    assert not ledger.conflicts


def test_what_comes_again_just_so_is_no_conflict():
    arrivals, ledger = judged(block(0), block(1), block(1), block(0), block(2))
    assert arrivals[2:] == [Arrival.REPEATED, Arrival.REPEATED, Arrival.NEWEST]
    assert not ledger.conflicts


@pytest.mark.parametrize(
    "other",
    [
        block(1, value=1.0 + 1e-15),
        block(1, shift=1),
        block(1, samples=9),
        block(1, last=True),
        block(1, first_sample=11),
        block(1, counts=Counts(lost=1)),
        block(1, effort_delay=0.01),
    ],
)
@pytest.mark.parametrize("forged_first", [True, False])
def test_two_contents_of_one_number_contradict_each_other(other, forged_first):
    pair = [other, block(1)] if forged_first else [block(1), other]
    arrivals, ledger = judged(block(0), *pair)
    assert arrivals[1:].count(Arrival.REFUSED) == 1
    assert ledger.conflicts >= 1
    assert ledger.conflict


def test_efforts_of_another_kind_are_refused():
    ledger = BlockLedger()
    assert ledger.judge(block(0), "joint_torque") is Arrival.NEWEST
    assert ledger.judge(block(1), "current") is Arrival.REFUSED
    assert ledger.judge(block(1, effort_topic="efforts"), "joint_torque") is Arrival.REFUSED
    assert "efforts of another kind" in ledger.conflict


def test_stamps_that_run_back_are_refused():
    arrivals, ledger = judged(block(0), block(1), block(2, shift=-15))
    assert arrivals[-1] is Arrival.REFUSED
    assert "the stamps of blocks 1 and 2 do not rise" in ledger.conflict
    arrivals, ledger = judged(block(0), block(5), block(2, shift=40))
    assert arrivals[-1] is Arrival.REFUSED


def test_samples_that_are_numbered_otherwise_are_kept_and_told():
    arrivals, ledger = judged(block(0), block(1, first_sample=11))
    assert arrivals[-1] is Arrival.NEWEST
    assert "do not number their samples alike" in ledger.conflict
    arrivals, ledger = judged(block(0), block(5, first_sample=12))  # four blocks for two samples
    assert ledger.conflicts == 1


@pytest.mark.parametrize("first_sample", [0, 10, 2**40])
@pytest.mark.parametrize("number", [1, 2**32 - 1, 2**64 - 1])
def test_an_end_that_is_forged_drops_nothing_of_what_follows(number, first_sample):
    end = block(0, samples=0, last=True, sequence=number, first_sample=first_sample)
    true = [block(i) for i in range(1, 5)] + [block(5, samples=0, last=True)]
    arrivals, ledger = judged(block(0), end, *true)
    refused = [a for a, one in zip(arrivals[2:], true, strict=True) if a is Arrival.REFUSED]
    assert len(refused) == (1 if number == 1 else 0)
    assert ledger.conflicts
