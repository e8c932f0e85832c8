"""Regressor stored for all samples, beside Pinocchio's in a loop.

Ours stores what can differ from zero, friction and drives included, joint by joint.  The peer is
`computeJointTorqueRegressor` called from Python, its result thrown away, and the same stored in a
dense matrix with the columns of friction and drives beside it.  Where figaroh is installed, so is
its `build_regressor_basic`, with the same columns.  All use one thread.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin

from goals import robots
from goals.measuring import Candidate, Options, Row, Verdict, interleaved, ratio
from goals.robots import Arm
from robot_identification.dynamics.regressor import Regressor
from robot_identification.robot.arrays import Array

TITLE = "regressor stored"
OURS, BARE, STORED, FIGAROH = "ours", "Pinocchio loop", "Pinocchio loop, stored", "figaroh"

# Operations of the compiled regressor, counted in its source: of a pair of a link and a joint that
# moves it (ten entries), of carrying an ancestor's motion into the link's frame, and of a link.
_PER_PAIR, _PER_SCREW, _PER_LINK = 110.0, 54.0, 147.0
_LOSSES = 4  # drive inertia, viscous and Coulomb friction, offset


def operations(arm: Arm) -> float:
    """Return operations per sample of our regressor."""
    carried = arm.pairs - arm.joints
    return _PER_PAIR * arm.pairs + _PER_SCREW * carried + _PER_LINK * arm.joints


def bare_loop(arm: Arm, signals: Array) -> Callable[[], None]:
    """Return Pinocchio's loop over (3, samples, joints) signals."""
    model, data = arm.peer, arm.peer.createData()
    q, qd, qdd = signals

    def work() -> None:
        compute = pin.computeJointTorqueRegressor
        for i in range(len(q)):
            compute(model, data, q[i], qd[i], qdd[i])

    return work


def stored_loop(arm: Arm, signals: Array) -> Callable[[], Array]:
    """Return Pinocchio's loop that fills W, (samples, joints, 14 joints), friction included."""
    model, data, joints = arm.peer, arm.peer.createData(), arm.joints
    q, qd, qdd = signals
    W = np.zeros((len(q), joints, 14 * joints))
    own = np.arange(joints)

    def work() -> Array:
        compute = pin.computeJointTorqueRegressor
        for i in range(len(q)):
            W[i, :, : 10 * joints] = compute(model, data, q[i], qd[i], qdd[i])
        W[:, own, 10 * joints + own] = qdd
        W[:, own, 11 * joints + own] = qd
        W[:, own, 12 * joints + own] = np.sign(qd)
        W[:, own, 13 * joints + own] = 1.0
        return W

    return work


def figaroh_regressor(arm: Arm, signals: Array) -> Callable[[], Array] | None:
    """Return figaroh's function with the same columns, None where it is not installed."""
    try:
        from figaroh.tools.regressor import build_regressor_basic
        from pinocchio.robot_wrapper import RobotWrapper
    except ImportError:
        return None
    wrapper = RobotWrapper(arm.peer)
    joints = list(range(arm.joints))
    yes = ("is_joint_torques", "has_friction", "has_actuator_inertia", "has_joint_offset")
    setting = dict.fromkeys(yes, True) | {"act_idxq": joints, "act_idxv": joints}
    setting |= {"is_external_wrench": False, "has_coupled_wrist": False, "force_torque": None}
    q, qd, qdd = signals
    return lambda: build_regressor_basic(wrapper, q, qd, qdd, setting)


def measure(options: Options) -> Row:
    """Measure the row."""
    row = Row(TITLE)
    cases = ((robots.six_joints(), 20_000), (robots.seven_joints(), 20_000), (robots.tree(), 1000))
    for arm, samples in cases:
        _measure(arm, samples // 10 if options.quick else samples, options, row)
    row.remarks.append(
        "Bare, the peer's result stays in one matrix in the cache; ours is always stored."
    )
    return row


def _measure(arm: Arm, samples: int, options: Options, row: Row) -> None:
    signals = robots.motion(arm.joints, samples)
    turned = np.ascontiguousarray(np.swapaxes(signals, 1, 2))
    regressor = Regressor(arm.robot)
    out = np.zeros((regressor.compact_rows, samples))
    candidates = [
        Candidate(OURS, lambda: regressor.compact(*signals, out=out), samples),
        Candidate(BARE, bare_loop(arm, turned), samples),
        Candidate(STORED, stored_loop(arm, turned), samples),
    ]
    figaroh = figaroh_regressor(arm, turned)
    if figaroh is not None:
        candidates.append(Candidate(FIGAROH, figaroh, samples))
    _check(arm, regressor, turned)
    times = interleaved(candidates, options.rounds)
    case = f"{arm.name}, {samples} samples"
    row.add_times(case, times, "us per sample", 1e6)
    bound = options.peaks.share(operations(arm), 8.0 * regressor.compact_rows, times[OURS].median)
    for goal, peer, wanted in (
        ("times a bare Pinocchio loop", BARE, 4.0),
        ("times a Pinocchio loop that stores", STORED, 8.0),
    ):
        row.verdicts.append(
            Verdict(case, goal, wanted, ratio(times[peer], times[OURS]), bound=bound)
        )


def _check(arm: Arm, regressor: Regressor, turned: Array) -> None:
    """Make sure that both give the same efforts of the same motion."""
    few = [np.ascontiguousarray(s[:20]) for s in turned]
    ours = regressor.dense(*few) @ arm.values[regressor.columns]
    own = arm.values.reshape(arm.joints, 14)
    data = arm.peer.createData()
    peer = np.array([pin.rnea(arm.peer, data, *(s[i] for s in few)) for i in range(20)])
    peer += own[:, 11] * few[1] + own[:, 12] * np.sign(few[1]) + own[:, 13]
    np.testing.assert_allclose(ours, peer, rtol=1e-8, atol=1e-8 * np.abs(peer).max())
