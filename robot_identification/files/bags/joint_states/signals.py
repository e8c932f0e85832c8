"""Signals of joint states: which of them must be there, and velocities that joints lack."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_identification.errors import MissingSignalError
from robot_identification.files.bags.cdr.dynamic_states import MESSAGE_TYPE as DYNAMIC_STATE
from robot_identification.files.bags.files import Bag
from robot_identification.files.bags.joint_states.columns import States
from robot_identification.robot.arrays import Array


def required_signals(
    bag: Bag, topic: str, states: States, names: Sequence[str], signals: Sequence[str]
) -> dict[str, Array]:
    """Return name -> (samples, joints) of signals that must be there.

    Args:
        bag: the bag.
        topic: of the states.
        states: some of them.
        names: of the joints.
        signals: names of the signals.

    Raises:
        MissingSignalError: no state has one of them, or a joint has no interface of it.
    """
    where, required = f"{bag.path}: {topic}", {}
    for signal in signals:
        values: Array | None = getattr(states, signal)
        if values is None:
            raise MissingSignalError(signal, where)
        if bag.topics.get(topic) == DYNAMIC_STATE and len(values):
            for joint in np.flatnonzero(np.isnan(values).all(axis=0))[:1]:
                raise MissingSignalError(signal, where, names[joint])
        required[signal] = values
    return required


def present_signal(values: Array | None) -> Array:
    """Return a signal that :func:`required_signals` has found."""
    if values is None:
        raise TypeError("a signal that was checked is absent")
    return values


def with_any_positions(states: States) -> States:
    """Return states whose positions are there: NaN, all of them, if any is missing."""
    if states.effort is None or (
        states.position is not None and np.isfinite(states.position).all()
    ):
        return states
    return states._replace(position=np.full(states.effort.shape, np.nan))


def measured_velocity(
    velocity: Array | None, names: Sequence[str], where: str
) -> tuple[Array | None, list[str]]:
    """Return velocities where every joint has them in every state, and what there is to be told.

    Args:
        velocity: (samples, joints); None where no state has any.
        names: of the joints.
        where: the source, for what is told of it.
    """
    if velocity is None or np.isnan(velocity).all(axis=0).any():
        return None, []
    finite = np.isfinite(velocity)
    if finite.all():
        return velocity, []
    states, joint = int((~finite.all(axis=1)).sum()), names[int(np.argmin(finite.all(axis=0)))]
    told = (
        f"{where}: {states} of {len(velocity)} states have a velocity that is not a number, of "
        f"joint {joint} for one; velocities count as not measured"
    )
    return None, [told]


def joints_without(velocity: Array | None, names: Sequence[str]) -> tuple[str, ...]:
    """Return the joints that have no velocities at all, where others have some."""
    if velocity is None:
        return ()
    missing = tuple(n for n, own in zip(names, velocity.T, strict=True) if np.isnan(own).all())
    return missing if len(missing) < len(names) else ()
