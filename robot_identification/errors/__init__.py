"""One tree of exceptions; each carries the data that a caller needs to act on it.

Two branches matter to a program that calls this package: :class:`InputError`, when something
that was handed in is wrong, and :class:`ResultRefusedError`, when the input was fine but no
result can be stood behind.  The command line answers them with exit codes 2 and 3.
"""

from robot_identification.errors.base import (
    CancelledError,
    InputError,
    MissingPackageError,
    ResultRefusedError,
    RobotIdentificationError,
    SettingError,
    ShapeError,
    SolverMissingError,
)
from robot_identification.errors.files import (
    DownloadError,
    FileError,
    MessageError,
    MissingLimitError,
    MissingMeshError,
    OutputError,
    ResultFileError,
    ResultMismatchError,
    RobotDescriptionError,
    UnknownRobotError,
)
from robot_identification.errors.identification import (
    CalibrationError,
    DriveGainError,
    InconsistentParametersError,
    ModelMismatchError,
    NotConvergedError,
    NotExcitedError,
    RankError,
)
from robot_identification.errors.motion import (
    MassMatrixError,
    NoPlanError,
    NotCertifiedError,
    NothingInterruptedError,
    SimulationError,
    StaleStateError,
    TrajectoryError,
)
from robot_identification.errors.recordings import (
    BagError,
    JointNameError,
    MissingSignalError,
    NoEffortError,
    NotPeriodicError,
    RecordingError,
    SampleError,
    TopicError,
    UnknownRecordingError,
)

__all__ = [
    "BagError",
    "CalibrationError",
    "CancelledError",
    "DownloadError",
    "DriveGainError",
    "FileError",
    "InconsistentParametersError",
    "InputError",
    "JointNameError",
    "MassMatrixError",
    "MessageError",
    "MissingLimitError",
    "MissingMeshError",
    "MissingPackageError",
    "MissingSignalError",
    "ModelMismatchError",
    "NoEffortError",
    "NoPlanError",
    "NotCertifiedError",
    "NotConvergedError",
    "NotExcitedError",
    "NotPeriodicError",
    "NothingInterruptedError",
    "OutputError",
    "RankError",
    "RecordingError",
    "ResultFileError",
    "ResultMismatchError",
    "ResultRefusedError",
    "RobotDescriptionError",
    "RobotIdentificationError",
    "SampleError",
    "SettingError",
    "ShapeError",
    "SimulationError",
    "SolverMissingError",
    "StaleStateError",
    "TopicError",
    "TrajectoryError",
    "UnknownRecordingError",
    "UnknownRobotError",
]
