"""Markers of the excitation node: messages that a viewer understands."""

import numpy as np
import pytest

pytest.importorskip("coal", reason="the package coal is not installed")
pytest.importorskip("visualization_msgs", reason="visualization_msgs is not installed")

from visualization_msgs import msg as messages

from made_up_cells import collisions, swing
from robot_identification.collision.markers import cell_markers, nearest_markers, swept_markers
from robot_identification.ros.excitation.markers import evenly_spread, marker_array

POST = "obstacles: [{name: post, box: [0.1, 0.1, 3.0], at: [-1.4, 0, 0], rpy: [0, 0, 0.3]}]\n"


def test_a_message_clears_what_was_shown_and_numbers_every_marker(tmp_path):
    model, motion = collisions(tmp_path, POST), swing(0, 1.5, 2.0)
    nearest = model.check.nearest(motion.times, motion.positions)
    shown = (
        *cell_markers(model),
        *swept_markers(model, evenly_spread((motion,))),
        *nearest_markers(nearest),
    )
    first, *others = marker_array(messages, shown, "arm_base").markers
    assert first.action == messages.Marker.DELETEALL
    assert {one.header.frame_id for one in (first, *others)} == {"arm_base"}
    assert len({(one.ns, one.id) for one in others}) == len(others) == len(shown)
    post = others[1]
    assert post.type == messages.Marker.CUBE
    assert (post.scale.x, post.scale.z) == (0.1, 3.0)
    assert post.pose.orientation.z == pytest.approx(np.sin(0.15))
    assert post.pose.orientation.w == pytest.approx(np.cos(0.15))
    line = next(one for one in others if one.type == messages.Marker.LINE_LIST)
    ends = np.array([[p.x, p.y, p.z] for p in line.points])
    np.testing.assert_allclose(ends, nearest.points)


def test_postures_are_spread_over_the_way_and_not_over_the_time():
    slow = swing(0, 0.1, 60.0)
    quick = swing(0, 2.0, 1.0, begin=(0.1, 0.0, 0.0))
    postures = evenly_spread((slow, quick))
    steps = np.diff(postures[:, 0])
    assert 20 <= len(postures) <= 30
    assert steps.max() < 0.12
    assert postures[0, 0] == pytest.approx(0.0)
    assert postures[-1, 0] == pytest.approx(2.1)
