"""Consistent parameters: without loss of fit where there are any, else at the least loss."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from made_up_results import made_up_result, minimum_norm
from random_robots import coupled_wrist, random_robot, random_values
from robot_identification.calibration.consistency import program as consistency
from robot_identification.calibration.consistency import semidefinite
from robot_identification.calibration.consistency.conditions import (
    CENTRE,
    FRICTION,
    LINK,
    Condition,
    conditions,
)
from robot_identification.calibration.consistency.program import (
    Problem,
    Step,
    owners,
    publish,
    with_least_loss,
    without_loss,
)
from robot_identification.calibration.consistency.scales import scales
from robot_identification.calibration.prior import Prior
from robot_identification.calibration.standard import StandardSystem
from robot_identification.errors import CalibrationError, SolverMissingError
from robot_identification.robot.bodies import pseudo_inertia

MARGIN = 1e-4  # docs/calibration.md


def problem_of(robot, values, prior, noise, seed=1):
    result = made_up_result(robot, values, np.random.default_rng(seed), noise=noise)
    system = StandardSystem.of(result)
    return Problem(
        robot=robot,
        system=system,
        prior=prior,
        scales=scales(robot, prior, result.regrouping, result.estimate.values),
        conditions=conditions(robot),
    )


@pytest.fixture(scope="module")
def robot():
    return random_robot(np.random.default_rng(21), 4)


@pytest.fixture(scope="module")
def truth(robot):
    """Parameters of links that are no needles: the first such of many robots."""
    rng = np.random.default_rng(22)
    values = [random_values(rng, robot) for _ in range(240)][-1]
    problem = problem_of(robot, values, known_prior(robot, values), 0.0)
    assert problem.eigenvalues(values[robot.standard_indices]).min() > 0.02
    return values


def known_prior(robot, values):
    names = robot.standard_names
    return Prior.given(names, values[robot.standard_indices], np.ones(len(names), dtype=bool))


def test_least_squares_under_a_matrix_inequality_is_the_known_optimum():
    # nearest positive semidefinite matrix: the negative eigenvalues become zero
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(3, 3))
    matrix = matrix + matrix.T - 2.0 * np.eye(3)
    rows, columns = np.triu_indices(3)
    linear = np.zeros((3, 3, 6))
    linear[rows, columns, np.arange(6)] = linear[columns, rows, np.arange(6)] = 1.0
    weight = np.where(rows == columns, 1.0, np.sqrt(2.0))  # the Frobenius norm
    inequality = semidefinite.Inequality(linear, np.zeros((3, 3)))
    found = semidefinite.least_squares(
        np.diag(weight), weight * matrix[rows, columns], [inequality]
    )
    values, vectors = np.linalg.eigh(matrix)
    nearest = (vectors * np.maximum(values, 0.0)) @ vectors.T
    assert values[0] < 0.0
    np.testing.assert_allclose(found, nearest[rows, columns], atol=1e-7)


def test_what_cannot_be_met_gives_nothing():
    above = semidefinite.Inequality(np.ones((1, 1, 1)), np.array([[-1.0]]))
    below = semidefinite.Inequality(-np.ones((1, 1, 1)), np.array([[0.0]]))
    assert semidefinite.least_squares(np.eye(1), np.zeros(1), [above, below]) is None


def test_a_missing_solver_is_named_with_advice(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(SolverMissingError, match="pip install clarabel"):
        semidefinite.least_squares(np.eye(1), np.zeros(1), [])


def test_repair_keeps_the_torque_and_comes_to_the_truth_from_a_true_prior(robot, truth):
    problem = problem_of(robot, truth, known_prior(robot, truth), noise=0.0)
    start = minimum_norm(problem.system)
    assert problem.eigenvalues(start).min() < 0.0
    found = without_loss(problem, start)
    np.testing.assert_allclose(found, truth[robot.standard_indices], atol=1e-6)
    torque = problem.system.matrix @ found
    np.testing.assert_allclose(torque, problem.system.matrix @ start, atol=1e-6)


def test_repair_from_a_wrong_prior_is_consistent_with_the_margin(robot, truth):
    wrong = truth * np.random.default_rng(23).uniform(-1.0, 3.0, size=len(truth))
    problem = problem_of(robot, truth, known_prior(robot, wrong), noise=0.0)
    start = minimum_norm(problem.system)
    found = without_loss(problem, start)
    assert problem.eigenvalues(found).min() > 0.99 * MARGIN
    np.testing.assert_allclose(
        problem.system.projection @ found, problem.system.projection @ start, atol=1e-7
    )


def test_repair_leaves_what_is_a_base_parameter_by_itself_exactly_as_it_is(robot, truth):
    """Such as an offset that the essential space has removed: its zero stays one."""
    wrong = truth * np.random.default_rng(23).uniform(-1.0, 3.0, size=len(truth))
    problem = problem_of(robot, truth, known_prior(robot, wrong), noise=0.0)
    start = minimum_norm(problem.system).copy()
    offsets = [i for i, name in enumerate(robot.standard_names) if name.startswith("off")]
    frictions = [i for i, name in enumerate(robot.standard_names) if name.startswith("Fv")]
    start[offsets] = 0.0
    found = without_loss(problem, start)
    np.testing.assert_array_equal(found[offsets], 0.0)
    np.testing.assert_array_equal(found[frictions], start[frictions])
    assert len(offsets) == len(frictions) == 4


def test_repair_gives_up_where_the_torque_itself_is_impossible(robot, truth):
    impossible = truth.copy()
    impossible[[10, 24, 38, 52]] = -50.0  # drives with negative inertia
    problem = problem_of(robot, impossible, known_prior(robot, truth), noise=0.0)
    assert without_loss(problem, minimum_norm(problem.system)) is None


def test_the_program_finds_what_repair_finds_where_nothing_is_lost(robot, truth):
    problem = problem_of(robot, truth, known_prior(robot, truth), noise=0.0)
    start = minimum_norm(problem.system)
    found = with_least_loss(problem, start)
    np.testing.assert_allclose(found, truth[robot.standard_indices], atol=1e-4)


def test_the_program_loses_less_than_any_other_way(robot, truth):
    """No consistent set nearby explains the torque better, at its distance to the prior."""
    impossible = truth.copy()
    impossible[[10, 24]] = -20.0
    problem = problem_of(robot, impossible, known_prior(robot, truth), noise=0.05)
    system, sizes = problem.system, problem.sizes
    found = with_least_loss(problem, minimum_norm(system))
    assert problem.eigenvalues(found).min() > 0.99 * MARGIN
    assert problem.active(found, MARGIN)
    weight, target = problem.distance_rows()

    def cost(values):
        loss = (system.matrix @ values - system.right) / problem.noise
        return loss @ loss + np.sum((weight * (values / sizes - target)) ** 2)

    rng = np.random.default_rng(24)
    others = [random_values(rng, robot)[robot.standard_indices] for _ in range(100)]
    others = [values for values in others if problem.eigenvalues(values).min() > MARGIN]
    assert len(others) > 20
    for other in others:  # on the way to any other consistent set the cost rises
        for step in (1e-4, 1e-2, 1.0):
            assert cost(found + step * (other - found)) >= cost(found) * (1.0 - 1e-9)


def test_conditions_of_couplings_are_those_of_the_rotors():
    robot = random_robot(np.random.default_rng(25), 2, coupled_wrist())
    names = robot.all_parameter_names
    values = np.zeros(len(names))
    values[names.index("Ia1")], values[names.index("Ia2")] = 5.0, 3.0
    values[names.index("Fv1")], values[names.index("Fv2")] = 0.7, 0.4
    values[names.index("Fvm2")], values[names.index("Fcm2")] = 0.2, 0.1
    found = {(c.kind, c.owner): c.matrix(values).tolist() for c in conditions(robot)}
    assert found["drive inertia", "joint_1, joint_2"] == [[5.0, 3.0], [3.0, 3.0]]
    assert found["viscous friction", "joint_1, joint_2"] == [[0.7, 0.2], [0.2, 0.4]]
    assert found["Coulomb friction", "joint_1, joint_2"] == [[0.1]]


@pytest.fixture(scope="module")
def sound(robot, truth):
    """The problem of a robot whose parameters are consistent, and known before."""
    return problem_of(robot, truth, known_prior(robot, truth), noise=0.0)


def test_the_noise_is_that_of_the_residual_per_degree_of_freedom(sound):
    base = len(sound.system.right)
    system = replace(sound.system, rest=6.0, rows=base + 9)
    assert replace(sound, system=system).noise == pytest.approx(2.0)
    for rows in (base, base + 1, base - 5):
        few = replace(sound, system=replace(system, rows=rows))
        assert few.noise == pytest.approx(6.0), "at least one degree of freedom"
    exact = replace(sound, system=replace(system, rest=0.0))
    assert exact.noise == pytest.approx(1e-5 * np.linalg.norm(system.right) / 3.0)
    silent = replace(system, rest=0.0, right=np.zeros(base))
    assert 0.0 < replace(sound, system=silent).noise < 1e-300


def test_eigenvalues_are_those_of_matrices_in_the_size_of_the_link(sound, robot, truth):
    found = sound.eigenvalues(truth[robot.standard_indices])
    for link in range(len(robot.joints)):
        mass, length = sound.scales.mass[link], sound.scales.length[link]
        unit = np.sqrt(mass) * np.array([length, length, length, 1.0])
        matrix = pseudo_inertia(truth[robot.layout.link(link)]) / np.outer(unit, unit)
        assert found[link] == pytest.approx(np.linalg.eigvalsh(matrix)[0])


def test_inequalities_say_what_the_conditions_say_less_the_margin(sound, robot, truth):
    rng = np.random.default_rng(5)
    offset = truth[robot.standard_indices]
    basis, y = rng.normal(size=(len(offset), 3)), rng.normal(size=3)
    found = sound.inequalities(offset, basis, 0.25)
    smallest = [np.linalg.eigvalsh(one.linear @ y + one.constant)[0] for one in found]
    np.testing.assert_allclose(smallest, sound.eigenvalues(offset + basis @ y) - 0.25)


def test_what_is_held_beside_a_link_is_taken_from_it(sound, robot, truth):
    """Half of a link is held: its other half has half of the smallest eigenvalue."""
    values, whole = truth[robot.standard_indices], sound.conditions[0]
    held = 0.5 * pseudo_inertia(truth[robot.layout.link(0)])
    only = replace(sound, conditions=(replace(whole, constant=-held),))
    (smallest,) = only.eigenvalues(values)
    assert smallest == pytest.approx(0.5 * sound.eigenvalues(values)[0])
    (demand,) = only.inequalities(values, np.zeros((len(values), 1)), 0.25)
    assert np.linalg.eigvalsh(demand.constant)[0] == pytest.approx(smallest - 0.25)


def test_every_entry_of_a_diagonal_condition_is_an_inequality_of_its_own(sound, robot, truth):
    rows = np.abs(np.random.default_rng(6).normal(size=(3, len(truth))))
    basis = np.zeros((3, 3, len(truth)))
    basis[np.arange(3), np.arange(3)] = rows
    friction = Condition("joint", FRICTION, basis, False, (0,), True)
    values = truth[robot.standard_indices]
    only = replace(sound, conditions=(friction,))
    found = only.inequalities(values, np.zeros((len(values), 1)), 0.25)
    assert [one.linear.shape for one in found] == [(1, 1, 1)] * 3
    assert [one.constant.shape for one in found] == [(1, 1)] * 3
    smallest = min(float(one.constant[0, 0]) for one in found)
    assert smallest == pytest.approx(only.eigenvalues(values)[0] - 0.25)


def test_conditions_hold_a_solution_back_up_to_one_and_a_half_margins(sound, robot, truth):
    values = truth[robot.standard_indices]
    eigenvalues = sound.eigenvalues(values)
    middle = np.sort(eigenvalues)[2]
    for more, count in ((1.0 + 1e-9, 3), (1.0 - 1e-9, 2)):
        active = sound.active(values, middle / 1.5 * more)
        assert len(active) == count
    assert sound.active(values, 1e-9) == ()


def test_a_condition_at_one_and_a_half_margins_holds_a_solution_back():
    some = SimpleNamespace(
        eigenvalues=lambda _: np.array([3.0, 2.9, 3.1]), conditions=("a", "b", "c")
    )
    assert Problem.active(some, np.zeros(1), 2.0) == ("a", "b")
    few = SimpleNamespace(eigenvalues=some.eigenvalues, conditions=("a", "b"))
    with pytest.raises(ValueError, match="zip"):
        Problem.active(few, np.zeros(1), 2.0)


def test_unknown_parameters_are_tied_weakly_to_a_nominal_machine(sound, robot, truth):
    known = np.arange(len(sound.sizes)) % 2 == 0
    prior = replace(sound.prior, known=known)
    weight, target = replace(sound, prior=prior).distance_rows()
    np.testing.assert_array_equal(weight, np.where(known, 1.0, 0.1))
    nominal = sound.scales.nominal[robot.standard_indices]
    expected = np.where(known, truth[robot.standard_indices], nominal)
    np.testing.assert_allclose(target * sound.sizes, expected)


def test_owners_are_named_once_by_kind(sound):
    links = [c for c in sound.conditions if c.kind == LINK]
    drives = [c for c in sound.conditions if c.kind not in (LINK, CENTRE)]
    some = [links[1], *drives[:1], links[0], links[1]]
    assert owners(some, LINK) == (links[1].owner, links[0].owner)
    assert owners(some, LINK, drives[0].kind) == (links[1].owner, drives[0].owner, links[0].owner)
    assert owners(some, CENTRE) == ()


def near(sound, robot, truth, seed):
    """Return a problem with a prior some thousandths off a sound robot, and that prior."""
    rng = np.random.default_rng(seed)
    values = truth + 1e-3 * sound.scales.parameters * rng.normal(size=len(truth))
    return replace(sound, prior=known_prior(robot, values)), values[robot.standard_indices]


def test_repair_goes_where_the_prior_is_nearest_among_the_same_torques(sound, robot, truth):
    """Where no condition holds it back: the projection of the prior, in the sizes of the links."""
    problem, prior = near(sound, robot, truth, 31)
    start = minimum_norm(sound.system)
    scaled = sound.system.projection * sound.sizes
    there = (prior - start) / sound.sizes
    expected = start + sound.sizes * (there - np.linalg.pinv(scaled) @ (scaled @ there))
    np.testing.assert_allclose(without_loss(problem, start), expected, atol=1e-5)
    unknown = replace(problem, prior=replace(problem.prior, known=np.zeros(len(prior), bool)))
    nominal = sound.scales.nominal[robot.standard_indices]
    there = (nominal - start) / sound.sizes
    expected = start + sound.sizes * (there - np.linalg.pinv(scaled) @ (scaled @ there))
    if problem.eigenvalues(expected).min() > MARGIN:
        np.testing.assert_allclose(without_loss(unknown, start), expected, atol=1e-5)


def test_repair_is_tied_less_to_what_no_prior_tells(sound, robot, truth):
    """Two moments, tied a tenth as much, to a nominal machine; by Lagrange's multipliers."""
    problem, prior = near(sound, robot, truth, 31)
    known = np.array([name not in ("XX3", "MZ3") for name in robot.standard_names])
    nominal = sound.scales.nominal[robot.standard_indices]
    start, sizes = minimum_norm(sound.system), sound.sizes
    torque, weight = sound.system.projection * sizes, np.where(known, 1.0, 0.1) ** 2
    wanted, count = np.where(known, prior, nominal) / sizes, len(torque)
    system = np.block([[np.diag(weight), torque.T], [torque, np.zeros((count, count))]])
    told = np.concatenate([weight * wanted, torque @ (start / sizes)])
    expected = sizes * np.linalg.solve(system, told)[: len(sizes)]
    assert problem.eigenvalues(expected).min() > MARGIN, "no condition holds it back"
    unknown = replace(problem, prior=replace(problem.prior, known=known))
    np.testing.assert_allclose(without_loss(unknown, start), expected, atol=1e-5)


