"""The excitation node in a cell: nothing begins that would touch something, through DDS."""

import math
import re

import numpy as np
import pytest

pytest.importorskip("coal", reason="the package coal is not installed")

from live_nodes import Client
from lock_step import LockStepCell
from made_up_cells import ARM, limits_of
from robot_identification.collision.model import load_collision_model
from robot_identification.excitation.certification.certificate import START_TOLERANCE, certify
from robot_identification.excitation.motions.approach import approach
from robot_identification.robot.geometry import forward_kinematics
from robot_identification.ros.common import qos
from robot_identification.ros.messages.trajectories import trajectory_of
from robot_identification.ros.planning.planning import Sources, load_machine

pytestmark = [pytest.mark.ros]

QUICK = {"rows": 16, "starts": 1, "duration": 6.0}
CLEARANCE = 0.02
TRACKING = 0.1
HAND = np.array([0.4, 0.0, 0.0, 1.0])
PAIR_DISTANCE_TIME = r"(hand|link_\d) and {}: (-?[\d.]+) m, (at|while it brakes from) [\d.]+ s"


@pytest.fixture(scope="module")
def cell_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("described") / "cell.yaml"
    path.write_text(ARM)
    return path


@pytest.fixture(scope="module")
def cell(tmp_path_factory, cell_file):
    """Return a robot that is where it is told to be, with a plan that touches nothing."""
    settings = {"cell": str(cell_file), "acknowledge_unchecked": False, "base_frame": "arm_base"}
    with LockStepCell(tmp_path_factory.mktemp("cell"), excitation=settings) as cell:
        cell.drive()
        cell.start_excitation()
        cell.planned = cell.first_plan(**QUICK)
        cell.trajectory = trajectory_of(cell.planned.trajectory)
        yield cell


@pytest.fixture(autouse=True)
def emptied(cell_file):
    """Leave the cell as it was when the plan was made."""
    yield
    cell_file.write_text(ARM)


def stand(cell, posture):
    """Put the robot somewhere, and wait until the node says so: first that it is at the start."""
    start = cell.trajectory.positions[0]
    places = [(start, "approach 0.0 s")]
    if np.abs(np.array(posture) - start).max() >= START_TOLERANCE:
        places.append((posture, "approach: "))
    for place, told in places:
        cell.stand(place, lambda answer, told=told: told in answer.message)


def box(name, size, place):
    """Return a box that stands at a place (x, y, z)."""
    x, y, z = (round(float(value), 4) for value in place)
    return f"obstacles: [{{name: {name}, box: {list(size)}, at: [{x}, {y}, {z}]}}]\n"


def post(angle, reach):
    """Return a post of 10 cm, in a direction and at a distance from the base."""
    return box("post", (0.1, 0.1, 3.0), (reach * np.cos(angle), reach * np.sin(angle), 0.0))


def hand(cell, posture):
    """Return where the tip of the hand is."""
    return (forward_kinematics(cell.robot, posture)[-1] @ HAND)[:3]


def distance_told(answer, obstacle):
    """Return the distance in a refusal, which must name pair, distance and time."""
    assert not answer.success
    assert answer.message.startswith("NOT_CERTIFIED")
    told = re.search(PAIR_DISTANCE_TIME.format(obstacle), answer.message)
    assert told, answer.message
    return float(told[2])


def test_preview_tells_the_smallest_distance(cell):
    stand(cell, cell.trajectory.positions[0])
    message = cell.answers.preview().message
    told = re.search(PAIR_DISTANCE_TIME.format(r"\w+"), message)
    assert "all farther than 0.02 m" in message if told is None else float(told[2]) >= CLEARANCE


def test_what_has_come_into_the_way_since_the_plan_is_named_by_start(cell, cell_file):
    stand(cell, cell.trajectory.positions[0])
    angles = cell.trajectory.positions[:, 0]
    farthest = angles[np.argmax(np.abs(angles - angles[0]))]
    cell_file.write_text(ARM + post(farthest, 0.7))
    for service in ("preview", "start"):
        assert distance_told(getattr(cell.answers, service)(), "post") < CLEARANCE
    assert not cell.sent
    cell_file.write_text(ARM)
    assert cell.answers.preview().success


