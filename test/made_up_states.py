"""States with interfaces of every joint (control_msgs/DynamicJointState) that nobody measured."""

import numpy as np
from builtin_interfaces.msg import Time
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from made_up_bags import NAMES, START, numbers
from robot_identification.files.bags.cdr.dynamic_states import DEFINITIONS, MESSAGE_TYPE

SIGNALS = ("position", "velocity", "effort")
TYPES = get_typestore(Stores.ROS2_JAZZY)
for _name, _text in DEFINITIONS.items():
    TYPES.register(get_types_from_msg(_text, _name))


def state(stamp, joints):
    """Return one serialised message.

    Args:
        stamp: in ns.
        joints: name of a joint -> interface -> value.
    """
    kinds = TYPES.types
    header = kinds["std_msgs/msg/Header"](
        stamp=kinds["builtin_interfaces/msg/Time"](
            sec=stamp // 1_000_000_000, nanosec=stamp % 1_000_000_000
        ),
        frame_id="",
    )
    value = kinds["control_msgs/msg/InterfaceValue"]
    message = kinds[MESSAGE_TYPE](
        header=header,
        joint_names=list(joints),
        interface_values=[
            value(interface_names=list(own), values=np.array(list(own.values()), dtype=np.float64))
            for own in joints.values()
        ],
    )
    return bytes(TYPES.serialize_cdr(message, MESSAGE_TYPE))


def states(count, interfaces=SIGNALS, names=NAMES, seed=0):
    """Return messages a millisecond apart, and their (signals, messages, joints) values."""
    values = np.stack([numbers(count, len(names), seed + i) for i in range(len(interfaces))])
    messages = [
        state(
            START + 1_000_000 * k,
            {
                joint: {own: values[i, k, j] for i, own in enumerate(interfaces)}
                for j, joint in enumerate(names)
            },
        )
        for k in range(count)
    ]
    return messages, values


def live_state(stamp, joints):
    """Return a message as nodes receive it; needs the fixture ``control_msgs``.

    Args:
        stamp: in ns.
        joints: name of a joint -> interface -> value.
    """
    from control_msgs.msg import DynamicJointState, InterfaceValue

    made = DynamicJointState(joint_names=list(joints))
    made.header.stamp = Time(sec=stamp // 10**9, nanosec=stamp % 10**9)
    made.interface_values = [
        InterfaceValue(interface_names=list(own), values=list(own.values()))
        for own in joints.values()
    ]
    return made
