"""Unknowns of the running estimate: payload, errors of the model, rates at which friction changes.

Errors of friction are, of each joint, a function of its speed on straight lines between knots,
other forwards and backwards.  As joints warm up friction changes, forwards and backwards alike, at
rates that last for minutes: of each joint one of a constant and one of what grows with the speed.
Beside that it may change by chance, in each direction by itself.

Gears rub more under a load: of each joint friction follows the efforts of the payload by a share.
Its efforts may be late too, by sensors or filters.  Both are properties of the robot, and stay when
the payload changes.  What lateness does to the bare robot is part of its noise: taken for a delay
that is known exactly, all else that the model lacks there would spoil heavy payloads.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robot_identification.robot.arrays import Array, read_only
from robot_identification.robot.parameters import LINK_PARAMETERS

KNOTS = (1.0, 3.0, 9.0, 27.0, 81.0)
"""Speeds between which errors of friction lie on straight lines, in stick speeds."""
SHAPES = 2 * len(KNOTS)
UNDER_LOAD = 2
"""Unknowns of each joint that a payload brings: share of friction, and delay of its efforts."""
RATES = 2
"""Rates of each joint: of the constant, and of what grows with the speed."""


@dataclass(frozen=True)
class Unknowns:
    """Order of the unknowns in a row.

    Payload, errors of parameters, errors of friction, shares of friction under load, delays of
    its efforts, rates.

    Attributes:
        errors: number of errors of the calibrated parameters.
        joints: number of joints, each with its errors of friction and their rates.
    """

    errors: int
    joints: int

    @property
    def count(self) -> int:
        """Number of all."""
        return LINK_PARAMETERS + self.errors + self.joints * (SHAPES + UNDER_LOAD + RATES)

    @property
    def payload(self) -> slice:
        """Places of the payload's standard parameters."""
        return slice(0, LINK_PARAMETERS)

    @property
    def of_parameters(self) -> slice:
        """Places of the errors of the calibrated parameters."""
        return slice(LINK_PARAMETERS, LINK_PARAMETERS + self.errors)

    def of_friction(self, joint: int) -> slice:
        """Places of the errors of the friction of a joint."""
        first = LINK_PARAMETERS + self.errors + joint * SHAPES
        return slice(first, first + SHAPES)

    @property
    def of_loads(self) -> slice:
        """Places of the shares of friction under load, one of each joint."""
        return slice(self.of_delays.start - self.joints, self.of_delays.start)

    @property
    def of_delays(self) -> slice:
        """Places of the delays of the payload's efforts, one of each joint, in s."""
        return slice(self.of_rates.start - self.joints, self.of_rates.start)

    @property
    def of_rates(self) -> slice:
        """Places of the rates of friction, those of each joint together."""
        return slice(self.count - RATES * self.joints, self.count)

    def rates_of(self, joint: int) -> slice:
        """Places of the rates of a joint's friction."""
        first = self.of_rates.start + RATES * joint
        return slice(first, first + RATES)

    def drift(self, deviation: Array, row_period: float, memory: float) -> Array:
        """Return (unknowns, changes) what friction changes by in a second, by chance.

        Of each joint a constant and what grows with the speed, forwards and backwards; the second
        is as large at the last but one knot as the first.  Of a level that rows of a second measure
        with the deviation s, a change of s / T in a second is followed with the time constant T.

        Args:
            deviation: (joints,) of the noise of a row, in N m or N.
            row_period: time between two rows, in s.
            memory: the time constant, in s.
        """
        sizes = deviation * np.sqrt(row_period) / memory
        own = np.zeros((SHAPES, 2 * RATES))
        for way in range(2):
            places = slice(way * len(KNOTS), (way + 1) * len(KNOTS))
            own[places, RATES * way : RATES * (way + 1)] = _ONE_WAY
        directions = np.zeros((self.count, 2 * RATES * self.joints))
        for joint, size in enumerate(sizes):
            changes = slice(2 * RATES * joint, 2 * RATES * (joint + 1))
            directions[self.of_friction(joint), changes] = size * own
        return directions

    @cached_property
    def warming(self) -> Array:
        """(unknowns, rates) what each rate adds to the unknowns in a second."""
        directions = np.zeros((self.count, RATES * self.joints))
        own = np.concatenate([_ONE_WAY, -_ONE_WAY])
        for joint in range(self.joints):
            directions[self.of_friction(joint), RATES * joint : RATES * (joint + 1)] = own
        return read_only(directions)

    def loaded(self, rows: Array, slopes: Array, payload: Array) -> Array:
        """Return rows with what friction under load, and delays of the payload's efforts, add.

        Args:
            rows: (rows, joints, unknowns + 1); of those that count each joint goes one way.
            slopes: (rows, joints, 10) change with time of what multiplies the payload.
            payload: (10,) standard parameters of the payload.
        """
        found = np.array(rows)
        found[:, :, self.of_delays] = -(slopes @ payload)[:, :, None] * np.eye(self.joints)
        efforts = np.abs(rows[:, :, self.payload] @ payload)
        for joint in range(self.joints):
            shapes = rows[:, joint, self.of_friction(joint)]
            way = shapes[:, : len(KNOTS)].sum(axis=1) - shapes[:, len(KNOTS) :].sum(axis=1)
            found[:, joint, self.of_loads.start + joint] = efforts[:, joint] * way
        return found

    def warmed(self, rows: Array, seconds: Array) -> Array:
        """Return rows with what the rates of friction add to them.

        Args:
            rows: (rows, joints, unknowns + 1).
            seconds: (rows,) of motion since the instant to which errors of friction belong;
                negative before it.
        """
        found = np.array(rows)
        for joint in range(self.joints):
            own = self.warming[self.of_friction(joint), RATES * joint : RATES * (joint + 1)]
            shapes = rows[:, joint, self.of_friction(joint)]
            found[:, joint, self.rates_of(joint)] = seconds[:, None] * (shapes @ own)
        return found


_ONE_WAY = np.column_stack([np.ones(len(KNOTS)), np.array(KNOTS) / KNOTS[-2]])
