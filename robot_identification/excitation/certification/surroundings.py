"""Properties of a robot besides its kinematic limits: its mass, and what stands around it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robot_identification.collision.clearance import Clearance, Nearest
from robot_identification.collision.model import CollisionModel
from robot_identification.collision.tube import BrakingLaw, Tube
from robot_identification.errors import NotCertifiedError, SettingError, ShapeError
from robot_identification.excitation.certification.checks import Check
from robot_identification.excitation.certification.effort_bounds import Efforts, efforts
from robot_identification.excitation.motions.braking import (
    braking_times,
    release_time,
    released,
    shortest_braking,
)
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.timing import motion_extrema
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.motions.way_around import nearest_free, way_around
from robot_identification.excitation.objective.penalties import Intrusion
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.geometry import forward_kinematics
from robot_identification.robot.model import RobotModel

_SHOWN = 200  # postures among which the smallest distance is looked for, to be told
_PERIOD = 2e-3
_ALIKE = 1e-6  # in m, and of entries of rotation matrices
_STATES_PER_INTERVAL = 8
_FRACTIONS = np.linspace(0.0, 1.0, 9)
_OF_RELEASE = np.array([0.25, 0.5, 0.75])


@by_value
@dataclass(frozen=True)
class Surroundings:
    """Prior model and obstacles.

    Efforts and distances are checked everywhere, the tool point on samples.

    Attributes:
        prior: (full columns,) standard parameters in the order of ``robot.all_parameter_names``;
            None: efforts are not checked.
        collisions: what the robot must not touch; None: that is not known.
        off: (joints,) by how much the robot may be off its reference, in rad or m; None: not at
            all.
        unchecked: why obstacles are not checked, where they are not.
        assumed: what was assumed of the robot, for people.
    """

    prior: Array | None = None
    collisions: CollisionModel | None = None
    off: Array | None = None
    unchecked: str = "obstacles are not checked: nothing says what the robot must not touch"
    assumed: tuple[str, ...] = ()

    @staticmethod
    def around(
        collisions: CollisionModel | str,
        *,
        prior: Array | None = None,
        off: Array | None = None,
        assumed: tuple[str, ...] = (),
    ) -> Surroundings:
        """Return the surroundings for what was found of obstacles.

        Args:
            collisions: what the robot must not touch, or why that is not known.
            prior: as the attribute.
            off: as the attribute.
            assumed: as the attribute.
        """
        if isinstance(collisions, str):
            return Surroundings(prior, None, off, collisions, assumed)
        return Surroundings(prior, collisions, off, assumed=assumed)

    @property
    def checked(self) -> bool:
        """Whether obstacles are checked."""
        return self.collisions is not None

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks: checks that were left out, and assumptions."""
        about = (self.unchecked,) if self.collisions is None else self.collisions.remarks
        return (*about, *self.assumed)

    def at_reference(self, robot: RobotModel) -> tuple[RobotModel, Surroundings]:
        """Return robot and surroundings with friction and offsets at their reference temperatures.

        A plan is made and certified for these: nothing says how warm the joints will be.

        Args:
            robot: the robot, to whose parameters the prior belongs.

        Raises:
            ShapeError: the prior has not a value for each parameter, or ``off`` for each joint.
            SettingError: the obstacles are those of a robot with other joints.
        """
        self._refuse_other(robot)
        if not robot.temperature_terms:
            return robot, self
        joints = tuple(replace(joint, temperature=None) for joint in robot.joints)
        plain = replace(robot, joints=joints, loads=None)
        kept = np.isin(robot.all_parameter_names, plain.all_parameter_names)
        if robot.loads is not None:
            plain = replace(plain, loads=robot.loads[kept])
        if self.prior is None:
            return plain, self
        names = ", ".join(sorted({robot.joint_names[t.joint] for t in robot.temperature_terms}))
        told = f"efforts of {names} are those at the reference temperature"
        prior = np.asarray(self.prior)[kept]
        return plain, replace(self, prior=prior, assumed=(*self.assumed, told))

    def _refuse_other(self, robot: RobotModel) -> None:
        """Refuse another robot, whose arrays compiled code would read beyond their ends."""
        needed = (
            ("prior", self.prior, len(robot.all_parameter_names)),
            ("off", self.off, len(robot.joints)),
        )
        for name, values, count in needed:
            if values is not None and np.shape(values) != (count,):
                raise ShapeError(name, np.shape(values), f"({count},)")
        if self.collisions is not None and not _same_joints(robot, self.collisions.robot):
            problem = f"is not {robot.name}, or has another geometry; load those of this robot"
            raise SettingError("surroundings", self.collisions.robot.name, problem)

    def intrusion(self, limits: MotionLimits, room: float) -> Intrusion | None:
        """Return what postures lack to their clearance; None where nothing is to be kept clear of.

        Args:
            limits: of the motions.
            room: distance in m to be kept beyond the clearance.
        """
        if self.collisions is None:
            return None
        return Intrusion(self.collisions, limits, self._off(limits), room)

    def require_free(self, limits: MotionLimits, posture: Array) -> None:
        """Refuse a posture in which the robot would touch something.

        Args:
            limits: of the robot.
            posture: (joints,) in rad or m.

        Raises:
            NotCertifiedError: with the pair, its distance, and what to do.
        """
        if self.collisions is None:
            return
        names, still = self.collisions.robot.joint_names, np.zeros((2, len(posture)))
        there = Trajectory(names, np.array([0.0, 1.0]), np.tile(posture, (2, 1)), still, still)
        found = self.clearance(there, limits)
        if found is not None and not found.kept:
            raise NotCertifiedError("obstacles", f"where the motion begins: {_too_near(found)}")

    def free_posture(self, limits: MotionLimits, wanted: Array) -> Array:
        """Return a posture, or a free one near it where the robot would touch something there.

        Args:
            limits: of the positions.
            wanted: (joints,) in rad or m.

        Raises:
            NotCertifiedError: among many random postures there is no free one.
        """
        if self.collisions is None:
            return wanted
        return nearest_free(self.collisions, limits, wanted, self._off(limits))

    def way_around(self, limits: MotionLimits, begin: Array, end: Array) -> Array | None:
        """Return postures (postures, joints) on a free way between two; None where none is found.

        Args:
            limits: of the positions.
            begin: (joints,) in rad or m.
            end: (joints,) in rad or m.
        """
        if self.collisions is None:
            return None
        return way_around(self.collisions, limits, self._off(limits), begin, end)

    def _off(self, limits: MotionLimits) -> Array:
        return np.zeros(len(limits.lower)) if self.off is None else self.off

    def clearance(self, trajectory: Trajectory, limits: MotionLimits) -> Clearance | None:
        """Return what is found of the distances of a motion and of braking from it.

        Args:
            trajectory: joints in the robot's order.
            limits: limits that the robot brakes with.

        Returns:
            None where it is not known what the robot must not touch.
        """
        if self.collisions is None:
            return None
        found = self.collisions.check(self._tube(trajectory, limits), self.collisions.clearance)
        if found.nearest is not None:
            return found
        # Capsules alone have shown that all is far: how far is for people, samples will do.
        return replace(found, nearest=nearest_on(self.collisions, trajectory))

    def efforts(
        self, robot: RobotModel, trajectory: Trajectory, limits: MotionLimits
    ) -> Efforts | None:
        """Return what is found of the efforts of a motion and of braking from it.

        Args:
            robot: the robot.
            trajectory: joints in the robot's order.
            limits: limits of the robot, which it brakes with.

        Returns:
            None where there is no prior model.
        """
        if self.prior is None:
            return None
        return efforts(robot, self.prior, self._tube(trajectory, limits), limits)

    def _tube(self, trajectory: Trajectory, limits: MotionLimits) -> Tube:
        law = BrakingLaw(limits.acceleration, shortest_braking(limits), release_time(limits))
        extrema = motion_extrema(trajectory.coefficients, np.diff(trajectory.times))
        return Tube.of(trajectory.times, trajectory.coefficients, extrema, law, self._off(limits))

    def tool(self, robot: RobotModel, trajectory: Trajectory, limits: MotionLimits) -> Check | None:
        """Return the check of the tool point; None for a robot without a box for it.

        Args:
            robot: the robot.
            trajectory: joints in the robot's order.
            limits: limits of the robot.
        """
        if robot.workspace is None:
            return None
        count = max(2, int(np.ceil(trajectory.duration / _PERIOD)))
        times = np.linspace(trajectory.times[0], trajectory.times[-1], count)
        begins, braking = _braking_postures(trajectory, limits)
        q = np.vstack([trajectory.sample(times)[0], braking])
        beyond = robot.workspace.beyond(forward_kinematics(robot, q)[:, -1])
        return _tool(beyond, np.concatenate([times, begins]), count)


