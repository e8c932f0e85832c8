import numpy as np

from robot_identification.calibration.running_payload.knowledge import Knowledge

PRIOR = np.linspace(1.0, 3.0, 14)


def rows(count, seed=0):
    return np.random.default_rng(seed).normal(size=(count, len(PRIOR) + 1))


def solution(told, prior=PRIOR):
    """Return values and covariance by normal equations."""
    design, right = told[:, :-1], told[:, -1]
    covariance = np.linalg.inv(design.T @ design + np.diag(prior**-2.0))
    return covariance @ (design.T @ right), covariance


def covariance_of(known):
    root = np.linalg.inv(known.R)
    return root @ root.T


def test_knowledge_is_that_of_all_rows_with_the_prior():
    told = rows(40)
    known = Knowledge.before(PRIOR).told(told[:15]).told(told[15:])
    values, covariance = solution(told)
    np.testing.assert_allclose(known.values, values)
    np.testing.assert_allclose(covariance_of(known), covariance)
    np.testing.assert_allclose(known.payload_root @ known.payload_root.T, covariance[:10, :10])
    left = told[:, -1] - told[:, :-1] @ values
    np.testing.assert_allclose(known.square, left @ left + np.sum((values / PRIOR) ** 2))
    factor = known.payload_factor()
    np.testing.assert_allclose(np.linalg.solve(factor[:, :-1], factor[:, -1]), values[:10])


def test_of_a_new_payload_nothing_is_known_and_of_the_rest_as_much_as_before():
    known = Knowledge.before(PRIOR).told(rows(40))
    fresh = known.with_new_payload()
    np.testing.assert_allclose(covariance_of(fresh)[10:, 10:], covariance_of(known)[10:, 10:])
    np.testing.assert_allclose(fresh.values[10:], known.values[10:])
    np.testing.assert_allclose(fresh.values[:10], 0.0, atol=1e-12)
    np.testing.assert_allclose(covariance_of(fresh)[:10, :10], np.diag(PRIOR[:10] ** 2))


def test_what_fades_becomes_uncertain_but_no_more_than_before_any_row():
    known = Knowledge.before(PRIOR).told(rows(40))
    faded = known
    for _ in range(400):
        faded = faded.faded(0.9, 0.9)
    np.testing.assert_allclose(covariance_of(faded), np.diag(PRIOR**2), rtol=1e-6, atol=1e-6)
    once = np.diag(covariance_of(known.faded(0.5)))
    assert (once[:10] > np.diag(covariance_of(known))[:10]).all()
    # What is usual of payloads, which weighs more now, tells next to nothing of the others.
    np.testing.assert_allclose(once[10:], np.diag(covariance_of(known))[10:], rtol=0.01)


def test_unknowns_that_drift_have_so_much_more_variance():
    known = Knowledge.before(PRIOR).told(rows(40))
    directions = np.zeros((len(PRIOR), 2))
    directions[11, 0], directions[12:, 1] = 0.3, 0.2
    drifted = known.drifted(directions)
    np.testing.assert_allclose(
        covariance_of(drifted), covariance_of(known) + directions @ directions.T
    )
    np.testing.assert_allclose(drifted.values, known.values)
