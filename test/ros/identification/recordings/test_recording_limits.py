"""Which recordings are forgotten, where memory is bounded and anybody may send samples."""

import pytest

from robot_identification.ros.identification.recordings.recording_limits import Kept, RecordingRoom

SIZE = 100


def filled(*names, own=(), max_recordings=3, max_bytes=10**9):
    room = RecordingRoom(max_bytes, max_recordings)
    for name in own:
        room.announce(name)
    return room, [Kept(name.strip("*"), SIZE, not name.endswith("*")) for name in names]


def forgotten(room, kept, arriving):
    return room.to_forget([*kept, Kept(arriving, 0, False)], arriving, SIZE)


def test_without_announcements_the_oldest_goes_first():
    room, kept = filled("a", "b*", "c")
    assert forgotten(room, kept, "d") == ["a"]
    assert room.is_own("d")


def test_what_was_not_announced_goes_first_and_for_one_s_own_only():
    room, kept = filled("own1", "x", "y", own=["own1", "own2"])
    assert forgotten(room, kept, "own2") == ["x"]
    assert forgotten(room, kept, "z") == ["x"]
    assert not room.is_own("z")


@pytest.mark.parametrize("ended", ["", "*"])
def test_three_hundred_of_others_leave_the_operator_s(ended):
    """They are longer, have ended properly, and are newer."""
    room, kept = filled("first", f"second{ended}", own=["first", "second"])
    for i in range(300):
        name = f"foreign{i}"
        gone = forgotten(room, kept, name)
        kept = [one for one in kept if one.name not in gone] + [Kept(name, 50 * SIZE, True)]
    names = [one.name for one in kept]
    assert names[:2] == ["first", "second"]
    assert len(names) <= 4


def test_where_all_are_one_s_own_there_is_room_for_one_that_is_announced_in_a_moment():
    room, kept = filled("a", "b", "c", own=["a", "b", "c"])
    assert forgotten(room, kept, "d") == []
    room.announce("d")
    assert room.to_forget([*kept, Kept("d", SIZE, False)], "d", SIZE) == ["a"]


@pytest.mark.parametrize(
    ("names", "gone"),
    [(("a", "b", "c*"), "a"), (("a*", "b*", "c*"), "a")],
)
def test_of_one_s_own_the_oldest_goes_and_never_the_newest(names, gone):
    room, kept = filled(*names, own=["a", "b", "c", "d"])
    assert forgotten(room, kept, "d") == [gone]


def test_the_one_that_runs_and_the_one_before_it_stay_while_one_s_own_come():
    """A part of a recording goes on under another name, and both blocks of it come in turns."""
    room, kept = filled("a", "b*", own=["a", "b"], max_recordings=1)
    assert room.to_forget(kept, "b", SIZE) == []
    assert room.to_forget(kept, "a", SIZE) == []


def test_memory_is_taken_from_others_first():
    room, kept = filled("own1", "x*", "y", own=["own1", "own2"], max_bytes=3 * SIZE)
    assert forgotten(room, kept, "own2") == ["x"]
    room, kept = filled("own1", "own2", own=["own1", "own2", "own3"], max_bytes=2 * SIZE)
    assert forgotten(room, kept, "own3") == ["own1"]
    room, kept = filled("own1", "own2", "y", own=["own1", "own2"], max_bytes=3 * SIZE)
    assert forgotten(room, kept, "x") == ["y"]
    room, kept = filled("own1", "own2", own=["own1", "own2"], max_bytes=2 * SIZE)
    assert forgotten(room, kept, "x") == []


@pytest.mark.parametrize("name", ["", "a" * 256, "a\nb"])
def test_names_that_no_recording_has_are_not_announced(name):
    room = RecordingRoom(1, 1)
    room.announce(name)
    assert room.own == ()


def test_announcements_do_not_pile_up():
    room = RecordingRoom(1, 5)
    for i in range(100):
        room.announce(f"r{i}")
    assert room.own == ("r95", "r96", "r97", "r98", "r99")
