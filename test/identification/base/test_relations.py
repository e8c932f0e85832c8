"""Grouping relations read as those of the papers."""

import json
import re

import numpy as np
import pytest

from engines import example
from random_tables import random_table_robot, table_robot
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.base.polynomials import Polynomial, recognised
from robot_identification.identification.base.relations import name_latex, relations
from robot_identification.identification.base.report import base_report
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.urdf.robot import read_urdf

# Gautier 1991, Table V; the order of the terms is that of the standard parameters.
TABLE_V = """\
ZZ1R = ZZ1 + Ia1 + YY2 + YY3 + 2 R3 MZ3 + (D3^2 + R3^2) M3 + (D3^2 + D4^2 + R3^2) (M4 + M5 + M6)
XX2R = XX2 - YY2 - D3^2 (M3 + M4 + M5 + M6)
XZ2R = XZ2 - D3 MZ3 - D3 R3 (M3 + M4 + M5 + M6)
ZZ2R = ZZ2 + Ia2 + D3^2 (M3 + M4 + M5 + M6)
MX2R = MX2 + D3 (M3 + M4 + M5 + M6)
XX3R = XX3 - YY3 + YY4 + 2 R4 MZ4 + (R4^2 - D4^2) (M4 + M5 + M6)
XY3R = XY3 - D4 MZ4 - D4 R4 (M4 + M5 + M6)
ZZ3R = ZZ3 + YY4 + 2 R4 MZ4 + (D4^2 + R4^2) (M4 + M5 + M6)
MX3R = MX3 + D4 (M4 + M5 + M6)
MY3R = MY3 + MZ4 + R4 (M4 + M5 + M6)
XX4R = XX4 - YY4 + YY5
ZZ4R = ZZ4 + YY5
MY4R = MY4 - MZ5
XX5R = XX5 - YY5 + YY6
ZZ5R = ZZ5 + YY6
MY5R = MY5 + MZ6
XX6R = XX6 - YY6"""


@pytest.fixture(scope="module")
def puma():
    return base_report(base_parameters(load_robot("puma560")))


def test_table_v_in_symbols(puma):
    assert [r.symbols() for r in puma.relations if r.terms] == TABLE_V.splitlines()


def test_the_first_relation_in_numbers(puma):
    assert puma.relations[0].text() == (
        "ZZ1R = ZZ1 + Ia1 + YY2 + YY3 + 0.4 MZ3 + 0.29 M3 + 0.2904 M4 + 0.2904 M5 + 0.2904 M6"
    )
    assert puma.rows()[0][:2] == ("ZZ1R", puma.relations[0].text())


def test_latex(puma):
    lines = puma.latex.splitlines()
    assert lines[0] == "\\begin{align*}"
    assert lines[-1] == "\\end{align*}"
    assert len(lines) == 19
    assert (
        lines[3]
        == "XZ_{2R} &= XZ_{2} - D_{3} MZ_{3} - D_{3} R_{3} (M_{3} + M_{4} + M_{5} + M_{6}) \\\\"
    )
    assert name_latex("Ia2") == "\\mathit{Ia}_{2}"
    assert name_latex("Fcm6") == "\\mathit{Fcm}_{6}"
    assert puma.latex.count("{") == puma.latex.count("}")


def test_json_has_the_documented_keys(puma):
    plain = json.loads(json.dumps(puma.to_json()))
    assert len(plain["standard"]) == 66
    assert len(plain["unaffecting"]) == 11
    assert len(plain["regrouped"]) == 15
    assert len(plain["unchanged"]) == 23
    assert plain["rank"] == len(plain["base"]) == 40
    assert plain["gap"] > 1e12
    first = plain["base"][0]
    assert first["name"] == "ZZ1R"
    assert first["leading"] == "ZZ1"
    assert first["grouping"]["M4"] == 0.2904
    assert first["expressions"]["MZ3"] == "2 R3"


@pytest.mark.parametrize("seed", range(40))
def test_every_text_says_the_coefficient(seed):
    robot = random_table_robot(np.random.default_rng(seed))
    base = base_parameters(robot)
    for relation in relations(base):
        text = relation.text().split(" = ")[1]
        found = {}
        for sign, number, name in re.findall(
            r"([-+]?) ?((?:\d[\d.]*(?:e-\d+)?)?) ?\b([A-Za-z]+\d+)\b", text
        ):
            found[name] = float(f"{sign}{number or 1}")
        grouping = base.groupings[base.leading_names.index(relation.leading)]
        assert found == pytest.approx(dict(grouping), rel=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_the_grouping_rules_give_every_coefficient_in_symbols(seed):
    robot = random_table_robot(np.random.default_rng(seed), prismatic=0.0)
    base = base_parameters(robot)
    if base.remainder:
        pytest.skip("needs the numerical method")
    assert all(term.expression is not None for r in relations(base) for term in r.terms)


def test_oblique_axes_show_sines_and_cosines():
    table = [{}, {"alpha": 0.5, "d": 0.3}, {"alpha": 0.7, "d": 0.2, "r": 0.1}]
    named = {r.leading: r for r in relations(base_parameters(table_robot(table)))}
    assert named["ZZ1"].symbols().startswith("ZZ1R = ZZ1 + Ia1 + sin(alpha2)^2 YY2")
    assert "\\sin^{2}\\alpha_{2}" in named["ZZ1"].latex()


def test_polynomials():
    d, r = Polynomial.symbol("D3"), Polynomial.symbol("R3")
    s, c = Polynomial.symbol("sin(alpha2)"), Polynomial.symbol("cos(alpha2)")
    assert ((d + r) * (d - r)).text() == "D3^2 - R3^2"
    assert (s * s + c * c).text() == "1"
    assert (s * s * d).text() == "D3 sin(alpha2)^2"
    assert (2 * d - 1.0).text() == "2 D3 - 1"
    assert (1.0 - d - d * r).text() == "1 - D3 R3 - D3"
    assert Polynomial({}).text() == "0"
    assert not (d - d)
    assert (3 * d * r).value({"D3": 0.5, "R3": 0.2}) == pytest.approx(0.3)
    assert Polynomial.ratio("D5", "D4").text() == "D5/D4"
    assert Polynomial.ratio("D5", "D4").latex() == "\\frac{D_{5}}{D_{4}}"


def test_numbers_are_recognised():
    symbols = {"D3": 0.31, "R4": 0.57}
    known = {0.31: "D3", -0.62: "-2 D3", 0.31**2: "D3^2", 0.57 * 0.31: "D3 R4", 1.5: "1.5"}
    for value, text in known.items():
        assert recognised(value, symbols, 1e-9).text() == text
    assert recognised(0.57 / 0.31, symbols, 1e-9).text() == "R4/D3"
    assert recognised(0.1234567, symbols, 1e-9) is None


def test_lengths_that_cancel_leave_nothing_of_rounding():
    """The elbow of the Panda goes 82.5 mm out and back again."""
    panda = read_urdf(
        example("panda_description/urdf/panda.urdf"), fixed={"panda_finger_joint1": 0.0}
    )
    terms = [term for found in relations(base_parameters(panda.robot)) for term in found.terms]
    assert min(abs(term.coefficient) for term in terms) > 1e-3
