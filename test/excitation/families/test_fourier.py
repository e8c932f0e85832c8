"""Plans of Fourier series: certified as others are, and of one search with them."""

from dataclasses import replace

import numpy as np
import pytest

from made_up_cells import collisions
from robot_identification.errors import SettingError
from robot_identification.excitation.certification.certificate import certify
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.families.fourier_settings import FourierSettings
from robot_identification.excitation.motions.approach import slowed
from robot_identification.excitation.plan import plan
from robot_identification.excitation.plan_settings import PlanSettings
from robot_identification.excitation.search.points import PointSettings
from robot_identification.excitation.simulated_recording import (
    SimulationSettings,
    simulated_recording,
)
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values

ROBOT = load_robot("three_dof")
SERIES = FourierSettings(base_frequency=0.2, harmonics=8, periods=2)
QUICK = PlanSettings(
    model="dynamic", points=PointSettings(starts=1), start=np.full(3, 0.1), fourier=SERIES
)


def with_limit(**changes):
    joints = tuple(replace(j, limits=replace(j.limits, **changes)) for j in ROBOT.joints)
    return replace(ROBOT, joints=joints)


def gentle(effort):
    """Return the robot with a limit of the effort of the joint that carries no weight.

    Its limits of jerk make it brake the more gently the slower it is.
    """
    first, *others = with_limit(jerk=60.0).joints
    joints = (replace(first, limits=replace(first.limits, effort=effort)), *others)
    return replace(ROBOT, joints=joints)


@pytest.fixture(scope="module")
def found():
    return plan(ROBOT, QUICK)


def test_a_plan_is_certified_and_reproducible(found):
    assert found.certificate.passed
    assert found.certificate.digest == plan(ROBOT, QUICK).certificate.digest
    assert found.after.condition_number < found.before.condition_number
    np.testing.assert_allclose(found.trajectory.positions[[0, -1]], 0.1)
    assert found.trajectory.duration == pytest.approx(SERIES.duration)


def test_the_plan_says_which_part_repeats(found):
    repeats = found.periodic
    assert (repeats.base_frequency, repeats.harmonics, repeats.periods) == (0.2, 8, 2)
    inside = np.linspace(repeats.begins, repeats.begins + 5.0, 200)
    first, second = (found.trajectory.sample(inside + late)[0] for late in (0.0, 5.0))
    np.testing.assert_allclose(first, second, atol=1e-9)
    assert np.ptp(first, axis=0).min() > 0.1
    assert plan(ROBOT, replace(QUICK, fourier=None, rows=5, duration=8.0)).periodic is None


def test_a_series_conditions_about_as_well_as_quintics_of_the_same_length(found):
    quintic = plan(ROBOT, replace(QUICK, fourier=None, duration=SERIES.duration))
    assert found.after.condition_number <= 1.2 * quintic.after.condition_number


def test_jerk_limits_are_kept():
    assert plan(with_limit(jerk=60.0), QUICK).certificate.results["jerk"]


def test_large_efforts_slow_the_periods_down():
    around = Surroundings(prior=load_values("three_dof", ROBOT))
    found = plan(gentle(300.0), QUICK)
    fast, slow = (
        certify(gentle(300.0), slowed(found.trajectory, speed), surroundings=around).efforts
        for speed in (1.0, 0.6)
    )
    reached, bound = fast.peaks[0].reached, slow.peaks[0].bound
    assert reached > bound
    weak = gentle((reached + bound) / 2.0)
    slow = plan(weak, QUICK, surroundings=around)
    assert slow.certificate.results["effort"]
    speed = SERIES.duration / slow.trajectory.duration
    assert speed < 1.0
    assert slow.periodic.base_frequency == pytest.approx(speed * 0.2)
    assert slow.periodic.begins == pytest.approx(SERIES.begins / speed)


def test_a_plan_keeps_clear_of_what_the_free_one_would_touch(tmp_path, found):
    pytest.importorskip("coal", reason="the package coal is not installed")
    table = "obstacles: [{name: table, box: [1.0, 1.0, 0.1], at: [0.7, 0.0, -0.45]}]\n"
    cell = Surroundings(collisions=collisions(tmp_path, table))
    assert not certify(ROBOT, found.trajectory, surroundings=cell).passed
    clear = plan(ROBOT, QUICK, surroundings=cell)
    assert clear.certificate.results["obstacles"]
    assert certify(ROBOT, clear.trajectory, surroundings=cell).clearance.kept


@pytest.mark.parametrize(
    "changes",
    [
        {"model": "energy"},
        {"rows": 20},
        {"duration": 30.0},
        {"points": PointSettings(optimizers=("powell",))},
    ],
)
def test_what_only_motions_through_points_have_is_refused(changes):
    with pytest.raises(SettingError, match="the family fourier takes"):
        replace(QUICK, **changes)


def test_a_robot_without_noise_does_the_same_in_every_period(found):
    """To a thousandth, the first period included: what the run-in stirs up has settled by then."""
    values = load_values("three_dof", ROBOT)
    samples = simulated_recording(
        ROBOT, values, found.trajectory, SimulationSettings(rate_hz=200.0)
    ).samples
    period, begins = 1000, round(200.0 * found.periodic.begins)
    first, second = (samples.effort[begins + number * period :][:period] for number in range(2))
    assert np.abs(first - second).max() < 1e-3 * np.ptp(first, axis=0).max()
    assert np.ptp(first, axis=0).min() > 0.1
