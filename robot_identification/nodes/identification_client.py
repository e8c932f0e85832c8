"""A client of the nodes that record, identify and calibrate: what is asked, and the answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from std_srvs.srv import Trigger

from robot_identification import msg
from robot_identification.nodes import qos
from robot_identification.nodes.client import Client
from robot_identification.srv import Calibrate, Identify, IdentifyDidim, Validate

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


def identification_request(
    method: str,
    data: msg.DataSelection,
    *,
    held_out_fraction: float = 0.0,
    essential: bool = False,
    output: str = "",
) -> tuple[Any, str, Any]:
    """Return type, name and content of the request that identifies by a method.

    Args:
        method: ols, wls, energy, one-joint or didim.
        data: what to fit.
        held_out_fraction: share at the end of each recording to predict only; not with didim.
        essential: whether to eliminate parameters that are not essential.
        output: file for the result, in the folder that the node may write to; empty: none.
    """
    common = {"data": data, "essential": essential, "output": output}
    if method == DIDIM:
        return IdentifyDidim, "identification/didim", IdentifyDidim.Request(**common)
    request = Identify.Request(method=method, held_out_fraction=held_out_fraction, **common)
    return Identify, "identification/identify", request


def validation_request(data: msg.DataSelection, result: str = "") -> Validate.Request:
    """Return a request to validate a result file, or the last result that was asked for."""
    return Validate.Request(data=data, result=result)


def calibration_request(
    *, result: str = "", prior: str = "", output: str = "", urdf: str = ""
) -> Calibrate.Request:
    """Return a request to calibrate a result file, or the last result, consistently."""
    return Calibrate.Request(result=result, prior=prior, consistent=True, output=output, urdf=urdf)