def test_a_robot_that_stands_in_something_does_not_go(cell, cell_file):
    elsewhere = cell.trajectory.positions[0] + np.array([0.9, 0.0, 0.0])
    stand(cell, elsewhere)
    cell_file.write_text(ARM + post(elsewhere[0], 0.6))
    assert distance_told(cell.answers.start(), "post") < CLEARANCE
    assert not cell.sent


def blocked_way(cell, cell_file):
    """Find a posture, and a box in the straight way from it that the plan does not touch.

    Returns:
        The posture, and the text of the cell file.
    """
    rng, limits, start = np.random.default_rng(0), limits_of(), cell.trajectory.positions[0]
    for _ in range(200):
        elsewhere = start + 0.4 * limits.half_range * rng.uniform(-1.0, 1.0, 3)
        half_way = hand(cell, (start + elsewhere) / 2.0)
        text = ARM + box("block", (0.08, 0.08, 0.08), half_way)
        cell_file.write_text(text)
        machine = load_machine(Sources("three_dof", tracking_error=(TRACKING,) * 3, cell=cell_file))
        room = machine.surroundings
        if not certify(machine.robot, cell.trajectory, surroundings=room).passed:
            continue
        way, certificate = approach(machine.robot, cell.trajectory, elsewhere, surroundings=room)
        if certificate.passed and len(way.times) > 2:
            cell_file.write_text(ARM)
            return elsewhere, text
    raise AssertionError("no way was blocked")


def test_from_elsewhere_the_robot_goes_around_what_is_in_the_way(cell, cell_file):
    elsewhere, text = blocked_way(cell, cell_file)
    stand(cell, elsewhere)
    cell_file.write_text(text)
    answer = cell.answers.start()
    assert answer.success, answer.message
    cell.wait(lambda: cell.sent, "way to the start")
    way = cell.sent[0].trajectory.reordered(cell.robot.joint_names)
    cell.answers.stop()
    np.testing.assert_allclose(way.positions[0], elsewhere)
    np.testing.assert_allclose(way.positions[-1], cell.trajectory.positions[0])
    check = load_collision_model("three_dof", cell.robot, cell=cell_file).check

    def smallest(postures):
        return check.margins(postures, np.zeros(3), 0.0, 1.0).min()

    finely = np.linspace(way.times[0], way.times[-1], 2000)
    assert smallest(way.sample(finely)[0]) >= CLEARANCE
    straight = elsewhere + np.linspace(0.0, 1.0, 200)[:, None] * (way.positions[-1] - elsewhere)
    assert smallest(straight) < CLEARANCE


def test_who_comes_late_sees_cell_motion_and_closest_pair(cell, cell_file):
    messages = pytest.importorskip("visualization_msgs.msg")
    stand(cell, cell.trajectory.positions[0])
    with Client(cell.namespace) as late:
        received = []
        late.node.create_subscription(
            messages.MarkerArray, "excitation/markers", received.append, qos.LATCHED
        )
        late.wait_for(lambda: received, math.inf, "latched markers")
        kinds = {one.ns for one in received[0].markers[1:]}
        assert kinds == {"cell", "swept_volume", "closest_pair"}
        assert {one.header.frame_id for one in received[0].markers} == {"arm_base"}
        cell_file.write_text(ARM + post(0.0, 3.0))
        count = len(received)
        assert cell.answers.preview().success
        late.wait_for(lambda: len(received) > count, math.inf, "markers of the preview")
    standing = [sum(one.ns == "cell" for one in m.markers) for m in received]
    assert standing[-1] == standing[0] + 1, "the post has come"


def test_without_shapes_nothing_begins_before_somebody_has_acknowledged_it(tmp_path):
    """So it is without coal, which test/collision/cells/test_cell.py has missing."""
    with LockStepCell(tmp_path, "scara", "", excitation={"acknowledge_unchecked": False}) as cell:
        cell.drive()
        cell.start_excitation()
        planned = cell.first_plan(method="one-joint")
        reason = "obstacles are not checked: the robot has no collision shapes"
        assert reason in planned.message
        for service in ("preview", "start"):
            answer = getattr(cell.answers, service)()
            assert answer.message.startswith("NOT_CERTIFIED")
            assert "acknowledge_unchecked" in answer.message
        assert not cell.sent
        cell.set_parameter("excitation", "acknowledge_unchecked", value=True)
        assert "obstacles are not checked" in cell.answers.preview().message
        assert cell.answers.start().success
        cell.answers.stop()