def _same_joints(one: RobotModel, other: RobotModel) -> bool:
    """Return whether two robots have joints of the same names in the same places."""
    return one.joint_names == other.joint_names and all(
        (a.type, a.antecedent) == (b.type, b.antecedent)
        and np.allclose(a.rotation, b.rotation, rtol=0.0, atol=_ALIKE)
        and np.allclose(a.translation, b.translation, rtol=0.0, atol=_ALIKE)
        for a, b in zip(one.joints, other.joints, strict=True)
    )


def nearest_on(collisions: CollisionModel, trajectory: Trajectory) -> Nearest | None:
    """Return the smallest distance at many postures of a motion, to be shown.

    Args:
        collisions: robot and cell.
        trajectory: the motion; its joints in the robot's order.

    Returns:
        None where no pair must keep apart.
    """
    times = np.linspace(trajectory.times[0], trajectory.times[-1], _SHOWN)
    return collisions.check.nearest(times, trajectory.sample(times)[0])


def _tool(beyond: Array, times: Array, moving: int) -> Check:
    """Return the check of the tool point, with how far and where it leaves its box most.

    Args:
        beyond: (samples, 3) how far it is outside of its box, in m.
        times: (samples,) in s, of the motion; while braking, of where that begins.
        moving: number of samples of the motion, which come first.
    """
    outside = int(np.count_nonzero(beyond.any(axis=1)))
    if not outside:
        return Check("tool", True)
    sample, axis = map(int, np.unravel_index(int(np.abs(beyond).argmax()), beyond.shape))
    end = "upper" if beyond[sample, axis] > 0.0 else "lower"
    when = "at" if sample < moving else "while it brakes from"
    told = (
        f"the tool point leaves its box by up to {abs(beyond[sample, axis]):.3g} m beyond the "
        f"{end} {'xyz'[axis]}, {when} {times[sample]:.3f} s ({outside} of {len(beyond)} samples)"
    )
    return Check("tool", False, told)


