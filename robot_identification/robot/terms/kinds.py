"""Functions of the motion that joint terms and couplings multiply, and their shape parameters.

Most are functions of the joint's own rate v.  Two kinds need more:

- a spring multiplies the joint's position, from its zero; with the offset it has a rest position;
- load-dependent friction multiplies sign(v) |T|, with T the effort that the transmission hands on:
  that of bodies and drive inertias (``load``), or of their weight alone (``gravity load``).  T
  depends on the parameters that are looked for.  Whoever has all parameters takes T of these;
  a regressor takes T of the parameters that the robot model carries (``RobotModel.loads``), which
  identification replaces by its estimate until they stand.  T is a combination of base parameters
  wherever these are given out, so that it does not depend on how standard ones are grouped.

Kinds with shape parameters (a speed, an exponent) have a function that is not linear in them.  They
are given per joint in the robot file, or estimated.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np

from robot_identification.robot.arrays import Array


class Shape(NamedTuple):
    """A shape parameter of a function.

    Attributes:
        name: in robot files.
        symbol: in formulas.
        nominal: where neither a robot file states it nor data are there to estimate it.
        units: for a revolute and for a prismatic joint.
    """

    name: str
    symbol: str
    nominal: float
    units: tuple[str, str]


_SPEED_UNITS = ("rad/s", "m/s")
_EXPONENT = Shape("exponent", "delta", 1.0, ("", ""))


class TermKind(Enum):
    """Factor of the parameter of a joint term or of a coupling, as a function of a rate v."""

    INERTIA = "inertia"
    VISCOUS = "viscous"
    COULOMB = "coulomb"
    OFFSET = "offset"
    MAGNITUDE = "magnitude"
    ROOT = "root"
    SMOOTH = "smooth sign"
    STRIBECK = "stribeck"
    LOAD = "load"
    GRAVITY_LOAD = "gravity load"
    POSITION = "position"

    @property
    def power(self) -> int | None:
        """The whole p of sign(v) |v|^p; None where the function is another one."""
        return _POWERS.get(self)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Parameters in which the function is not linear."""
        return _SHAPES.get(self, ())

    @property
    def nominal_shape(self) -> tuple[float, ...]:
        """Shape parameters where none are given."""
        return tuple(shape.nominal for shape in self.shapes)

    @property
    def formula(self) -> str:
        """The function, for people; empty for 1."""
        if self.power is None:
            return _FORMULAS.get(self, "")
        return {0: "sign(v)", 1: "v"}.get(self.power, f"sign(v) |v|^{self.power}")

    @property
    def stores_energy(self) -> bool:
        """Whether the energy model holds the parameter: times v^2 / 2."""
        return self is TermKind.INERTIA

    @property
    def dissipates(self) -> bool:
        """Whether it is friction."""
        return self.power is not None or self in _FRICTION

    @property
    def follows_load(self) -> bool:
        """Whether the function depends on the other parameters."""
        return self in (TermKind.LOAD, TermKind.GRAVITY_LOAD)

    @property
    def of_rate(self) -> bool:
        """Whether the function is one of the joint's rate alone."""
        return self.power is not None or self in _OF_RATE

    def of(
        self,
        velocity: Array,
        acceleration: Array | None = None,
        *,
        position: Array | None = None,
        load: Array | None = None,
        shape: Sequence[float] | Sequence[Array] | None = None,
    ) -> Array:
        """Return the function at velocities, and at what else it depends on.

        What is not given counts as zero.

        Args:
            velocity: rates v.
            acceleration: their derivatives.
            position: of the joint.
            load: what load-dependent friction follows.
            shape: values of :attr:`shapes`; by default the nominal ones.
        """
        if self.of_rate:
            return self._of_rate(velocity, self.nominal_shape if shape is None else shape)
        if self is TermKind.OFFSET:
            return np.ones_like(velocity)
        if self.follows_load:
            other = None if load is None else np.abs(load) * np.sign(velocity)
        else:
            other = acceleration if self is TermKind.INERTIA else position
        return np.zeros_like(velocity) if other is None else other

    def _of_rate(self, v: Array, shape: Sequence[float] | Sequence[Array]) -> Array:
        if self.power == 1:
            return v
        if self.power is not None:
            return np.asarray(np.sign(v) * np.abs(v) ** self.power)
        if self is TermKind.MAGNITUDE:
            return np.asarray(np.abs(v))
        if self is TermKind.ROOT:
            return np.asarray(np.sign(v) * np.sqrt(np.abs(v)))
        if self is TermKind.SMOOTH:
            return np.asarray(np.tanh(v / shape[0]))
        return np.asarray(np.sign(v) * np.exp(-((np.abs(v) / shape[0]) ** shape[1])))


_POWERS = {TermKind.COULOMB: 0, TermKind.VISCOUS: 1}
_OF_RATE = {TermKind.MAGNITUDE, TermKind.ROOT, TermKind.SMOOTH, TermKind.STRIBECK}
_FRICTION = _OF_RATE | {TermKind.LOAD, TermKind.GRAVITY_LOAD}
_SHAPES = {
    TermKind.SMOOTH: (Shape("speed", "v0", 0.05, _SPEED_UNITS),),
    TermKind.STRIBECK: (Shape("speed", "vs", 0.1, _SPEED_UNITS), _EXPONENT),
}
_FORMULAS = {
    TermKind.INERTIA: "dv/dt",
    TermKind.MAGNITUDE: "|v|",
    TermKind.ROOT: "sign(v) sqrt|v|",
    TermKind.SMOOTH: "tanh(v/v0)",
    TermKind.STRIBECK: "sign(v) exp(-|v/vs|^delta)",
    TermKind.LOAD: "sign(v) |effort of bodies and drives|",
    TermKind.GRAVITY_LOAD: "sign(v) |gravity effort|",
    TermKind.POSITION: "q",
}
