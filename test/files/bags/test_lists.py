"""Lists of bags: paths, weights, what is held out."""

import pytest

from robot_identification.errors import RobotDescriptionError, SettingError
from robot_identification.files.bags.lists import ListedBag, read_bag_list, with_parts


def test_a_list_says_what_bags_count_and_are_for(tmp_path):
    path = tmp_path / "bags.yaml"
    path.write_text("- bag: one\n- {bag: sub/two, weight: 0.5}\n- {bag: three, held_out: true}\n")
    assert read_bag_list(path) == (
        ListedBag(str(tmp_path / "one")),
        ListedBag(str(tmp_path / "sub/two"), 0.5),
        ListedBag(str(tmp_path / "three"), 1.0, held_out=True),
    )


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("bag: one\n", ":1: not a list"),
        ("- one\n", r"\[0\]: needs a bag"),
        ("- bag: one\n  weight: 0\n", r":2: \[0\].weight: must be a positive"),
        ("- bag: one\n  held: true\n", r"\[0\].held: unknown"),
        ("- bag: one\n- {bag: two, held_out: 1}\n", r":2: \[1\].held_out: must be true"),
    ],
)
def test_what_is_wrong_in_a_list_is_named_with_its_line(tmp_path, text, place):
    path = tmp_path / "bags.yaml"
    path.write_text(text)
    with pytest.raises(RobotDescriptionError, match=place):
        read_bag_list(path)


def test_options_add_to_the_bags(tmp_path):
    bags = [ListedBag("a"), ListedBag("b=c")]
    found = with_parts(bags, ["b=c=2", "./a=0.5"], ["d", str(tmp_path / "../x")])
    assert [(bag.weight, bag.held_out) for bag in found] == [
        (0.5, False),
        (2.0, False),
        (1.0, True),
        (1.0, True),
    ]
    for weights, held_out, text in (
        (["e=2"], [], "a bag of this identification"),
        (["a"], [], "write BAG=W"),
        (["a=-1"], [], "positive number"),
    ):
        with pytest.raises(SettingError, match=text):
            with_parts(bags, weights, held_out)
    with pytest.raises(SettingError, match="stands twice"):
        with_parts([ListedBag("a"), ListedBag("./a")], [], [])