def test_where_every_parameter_is_identified_there_is_nothing_to_repair(sound, robot, truth):
    count = len(sound.sizes)
    system = replace(
        sound.system, factor=np.eye(count), projection=np.eye(count), right=np.ones(count)
    )
    for values in (np.ones(count), truth[robot.standard_indices]):
        assert without_loss(replace(sound, system=system), values) is None


@pytest.mark.parametrize(("asked", "softness"), [({}, 1.0), ({"softness": 10.0}, 10.0)])
def test_the_program_weighs_torque_against_the_prior_by_the_noise(
    sound, robot, truth, asked, softness
):
    """Where no condition holds it back: regularised least squares."""
    problem, prior = near(sound, robot, truth, 32)
    system = replace(problem.system, rest=0.02 * np.linalg.norm(problem.system.right))
    problem, start = replace(problem, system=system), truth[robot.standard_indices]
    w = system.matrix * problem.sizes / (softness * problem.noise)
    normal = w.T @ w + np.eye(len(prior))
    expected = np.linalg.solve(normal, w.T @ (w @ (start / problem.sizes)) + prior / problem.sizes)
    found = with_least_loss(problem, start, **asked)
    np.testing.assert_allclose(found / problem.sizes, expected, atol=1e-5)


def broken(robot, truth):
    """Return parameters of the model with a link that cannot exist."""
    values = truth.copy()
    values[robot.layout.link(1)] *= -1.0
    return values[robot.standard_indices]


