"""Joint states out of tables of text, as bags have them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from robot_identification.errors import SettingError
from robot_identification.files.bags.joint_states.reading import BagJointStates
from robot_identification.files.bags.joint_states.refusals import Refusals
from robot_identification.files.bags.joint_states.signals import joints_without, measured_velocity
from robot_identification.files.tables.columns import CURRENTS, Columns
from robot_identification.files.tables.reading import read_table
from robot_identification.robot.arrays import check_finite
from robot_identification.robot.joint import JointType
from robot_identification.robot.model import EffortMeaning, PositionMeaning, RobotModel
from robot_identification.signals.efforts.separate import EffortSource
from robot_identification.signals.raw_samples import RawSamples


def table_states(
    path: str | Path,
    robot: RobotModel,
    topic: str,
    efforts: EffortSource | None,
    columns: Columns | None,
) -> BagJointStates:
    """Return the joint states in a table, as those of a bag.

    Args:
        path: the table.
        robot: says which joints, and what positions and efforts mean.
        topic: of the joint states, for the names that PlotJuggler gives.
        efforts: where efforts come from that have a topic of their own, which tables have not.
        columns: which columns hold what; None: by their usual names.

    Raises:
        BagError: the table cannot be read.
        SampleError: more than half of the samples are not numbers, or a reference is not.
        SettingError: efforts are wanted from a topic, or a unit is stated that no joint has, or
            that is not one of what the efforts are.
    """
    if efforts is not None:
        problem = f"{path} is a table, whose efforts are in its columns"
        raise SettingError("effort_topic", efforts.topic, problem)
    if columns is not None:
        _refuse_other_efforts(columns, robot)
    wanted = bool(robot.temperature_terms)
    table = read_table(
        path,
        robot.active_names,
        columns,
        topic=topic,
        temperatures=wanted,
        linear=_measured_along_lines(robot),
    )
    refusals = Refusals(str(path), robot.active_names)
    kept = refusals.kept({name: table.signals[name] for name in ("position", "effort")})
    warnings = [*table.warnings, *refusals.told()]
    signals = {name: values[kept] for name, values in table.signals.items()}
    if "reference" in signals:
        check_finite("reference", signals["reference"], robot.active_names)
    velocity, told = measured_velocity(signals.get("velocity"), robot.active_names, str(path))
    samples = RawSamples(
        stamps=table.stamps[kept],
        position=signals["position"],
        velocity=velocity,
        effort=signals["effort"],
        reference=signals.get("reference"),
    )
    without = joints_without(signals.get("velocity"), robot.active_names)
    return BagJointStates(
        *(samples, str(path), table.digest, (*warnings, *told), without),
        temperatures=signals.get("temperature"),
        refused=table.refused + refusals.count,
    )


def _refuse_other_efforts(columns: Columns, robot: RobotModel) -> None:
    """Refuse currents in N m, and torques in A: what the efforts are is said twice, and otherwise.

    Raises:
        SettingError: the unit that is stated is not one of what the robot file says.
    """
    units, meaning = columns.units.get("effort", ()), robot.effort_meaning
    if not units or meaning is None:  # that nobody has said it is refused later
        return
    if CURRENTS.issuperset(units) != (meaning is EffortMeaning.CURRENT):
        raise SettingError(
            "columns",
            f"effort[{','.join(units)}]",
            f"the efforts of {robot.name} are {meaning.value} ({robot.effort_meaning_reason}), "
            "which is measured in another unit; state that one, or what these efforts are "
            "(effort_meaning)",
        )


def _measured_along_lines(robot: RobotModel) -> Mapping[str, tuple[bool, ...]]:
    """Return signal -> (joints,) which are measured as lengths or forces.

    A prismatic joint is, and so is its motor where it has no transmission: else that turns.
    """
    slides = [joint.type is JointType.PRISMATIC for joint in robot.active_joints]
    motors = tuple(
        own and not joint.transmission
        for own, joint in zip(slides, robot.active_joints, strict=True)
    )
    motion = motors if robot.position_meaning is PositionMeaning.MOTOR else tuple(slides)
    effort = motors if robot.effort_meaning is EffortMeaning.MOTOR_TORQUE else tuple(slides)
    return {**dict.fromkeys(("position", "velocity", "reference"), motion), "effort": effort}
