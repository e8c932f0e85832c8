"""The command base-parameters: what can be told, and how the rest is grouped."""

import json
import re

import pytest

from robot_identification.cli.main import main
from robot_identification.robot.files.loading import known_robots
from robot_identification.share import share_directory


@pytest.mark.parametrize("model", ["dynamic", "simplified", "energy"])
@pytest.mark.parametrize("method", ["qr", "svd"])
def test_puma_has_forty_base_parameters_whatever_the_way(run, model, method):
    report = run("base-parameters", "puma560", "--model", model, "--method", method)
    assert report["rank"] == len(report["base"]) == 40
    assert len(report["unaffecting"]) == 11
    assert len(report["regrouped"]) == 15
    assert len(report["standard"]) == 66
    assert report["gap"] > 1e6
    first = report["base"][0]
    assert (first["name"], first["leading"]) == ("ZZ1R", "ZZ1")
    assert first["grouping"]["M3"] == pytest.approx(0.29)
    assert first["expressions"]["M3"] == "D3^2 + R3^2"


def test_values_with_a_friction_law_of_their_own_have_a_base_parameter_for_it(run, tmp_path):
    """As calibrate writes them for a result of ``identify --friction auto``."""
    law = {"joint_1": {"Ia": [], "Fv": [], "Fc": []}, "joint_2": {"Fv": [], "Fs": [0.2, 1.0]}}
    path = tmp_path / "law.json"
    path.write_text(json.dumps({"parameters": {"ZZ1": 3.0, "Fs2": 0.05}, "friction": law}))
    values = run("base-parameters", "scara", "--values", path)["values"]
    assert values["Fs2"] == 0.05
    assert "Fc2" not in values


def test_values_of_base_parameters_come_from_standard_ones(run):
    values = run("base-parameters", "puma560", "--values", "puma560")["values"]
    assert values["ZZ1R"] == pytest.approx(5.0186, abs=5e-5)
    assert values["ZZ2R"] == pytest.approx(6.55)


def test_relations_are_written_as_latex(run, tmp_path):
    target = tmp_path / "relations.tex"
    run("base-parameters", "puma560", "--latex", target)
    text = target.read_text()
    assert text.startswith(r"\begin{align*}")
    assert "XX_{2R} &= XX_{2} - YY_{2} - D_{3}^{2} (M_{3} + M_{4} + M_{5} + M_{6})" in text


@pytest.mark.parametrize("robot", known_robots())
def test_every_shipped_robot_has_a_table(capsys, robot):
    assert main(["base-parameters", robot]) == 0
    table = capsys.readouterr().out
    assert re.match(rf"\d+ base parameters of {robot} \(dynamic model, qr\)", table)
    for line in ("without effect:", "regrouped:", "gap of the rank decision:"):
        assert line in table


def test_parameters_that_a_model_lacks_are_named(run, capsys):
    report = run("base-parameters", "tx40", "--model", "energy")
    assert set(report["appended"]) >= {"Fv1", "Fc1", "off1", "Fvm6", "Fcm6"}
    assert main(["base-parameters", "tx40", "--model", "energy"]) == 0
    assert "not in this model, appended as independent: Fv1" in capsys.readouterr().out


def test_a_tiny_link_is_reported_not_silently_decided(capsys, tmp_path):
    """Without gravity along it, only the distance of its axes shows where a SCARA's mass is."""
    text = (share_directory() / "config" / "robots" / "scara.yaml").read_text()
    robot = tmp_path / "scara.yaml"
    robot.write_text(text.replace("d: 0.5", "d: 1.0e-7"))
    assert main(["base-parameters", str(robot)]) == 0
    warnings = [line for line in capsys.readouterr().out.splitlines() if "warning:" in line]
    assert any("joint_2" in line or "D2" in line for line in warnings)


def test_didim_of_a_robot_with_closed_loops_is_refused(refusal, scara_bag):
    code, line = refusal("identify", "hitachi_hpr", scara_bag, "--method", "didim")
    assert code == 2
    assert "loops" in line
    assert "docs/loops.md" in line


def test_the_page_that_explains_the_terms_is_named(capsys):
    assert main(["base-parameters", "scara"]) == 0
    (page,) = re.findall(r"^terms: (\S+)$", capsys.readouterr().out, re.MULTILINE)
    explained = (share_directory() / page).read_text(encoding="utf-8")
    for term in ("Base parameters", "Grouping", "ZZ1R", "Ia", "Essential", "Condition number"):
        assert f"**{term}" in explained
