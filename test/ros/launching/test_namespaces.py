"""Namespaces of nodes: resolved as launch_ros does, refused where ROS would refuse them."""

import pytest

from robot_identification.errors import SettingError
from robot_identification.ros.launching.namespaces import resolved


@pytest.mark.parametrize(
    ("within", "namespace", "found"),
    [
        ("", "", "/"),
        ("", "left", "/left"),
        ("", "/left/arm", "/left/arm"),
        ("left", "", "/left"),
        ("/left", "arm", "/left/arm"),
        ("/left", "/arm", "/arm"),
        ("/left", "arm/", "/left/arm"),
        ("/", "arm", "/arm"),
        ("/left", "/", "/"),
    ],
)
def test_a_namespace_is_in_the_one_around_it_unless_it_is_absolute(within, namespace, found):
    assert resolved(namespace, within) == found


@pytest.mark.parametrize("namespace", ["left arm", "/left//x", "//left", "2nd", "left-arm", "~/x"])
def test_what_is_no_namespace_is_refused(namespace):
    with pytest.raises(SettingError, match="no namespace: words of letters") as refused:
        resolved(namespace, name="--namespace")
    assert str(refused.value).startswith("--namespace")
