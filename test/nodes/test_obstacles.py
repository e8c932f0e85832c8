"""The excitation node in a cell: nothing begins that would touch something, through DDS."""

import re

import numpy as np
import pytest
from rcl_interfaces.msg import ParameterType, ParameterValue

pytest.importorskip("coal", reason="the package coal is not installed")

from collision.cells import ARM
from fake_driver import FakeDriver
from robot_identification.excitation.certificate import START_TOLERANCE
from robot_identification.nodes.cell import Cell
from robot_identification.nodes.parameter_client import set_parameter

pytestmark = [pytest.mark.ros, pytest.mark.timeout(200)]

QUICK = {"rows": 8, "starts": 1, "duration": 6.0}


@pytest.fixture(scope="module")
def cell_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("described") / "cell.yaml"
    path.write_text(ARM)
    return path


@pytest.fixture(scope="module")
def cell(tmp_path_factory, cell_file):
    """Return a robot that is where it is told to be, with a plan that touches nothing."""
    settings = {"state_timeout": 2.0, "cell": str(cell_file), "acknowledge_unchecked": False}
    with Cell(tmp_path_factory.mktemp("cell"), excitation=settings) as cell:
        cell.driver = FakeDriver(cell)
        cell.start_excitation()
        cell.planned = cell.plan(**QUICK)
        assert cell.planned.success, cell.planned.message
        yield cell


def stand(cell, posture):
    """Put the robot somewhere, and wait until the node says so."""
    cell.driver.teleport(posture)
    away = np.abs(np.array(posture) - cell.planned.trajectory.points[0].positions).max()
    told = "approach 0.0 s" if away < START_TOLERANCE else "approach: "
    cell.wait(lambda: told in cell.trigger("preview").message, "robot in its place")


def post_at(place):
    """Return a post of 10 cm at a place in the plane."""
    return f"obstacles: [{{name: post, box: [0.1, 0.1, 3.0], at: [{place[0]}, {place[1]}, 0]}}]\n"


def test_preview_tells_the_smallest_distance(cell, cell_file):
    cell_file.write_text(ARM)
    stand(cell, cell.planned.trajectory.points[0].positions)
    message = cell.trigger("preview").message
    assert "all farther than 0.02 m" in message or re.search(r"\w+ and \w+: 0\.\d+ m", message)


def test_what_has_come_into_the_way_since_the_plan_is_named_by_start(cell, cell_file):
    stand(cell, cell.planned.trajectory.points[0].positions)
    points = np.array([point.positions for point in cell.planned.trajectory.points])
    farthest = points[np.argmax(np.abs(points[:, 0] - points[0, 0]))]
    reach = 0.7 * np.array([np.cos(farthest[0]), np.sin(farthest[0])])
    cell_file.write_text(ARM + post_at(reach.round(3)))
    try:
        for service in ("preview", "start"):
            answer = cell.trigger(service)
            assert not answer.success
            assert answer.message.startswith("NOT_CERTIFIED")
            assert re.search(r"(hand|link_\d) and post: -?[\d.]+ m", answer.message)
        assert not cell.sent
    finally:
        cell_file.write_text(ARM)
    assert cell.trigger("preview").success


def test_from_elsewhere_the_robot_goes_around_or_does_not_go(cell, cell_file):
    start = np.array(cell.planned.trajectory.points[0].positions)
    elsewhere = start + np.array([0.9, 0.0, 0.0])
    stand(cell, elsewhere)
    inside = 0.6 * np.array([np.cos(elsewhere[0]), np.sin(elsewhere[0])])
    cell_file.write_text(ARM + post_at(inside.round(3)))
    try:
        answer = cell.trigger("start")
        assert not answer.success, "the robot stands in the post"
        assert "post" in answer.message
        assert not cell.sent
    finally:
        cell_file.write_text(ARM)


def test_without_shapes_nothing_begins_before_somebody_has_acknowledged_it(tmp_path):
    with Cell(tmp_path, excitation={"acknowledge_unchecked": False}) as cell:
        cell.driver = FakeDriver(cell)
        cell.start_excitation()
        planned = cell.plan(**QUICK)
        assert planned.success
        assert "obstacles are not checked: the robot has no collision shapes" in planned.message
        for service in ("preview", "start"):
            answer = cell.trigger(service)
            assert answer.message.startswith("NOT_CERTIFIED")
            assert "acknowledge_unchecked" in answer.message
        assert not cell.sent
        yes = ParameterValue(type=ParameterType.PARAMETER_BOOL, bool_value=True)
        set_parameter(cell.client, "excitation", "acknowledge_unchecked", yes)
        assert "obstacles are not checked" in cell.trigger("preview").message
        assert cell.trigger("start").success
        cell.trigger("stop")
