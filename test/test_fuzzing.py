"""A short, seeded part of ``benchmarks/fuzzing.py``: damaged files are read or refused."""

import pytest

import fuzzed_bags
from fuzz_runs import BEHIND, READ, SYNTAX, coverage, execute, fuzz
from fuzzed_parsers import parsers

EXECUTIONS = 600


@pytest.mark.parametrize("name", sorted(parsers()))
def test_damaged_files_are_read_or_refused(tmp_path, name):
    parser = parsers()[name]()
    path = tmp_path / f"whole{parser.suffix}"
    assert {execute(parser, path, seed) for seed in parser.seeds} == {READ}
    outcome = fuzz(parser, EXECUTIONS, tmp_path, seed=1)
    assert [told for _, _, told in outcome.findings] == []
    assert outcome.counts.total() == EXECUTIONS
    counts = outcome.counts
    assert counts[BEHIND, "structured"] + counts[READ, "structured"] >= 195
    assert counts[READ, "structured"] > 0
    assert counts[BEHIND, "bytes"] + counts[SYNTAX, "bytes"] > 0
    ran, entered, _ = coverage(parser.modules, outcome.covered)
    assert ran > 0.6 * entered > 10


@pytest.mark.parametrize("format_", fuzzed_bags.FORMATS)
def test_damaged_bags_are_refused_or_known_to_be_doubtful(format_):
    counts, _ = fuzzed_bags.damage(format_, 60, seed=1)
    assert counts["crash"] == counts["hang"] == counts["silently different"] == 0
    assert counts["refused"] > 10
    if format_ in fuzzed_bags.CHECKED:
        assert counts["different with a warning"] == 0


def test_an_undamaged_bag_is_read_as_it_was_written(tmp_path):
    for format_ in fuzzed_bags.FORMATS:
        data, written = fuzzed_bags.made_bag(format_)
        path = tmp_path / f"bag{fuzzed_bags.SUFFIX[format_]}"
        path.write_bytes(data)
        assert fuzzed_bags.outcome(path, written) == "identical"
