"""What is remarked about recordings stands in the order of its weight."""

from robot_identification.identification.result_warnings import NO_CHECKSUMS, storage_last


def test_that_files_have_no_checksums_is_said_once_and_last():
    lines = [f"a.db3: {NO_CHECKSUMS}", "a: 3 samples lost", f"b.db3: {NO_CHECKSUMS}", "poor"]
    assert storage_last(lines) == (
        "a: 3 samples lost",
        "poor",
        f"a.db3, b.db3: {NO_CHECKSUMS}",
    )
    assert storage_last(storage_last(lines)) == storage_last(lines)
    many = storage_last(f"{k}.db3: {NO_CHECKSUMS}" for k in range(7))
    assert many == (f"0.db3, 1.db3, 2.db3 and 4 more: {NO_CHECKSUMS}",)
    assert storage_last(["poor"]) == ("poor",)
