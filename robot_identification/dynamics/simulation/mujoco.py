"""Closed-loop simulation with the physics of MuJoCo, under the control laws of :mod:`.fixed_step`.

MuJoCo computes the motion; controller, reference and sampling are those of :class:`.ClosedLoop`.
Torques act at the joints as those of actuators without dynamics of their own.  Coulomb friction is
MuJoCo's ``frictionloss``: a constraint that takes at most that effort, and less where a joint is
about to stand still; it is not exactly Fc sign(qd) (Todorov, Erez and Tassa 2012).
"""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.direct import plant_of
from robot_identification.dynamics.friction import require_kinds
from robot_identification.dynamics.kernels import fixed_step as simulation_kernels
from robot_identification.dynamics.kernels.terms import POSITION
from robot_identification.dynamics.reference import Reference, hold
from robot_identification.dynamics.simulation.control_law import law_of, positive
from robot_identification.dynamics.simulation.fixed_step import (
    LONGEST_STEP,
    SimulatedSamples,
    control_steps,
)
from robot_identification.dynamics.simulation.mujoco_contacts import ContactWatch
from robot_identification.dynamics.tree import Floats
from robot_identification.errors import (
    MissingPackageError,
    SettingError,
    SimulationError,
)
from robot_identification.robot.arrays import Array, by_value, checked_vector, read_only
from robot_identification.robot.loops import refuse_loops
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.joint_terms import JointTerm

_NEEDS_A_MODEL = "computed_torque"
_MEASURED = 0.02  # s between two looks at distances
_FASTEST = 1e6  # rad/s or m/s: no motion, but a simulation that breaks down


@by_value
@dataclass(frozen=True)
class Drives:
    """Joint terms: what moves the joints of a MuJoCo model and brakes them.

    Attributes:
        terms: the terms, of which MuJoCo's joints know some: see :attr:`.JointTerm.mujoco`.
        values: (joints, terms) their parameters; NaN: as the model has it, 0 where it has none.
    """

    terms: tuple[JointTerm, ...]
    values: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", read_only(self.values))

    def of(self, name: str) -> Array:
        """Return the (joints,) values of a term such as ``Fv``."""
        return self.values[:, [term.name for term in self.terms].index(name)]