def test_what_is_consistent_or_need_not_be_is_published_as_it_is(sound, robot, truth):
    free = truth[robot.standard_indices]
    for values, asked in ((free, True), (free, False), (broken(robot, truth), False)):
        found = publish(sound, values, consistent=asked)
        assert found.step is Step.NEAREST
        assert found.active == ()
        np.testing.assert_allclose(found.values[robot.standard_indices], values, rtol=1e-9)
        assert found.checks.consistent == (values is free)


def test_what_is_published_is_a_body_also_without_what_is_held(sound, robot, truth, monkeypatch):
    """Twice as heavy a link has half of it held; of the link as it is nothing would be left."""
    held = {"joint_2": truth[robot.layout.link(1)]}
    problem = replace(sound, robot=replace(robot, held=held))
    heavy = truth.copy()
    heavy[robot.layout.link(1)] *= 2.0
    heavy, light = heavy[robot.standard_indices], 0.5 * truth[robot.standard_indices]
    free = publish(problem, light, consistent=False)
    assert [link.apart for link in free.checks.links] == [None, False, None, None]
    attempts = iter([light, heavy])
    monkeypatch.setattr(consistency, "without_loss", lambda *_: next(attempts))
    found = publish(problem, light, consistent=True)
    assert [link.apart for link in found.checks.links] == [None, True, None, None]
    np.testing.assert_allclose(found.values[robot.standard_indices], heavy, rtol=1e-9)


