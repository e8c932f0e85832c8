"""The names of the package: what ``import robot_identification`` gives."""

from robot_identification import errors
from robot_identification.api.calibration import calibrate, export
from robot_identification.api.didim import identify_didim
from robot_identification.api.external_efforts import (
    ExternalEfforts,
    external_joint_efforts,
    external_wrench,
)
from robot_identification.api.identification import (
    diagnose,
    identify,
    merge,
    validate,
)
from robot_identification.api.model import gravity, inverse_dynamics, mass_matrix, with_efforts
from robot_identification.api.motion import certify, load_surroundings, plan, plan_one_joint
from robot_identification.api.payload import (
    IdentifiedDriveGains,
    IdentifiedPayload,
    identify_drive_gains,
    identify_payload,
)
from robot_identification.api.robots import base_parameters, with_joint_limits
from robot_identification.api.running_payload import RunningPayload, running_payload
from robot_identification.api.simulation import simulate
from robot_identification.api.sources.parameters import load_result
from robot_identification.api.sources.recordings import read_bags
from robot_identification.calibration.calibrated import CalibratedParameters
from robot_identification.calibration.model.queries import ModelValues
from robot_identification.calibration.running_payload.settings import RunningPayloadSettings
from robot_identification.calibration.running_payload.state import PayloadState, PayloadStatus
from robot_identification.dynamics.external_efforts.contacts import ContactEvent
from robot_identification.dynamics.external_efforts.settings import ExternalEffortSettings
from robot_identification.dynamics.external_efforts.wrench import FrameWrenches, WrenchSettings
from robot_identification.errors import *  # noqa: F403 (every error is public)
from robot_identification.excitation.certification.certificate import Certificate
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.families.fourier_settings import FourierSettings
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.one_joint.plan import OneJointPlan
from robot_identification.excitation.one_joint.settings import OneJointSettings
from robot_identification.excitation.plan import Plan
from robot_identification.excitation.simulated_recording import (
    SimulatedRecording,
    SimulationSettings,
)
from robot_identification.files.datasets.fetching import FetchedDataset, fetch_dataset
from robot_identification.identification.diagnosis.diagnosis import Diagnosis
from robot_identification.identification.diagnosis.finding import Finding
from robot_identification.identification.didim.settings import DidimSettings
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.estimators.huber import HuberSettings
from robot_identification.identification.estimators.weighting import Weighting
from robot_identification.identification.payload.known import KnownPayload
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.validate import Validation
from robot_identification.robot.files.loading import known_robots, load_robot
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.efforts.separate import EffortSource
from robot_identification.signals.periodic.periods import PeriodicMotion
from robot_identification.signals.recording import Recording, Seconds

__all__ = [
    "CalibratedParameters",
    "Certificate",
    "ContactEvent",
    "Diagnosis",
    "DidimSettings",
    "EffortSource",
    "EliminationRule",
    "ExternalEffortSettings",
    "ExternalEfforts",
    "FetchedDataset",
    "Finding",
    "FourierSettings",
    "FrameWrenches",
    "HuberSettings",
    "IdentificationResult",
    "IdentifiedDriveGains",
    "IdentifiedPayload",
    "KnownPayload",
    "ModelValues",
    "OneJointPlan",
    "OneJointSettings",
    "PayloadState",
    "PayloadStatus",
    "PeriodicMotion",
    "Plan",
    "ProcessingSettings",
    "Recording",
    "RobotModel",
    "RunningPayload",
    "RunningPayloadSettings",
    "Seconds",
    "SimulatedRecording",
    "SimulationSettings",
    "Surroundings",
    "Trajectory",
    "Validation",
    "Weighting",
    "WrenchSettings",
    "base_parameters",
    "calibrate",
    "certify",
    "diagnose",
    "export",
    "external_joint_efforts",
    "external_wrench",
    "fetch_dataset",
    "gravity",
    "identify",
    "identify_didim",
    "identify_drive_gains",
    "identify_payload",
    "inverse_dynamics",
    "known_robots",
    "load_result",
    "load_robot",
    "load_surroundings",
    "mass_matrix",
    "merge",
    "plan",
    "plan_one_joint",
    "read_bags",
    "running_payload",
    "simulate",
    "validate",
    "with_efforts",
    "with_joint_limits",
]
__all__ += errors.__all__
