"""Clients of the nodes: recordings, and what is asked for by one request and its answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from std_srvs.srv import Trigger

from robot_identification import msg
from robot_identification.nodes import qos
from robot_identification.nodes.client import Client
from robot_identification.srv import Calibrate, Identify, IdentifyDidim, PlanExcitation, Validate

_FIRST_SAMPLES_WITHIN = 30.0
_LAST_BLOCK_WITHIN = 10.0
DIDIM = "didim"


class RecordingClient:
    """Begins and ends recordings, and sees their blocks.

    Args:
        client: to talk through; of the namespace of the node `acquisition`.

    Attributes:
        last_stamp: stamp of the newest sample of the recording, in ns; 0 before there is any.
        last_block: the last block of samples that came.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._recording = ""
        self.last_stamp = 0
        self.last_block: msg.SampleBlock | None = None
        client.node.create_subscription(msg.SampleBlock, "samples", self._on_block, qos.BLOCKS)

    def begin(self) -> str:
        """Record from now on; return the identifier of the recording.

        Raises:
            RequestRefusedError: one is running already.
            ClientTimeoutError: no samples come.
        """
        self.last_stamp, self.last_block = 0, None
        name: str = self._client.demand(Trigger, "acquisition/start").message
        self._recording = name
        try:
            self._client.wait_for(lambda: self.last_stamp, _FIRST_SAMPLES_WITHIN, "samples")
        except BaseException:
            self._client.call(Trigger, "acquisition/stop")
            raise
        return name

    def end(self) -> str:
        """End the recording, wait for the last of it, and return its identifier.

        After a clock that was set back that of the last part.
        """
        name: str = self._client.demand(Trigger, "acquisition/stop").message
        self._client.wait_for(
            lambda: self.last_block and self.last_block.last and self.last_block.recording == name,
            _LAST_BLOCK_WITHIN,
            "last block",
        )
        return name

    def _on_block(self, block: msg.SampleBlock) -> None:
        """Keep a block of the recording or of what continues it; those of others come late."""
        if not self._recording or not block.recording.startswith(self._recording):
            return
        self.last_block = block
        if block.stamps:
            self.last_stamp = block.stamps[-1]


def data_of(recordings: list[str], bags: list[Path]) -> msg.DataSelection:
    """Return which data a request is about; bags by paths on the machine of the node."""
    return msg.DataSelection(recordings=recordings, bags=[str(bag) for bag in bags])


class Verbs:
    """What the nodes of one namespace are asked to do: plan, identify, validate, calibrate.

    Every method sends one request and returns the response, which is a success.

    Args:
        call: takes type, name and content of a request, and returns the response: for one,
            :meth:`~robot_identification.nodes.client.Client.demand`; for another, with progress and
            cancelling, :meth:`~robot_identification.nodes.live_run.LiveRun.ask`.

    Raises:
        RequestRefusedError: by every method, where the node answers without success.
        ClientTimeoutError: likewise, where it does not answer in time.
    """

    def __init__(self, call: Callable[[Any, str, Any], Any]) -> None:
        self._call = call

    def plan(self, **fields: Any) -> PlanExcitation.Response:
        """Plan a motion; fields as of the request."""
        return self._call(PlanExcitation, "excitation/plan", PlanExcitation.Request(**fields))

    def identify(self, method: str, data: msg.DataSelection, **fields: Any) -> Any:
        """Identify by least squares or DIDIM.

        Args:
            method: ols, wls, energy, one-joint or didim.
            data: what to fit.
            fields: of the request; those that DIDIM does not have are left out with it.
        """
        if method == DIDIM:
            known = IdentifyDidim.Request.get_fields_and_field_types()
            said = {name: value for name, value in fields.items() if name in known}
            request = IdentifyDidim.Request(data=data, **said)
            return self._call(IdentifyDidim, "identification/didim", request)
        request = Identify.Request(method=method, data=data, **fields)
        return self._call(Identify, "identification/identify", request)

    def validate(self, data: msg.DataSelection, **fields: Any) -> Validate.Response:
        """Predict data with a result file, or with the last result that was asked for."""
        request = Validate.Request(data=data, **fields)
        return self._call(Validate, "identification/validate", request)

    def calibrate(self, **fields: Any) -> Calibrate.Response:
        """Calibrate a result file, or the last result, consistently."""
        request = Calibrate.Request(consistent=True, **fields)
        return self._call(Calibrate, "calibration/calibrate", request)
