"""calibrate and check, as a user calls them."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import yaml

from robot_identification.cli.main import main
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values, values_path
from shared_data import measured_data, requires


@pytest.fixture
def scara_result(run, scara_bag, undiagnosed, tmp_path):
    path = tmp_path / "result.yaml"
    run("identify", "scara", scara_bag, "-o", path)
    return path


@pytest.fixture
def scara_prior(tmp_path):
    path = tmp_path / "cad.yaml"
    values = load_values("scara", load_robot("scara"))
    names = load_robot("scara").all_parameter_names
    links = {n: float(v) for n, v in zip(names, values, strict=True) if n[:2] in ("ZZ", "MX", "MY")}
    path.write_text(yaml.safe_dump({"robot": "scara", "parameters": links}))
    return path


def test_identify_tells_the_essential_parameters(run, scara_bag, tmp_path):
    path = tmp_path / "result.yaml"
    found = run("identify", "scara", scara_bag, "--essential", "-o", path)
    flags = {entry["name"]: entry["essential"] for entry in found["parameters"]}
    assert set(flags.values()) <= {True, False}
    values = {entry["name"]: entry["value"] for entry in found["parameters"]}
    assert all((values[name] != 0.0) == kept for name, kept in flags.items())
    assert found["elimination"]["rule"] == "ratio"
    assert len(found["elimination"]["removed"]) == list(flags.values()).count(False)
    again = run("validate", "scara", path, scara_bag)
    assert again["relative_error"]["total"] == pytest.approx(found["relative_error"]["total"])


def test_calibrate_gives_the_documented_keys(run, scara_result, scara_prior, tmp_path):
    output, urdf = tmp_path / "parameters.yaml", tmp_path / "scara.urdf"
    found = run(
        *("calibrate", "scara", scara_result, "--prior", scara_prior, "--consistent"),
        *("-o", output, "--urdf", urdf),
    )
    robot = load_robot("scara")
    assert set(found["parameters"]) == set(robot.standard_names)
    assert found["prior"]["ZZ1"] == pytest.approx(load_values(scara_prior, robot)[5])
    assert found["prior_origin"]["Fv1"] == "identified"
    assert set(found["links"]) == {joint.link for joint in robot.joints}
    for link in found["links"].values():
        assert link["positive_mass"] is True
        assert link["cholesky"]["0"] is True
        assert link["pseudo_inertia_min_eigenvalue"] > 0.0
    assert 0.0 <= found["distance_to_prior"] < 1.0
    assert found["error_increase"] < 0.05
    values = dict(zip(robot.all_parameter_names, load_values(output, robot), strict=True))
    assert {name: values[name] for name in found["parameters"]} == found["parameters"]
    assert len(ET.parse(urdf).getroot().findall(".//inertial")) == 2
    assert run("check", "scara", output)["consistent"] is True
    again = run("calibrate", "scara", scara_result, "--prior", output, "--consistent")
    assert again["distance_to_prior"] < found["distance_to_prior"] + 1e-6


def test_held_out_bags_are_predicted(run, scara_result, scara_bag):
    found = run("calibrate", "scara", scara_result, "--consistent", "--held-out", scara_bag)
    assert found["held_out_error"]["total"] == pytest.approx(found["relative_error"]["total"])
    assert found["held_out_error_identified"]["joint_1"] > 0.0


def test_people_get_tables(capsys, scara_result, scara_prior):
    arguments = ["calibrate", "scara", scara_result, "--prior", scara_prior, "--consistent"]
    assert main([*map(str, arguments)]) == 0
    text = capsys.readouterr().out
    count = len(load_robot("scara").standard_names)
    for words in (
        f"{count} standard parameters of scara",
        "verdict",
        "not identifiable",
        "consistent",
    ):
        assert words in text


def test_parameters_with_a_friction_law_of_their_own_are_checked(capsys, tmp_path):
    """As calibrate writes those of a result of ``identify --friction auto``."""
    robot = load_robot("scara")
    terms = {joint.name: sorted(joint.terms) for joint in robot.joints}
    law = {name: {**{term: [] for term in own}, "Fs": [0.2, 1.0]} for name, own in terms.items()}
    plain = yaml.safe_load(values_path("scara").read_text())["parameters"]
    path = tmp_path / "law.yaml"
    content = {"parameters": plain | {"Fs1": 0.05, "Fs2": 0.02}, "friction": law}
    path.write_text(yaml.safe_dump(content))
    checked = ["check", "scara", "--json", "--tolerance", "1"]
    codes, printed = [], []
    for parameters in (path, "scara"):
        codes.append(main([*checked, str(parameters)]))
        printed.append(json.loads(capsys.readouterr().out))
    assert codes[0] == codes[1]
    assert printed[0]["links"] == printed[1]["links"]


def test_check_names_link_and_failing_minor_and_exits_with_3(capsys, tmp_path):
    path = tmp_path / "parameters.yaml"
    names = ("XX1", "YY1", "ZZ1", "M1", "Ia1", "XX2", "YY2", "ZZ2", "M2")
    values = dict.fromkeys(names, 1.0) | {"XX2": -0.02, "Fc2": 0.1}
    known = set(load_robot("scara").standard_names)
    given = {n: v for n, v in values.items() if n in known}
    path.write_text(yaml.safe_dump({"parameters": given}))
    assert main(["check", "scara", str(path)]) == 3
    captured = capsys.readouterr()
    assert "Sylvester's minor Jxx = -0.02" in captured.err
    assert len(captured.err.splitlines()) == 1
    assert main(["check", "scara", str(path), "--tolerance", "0.05", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["links"][load_robot("scara").joints[1].link]["cholesky"] == {
        "0": False,
        "0.01": False,
        "0.02": False,
        "0.04": True,
        "0.05": True,
    }


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--prior", "no-such.yaml"], 2, "no-such.yaml"),
        (["--essential-threshold", "0.1"], 2, "at least 1"),
        (["--box", "arm", *"000111"], 2, "no such link"),
        (["--box", "joint_1", *"00011", "x"], 2, "six numbers"),
        (["-o", "/no/such/folder/p.yaml"], 2, "does not exist"),
        (["--velocity-threshold", "0.05"], 2, "is about the bags of --held-out"),
        (["--cutoff", "9"], 2, "--cutoff = 9.0: is about the bags of --held-out"),
        (["--end", "0.5"], 2, "--end = 0.5: is about the bags"),
        (["--columns", "time=t"], 2, "is about the bags"),
        (["--derive-settings"], 2, "is about the bags"),
    ],
)
def test_bad_options_are_refused(refusal, scara_result, options, code, words):
    found, line = refusal("calibrate", "scara", scara_result, *options)
    assert found == code
    assert words in line


def test_inputs_are_never_written_over(refusal, scara_result, scara_prior):
    before = scara_prior.read_bytes()
    arguments = ("calibrate", "scara", scara_result, "--prior", scara_prior, "-o", scara_prior)
    assert "is what was read" in refusal(*arguments)[1]
    assert scara_prior.read_bytes() == before


def test_an_inconsistent_set_becomes_no_urdf(refusal, scara_result, tmp_path):
    urdf, output = tmp_path / "out.urdf", tmp_path / "out.yaml"
    code, line = refusal(
        *("calibrate", "scara", scara_result, "--space", "base", "--urdf", urdf, "-o", output)
    )
    assert code == 3
    assert "mass" in line
    assert not urdf.exists()
    assert not output.exists()


@requires("tx40")
@pytest.mark.usefixtures("undiagnosed")
def test_the_tx40_calibrated_to_its_drawings(run, tmp_path):
    result = tmp_path / "tx40.yaml"
    run("identify", "tx40", measured_data("tx40") / "bag", "-o", result)
    found = {}
    for space in ("base", "essential"):
        arguments = ("calibrate", "tx40", result, "--prior", "tx40", "--space", space)
        found[space] = run(*arguments), run(*arguments, "--consistent")
    (base, base_published), (essential, published) = found["base"], found["essential"]
    assert 25 <= len(essential["essential"]) <= 31
    # The essential space is nearer to the prior by a factor of 3 and more (the source: 4).
    assert base["distance_to_prior"] > 3.0 * essential["distance_to_prior"]
    # The drawings themselves are no machine that can exist, so neither is what is nearest to them.
    assert base["consistent"] is essential["consistent"] is False
    for nearest, consistent in ((base, base_published), (essential, published)):
        assert consistent["consistent"] is True
        assert consistent["error_increase"] < 0.05
        assert consistent["parameters"]["M1"] > 0.0
        assert consistent["parameters"]["M2"] > 0.0
        assert not {"M1", "M2", "XX1", "MX1"} & set(nearest["prior"])
    assert base["relative_error"]["total"] < 0.055
    assert published["relative_error"]["total"] < 0.055


@requires("tx40")
@pytest.mark.usefixtures("undiagnosed")
def test_consistency_of_the_tx40_costs_nothing_on_other_data(run, tmp_path):
    result, bag = tmp_path / "tx40.yaml", measured_data("tx40") / "bag"
    run("identify", "tx40", bag, "--end", "0.6", "--ends", "cut", "-o", result)
    for space in ("base", "essential"):
        found = run(
            *("calibrate", "tx40", result, "--prior", "tx40", "--space", space, "--consistent"),
            *("--held-out", bag, "--begin", "0.6", "--ends", "cut"),
        )
        published = found["held_out_error"]["total"]
        assert published < 1.05 * found["held_out_error_identified"]["total"]


@requires("ur10")
@pytest.mark.usefixtures("undiagnosed")
def test_the_ur10_becomes_a_robot_that_can_exist(run, tmp_path):
    result, bag = tmp_path / "ur10.yaml", measured_data("ur10") / "ur10_exciting_trajectory.db3"
    prior = measured_data("ur10") / "ur10_robot.urdf"
    identified = run("identify", "ur10", bag, "--end", "0.5", "-o", result)
    values = {entry["name"]: entry["value"] for entry in identified["parameters"]}
    assert values["Ia4"] < 0.0
    assert values["Ia5"] < 0.0
    for space in ("base", "essential"):
        found = run(
            *("calibrate", "ur10", result, "--prior", prior, "--space", space, "--consistent"),
            *("--held-out", bag, "--begin", "0.5", "--urdf", tmp_path / f"{space}.urdf"),
        )
        assert found["consistent"] is True
        assert found["parameters"]["Ia4"] > 0.0
        assert found["parameters"]["Ia5"] > 0.0
        published = found["held_out_error"]["total"]
        assert published < 1.05 * found["held_out_error_identified"]["total"]
        assert np.isfinite(found["distance_to_prior"])


def test_one_file_cannot_be_parameters_and_urdf(capsys, scara_result, tmp_path):
    target = tmp_path / "both"
    outputs = ["-o", target, "--urdf", tmp_path / "folder" / ".." / "both"]
    (tmp_path / "folder").mkdir()
    arguments = ["calibrate", "scara", scara_result, "--consistent", *outputs]
    assert main([*map(str, arguments)]) == 2
    assert "is named for two outputs" in capsys.readouterr().err
    assert not target.exists()


def test_what_fails_at_the_end_has_written_nothing(capsys, scara_result, tmp_path):
    """The bag to predict is not there: that is found before any file appears."""
    output, urdf = tmp_path / "parameters.yaml", tmp_path / "scara.urdf"
    urdf.write_text("what was here before")
    arguments = ["calibrate", "scara", scara_result, "--consistent", "-o", output, "--urdf", urdf]
    arguments += ["--held-out", tmp_path / "no_bag"]
    assert main([*map(str, arguments)]) == 2
    assert "no_bag" in capsys.readouterr().err
    assert not output.exists()
    assert urdf.read_text() == "what was here before"


@pytest.mark.parametrize("tolerance", ["nan", "inf", "-1"])
def test_a_tolerance_is_a_number_that_is_not_negative(capsys, scara_prior, tolerance):
    assert main(["check", "scara", str(scara_prior), "--tolerance", tolerance]) == 2
    assert f"tolerance = {float(tolerance)}: must be a number" in capsys.readouterr().err