@by_value
@dataclass(frozen=True)
class MujocoState:
    """Everything that the future of the loop depends on, at one instant of the controller.

    Attributes:
        step: number of the control step.
        physics: MuJoCo's state, as ``mj_getState`` with ``mjSTATE_INTEGRATION`` gives it.
        integral: (joints,) integral of the position error.
        torque: (joints,) efforts until now; NaN where there was no past.
        history: (delay + 3, 2, joints) last positions and velocities that the controller knows.
    """

    step: int
    physics: Array
    integral: Array
    torque: Array
    history: Array

    def __post_init__(self) -> None:
        for name in ("physics", "integral", "torque", "history"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


class MujocoLoop:
    """A robot whose motion MuJoCo computes, under the control law that it declares.

    Position limits stay.  The model is changed: its time step, and what ``drives`` gives.

    Args:
        robot: says the order of the joints, their effort limits and the controller.
        model: the robot as MuJoCo has it; each joint is a hinge or a slide named as the robot's.
        drives: what replaces the model's own.
        rate_hz: rate of the controller; by default the declared one.
        sample_rate_hz: rate of the samples, which divides that of the controller; by default
            the same.
        friction_time: time constant of the constraint that friction is, in s (the first number of
            ``solreffriction``); by default the model's own.
        contacts: whether bodies touch each other; otherwise they pass through.

    Attributes:
        contacts: what has touched since the robot began at rest; None where nothing can.

    Raises:
        MissingPackageError: if MuJoCo is not installed.
        SettingError: if there is no controller, its law needs a model of the robot, joints differ,
            or a rate or a gain is wrong.
    """

    def __init__(
        self,
        robot: RobotModel,
        model: Any,
        drives: Drives,
        *,
        rate_hz: float | None = None,
        sample_rate_hz: float | None = None,
        friction_time: float | None = None,
        contacts: bool = False,
    ) -> None:
        refuse_loops(robot, "the simulation with MuJoCo")
        controller = robot.controller
        if controller is None:
            raise SettingError("controller", None, f"robot {robot.name} declares no controller")
        if controller.law == _NEEDS_A_MODEL:
            raise SettingError("law", controller.law, "give cascade or pid, which need no model")
        require_kinds(robot, "MuJoCo", POSITION)
        self._mujoco = load_mujoco()
        self.robot = robot
        self.law = law_of(robot, controller)
        self.rate_hz = positive("rate_hz", controller.rate_hz if rate_hz is None else rate_hz)
        self.every = control_steps(self.rate_hz, sample_rate_hz)
        self.substeps = max(1, math.ceil(1.0 / self.rate_hz / LONGEST_STEP - 1e-9))
        self._measured_every = max(1, round(_MEASURED * self.rate_hz))
        self._nominal = plant_of(robot, np.zeros(len(robot.all_parameter_names)))
        self._model = model
        self._places = self._places_of(model)
        self._terms = drives.terms
        self._beside = np.nan_to_num(drives.values) * [not term.mujoco for term in drives.terms]
        self._shapes = {
            term: [
                np.array(own) for own in zip(*(j.shape_of(term) for j in robot.joints), strict=True)
            ]
            for term in drives.terms
            if not term.mujoco
        }
        self._data = self._prepared(drives, friction_time, contacts=contacts)
        self.contacts = ContactWatch(self._mujoco, model) if contacts else None
        self._scratch = simulation_kernels.controller_scratch(self._nominal)

    @property
    def period(self) -> float:
        """Control period in s."""
        return 1.0 / self.rate_hz

    @property
    def sample_period(self) -> float:
        """Sampling period in s."""
        return self.every / self.rate_hz

    def _places_of(self, model: Any) -> tuple[npt.NDArray[np.int32], ...]:
        """Return where joints stand in MuJoCo's positions and in its velocities."""
        kinds = self._mujoco.mjtJoint
        allowed = (int(kinds.mjJNT_HINGE), int(kinds.mjJNT_SLIDE))
        names = [model.joint(i).name for i in range(model.njnt)]
        if sorted(names) != sorted(self.robot.joint_names):
            raise SettingError(
                "model",
                ", ".join(names) or "(no joint)",
                f"must have the joints of {self.robot.name}, {', '.join(self.robot.joint_names)}",
            )
        for name, kind in zip(names, model.jnt_type, strict=True):
            if kind not in allowed:
                raise SettingError("model", name, "a joint must be a hinge or a slide")
        order = [names.index(name) for name in self.robot.joint_names]
        return model.jnt_qposadr[order], model.jnt_dofadr[order]

    def _prepared(self, drives: Drives, friction_time: float | None, *, contacts: bool) -> Any:
        """Change the model, and return data for it."""
        model, dofs = self._model, self._places[1]
        for term, given in zip(drives.terms, drives.values.T, strict=True):
            if term.mujoco:
                target = getattr(model, f"dof_{term.mujoco}")
                target[dofs] = np.where(np.isnan(given), target[dofs], given)
        if friction_time is not None:
            model.dof_solref[:, 0] = positive("friction_time", friction_time)
        model.opt.timestep = self.period / self.substeps
        flags = self._mujoco.mjtDisableBit
        disabled = [flags.mjDSBL_ACTUATION, flags.mjDSBL_AUTORESET]
        for flag in disabled if contacts else [*disabled, flags.mjDSBL_CONTACT]:
            model.opt.disableflags |= flag
        self._mujoco.set_mju_user_warning(_pass_over)
        data = self._mujoco.MjData(model)
        self._mujoco.mj_setConst(model, data)
        return data

    def drives(self) -> Drives:
        """Return what moves and brakes the joints of the model, in the robot's order."""
        values = np.array(self._beside)
        for column, term in zip(values.T, self._terms, strict=True):
            if term.mujoco:
                column[:] = getattr(self._model, f"dof_{term.mujoco}")[self._places[1]]
        return Drives(self._terms, values)

    def at_rest(self, position: npt.ArrayLike) -> MujocoState:
        """Return the state at rest at a position (joints,), at control step 0, torque unknown.

        Raises:
            ShapeError: if the number of joints differs.
        """
        joints = len(self.robot.joints)
        place = checked_vector("position", position, joints)
        self._mujoco.mj_resetData(self._model, self._data)
        self._data.qpos[self._places[0]] = place
        still = np.stack([place, np.zeros(joints)])
        return MujocoState(
            step=0,
            physics=self._physics(),
            integral=still[1],
            torque=np.full(joints, math.nan),
            history=np.repeat(still[None], self.law.delay + 3, axis=0),
        )

    def settled(self, position: npt.ArrayLike, seconds: float = 3.0) -> MujocoState:
        """Return the state in which the loop comes to rest while it holds a position (joints,).

        Raises:
            ShapeError: if the number of joints differs.
            SimulationError: if the motion breaks down.
        """
        end, _ = self.advance(self.at_rest(position), hold(position), round(seconds * self.rate_hz))
        still = np.stack([self._data.qpos[self._places[0]], self._data.qvel[self._places[1]]])
        if self.contacts is not None:
            self.contacts.forget()
        return replace(end, step=0, history=np.repeat(still[None], len(end.history), axis=0))

    def advance(
        self,
        state: MujocoState,
        reference: Reference,
        steps: int,
        extra: npt.ArrayLike | None = None,
    ) -> tuple[MujocoState, SimulatedSamples]:
        """Run the loop for a number of control periods; see :meth:`.ClosedLoop.advance`.

        Raises:
            SimulationError: if the motion breaks down.
        """
        data, (qpos, dofs) = self._data, self._places
        self._mujoco.mj_setState(self._model, data, state.physics, self._kept)
        joints = len(self.robot.joints)
        efforts = np.zeros(joints) if extra is None else np.asarray(extra, dtype=np.float64)
        added = np.array(np.broadcast_to(efforts, (steps, joints)))
        integral, history = np.array(state.integral), np.array(state.history)
        before, torque = np.array(state.torque), np.empty(joints)
        rows: list[tuple[Floats, Floats, Floats]] = []
        for k, now in enumerate(added, state.step):
            q, qd = data.qpos[qpos], data.qvel[dofs]
            self._require_finite(k, q, qd)
            simulation_kernels.answer(
                self.law,
                self._nominal,
                reference,
                k,
                self.period,
                (q, qd, integral, history),
                now,
                self._scratch,
                torque,
            )
            if k % self.every == 0:
                sharp = self.law.held or bool(np.isnan(before[0]))
                rows.append((q, qd, torque.copy() if sharp else 0.5 * (before + torque)))
            before[:] = torque
            data.qfrc_applied[dofs] = torque - self._efforts_beside(q, qd)
            self._step(k)
        self._require_finite(state.step + steps, data.qpos, data.qvel)
        end = MujocoState(state.step + steps, self._physics(), integral, before, history)
        return end, self._samples(-(-state.step // self.every), rows)

    def _efforts_beside(self, q: Floats, qd: Floats) -> Floats:
        """Return the efforts of the joint terms that MuJoCo does not know."""
        efforts = np.zeros(len(qd))
        for term, values in zip(self._terms, self._beside.T, strict=True):
            if not term.mujoco:
                efforts += values * term.kind.of(qd, position=q, shape=self._shapes[term])
        return efforts

    def _step(self, k: int) -> None:
        """Let MuJoCo compute the motion of control step k."""
        if self.contacts is None:
            self._mujoco.mj_step(self._model, self._data, self.substeps)
            return
        time = k * self.period
        for _ in range(self.substeps):
            self._mujoco.mj_step(self._model, self._data)
            self.contacts.look(self._data, time)
        if k % self._measured_every == 0:
            self.contacts.measure(self._data, time)

    def _samples(self, first: int, rows: list[tuple[Floats, Floats, Floats]]) -> SimulatedSamples:
        table = np.array(rows).reshape(len(rows), 3, len(self.robot.joints))
        return SimulatedSamples(
            time=read_only((first + np.arange(len(rows))) * self.sample_period),
            position=table[:, 0],
            velocity=table[:, 1],
            effort=table[:, 2],
            slip=np.zeros((len(rows), 0)),
        )

    @property
    def _kept(self) -> int:
        return int(self._mujoco.mjtState.mjSTATE_INTEGRATION)

    def _physics(self) -> Floats:
        """Return MuJoCo's state."""
        out = np.empty(self._mujoco.mj_stateSize(self._model, self._kept))
        self._mujoco.mj_getState(self._model, self._data, out, self._kept)
        return out

    def _require_finite(self, step: int, q: Floats, qd: Floats) -> None:
        if not (np.isfinite(q).all() and np.abs(qd).max(initial=0.0) < _FASTEST):
            raise SimulationError(
                step * self.period,
                "the motion became infinite: check masses, drive inertias and controller gains",
            )


def _pass_over(_warning: str) -> None:
    """Keep MuJoCo from writing a log file; a motion that breaks down is found otherwise."""


def load_mujoco() -> ModuleType:
    """Return the module of MuJoCo.

    Raises:
        MissingPackageError: if it is not installed.
    """
    try:
        return importlib.import_module("mujoco")
    except ImportError as error:
        raise MissingPackageError("mujoco", "mujoco", "this simulated robot") from error