def _braking_postures(trajectory: Trajectory, limits: MotionLimits) -> tuple[Array, Array]:
    """Return postures on the ways to rest from every interval, and when braking begins.

    The acceleration falls linearly to zero first, as it does when the robot is braked.

    Returns:
        (samples,) times in s, and (samples, joints) postures.
    """
    fractions = np.linspace(0.0, 1.0, _STATES_PER_INTERVAL, endpoint=False)
    steps = np.diff(trajectory.times)[:, None]
    begins = (trajectory.times[:-1, None] + steps * fractions).ravel()
    q, v, a = trajectory.sample(begins)
    u = release_time(limits)
    w = _OF_RELEASE[:, None, None]
    falling = q + v * u * w + a * u**2 * (w**2 / 2.0 - w**3 / 6.0)
    q, v = released(limits, q, v, a)
    own = braking_times(limits, v)
    last = own.max(axis=1)
    s = np.minimum(_FRACTIONS[:, None, None] * last[:, None] / np.where(own > 0.0, own, 1.0), 1.0)
    braking = q + v * own * (s - s**3 + s**4 / 2.0)
    postures = np.concatenate([falling, braking])
    return np.tile(begins, len(postures)), postures.reshape(-1, q.shape[1])


def _too_near(found: Clearance) -> str:
    """Tell of a posture that does not keep its clearance what is too near, and what to do."""
    nearest, wanted = found.nearest, f"wanted {found.wanted:g} m"
    if nearest is None:
        return f"{wanted}: begin elsewhere"
    told = f"{' and '.join(nearest.pair)}: {nearest.distance:.4f} m; {wanted}"
    if nearest.distance < found.wanted:
        return f"{told}: begin elsewhere"
    return (
        f"{told} for joints, too, that are off it by the allowed tracking error: begin elsewhere, "
        "or allow a smaller one"
    )
