"""Base parameters of the robots of the papers, to the printed digits."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from friction_arm import arm
from robot_identification.errors import SettingError, ShapeError
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.base.report import base_report
from robot_identification.robot.couplings import Coupling
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.terms.joint_terms import TERMS
from robot_identification.robot.terms.kinds import TermKind

REFERENCE = Path(__file__).resolve().parents[2] / "reference"
WAYS = [
    (model, method) for model in ("dynamic", "simplified", "energy") for method in ("qr", "svd")
]


def reference(name):
    return yaml.safe_load((REFERENCE / f"{name}.yaml").read_text())


def standard_values(base, named):
    return np.array([named.get(name, 0.0) for name in base.standard_names])


@pytest.fixture(scope="module", params=WAYS, ids="-".join)
def puma(request):
    return base_parameters(load_robot("puma560"), *request.param)


def test_puma_has_the_counts_and_names_of_the_paper(puma):
    facts = reference("puma560")
    names = puma.standard_names
    assert puma.rank == facts["counts"]["base"] == 40
    assert [names[i] for i in puma.unaffecting] == facts["unaffecting"]
    assert [names[i] for i in puma.regrouped] == facts["regrouped"]
    assert len(names) == facts["counts"]["standard"]
    assert not puma.ambiguous
    assert not puma.scaled
    assert puma.gap > 1e12


def test_puma_has_every_coefficient_of_tables_iv_and_v(puma):
    facts = reference("puma560")["regrouping"]
    for leading, grouping in zip(puma.leading_names, puma.groupings, strict=True):
        expected = {leading: 1.0, **facts.get(leading, {})}
        assert grouping == pytest.approx(expected, rel=1e-15)


def test_both_factorisations_alone_give_every_coefficient(puma):
    facts = reference("puma560")["regrouping"]
    names = puma.standard_names
    for choice in (puma.factorisation.qr, puma.factorisation.svd):
        expected = [
            [facts.get(names[i], {}).get(names[k], 0.0) for k in choice.dependent]
            for i in choice.independent
        ]
        np.testing.assert_allclose(choice.beta, expected, atol=1e-12)


def test_puma_has_the_values_of_table_iii(puma):
    facts = reference("puma560")
    values = puma.values(standard_values(puma, facts["standard_values"]))
    found = dict(zip(puma.leading_names, values, strict=True))
    assert found == pytest.approx(facts["base_values"], abs=5e-5)


def independent_of_all_others(base):
    """Return the parameters whose rows of V2, the basis of the null space, are zero."""
    null_space = base.factorisation.null_space
    contained = np.setdiff1d(np.arange(len(base.columns)), base.appended)
    places = contained[base.factorisation.affecting]
    return {base.standard_names[i] for i in places[np.abs(null_space).max(axis=1) <= 1e-9]}


def test_seventeen_parameters_of_puma_change_and_twenty_three_do_not(puma):
    report = base_report(puma)
    assert set(report.unchanged_by_beta) == independent_of_all_others(puma)
    assert len(report.unchanged_by_beta) == 23
    assert sum(bool(relation.terms) for relation in report.relations) == 17


def test_stacked_energies_of_a_raised_puma_give_one_parameter_too_many():
    """Stacked energies can tell a constant from zero; their differences cannot."""
    from robot_identification.dynamics.energy import EnergyRegressor
    from robot_identification.identification.base.factorisation import factorise

    robot = load_robot("puma560")
    joints = list(robot.joints)
    joints[0] = type(joints[0])(
        **{**vars(joints[0]), "translation": [0, 0, 0.66], "geometry": None}
    )
    joints[1] = type(joints[1])(
        **{**vars(joints[1]), "translation": [0, 0, 0.66], "geometry": None}
    )
    lifted = type(robot)(robot.name, robot.base_link, tuple(joints), robot.gravity)
    rng = np.random.default_rng(0)
    q, qd = rng.uniform(-3, 3, size=(2, 300, 6))
    stacked = EnergyRegressor(lifted).dense(q, qd)
    moving = np.ptp(stacked, axis=0) > 1e-9
    assert factorise(stacked[:, moving]).rank == 41
    assert base_parameters(lifted, "energy").rank == base_parameters(lifted).rank == 40


@pytest.mark.parametrize(("model", "method"), WAYS)
def test_the_first_three_joints_of_puma_have_fifteen(model, method):
    facts = reference("three_dof")
    base = base_parameters(load_robot("three_dof"), model, method)
    assert list(base.leading_names) == facts["base"]
    named = reference("puma560")["standard_values"]
    arm = {k: v for k, v in named.items() if k[-1] in "123" and not k.startswith("Ia")}
    own = base.values(standard_values(base, arm))
    # The paper keeps the values of the whole robot, whose wrist and drives are grouped in too.
    whole = base_parameters(load_robot("puma560"))
    values = dict(
        zip(whole.leading_names, whole.values(standard_values(whole, named)), strict=True)
    )
    assert [values[n] for n in facts["base"]] == pytest.approx(facts["base_values"], abs=5e-5)
    assert own[base.leading_names.index("YZ2")] == 0.65


@pytest.mark.parametrize(("model", "method"), WAYS)
def test_stanford_has_thirty_three(model, method):
    facts = reference("stanford")
    base = base_parameters(load_robot("stanford"), model, method)
    assert base.rank == facts["minimal_set_size"]
    per_link = {j: sum(name.endswith(str(j)) for name in base.leading_names) for j in range(1, 7)}
    assert per_link == {1: 1, 2: 7, 3: 4, 4: 7, 5: 7, 6: 7}


@pytest.mark.parametrize(("model", "method"), WAYS)
def test_scara_has_eight_and_nine_with_a_rotor_of_its_own(model, method):
    robot = load_robot("scara")
    base = base_parameters(robot, model, method)
    assert list(base.names) == ["ZZ1R", "Fv1", "Fc1", "ZZ2", "MX2", "MY2", "Fv2", "Fc2"]
    assert base.groupings[0] == {"ZZ1": 1.0, "Ia1": 1.0, "M2": 0.25}
    first, second = robot.joints
    separate = type(second)(**{**vars(second), "terms": second.terms | {"Ia"}})
    other = type(robot)(robot.name, robot.base_link, (first, separate), robot.gravity)
    assert base_parameters(other, model, method).rank == 9


@pytest.mark.parametrize(("model", "method"), WAYS)
def test_tx40_has_sixty_and_sixty_one_with_a_coupling_inertia_of_its_own(model, method):
    facts = reference("tx40")["counts"]
    robot = load_robot("tx40")
    base = base_parameters(robot, model, method)
    assert len(base.standard_names) == facts["standard"]
    assert base.rank == facts["base_structural"]
    assert len(base.unaffecting) == 11
    own = tuple(
        Coupling("Iam6", TermKind.INERTIA, coupling.terms)
        if coupling.parameter == "Ia6"
        else coupling
        for coupling in robot.couplings
    )
    separate = type(robot)(robot.name, robot.base_link, robot.joints, robot.gravity, own)
    assert base_parameters(separate, model, method).rank == facts["base_stated"]


def test_what_a_model_does_not_contain_is_appended_and_marked():
    robot = load_robot("scara")
    dynamic, simplified = (base_parameters(robot, model) for model in ("dynamic", "simplified"))
    assert len(dynamic.appended) == 0
    marked = [simplified.standard_names[i] for i in simplified.appended]
    assert marked == ["Fv1", "Fc1", "Fv2", "Fc2"]
    assert set(simplified.appended) <= set(simplified.base)
    ur10 = load_robot("ur10")
    energy, still = (base_parameters(ur10, model) for model in ("energy", "simplified"))
    assert {f"off{j}" for j in range(1, 7)} <= {energy.standard_names[i] for i in energy.appended}
    assert not [i for i in still.appended if still.standard_names[i].startswith("off")]
    entries = {entry["name"]: entry for entry in base_report(energy).to_json()["base"]}
    assert entries["off3"]["appended"]
    assert not entries["ZZ3R"]["appended"]


def test_friction_of_every_kind_is_a_base_parameter_by_every_model():
    robot, every = arm(), frozenset(term.name for term in TERMS)
    robot = replace(robot, joints=tuple(replace(joint, terms=every) for joint in robot.joints))
    friction = {f"{term.name}{k}" for term in TERMS if term.dissipates for k in (1, 2)}
    dynamic, simplified, energy = (
        base_parameters(robot, model) for model in ("dynamic", "simplified", "energy")
    )
    assert friction <= set(dynamic.names)
    assert set(dynamic.names) == set(simplified.names) == set(energy.names)
    assert {simplified.standard_names[i] for i in simplified.appended} == friction


@pytest.mark.parametrize("speed", [1e-5, 0.002, 0.1])
def test_friction_that_changes_near_standstill_only_is_a_base_parameter(speed):
    """As an estimate of its speed may say; it is told where the joints are slow."""
    robot, every = arm(), frozenset(term.name for term in TERMS)
    shapes = {"Fs": (speed, 1.0), "Ft": (2.0 * speed,)}
    joints = [replace(joint, terms=every, shapes=shapes) for joint in robot.joints]
    base = base_parameters(replace(robot, joints=tuple(joints)))
    assert {"Fc1", "Fs1", "Ft1", "Fc2", "Fs2", "Ft2"} <= set(base.names)
    assert not base.warnings


def test_the_scale_of_the_three_models_stands_side_by_side():
    spread = base_report(base_parameters(load_robot("puma560"))).spread
    assert spread["simplified"] < spread["dynamic"] < spread["energy"]


def test_the_same_question_has_the_same_answer():
    first, second = (base_parameters(load_robot("puma560")) for _ in range(2))
    np.testing.assert_array_equal(first.beta, second.beta)
    np.testing.assert_array_equal(first.singular_values, second.singular_values)


def test_unknown_models_and_methods_are_refused():
    robot = load_robot("scara")
    with pytest.raises(SettingError, match="must be one of dynamic, simplified, energy"):
        base_parameters(robot, "static")
    with pytest.raises(SettingError, match="must be one of qr, svd"):
        base_parameters(robot, method="lu")
    with pytest.raises(ShapeError):
        base_parameters(robot).values([1.0])
