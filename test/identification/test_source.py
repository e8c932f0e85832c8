"""A recording counts once, whatever it is called, and parts of it are several."""

from dataclasses import replace

import pytest

import robot_identification as ri
from robot_identification.identification.source import refuse_double
from several_bags import STATED, arm


@pytest.fixture(scope="module")
def halves():
    """A robot, and the two halves of a recording that a program holds, each with all of itself."""
    robot, (whole,), _ = arm(parts=1)
    (segment,) = whole.segments
    made = ri.Recording.from_arrays(robot, segment.time, segment.position, segment.effort)
    return robot, made, [made.between(0.0, 0.5), made.between(0.5, 1.0)]


@pytest.mark.parametrize("where", ["fitted", "held out"])
def test_a_recording_does_not_count_twice(halves, where):
    robot, whole, _ = halves
    copied = replace(whole, source="copy")
    fitted, held_out = ([whole, copied], []) if where == "fitted" else ([whole], [copied])
    with pytest.raises(ri.SettingError, match=r"copy: .*count twice; it is the same as arrays"):
        ri.identify(robot, fitted, held_out=held_out, processing=STATED)


def test_a_live_recording_and_its_bag_do_not_count_twice(halves):
    robot, bag, (one, _) = halves
    live = replace(bag, source="live", digest="")
    with pytest.raises(ri.SettingError, match=r"live: .*count twice; it is the same as arrays"):
        ri.identify(robot, [bag, live], processing=STATED)
    with pytest.raises(ri.SettingError, match="count twice"):
        ri.identify(robot, live, held_out=bag, processing=STATED)
    with pytest.raises(ri.SettingError, match="part shares samples"):
        ri.identify(robot, [live, one], processing=STATED)
    (segment,) = bag.segments
    others = (replace(segment, effort=1.1 * segment.effort),)
    refuse_double([bag, replace(live, segments=others)])


def test_parts_of_a_recording_are_fitted_and_held_out(halves):
    robot, _, (one, other) = halves
    assert one.digest == other.digest
    both = ri.identify(robot, [one, other], processing=STATED)
    assert len(both.sources) == 2
    assert ri.identify(robot, one, held_out=other, processing=STATED).held_out is not None


def test_parts_that_overlap_would_count_twice(halves):
    robot, whole, (one, other) = halves
    longer = whole.between(0.0, 0.51)
    for fitted, held_out in (([longer, other], ()), ([whole], [other]), ([whole, one], ())):
        with pytest.raises(ri.SettingError, match=r"part shares samples .*; take parts apart"):
            ri.identify(robot, fitted, held_out=held_out, processing=STATED)
    refuse_double([replace(one, digest=""), replace(one, digest="")])


def test_topics_of_a_bag_are_several_recordings(halves):
    """They have one digest and their times, but not their samples, in common."""
    _, whole, _ = halves
    (segment,) = whole.segments
    twin = replace(segment, position=segment.position + 0.1, effort=segment.effort + 0.1)
    refuse_double([whole, replace(whole, segments=(twin,))])


def test_a_part_held_out_that_is_too_short_is_told_as_such(halves):
    robot, whole, _ = halves
    told = r"arrays: the last 0\.01 of it, held out: .* hold out more of it, or another recording"
    with pytest.raises(ri.RecordingError, match=told):
        ri.identify(robot, whole, held_out_fraction=0.01, processing=STATED)


def test_a_result_tells_the_samples_that_were_fitted_not_those_held_out(halves):
    robot, whole, (one, _) = halves
    (source,) = ri.identify(robot, whole, held_out_fraction=0.5, processing=STATED).sources
    assert source.samples == one.samples
    assert source.duration == one.duration


def test_results_of_arrays_merge(halves):
    robot, _, (one, other) = halves
    made = [
        ri.Recording.from_arrays(robot, s.time, s.position, s.effort)
        for s in (one.segments[0], other.segments[0])
    ]
    assert made[0].digest != made[1].digest
    results = [ri.identify(robot, recording, processing=STATED) for recording in made]
    assert [source.name for source in ri.merge(results).sources] == ["arrays", "arrays"]
    again = ri.Recording.from_arrays(robot, *(getattr(one.segments[0], n) for n in
                                              ("time", "position", "effort")))  # fmt: skip
    assert again.digest == made[0].digest
    with pytest.raises(ri.SettingError, match="count twice"):
        ri.merge([results[0], results[0]])
