"""Arrays of any kind that a caller hands in run the code that is there; none is compiled anew."""

import sys

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from robot_identification.dynamics.direct import DirectModel
from robot_identification.dynamics.energy import EnergyRegressor
from robot_identification.dynamics.external_efforts.momentum_observer import MomentumObserver
from robot_identification.dynamics.regressor import Regressor
from robot_identification.excitation.motions.braking import stopping_places
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.timing import motion_extrema
from small_robots import PENDULUM_LIMITS, pendulum, pendulum_sweep, pendulum_values

ROBOT, VALUES = pendulum(**PENDULUM_LIMITS), pendulum_values()
STAMPS = np.arange(4, dtype=np.int64) * 10_000_000
KINDS = {
    "writable": np.array,
    "read-only": lambda array: np.frombuffer(array.tobytes()).reshape(array.shape),
    "strided": lambda array: np.repeat(array, 2, axis=0)[::2],
    "columns first": np.asfortranarray,
    "single precision": lambda array: array.astype(np.float32),
}


def samples():
    return np.random.default_rng(0).uniform(-1.0, 1.0, (3, 4, 1))


def of_motion(kind):
    motion = pendulum_sweep(points=3)
    coefficients = kind(motion.coefficients[:2])
    return np.append(
        motion_extrema(coefficients, np.diff(motion.times)[:2]),
        stopping_places(MotionLimits.of(ROBOT), motion),
    )


MODELS = {
    "regressor": lambda q, qd, tau: Regressor(ROBOT).dense(q, qd, tau),
    "energy": lambda q, qd, tau: EnergyRegressor(ROBOT).dense(q, qd),
    "energies": lambda q, qd, tau: EnergyRegressor(ROBOT).rows(q.T, qd.T),
    "accelerations": lambda q, qd, tau: DirectModel(ROBOT, VALUES).accelerations(q, qd, tau),
    "mass matrix": lambda q, qd, tau: DirectModel(ROBOT, VALUES).mass_matrix(q),
    "bias": lambda q, qd, tau: DirectModel(ROBOT, VALUES).bias(q, qd),
    "external efforts": lambda *signals: (
        MomentumObserver(ROBOT, VALUES).push(STAMPS, *signals).effort
    ),
}


def compiled_signatures():
    """Return of each compiled function of the package how often it has been compiled or loaded."""
    modules = [m for name, m in sys.modules.items() if name.startswith("robot_identification.")]
    return {
        function.py_func.__qualname__: len(function.signatures)
        for module in modules
        for function in vars(module).values()
        if isinstance(function, Dispatcher)
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS)
def test_no_kind_of_array_is_compiled_for(model, kind):
    own = MODELS[model](*samples())
    before = compiled_signatures()
    assert any(before.values())
    others = MODELS[model](*(KINDS[kind](signal) for signal in samples()))
    assert compiled_signatures() == before
    np.testing.assert_allclose(others, own, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_of_motion_is_compiled_for(kind):
    own = of_motion(np.array)
    before = compiled_signatures()
    assert any(before.values())
    others = of_motion(KINDS[kind])
    assert compiled_signatures() == before
    np.testing.assert_allclose(others, own, rtol=1e-5, atol=1e-5)
