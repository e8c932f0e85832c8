"""Error codes of the services and actions, one for every error of the package."""

from __future__ import annotations

from robot_identification import errors
from robot_identification.srv import Identify

CODES = Identify.Response
"""Holder of the constants, which are the same in every service."""

ERROR_CODES: dict[type[errors.RobotIdentificationError], int] = {
    errors.RobotIdentificationError: CODES.INTERNAL,
    errors.InputError: CODES.INVALID_REQUEST,
    errors.ResultRefusedError: CODES.NOT_IDENTIFIABLE,
    errors.RobotDescriptionError: CODES.ROBOT_INVALID,
    errors.MissingMeshError: CODES.ROBOT_INVALID,
    errors.UnknownRobotError: CODES.ROBOT_INVALID,
    errors.SettingError: CODES.INVALID_REQUEST,
    errors.ShapeError: CODES.DATA_INVALID,
    errors.SampleError: CODES.DATA_INVALID,
    errors.AbsurdSamplesError: CODES.DATA_INVALID,
    errors.MissingSignalError: CODES.DATA_INVALID,
    errors.JointNameError: CODES.DATA_INVALID,
    errors.RecordingError: CODES.DATA_INVALID,
    errors.NoEffortError: CODES.DATA_INVALID,
    errors.EffortSignError: CODES.DATA_INVALID,
    errors.LoopMismatchError: CODES.DATA_INVALID,
    errors.MeasuredVelocityError: CODES.DATA_INVALID,
    errors.NotPeriodicError: CODES.DATA_INVALID,
    errors.UnknownRecordingError: CODES.UNKNOWN_RECORDING,
    errors.FileError: CODES.INVALID_REQUEST,
    errors.BagError: CODES.BAG_UNREADABLE,
    errors.DownloadError: CODES.INVALID_REQUEST,
    errors.TopicError: CODES.BAG_UNREADABLE,
    errors.ResultFileError: CODES.RESULT_INVALID,
    errors.MessageError: CODES.RESULT_INVALID,
    errors.OutputError: CODES.OUTPUT_FAILED,
    errors.MassMatrixError: CODES.RESULT_INVALID,
    errors.MissingLimitError: CODES.LIMITS_MISSING,
    errors.TrajectoryError: CODES.INVALID_REQUEST,
    errors.StaleStateError: CODES.STATE_STALE,
    errors.NoPlanError: CODES.RESULT_INVALID,
    errors.NotActiveError: CODES.NOT_ACTIVE,
    errors.NothingInterruptedError: CODES.INVALID_REQUEST,
    errors.SimulationError: CODES.NOT_CONVERGED,
    errors.NotConvergedError: CODES.NOT_CONVERGED,
    errors.ModelMismatchError: CODES.MODEL_MISMATCH,
    errors.RankError: CODES.NOT_IDENTIFIABLE,
    errors.NotExcitedError: CODES.ILL_CONDITIONED,
    errors.NotPredictiveError: CODES.ILL_CONDITIONED,
    errors.DriveGainError: CODES.ILL_CONDITIONED,
    errors.NotCertifiedError: CODES.NOT_CERTIFIED,
    errors.InconsistentParametersError: CODES.INCONSISTENT,
    errors.CalibrationError: CODES.INCONSISTENT,
    errors.ResultMismatchError: CODES.RESULT_INVALID,
    errors.SolverMissingError: CODES.INTERNAL,
    errors.MissingPackageError: CODES.INTERNAL,
    errors.CancelledError: CODES.CANCELLED,
}

_NAMES = tuple(name for name in type(CODES).__prepare__("", ()) if name.isupper())


def error_code(error: errors.RobotIdentificationError) -> int:
    """Return the code of an error: its own, else that of its nearest base."""
    return next(ERROR_CODES[kind] for kind in type(error).__mro__ if kind in ERROR_CODES)


def code_name(code: int) -> str:
    """Return the name of an error code, for answers that have room for a text only."""
    names = (name for name in _NAMES if getattr(CODES, name) == code)
    return next(names, "INTERNAL")


def code_of(name: str) -> int | None:
    """Return the error code of a name; None where no code has it."""
    return getattr(CODES, name) if name in _NAMES else None
