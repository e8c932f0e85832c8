"""Plan and certify motions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy.typing as npt

from robot_identification.api.sources.parameters import FullSource, full_values_of
from robot_identification.api.sources.robots import RobotSource, robot_of
from robot_identification.collision.model import load_collision_model
from robot_identification.errors import SettingError
from robot_identification.excitation import plan as planning
from robot_identification.excitation.certification import certificate as certificates
from robot_identification.excitation.certification.certificate import Certificate
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.families.fourier_settings import FourierSettings
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.objective.criterion import Criterion, Measure
from robot_identification.excitation.one_joint.plan import OneJointPlan
from robot_identification.excitation.one_joint.plan import plan_one_joint as one_joint
from robot_identification.excitation.one_joint.settings import OneJointSettings
from robot_identification.excitation.plan import Plan
from robot_identification.excitation.plan_settings import PlanSettings, default_model
from robot_identification.excitation.search.optimizers import Cancelled
from robot_identification.excitation.search.points import PointSettings, Progress
from robot_identification.files.plans.plans import read_plan
from robot_identification.robot.arrays import Array, read_only
from robot_identification.robot.files.values import load_effort_prior


def load_surroundings(
    robot: RobotSource,
    *,
    cell: str | Path | None = None,
    clearance: float | None = None,
    prior: FullSource | None = None,
) -> Surroundings:
    """Load what a motion keeps clear of, and the model that efforts are checked with.

    Args:
        robot: the robot, its file, or the name of a shipped one.
        cell: cell file: what stands around the robot, what it carries, how it is mounted.
        clearance: distance in m that the motion keeps; by default as the files say, else 0.02.
        prior: standard parameters, to check the efforts; by default they are not checked.  What
            a file does not state, efforts are checked without, and the certificate says so.  Where
            they have a friction law of their own, the robot must have it too: that is
            ``calibrated.description``.

    Raises:
        RobotDescriptionError: a file is wrong, or a prior's states the body of no link.
        SettingError: the cell names what is not there, the clearance is not positive, or one of
            them is given for a robot that was read from no file.
    """
    robot = robot_of(robot)
    values: Array | None = None
    assumed: tuple[str, ...] = ()
    if isinstance(prior, str | Path):
        values, assumed = load_effort_prior(prior, robot)
    elif prior is not None:
        values = full_values_of(robot, prior)
    if robot.file is None:
        for name, given in (("cell", cell), ("clearance", clearance)):
            if given is not None:
                problem = f"{robot.name} is of no file, which tells its shapes; load it from one"
                raise SettingError(name, given, problem)
        return Surroundings(prior=values, assumed=assumed)
    found = load_collision_model(robot.file, robot, cell=cell, clearance=clearance)
    return Surroundings.around(found, prior=values, assumed=assumed)


def plan(
    robot: RobotSource,
    *,
    surroundings: Surroundings | None = None,
    start: npt.ArrayLike | None = None,
    model: str | None = None,
    rows: int | None = None,
    duration: float | None = None,
    criterion: Criterion | str = "svd",
    optimizers: tuple[str, ...] = PointSettings.optimizers,
    starts: int | None = None,
    seed: int | None = None,
    fourier: FourierSettings | None = None,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> Plan:
    """Plan a certified trajectory that makes the parameters identifiable, as ``excite`` does.

    Args:
        robot: the robot, its file, or the name of a shipped one; with limits of position, velocity
            and acceleration.
        surroundings: obstacles and prior model; by default what the robot's files say.
        start: (joints,) posture at both ends, in rad or m; by default zero, or the middle of the
            range of a joint that cannot stand there, or a free posture near it.
        model: regressor to optimise, ``energy`` or ``dynamic``; by default the latter for a robot
            with friction.
        rows: of the energy model, or intervals with the dynamic one.
        duration: to aim at, in s.
        criterion: measure of the condition number.
        optimizers: that are tried.
        starts: number of random starts of the search.
        seed: of these.
        fourier: periods of Fourier series, in place of quintics through points.
        progress: told the stage and the fraction that is done.
        cancelled: asked now and then whether to stop.

    Raises:
        MissingLimitError: a joint lacks a limit.
        SettingError: a setting is wrong, or the start is outside of the limits.
        NotCertifiedError: no trajectory that passes every check was found.
        CancelledError: ``cancelled`` says so.
    """
    robot = robot_of(robot)
    chosen = criterion if isinstance(criterion, Criterion) else Criterion(Measure.named(criterion))
    points = PointSettings(
        criterion=chosen, optimizers=optimizers, **_stated(starts=starts, seed=seed)
    )
    settings = PlanSettings(
        model=model or (default_model(robot) if fourier is None else "dynamic"),
        points=points,
        start=None if start is None else read_only(start),
        fourier=fourier,
        **_stated(rows=rows, duration=duration),
    )
    around = load_surroundings(robot) if surroundings is None else surroundings
    return planning.plan(
        robot, settings, surroundings=around, progress=progress, cancelled=cancelled
    )


def plan_one_joint(
    robot: RobotSource,
    settings: OneJointSettings | None = None,
    *,
    surroundings: Surroundings | None = None,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> OneJointPlan:
    """Plan experiments that move one joint at a time, as ``excite --method one-joint`` does.

    Args:
        robot: the robot, its file, or the name of a shipped one.
        settings: how.
        surroundings: obstacles and prior model; by default what the robot's files say.
        progress: told the stage and the fraction that is done.
        cancelled: asked now and then whether to stop.

    Raises:
        MissingLimitError, SettingError, NotCertifiedError, CancelledError: as for :func:`plan`.
    """
    robot = robot_of(robot)
    around = load_surroundings(robot) if surroundings is None else surroundings
    return one_joint(robot, settings, surroundings=around, progress=progress, cancelled=cancelled)


def certify(
    robot: RobotSource,
    trajectory: Trajectory | Plan | OneJointPlan | str | Path,
    *,
    surroundings: Surroundings | None = None,
) -> Certificate:
    """Check a trajectory against everything that is known.

    Args:
        robot: the robot, its file, or the name of a shipped one.
        trajectory: a trajectory, a plan, or the file of a plan, which is refused where it is not
            what was certified, as ``excite --verify`` does.
        surroundings: obstacles and prior model; by default what the robot's files say.

    Returns:
        The certificate, passed or not.

    Raises:
        MissingLimitError: without limits there is nothing to certify.
        ShapeError, SettingError: the surroundings are those of another robot.
        NotCertifiedError: of a file: it is not what was certified, or a check is not passed.
        TrajectoryError: a file holds no plan.
    """
    robot = robot_of(robot)
    around = load_surroundings(robot) if surroundings is None else surroundings
    if isinstance(trajectory, str | Path):
        return read_plan(trajectory, robot, surroundings=around)[1]
    motion = trajectory if isinstance(trajectory, Trajectory) else trajectory.trajectory
    return certificates.certify(robot, motion, surroundings=around)


def plot_motion(
    robot: RobotSource,
    trajectory: Trajectory,
    path: str | Path | None = None,
    *,
    title: str = "",
    singular_values: tuple[Array, Array] | None = None,
) -> Any:
    """Draw a motion inside its limits.

    Args:
        robot: the robot, its file, or the name of a shipped one.
        trajectory: its joints in the robot's order.
        path: PNG file to be written; None: none.
        title: one line above the figure.
        singular_values: before and after a search, largest first.

    Returns:
        The figure, a ``matplotlib.figure.Figure``.

    Raises:
        MissingPackageError: Matplotlib is not installed.
        OutputError: the file cannot be written.
    """
    from robot_identification.api import figures

    figure = figures.motion_figure(robot_of(robot), trajectory, title, singular_values)
    return figures.written(figure, path)


def _stated(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
