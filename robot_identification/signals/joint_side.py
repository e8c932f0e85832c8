"""From samples as they were measured to a recording on the joint side."""

from __future__ import annotations

from robot_identification.errors import MissingSignalError
from robot_identification.robot.drives import to_joint_side
from robot_identification.robot.model import RobotModel
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.recording import RawSamples, Recording


def joint_side_recording(
    raw: RawSamples,
    robot: RobotModel,
    *,
    source: str = "",
    digest: str = "",
    positions_needed: bool = True,
) -> Recording:
    """Bring samples to the joint side, as the robot file declares them, and on one clock.

    Args:
        raw: samples as measured, in order of arrival.
        robot: says what positions and efforts mean.
        source: where the samples came from; error messages name it.
        digest: SHA-256 of the source.
        positions_needed: whether positions that are all NaN are refused.

    Raises:
        MissingSignalError: if there are no positions or no efforts.
        ShapeError: if an array does not have a column for every joint.
        SettingError: if nobody has said what effort means, or a drive gain is missing.
        SampleError: if a value is not finite.
        RecordingError: if the samples are too few or their stamps of no use.
    """
    joints = to_joint_side(robot, raw.position, raw.velocity, raw.effort)
    reference = to_joint_side(robot, raw.reference, None, None).position
    if joints.position is None or joints.effort is None:
        raise MissingSignalError("position or effort", source)
    samples = RawSamples(raw.stamps, joints.position, joints.velocity, joints.effort, reference)
    return build_recording(
        samples,
        robot.joint_names,
        source=source,
        digest=digest,
        positions_needed=positions_needed,
    )
