import numpy as np

from robot_identification.calibration.running_payload.knowledge import Knowledge
from robot_identification.calibration.running_payload.unknowns import KNOTS, SHAPES, Unknowns

UNKNOWNS = Unknowns(errors=3, joints=2)


def later(values, seconds):
    """Return the unknowns after some seconds in which friction changes at its rates."""
    found = values.copy()
    for joint in range(UNKNOWNS.joints):
        constant, growing = values[UNKNOWNS.rates_of(joint)]
        change = seconds * (constant + growing * np.array(KNOTS) / KNOTS[-2])
        found[UNKNOWNS.of_friction(joint)] += np.concatenate([change, -change])
    return found


def some_rows(count):
    """Return rows without what rates add to them: a joint's friction acts on that joint alone."""
    rows = np.random.default_rng(1).normal(size=(count, 2, UNKNOWNS.count + 1))
    rows[:, :, UNKNOWNS.of_rates] = 0.0
    rows[:, 0, UNKNOWNS.of_friction(1)] = rows[:, 1, UNKNOWNS.of_friction(0)] = 0.0
    return rows


def test_each_unknown_has_one_place():
    places = np.arange(UNKNOWNS.count)
    parts = [places[UNKNOWNS.payload], places[UNKNOWNS.of_parameters]]
    parts += [places[UNKNOWNS.of_friction(joint)] for joint in range(2)]
    parts += [places[UNKNOWNS.of_loads], places[UNKNOWNS.of_delays]]
    parts += [places[UNKNOWNS.rates_of(joint)] for joint in range(2)]
    np.testing.assert_array_equal(np.concatenate(parts), places)
    np.testing.assert_array_equal(places[UNKNOWNS.of_rates], np.concatenate(parts[-2:]))
    assert len(parts[2]) == SHAPES


def test_friction_under_load_and_delays_follow_the_efforts_of_the_payload():
    rng = np.random.default_rng(2)
    rows, slopes, payload = some_rows(2), rng.normal(size=(2, 2, 10)), rng.normal(size=10)
    rows[:, :, UNKNOWNS.of_loads] = rows[:, :, UNKNOWNS.of_delays] = 0.0
    for row, way in zip(rows, (1.0, -1.0), strict=True):  # all joints forwards, then backwards
        for joint in range(2):
            row[joint, UNKNOWNS.of_friction(joint)] = 0.0
            row[joint, UNKNOWNS.of_friction(joint)][2 if way > 0.0 else 7] = 1.0
    share, delay = np.array([0.05, 0.1]), np.array([0.002, -0.001])
    values = np.zeros(UNKNOWNS.count)
    values[UNKNOWNS.of_loads], values[UNKNOWNS.of_delays] = share, delay
    loaded = UNKNOWNS.loaded(rows, slopes, payload)
    efforts = rows[:, :, UNKNOWNS.payload] @ payload
    rubbing = np.array([[1.0], [-1.0]]) * np.abs(efforts) * share
    np.testing.assert_allclose(
        loaded[:, :, :-1] @ values, rubbing - (slopes @ payload) * delay, rtol=1e-12
    )


def test_rows_of_other_times_are_explained_by_friction_at_its_rates():
    values = np.random.default_rng(0).normal(size=UNKNOWNS.count)
    rows, seconds = some_rows(4), np.array([-2.0, 0.0, 0.5, 30.0])
    warmed = UNKNOWNS.warmed(rows, seconds)
    for row, filled, after in zip(rows, warmed, seconds, strict=True):
        np.testing.assert_allclose(filled[:, :-1] @ values, row[:, :-1] @ later(values, after))


def test_what_is_known_goes_on_with_friction_at_its_rates():
    prior = np.linspace(1.0, 2.0, UNKNOWNS.count)
    seconds = np.linspace(-3.0, 0.0, 40)
    rows = UNKNOWNS.warmed(some_rows(40), seconds).reshape(80, -1)
    known = Knowledge.before(prior).told(rows)
    passed = known.passed(UNKNOWNS.of_rates, UNKNOWNS.warming, 7.0)
    np.testing.assert_allclose(passed.values, later(known.values, 7.0))
    np.testing.assert_allclose(passed.R, np.triu(passed.R))
    step = np.column_stack([later(unit, 7.0) for unit in np.eye(UNKNOWNS.count)])
    before, after = (np.linalg.inv(one.R.T @ one.R) for one in (known, passed))
    np.testing.assert_allclose(after, step @ before @ step.T, atol=1e-10)
