"""What all services of long work do alike: one piece of work at a time, and an answer with a code.

Programs act on the code, people read the message.  A refused or failed request changes nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from rclpy.impl.rcutils_logger import RcutilsLogger
from std_srvs.srv import Trigger

from robot_identification import errors
from robot_identification.srv import Identify

CODES = Identify.Response
"""Holder of the constants, which are the same in every service."""

ERROR_CODES: dict[type[errors.RobotIdentificationError], int] = {
    errors.RobotIdentificationError: CODES.INTERNAL,
    errors.InputError: CODES.INVALID_REQUEST,
    errors.ResultRefusedError: CODES.NOT_IDENTIFIABLE,
    errors.RobotDescriptionError: CODES.ROBOT_INVALID,
    errors.UnknownRobotError: CODES.ROBOT_INVALID,
    errors.SettingError: CODES.INVALID_REQUEST,
    errors.ShapeError: CODES.DATA_INVALID,
    errors.SampleError: CODES.DATA_INVALID,
    errors.MissingSignalError: CODES.DATA_INVALID,
    errors.JointNameError: CODES.DATA_INVALID,
    errors.RecordingError: CODES.DATA_INVALID,
    errors.UnknownRecordingError: CODES.UNKNOWN_RECORDING,
    errors.BagError: CODES.BAG_UNREADABLE,
    errors.TopicError: CODES.BAG_UNREADABLE,
    errors.ResultFileError: CODES.RESULT_INVALID,
    errors.OutputError: CODES.OUTPUT_FAILED,
    errors.MassMatrixError: CODES.RESULT_INVALID,
    errors.MissingLimitError: CODES.LIMITS_MISSING,
    errors.TrajectoryError: CODES.INVALID_REQUEST,
    errors.StaleStateError: CODES.STATE_STALE,
    errors.NothingInterruptedError: CODES.INVALID_REQUEST,
    errors.SimulationError: CODES.NOT_CONVERGED,
    errors.NotConvergedError: CODES.NOT_CONVERGED,
    errors.ModelMismatchError: CODES.MODEL_MISMATCH,
    errors.RankError: CODES.NOT_IDENTIFIABLE,
    errors.NotExcitedError: CODES.ILL_CONDITIONED,
    errors.NotCertifiedError: CODES.NOT_CERTIFIED,
    errors.InconsistentParametersError: CODES.INCONSISTENT,
    errors.CalibrationError: CODES.INCONSISTENT,
    errors.ResultMismatchError: CODES.RESULT_INVALID,
    errors.SolverMissingError: CODES.INTERNAL,
    errors.MissingPackageError: CODES.INTERNAL,
    errors.CancelledError: CODES.CANCELLED,
}

_NAMES = tuple(name for name in type(CODES).__prepare__("", ()) if name.isupper())

Response = TypeVar("Response")
Cancelled = Callable[[], bool]


def error_code(error: errors.RobotIdentificationError) -> int:
    """Return the code of an error: its own, else that of its nearest base."""
    return next(ERROR_CODES[kind] for kind in type(error).__mro__ if kind in ERROR_CODES)


def code_name(code: int) -> str:
    """Return the name of an error code, for answers that have room for a text only."""
    names = (name for name in _NAMES if getattr(CODES, name) == code)
    return next(names, "INTERNAL")


def refuse(response: Response, code: int, message: str) -> Response:
    """Return an empty response of the same type that says what went wrong."""
    refused: Any = type(response)()
    refused.success = False
    refused.error_code = code
    refused.message = message
    return refused


class Desk:
    """Where long work is done: one piece at a time, in the thread of the service call.

    Args:
        logger: where failures are reported.
    """

    def __init__(self, logger: RcutilsLogger) -> None:
        self._log = logger
        self._taken = threading.Lock()
        self._cancel = threading.Event()
        self._work = ""

    def cancel(self) -> str:
        """Ask the work under way to stop; return its name, or an empty text if there is none."""
        work = self._work
        if work:
            self._cancel.set()
        return work

    def on_cancel(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Answer a service that ends the work under way."""
        work = self.cancel()
        response.success = bool(work)
        response.message = f"{work} is being cancelled" if work else "nothing is under way"
        return response

    def run(
        self, name: str, response: Response, work: Callable[[Response, Cancelled], str]
    ) -> Response:
        """Do a piece of work and return the response, or at once BUSY if another is under way.

        Args:
            name: what the work is called.
            response: response to fill.
            work: fills the response; takes a function that tells whether to stop, and returns a
                summary for people.
        """
        if not self._taken.acquire(blocking=False):
            return refuse(response, CODES.BUSY, f"{self._work or 'another request'} is under way")
        try:
            self._cancel.clear()
            self._work = name
            return self.answer(name, response, lambda r: work(r, self._cancel.is_set))
        finally:
            self._work = ""
            self._taken.release()

    def answer(self, name: str, response: Response, work: Callable[[Response], str]) -> Response:
        """Do short work and return the response; whatever goes wrong becomes an error code."""
        filled: Any = response
        try:
            filled.message = work(response)
        except errors.RobotIdentificationError as error:
            self._log.warning(f"{name}: {error}")
            return refuse(response, error_code(error), str(error))
        except Exception as error:  # noqa: BLE001
            # The border of the process: a fault of ours must reach the caller, not end the node.
            import traceback

            self._log.error(f"{name} failed:\n{traceback.format_exc()}")
            return refuse(response, CODES.INTERNAL, f"{type(error).__name__}: {error}")
        filled.success = True
        filled.error_code = CODES.OK
        return response
