"""Known values of a payload: its mass, its centre of mass, its inertia."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_identification.errors import SettingError
from robot_identification.identification.payload.body import STANDARD
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.bodies import Body, pseudo_inertia

_MASS, _FIRST_MOMENTS = 9, range(6, 9)


@by_value
@dataclass(frozen=True)
class KnownPayload:
    """A payload of which some or all is known.

    The inertia can only be known with the centre of mass, the centre only with the mass: only then
    are standard parameters known.

    Attributes:
        mass: in kg.
        centre: (3,) centre of mass in the frame of the mounting, in m; None where unknown.
        inertia: (3, 3) inertia about the centre of mass, along the axes of the frame; None where
            unknown.
    """

    mass: float
    centre: Array | None = None
    inertia: Array | None = None

    def __post_init__(self) -> None:
        if not (np.isfinite(self.mass) and self.mass > 0.0):
            raise SettingError("mass", self.mass, "must be positive, in kg")
        if self.inertia is not None and self.centre is None:
            raise SettingError("inertia", "given", "is of use only with the centre of mass")
        for name, shape in (("centre", (3,)), ("inertia", (3, 3))):
            value = getattr(self, name)
            if value is None:
                continue
            array = np.asarray(value, dtype=np.float64)
            if array.shape != shape or not np.isfinite(array).all():
                raise SettingError(name, array.tolist(), f"give finite numbers of shape {shape}")
            object.__setattr__(self, name, read_only(array))
        if self.inertia is not None:
            self._check_inertia()

    def _check_inertia(self) -> None:
        inertia = np.asarray(self.inertia)
        if not np.array_equal(inertia, inertia.T):
            raise SettingError("inertia", inertia.tolist(), "must be symmetric")
        # A point or a rod is an idealisation that a calibrated weight comes close to.
        moments = np.linalg.eigvalsh(inertia)
        smallest = np.linalg.eigvalsh(pseudo_inertia(self.body.standard))[0]
        if moments[0] < 0.0 or smallest < -1e-9 * max(self.mass, float(moments[-1])):
            raise SettingError(
                "inertia",
                inertia.tolist(),
                "no body has it: principal moments must not be negative, and none may exceed the "
                "sum of the others",
            )

    @property
    def body(self) -> Body:
        """The body, with zeros for what is not known."""
        centre = np.zeros(3) if self.centre is None else self.centre
        inertia = np.zeros((3, 3)) if self.inertia is None else self.inertia
        return Body(self.mass, centre, inertia)

    @property
    def places(self) -> tuple[int, ...]:
        """Places of the standard parameters that are known, of XX XY XZ YY YZ ZZ MX MY MZ M."""
        if self.centre is None:
            return (_MASS,)
        if self.inertia is None:
            return (*_FIRST_MOMENTS, _MASS)
        return tuple(range(len(STANDARD)))

    @property
    def values(self) -> Array:
        """(10,) the known standard parameters, 0 in the other places."""
        result = np.zeros(len(STANDARD))
        places = list(self.places)
        result[places] = self.body.standard[places]
        return read_only(result)