def test_published_values_have_ten_digits(sound, robot, truth):
    found = publish(sound, truth[robot.standard_indices] / 3.0, consistent=False).values
    for value, exact in zip(found, truth / 3.0, strict=True):
        assert value == float(f"{exact:.9e}")


@pytest.mark.parametrize("good", range(7))
def test_consistent_parameters_are_sought_by_repair_first(sound, robot, truth, good, monkeypatch):
    """With ever more margin and less weight on the torque; the first that pass are published."""
    tried = []

    def attempt(step, margin, softness):
        tried.append((step, pytest.approx(margin), softness))
        if len(tried) > good:
            return truth[robot.standard_indices]
        return None if len(tried) % 2 else broken(robot, truth)

    monkeypatch.setattr(
        consistency, "without_loss", lambda _p, _v, margin: attempt(Step.REPAIRED, margin, 1.0)
    )
    monkeypatch.setattr(
        consistency,
        "with_least_loss",
        lambda _p, _v, margin, softness: attempt(Step.SEMIDEFINITE, margin, softness),
    )
    expected = [
        (Step.REPAIRED, 1e-3, 1.0), (Step.REPAIRED, 1e-5, 1.0), (Step.SEMIDEFINITE, 1e-4, 1.0),
        (Step.SEMIDEFINITE, 3e-4, 10.0), (Step.SEMIDEFINITE, 1e-3, 100.0),
        (Step.SEMIDEFINITE, 1e-3, 1e4),
    ]  # fmt: skip
    if good == 6:
        with pytest.raises(CalibrationError, match="link"):
            publish(sound, broken(robot, truth), consistent=True)
        assert tried == expected
        return
    found = publish(sound, broken(robot, truth), consistent=True)
    assert tried == expected[: good + 1]
    assert found.step is expected[good][0]
    assert found.checks.consistent
    np.testing.assert_allclose(found.values, truth, rtol=1e-9)
    assert found.active == sound.active(truth[robot.standard_indices], expected[good][1])
