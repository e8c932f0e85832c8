"""Requests of work: plan, identify, validate, calibrate and ask the model."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from std_srvs.srv import Trigger

from robot_identification import msg
from robot_identification.errors import RobotIdentificationError
from robot_identification.ros.clients.asking import SOON, UNTIL_DONE, Asking
from robot_identification.ros.clients.interruption import signals_ignored
from robot_identification.srv import (
    BaseParameters,
    Calibrate,
    Gravity,
    Identify,
    IdentifyDidim,
    IdentifyDriveGains,
    IdentifyPayload,
    InverseDynamics,
    MassMatrix,
    PlanExcitation,
    Validate,
)

DIDIM = "didim"

WORK: dict[Any, tuple[Any, str]] = {
    kind.Request: (kind, name)
    for kind, name in (
        (PlanExcitation, "excitation/plan"),
        (Identify, "identification/identify"),
        (IdentifyDidim, "identification/didim"),
        (Validate, "identification/validate"),
        (IdentifyPayload, "identification/identify_payload"),
        (IdentifyDriveGains, "identification/identify_drive_gains"),
        (BaseParameters, "identification/base_parameters"),
        (Calibrate, "calibration/calibrate"),
        (InverseDynamics, "calibration/inverse_dynamics"),
        (Gravity, "calibration/gravity"),
        (MassMatrix, "calibration/mass_matrix"),
    )
}
"""By request, the service and its name."""

_BESIDE_WORK = tuple(
    kind.Request for kind in (BaseParameters, InverseDynamics, Gravity, MassMatrix)
)


def data_of(recordings: Sequence[str], bags: Sequence[Path] = ()) -> msg.DataSelection:
    """Return which data a request is about; bags by paths on the machine of the node."""
    return msg.DataSelection(recordings=[*recordings], bags=[str(bag) for bag in bags])


class WorkRequests(Asking):
    """Asks the nodes to plan, identify, validate, calibrate, and what a model says."""

    def ask(self, request: Any) -> Any:
        """Send a request of work that takes as long as it takes.

        An interruption (KeyboardInterrupt) cancels the work; not where the node answers beside its
        work, which is then that of somebody else.
        """
        kind, name = WORK[type(request)]
        try:
            return self._call(kind, name, request, UNTIL_DONE)
        except KeyboardInterrupt:
            if isinstance(request, _BESIDE_WORK):
                raise
            with signals_ignored(), suppress(RobotIdentificationError):
                self.cancel(name.partition("/")[0])
            raise

    def plan(self, **fields: Any) -> Any:
        """Plan a motion; fields as of the request."""
        return self.ask(PlanExcitation.Request(**fields))

    def identify(self, method: str, data: msg.DataSelection, **fields: Any) -> Any:
        """Identify by least squares or DIDIM.

        Args:
            method: ols, wls, energy, one-joint or didim.
            data: what to fit.
            fields: of the request; those that DIDIM does not have are left out with it.
        """
        if method != DIDIM:
            return self.ask(Identify.Request(method=method, data=data, **fields))
        known = IdentifyDidim.Request.get_fields_and_field_types()
        said = {name: value for name, value in fields.items() if name in known}
        return self.ask(IdentifyDidim.Request(data=data, **said))

    def validate(self, data: msg.DataSelection, **fields: Any) -> Any:
        """Predict data with a result file, or with the last result that was asked for."""
        return self.ask(Validate.Request(data=data, **fields))

    def base_parameters(self, **fields: Any) -> Any:
        """Return the base parameters; fields as of the request."""
        return self.ask(BaseParameters.Request(**fields))

    def calibrate(self, **fields: Any) -> Any:
        """Calibrate a result file, or the last result, consistently."""
        return self.ask(Calibrate.Request(consistent=True, **fields))

    def cancel(self, node: str) -> Any:
        """End the work of a node."""
        return self._call(Trigger, f"{node}/cancel", within=SOON)
