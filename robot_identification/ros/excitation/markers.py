"""Markers of the cell, of the volume that a motion sweeps, and of its closest pair, for RViz."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy
from geometry_msgs.msg import Point
from rclpy.node import Node

from robot_identification.collision.clearance import Nearest
from robot_identification.collision.markers import (
    Form,
    Marker,
    cell_markers,
    nearest_markers,
    swept_markers,
)
from robot_identification.collision.model import CollisionModel
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.arrays import Array
from robot_identification.ros.common import qos

TOPIC = "~/markers"
_POSTURES = 30
_STEPS = 600


class MarkerPublisher:
    """Shows motions on a latched topic; does nothing where visualization_msgs is not installed.

    Args:
        node: the node.
        frame: the base frame of the robot in TF.
    """

    def __init__(self, node: Node, frame: str) -> None:
        self._frame = frame
        self._messages: Any = None
        if find_spec("visualization_msgs") is None:
            node.get_logger().info(f"no {TOPIC}: the package visualization_msgs is not installed")
            return
        self._messages = import_module("visualization_msgs.msg")
        self._publisher = node.create_publisher(self._messages.MarkerArray, TOPIC, qos.LATCHED)

    def picture(
        self,
        collisions: CollisionModel | None,
        motions: Sequence[Trajectory],
        nearest: Nearest | None,
    ) -> Any:
        """Return a message that shows motions in place of what was shown before.

        Args:
            collisions: robot and cell; None where they are not known: then nothing is shown.
            motions: one after the other; their joints in the robot's order.
            nearest: where bodies are closest; None: nowhere.

        Returns:
            The message; None where nothing is to be published.
        """
        if self._messages is None:
            return None
        markers: tuple[Marker, ...] = ()
        if collisions is not None:
            swept = swept_markers(collisions, evenly_spread(motions))
            close = () if nearest is None else nearest_markers(nearest)
            markers = (*cell_markers(collisions), *swept, *close)
        return marker_array(self._messages, markers, self._frame)

    def publish(self, picture: Any) -> None:
        """Publish what :meth:`picture` has returned."""
        if picture is not None:
            self._publisher.publish(picture)


def evenly_spread(motions: Sequence[Trajectory]) -> Array:
    """Return postures (postures, joints) that are about as far from each other, in rad or m."""
    times = [np.linspace(one.times[0], one.times[-1], _STEPS) for one in motions]
    postures = np.vstack([one.sample(t)[0] for one, t in zip(motions, times, strict=True)])
    steps = np.abs(np.diff(postures, axis=0)).max(axis=1)
    way = np.concatenate([[0.0], np.cumsum(steps)])
    places = np.searchsorted(way, np.linspace(0.0, way[-1], _POSTURES))
    return np.array(postures[np.unique(places)])


def marker_array(messages: Any, markers: Sequence[Marker], frame: str) -> Any:
    """Return a message that takes away what a viewer shows of this topic, and shows markers.

    Its stamps are 0, so that a viewer uses the latest transform whenever it begins.

    Args:
        messages: the module visualization_msgs.msg.
        markers: what is shown.
        frame: the base frame in TF.
    """
    empty = messages.Marker(action=messages.Marker.DELETEALL)
    empty.header.frame_id = frame
    array = messages.MarkerArray(markers=[empty])
    turns = scipy.spatial.transform.Rotation.from_matrix(
        [one.rotation for one in markers] or np.zeros((0, 3, 3))
    )
    for number, (one, turn) in enumerate(zip(markers, turns.as_quat(), strict=True)):
        array.markers.append(_message(messages, one, turn, number, frame))
    return array


def _message(messages: Any, marker: Marker, turn: Array, number: int, frame: str) -> Any:
    own = messages.Marker
    kinds = {
        Form.BOX: own.CUBE,
        Form.SPHERE: own.SPHERE,
        Form.CYLINDER: own.CYLINDER,
        Form.TRIANGLES: own.TRIANGLE_LIST,
        Form.LINE: own.LINE_LIST,
        Form.TEXT: own.TEXT_VIEW_FACING,
    }
    message = own(ns=marker.namespace, id=number, type=kinds[marker.form], action=own.ADD)
    message.header.frame_id = frame
    message.frame_locked = True
    message.text = marker.text
    place, size, colour = message.pose.position, message.scale, message.color
    place.x, place.y, place.z = marker.translation.tolist()
    facing = message.pose.orientation
    facing.x, facing.y, facing.z, facing.w = turn.tolist()
    size.x, size.y, size.z = marker.size.tolist()
    colour.r, colour.g, colour.b, colour.a = marker.colour
    message.points = [Point(x=x, y=y, z=z) for x, y, z in marker.points.tolist()]
    return message
