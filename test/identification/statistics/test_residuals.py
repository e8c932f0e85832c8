"""What residuals show: their size, their colour, the friction in them."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import trapezoid

from friction_arm import SETTINGS, arm, moved, values_of
from made_up_results import made_up_result
from robot_identification.identification.identify import identify
from robot_identification.identification.statistics.prediction import Prediction
from robot_identification.identification.statistics.residuals import joint_friction, joint_residuals
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values

PERIOD = 0.02


def prediction(measured, predicted, kept=None):
    """Return a prediction of one joint."""
    rows = len(measured)
    return Prediction(
        joint_names=("joint_1",),
        units=("N m",),
        time=PERIOD * np.arange(rows),
        measured=np.reshape(measured, (rows, 1)),
        predicted=np.reshape(predicted, (rows, 1)),
        kept=np.ones((rows, 1), bool) if kept is None else np.reshape(kept, (rows, 1)),
        velocity=np.zeros((rows, 1)),
    )


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def test_white_noise_is_white_and_of_its_size(rng):
    effort = 3.0 * np.sin(np.arange(4000) * 0.1)
    (found,) = joint_residuals((prediction(effort + 0.2 * rng.normal(size=4000), effort),))
    assert found.std == pytest.approx(0.2, rel=0.05)
    assert abs(found.autocorrelation) < 0.06
    assert found.relative == pytest.approx(0.2 / np.sqrt(4.5 + 0.04), rel=0.05)
    # one-sided: all of the power between 0 and half the rate
    np.testing.assert_allclose(np.median(found.density), 0.2**2 * 2.0 * PERIOD, rtol=0.2)
    assert trapezoid(found.density, found.frequency) == pytest.approx(0.04, rel=0.1)


def test_a_forgotten_oscillation_stands_out_at_its_frequency(rng):
    time = PERIOD * np.arange(4000)
    rest = 0.3 * np.sin(2.0 * np.pi * 6.25 * time) + 0.05 * rng.normal(size=4000)
    (found,) = joint_residuals((prediction(rest + 1.0, np.ones(4000)),))
    assert found.frequency[np.argmax(found.density)] == pytest.approx(6.25, abs=0.2)
    assert found.autocorrelation > 0.5


def test_rows_that_take_no_part_do_not_count(rng):
    rest = rng.normal(size=2000)
    kept = np.arange(2000) % 4 != 0
    spoilt = np.where(kept, rest, 1e6)
    (found,) = joint_residuals((prediction(spoilt, np.zeros(2000), kept),))
    assert found.std == pytest.approx(1.0, rel=0.1)
    assert len(found.values) == 1500
    np.testing.assert_allclose(np.median(found.density), 2.0 * PERIOD, rtol=0.3)


def test_few_rows_have_no_spectrum():
    kept = np.arange(40) < 5
    (found,) = joint_residuals((prediction(np.ones(40), np.zeros(40), kept),))
    assert len(found.frequency) == 0
    assert np.isnan(found.autocorrelation)
    nothing = prediction(np.ones(4), np.zeros(4), np.zeros(4, bool))
    assert np.isnan(joint_residuals((nothing,))[0].std)
    (single,) = joint_residuals((prediction([2.0], [1.5]),))
    assert single.std == 0.5
    last = prediction([2.0], [1.5])
    (found,) = joint_residuals((prediction(np.ones(40), np.zeros(40)), last))
    assert found.frequency.max() == pytest.approx(20.0 / 41.0 / PERIOD)


def test_friction_is_that_of_the_robot(rng):
    robot = load_robot("scara")
    truth = load_values("scara", robot)
    result = made_up_result(robot, truth, rng)
    place = {name: i for i, name in enumerate(robot.all_parameter_names)}
    for number, friction in enumerate(joint_friction(result), 1):
        viscous, coulomb = (truth[place[f"{kind}{number}"]] for kind in ("Fv", "Fc"))
        np.testing.assert_allclose(
            friction.torque([-2.0, 3.0])[:2] - friction.values[2],
            [-2.0 * viscous - coulomb, 3.0 * viscous + coulomb],
            rtol=1e-6,
        )
        assert not friction.grouped


def test_friction_has_the_shapes_that_the_robot_file_states():
    robot = arm("stribeck_friction: {speed: 0.5, exponent: 2}")
    result = identify(robot, [moved(robot, values_of(robot, Fs2=2.0))], overrides=SETTINGS)
    assert result.friction is None
    friction = joint_friction(result, robot)[1]
    speeds = np.array([0.05, 0.2, 0.5, 1.0])
    truth = 1.5 + speeds + 2.0 * np.exp(-((speeds / 0.5) ** 2))
    error = np.abs(friction.torque(speeds) - truth)
    assert (error < 3.0 * friction.torque_std(speeds)).all()
    assert error.max() < 0.05


def test_figures_of_a_residual_are_those_of_its_rows():
    """Two recordings with other rows; both count by their rows, and rows left out do not."""
    one = prediction([3.0, 1.0, 2.0, 9.0], [1.0, 2.0, 2.0, 0.0], [True, True, True, False])
    two = prediction([-1.0, 2.0], [-2.0, 2.0])
    (found,) = joint_residuals((one, two))
    np.testing.assert_array_equal(found.values, [2.0, -1.0, 0.0, 1.0, 0.0])
    assert found.std == pytest.approx(np.sqrt(6.0 / 5.0))
    assert found.relative == pytest.approx(np.sqrt(6.0 / 19.0))
    assert (found.joint, found.unit) == ("joint_1", "N m")


def test_without_effort_there_is_no_relative_residual():
    (found,) = joint_residuals((prediction(np.zeros(20), np.ones(20)),))
    assert np.isnan(found.relative)
    (exact,) = joint_residuals((prediction(np.ones(20), np.ones(20)),))
    assert exact.relative == exact.autocorrelation == 0.0


@pytest.mark.parametrize(("rows", "enough"), [(15, False), (16, True)])
def test_a_spectrum_takes_sixteen_rows(rows, enough, rng):
    kept = np.arange(40) < rows
    (found,) = joint_residuals((prediction(rng.normal(size=40), np.zeros(40), kept),))
    assert (len(found.frequency) > 0) == enough
    assert len(found.density) == len(found.effort_density) == len(found.frequency)


@pytest.mark.parametrize(("rows", "enough"), [(16, False), (17, True)])
def test_an_autocorrelation_takes_sixteen_pairs_of_rows(rows, enough, rng):
    rest = rng.normal(size=40)
    kept = np.arange(40) < rows
    (found,) = joint_residuals((prediction(rest, np.zeros(40), kept),))
    assert np.isnan(found.autocorrelation) != enough
    if enough:
        first, second = rest[:16], rest[1:17]
        expected = first @ second / np.sqrt((first @ first) * (second @ second))
        assert found.autocorrelation == pytest.approx(expected)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_the_unit_of_an_effort_does_not_change_the_colour_of_its_residual(unit, rng):
    rest = np.convolve(rng.normal(size=200), np.ones(3))
    found = [joint_residuals((prediction(u * rest, 0.0 * rest),))[0] for u in (1.0, unit)]
    assert 0.5 < found[0].autocorrelation < 0.8
    assert found[1].autocorrelation == pytest.approx(found[0].autocorrelation)
    assert found[1].std == pytest.approx(unit * found[0].std)
    assert found[0].relative == pytest.approx(1.0)
    assert found[1].relative == pytest.approx(1.0)
    np.testing.assert_allclose(found[1].density, unit**2 * found[0].density)


def test_rows_on_either_side_of_one_left_out_are_no_neighbours():
    kept = np.ones(60, bool)
    kept[::3] = False
    rest = np.where(np.arange(60) % 3 == 1, 1.0, -1.0)
    (found,) = joint_residuals((prediction(rest, np.zeros(60), kept),))
    assert found.autocorrelation == pytest.approx(-1.0)


@pytest.mark.parametrize(("rows", "length"), [(100, 100), (256, 256), (300, 256)])
def test_transforms_are_no_longer_than_256_rows(rows, length, rng):
    (found,) = joint_residuals((prediction(rng.normal(size=rows), np.zeros(rows)),))
    assert len(found.frequency) == length // 2 + 1
    assert found.frequency[1] == pytest.approx(1.0 / (length * PERIOD))


def test_the_spectrum_holds_the_power_of_rows_left_out_too(rng):
    """Half of the rows: what they lack is given back; the effort has a spectrum of its own."""
    kept = np.arange(4096) % 2 == 0
    effort = 3.0 * rng.normal(size=4096)
    predicted = effort - rng.normal(size=4096)
    (found,) = joint_residuals((prediction(effort, predicted, kept),))
    power = trapezoid(found.density, found.frequency)
    assert power == pytest.approx(1.0, rel=0.1)
    assert trapezoid(found.effort_density, found.frequency) == pytest.approx(9.0, rel=0.1)


def friction_of(result, **changes):
    return joint_friction(replace(result, estimate=replace(result.estimate, **changes)))[0]


def test_friction_has_the_larger_standard_deviations(rng):
    robot = load_robot("scara")
    result = made_up_result(robot, load_values("scara", robot), rng, noise=0.1)
    std = np.linspace(1.0, 2.0, len(result.estimate.std))
    leading = result.regrouping.leading
    for robust, larger in ((None, std), (0.5 * std, std), (2.0 * std, 2.0 * std)):
        friction = friction_of(result, std=std, std_robust=robust)
        v, c = larger[leading.index("Fv1")], larger[leading.index("Fc1")]
        offset = friction.std[2]
        np.testing.assert_allclose(friction.std[:2], [v, c])
        expected = np.sqrt((3.0 * v) ** 2 + c**2 + offset**2)
        np.testing.assert_allclose(friction.torque_std([-3.0, 3.0]), expected)
        assert {"Fv1", "Fc1"} <= set(friction.names)


def test_a_curve_is_that_at_the_mean_load_of_its_joint_up_to_its_largest_speed(rng):
    """Loads are told with their mean and their standard deviation."""
    robot = load_robot("scara")
    result = made_up_result(robot, load_values("scara", robot), rng)
    assert [(one.speed, one.load) for one in joint_friction(result)] == [(0.0, 0.0)] * 2
    measured = SimpleNamespace(
        speeds=np.array([1.0, 2.0]), loads=np.array([[3.0, 30.0], [4.0, 40.0]])
    )
    chosen = replace(result, friction=SimpleNamespace(joints=({}, {}), measured=measured))
    assert [(one.speed, one.load) for one in joint_friction(chosen)] == [(1.0, 3.0), (2.0, 4.0)]


def test_a_joint_without_friction_has_no_curve_and_grouped_friction_is_told(rng):
    robot = load_robot("scara")
    result = made_up_result(robot, load_values("scara", robot), rng)
    names = tuple(
        name.replace("Fv2", "x").replace("Fc2", "y") for name in result.regrouping.leading
    )
    bare = replace(result, regrouping=replace(result.regrouping, leading=names))
    found = joint_friction(bare)
    assert found[0] is not None
    assert found[1] is None
    regrouping = result.regrouping
    beta = np.zeros_like(regrouping.beta) if regrouping.regrouped else np.zeros((len(names), 0))
    beta = np.column_stack([beta, np.zeros(len(names))])
    beta[regrouping.leading.index("Fv1"), -1] = 1.0
    joined = replace(
        regrouping,
        standard_names=(*regrouping.standard_names, "extra"),
        regrouped=(*regrouping.regrouped, "extra"),
        beta=beta,
    )
    first, second = joint_friction(replace(result, regrouping=joined))
    assert first.grouped
    assert not second.grouped
