"""The page of a report: complete, self-contained, and safe whatever stands in the files."""

import base64
import html
import re
import shutil
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs the extra report")
pytest.importorskip("jinja2", reason="needs the extra report")

from robot_identification.cli.main import main
from robot_identification.files.bags.files import open_bag
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.files.results import read_result, write_result
from robot_identification.identification.estimators.least_squares import RelativeError
from robot_identification.identification.history import History, Iteration
from robot_identification.identification.statistics.prediction import Prediction
from robot_identification.report.evidence import Request, gather
from robot_identification.report.figures import style
from robot_identification.report.figures.efforts import torque_figure
from robot_identification.report.figures.pictures import Image, pictures
from robot_identification.robot.files.loading import load_robot
from swinging_scara import swinging_scara as samples

NASTY = "<script>alert('$x_{')</script>&\"\x07"
SECTIONS = [
    "summary", "effort", "parameters", "friction", "excitation", "residual", "links", "settings",
    "provenance",
]  # fmt: skip


def words_of(page: str) -> str:
    """Return the text of a page, without its tags."""
    body = re.sub(r"<(style|svg).*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())


def images_of(page: str) -> list[str]:
    """Return the images of a page as SVG text."""
    found = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', page)
    return [base64.b64decode(data).decode() for data in found]


# A fifth of the recording is held out of the fit, and drawn too.
WITH_HELD_OUT = (
    "drawn; of its samples 4000 are drawn and 3200 were used (--begin, --end and --topic say "
    "which; what was held out is drawn too)"
)


@pytest.fixture
def report(run, tmp_path):
    """Make a report of a result, and return its page and what the command printed."""

    def command(result, *options):
        target = tmp_path / "report.html"
        printed = run("report", result, "-o", target, *options)
        return target.read_text("utf-8"), printed

    return command


@pytest.fixture
def undrawn(monkeypatch):
    """Have pages with empty images: for tests of what is written, not of what is drawn."""

    def image(picture):
        wide = "data:image/svg+xml;base64,"
        return Image(picture.alt, wide, f"{wide}IA==" if picture.full else wide, picture.full)

    monkeypatch.setattr("robot_identification.report.page.image", image)


@pytest.fixture(scope="module")
def scara_page(swinging_scara, tmp_path_factory):
    """The page of the swinging SCARA."""
    target = tmp_path_factory.mktemp("page") / "report.html"
    assert main(["report", str(swinging_scara), "-o", str(target)]) == 0
    return target.read_text("utf-8")


def test_every_section_is_there_in_its_place(report, swinging_scara, scara_page):
    page, printed = report(swinging_scara)
    assert page == scara_page, "the same result gives the same page"
    assert re.findall(r'<h2 id="(\w+)"', page) == SECTIONS
    result = read_result(swinging_scara)
    text = words_of(page)
    for name in (*result.regrouping.names, *result.joint_names, *result.settings):
        assert f" {name} " in text
    assert result.robot_digest in text
    assert result.sources[0].digest in text
    held_out = f"{100.0 * result.held_out.total:.3g} %"
    assert f"On data that had no part in the fit (held out) it is {held_out}" in text
    assert set(printed["verdicts"]) == set(result.regrouping.names)
    assert printed["recordings"] == {result.sources[0].name: WITH_HELD_OUT}
    assert printed["bytes"] == len(page.encode("utf-8"))


def test_the_page_holds_all_of_itself(scara_page):
    page = scara_page
    sources = re.findall(r'\b(?:src|href|srcset)="([^"]*)"', page)
    assert len(sources) > 15
    assert all(source.startswith(("data:image/svg+xml;base64,", "#")) for source in sources)
    assert not re.search(r"https?:|//\w+\.|@import|url\(", page)
    for image in images_of(page):
        assert ET.fromstring(image).tag.endswith("svg")
        assert not re.search(r"""(href|src)=["']http""", image)


def with_nasty_names(result):
    """Return a result in which every text that is not a parameter is hostile."""
    joints = tuple(f"{NASTY}{name}" for name in result.joint_names)
    return replace(
        result,
        robot=NASTY,
        joint_names=joints,
        factors=tuple(replace(f, joint=n) for f, n in zip(result.factors, joints, strict=True)),
        sources=tuple(replace(source, name=NASTY) for source in result.sources),
        settings={NASTY: {"value": NASTY, "reason": NASTY}},
        warnings=(NASTY,),
        cross_validation=None,
    )


def test_hostile_names_are_text_and_nothing_else(report, swinging_scara, tmp_path):
    hostile = tmp_path / "hostile.yaml"
    write_result(hostile, with_nasty_names(read_result(swinging_scara)))
    page, printed = report(hostile)
    assert "<script" not in page.lower()
    assert "&lt;script&gt;alert(" in page
    assert "no robot of this package has that name" in printed["robot_remark"]
    assert len(images_of(page)) == 4
    for image in images_of(page):
        ET.fromstring(image)


def test_hostile_names_can_be_drawn():
    rows = np.arange(50.0)
    prediction = Prediction(
        joint_names=(NASTY,),
        units=("N m",),
        time=rows,
        measured=rows[:, None],
        predicted=rows[:, None],
        kept=np.ones((50, 1), bool),
        velocity=rows[:, None],
    )
    with style.drawing():
        address = style.svg_data(torque_figure(prediction, 0))
        assert style.png_file(torque_figure(prediction, 0)).startswith(b"\x89PNG")
    text = " ".join(ET.fromstring(base64.b64decode(address.partition(",")[2])).itertext())
    assert "<script>alert('$x_{')</script>" in text


def test_a_minute_of_six_joints_stays_small():
    rng = np.random.default_rng(0)
    rows, joints = 12_000, 6
    prediction = Prediction(
        joint_names=tuple(f"joint_{j}" for j in range(joints)),
        units=("N m",) * joints,
        time=np.arange(rows) / 200.0,
        measured=100.0 * rng.normal(size=(rows, joints)),
        predicted=100.0 * rng.normal(size=(rows, joints)),
        kept=rng.random((rows, joints)) < 0.9,
        velocity=rng.normal(size=(rows, joints)),
    )
    with style.drawing():
        sizes = [
            len(style.svg_data(torque_figure(prediction, 0, width=width)))
            for width in (style.WIDE, style.NARROW)
        ]
    assert joints * sum(sizes) < 2_000_000


@pytest.mark.usefixtures("undrawn")
def test_a_bag_that_changed_is_not_drawn(report, refusal, scara_bag, swinging_scara, tmp_path):
    other = tmp_path / "other"
    write_joint_states(other, load_robot("scara").joint_names, samples(12.0))
    result = read_result(swinging_scara)
    moved = tmp_path / "moved.yaml"
    sources = (replace(result.sources[0], name=str(other)),)
    write_result(moved, replace(result, sources=sources))
    page, printed = report(moved)
    assert "its content has changed since" in printed["recordings"][str(other)]
    assert "There are no time plots" in words_of(page)
    code, line = refusal("report", moved, "-o", tmp_path / "x.html", "--bag", other)
    assert code == 2
    assert "is that of none of the recordings" in line
    assert not (tmp_path / "x.html").exists()


@pytest.mark.usefixtures("undrawn")
def test_of_bags_of_one_name_the_one_with_the_content_is_drawn(
    report, scara_bag, swinging_scara, tmp_path, monkeypatch
):
    """Another one is where the command is given, and the own one beside the result."""
    result = read_result(swinging_scara)
    own = tmp_path / "own"
    shutil.copytree(scara_bag, own / "bag")
    sources = (replace(result.sources[0], name="bag"),)
    write_result(own / "result.yaml", replace(result, sources=sources))
    write_joint_states(tmp_path / "bag", load_robot("scara").joint_names, samples(12.0))
    monkeypatch.chdir(tmp_path)
    assert report(own / "result.yaml")[1]["recordings"]["bag"].startswith(
        "drawn; of its samples 4000"
    )
    shutil.rmtree(own / "bag")
    (state,) = report(own / "result.yaml")[1]["recordings"].values()
    assert "its content has changed since" in state


@pytest.mark.usefixtures("undrawn")
def test_a_bag_that_moved_is_known_by_its_hash(report, scara_bag, swinging_scara, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(scara_bag, elsewhere)
    result = read_result(swinging_scara)
    gone = tmp_path / "gone.yaml"
    sources = (replace(result.sources[0], name="no_such_bag"),)
    write_result(gone, replace(result, sources=sources))
    page, printed = report(gone)
    assert printed["recordings"] == {"no_such_bag": "not drawn: no file of that name"}
    assert "Name the bags with --bag" in words_of(page)
    without = len(images_of(page))
    page, printed = report(gone, "--bag", elsewhere)
    assert printed["recordings"] == {"no_such_bag": WITH_HELD_OUT}
    # efforts for paper and for phones, spectrum, histogram of two joints
    assert len(images_of(page)) == without + 2 * 4


@pytest.mark.usefixtures("undrawn")
def test_a_live_recording_has_no_hash_to_be_known_by(report, scara_bag, swinging_scara, tmp_path):
    result = read_result(swinging_scara)
    live = tmp_path / "live.yaml"
    sources = (replace(result.sources[0], name="recording_1", digest=""),)
    write_result(live, replace(result, sources=sources))
    page, printed = report(live)
    assert printed["recordings"] == {"recording_1": "not drawn: recorded live; no file"}
    assert "no hash: recorded live" in words_of(page)
    page, printed = report(live, "--bag", scara_bag)
    assert "nothing tells that it is the same" in printed["recordings"]["recording_1"]
    assert "nothing tells that it is the same" in words_of(page)


@pytest.mark.usefixtures("undrawn")
def test_a_thousand_recordings_fit_on_a_page(report, swinging_scara, tmp_path):
    result = read_result(swinging_scara)
    (source,) = result.sources
    many = tuple(
        replace(source, name=f"bag_{i}", digest=f"{i:064x}", samples=4) for i in range(1000)
    )
    path = tmp_path / "many.yaml"
    write_result(path, replace(result, sources=many))
    page, printed = report(path)
    assert len(printed["recordings"]) == 1000
    assert "bag_99 " in words_of(page)
    assert "bag_100 " not in words_of(page)
    assert "And 900 more" in words_of(page)


@pytest.mark.usefixtures("undrawn")
def test_fewer_samples_than_were_used_are_told(report, swinging_scara):
    _, printed = report(swinging_scara, "--end", "0.5")
    (state,) = printed["recordings"].values()
    assert "2000 are drawn and 3200 were used" in state


def test_another_robot_is_refused(refusal, swinging_scara, tmp_path):
    for options, told in (
        (("--robot", "tx40"), "the base parameters of scara are others than its own"),
        (("--robot", "nowhere.yaml"), "neither a file nor a robot"),
        (("--figures", tmp_path / "no_folder"), "no such folder"),
    ):
        code, line = refusal("report", swinging_scara, "-o", tmp_path / "x.html", *options)
        assert code == 2
        assert told in line
    code, line = refusal("report", swinging_scara, "-o", swinging_scara)
    assert code == 2
    assert "is an input too" in line


@pytest.mark.usefixtures("undrawn")
def test_parameters_and_prior_stand_beside_each_other(
    report, run, swinging_scara, scara_page, tmp_path
):
    parameters = tmp_path / "parameters.yaml"
    calibrated = run("calibrate", "scara", swinging_scara, "--prior", "scara", "--space", "base",
                     "-o", parameters)  # fmt: skip
    page, _ = report(swinging_scara, "--parameters", parameters)
    text = words_of(page)
    assert "Prior: scara" in text
    checks = run("check", "scara", parameters)
    verdict = "calibration is consistent" if checks["consistent"] else "Not physically consistent"
    assert verdict in text
    left, identified = (
        f"{100.0 * calibrated[name]['total']:.3g} %"
        for name in ("relative_error", "relative_error_identified")
    )
    assert f"The calibrated parameters leave {left} of the effort unexplained" in text
    assert f"the identified ones {identified}" in text
    assert all(link in text for link in checks["links"])
    assert "Centres are in the frame of the joint that moves the link" in text
    assert "the blue one the prior" in text
    assert "No calibrated parameters were given" in words_of(scara_page)


def test_efforts_are_drawn_with_the_meaning_that_they_were_identified_with(
    run, refusal, scara_bag, tmp_path
):
    robot, result = tmp_path / "arm.yaml", tmp_path / "result.yaml"
    text = load_robot("scara").file.read_text("utf-8")
    gained = re.sub(r"(\n  - name: joint_\d)", r"\1\n    drive_gain: 10", text)
    assert gained.count("drive_gain: 10") == 2
    robot.write_text(gained, "utf-8")
    run("identify", robot, scara_bag, "--effort-meaning", "current", "-o", result)
    evidence = gather(Request(result=result, robot=str(robot)))
    (drawn,) = evidence.predictions.values()
    unexplained = (drawn.measured - drawn.predicted)[drawn.kept]
    share = np.linalg.norm(unexplained) / np.linalg.norm(drawn.measured[drawn.kept])
    assert share == pytest.approx(evidence.result.estimate.relative_error.total, rel=0.2)
    options = ("--robot", robot, "--effort-meaning", "joint_torque", "-o", tmp_path / "r.html")
    code, line = refusal("report", result, *options)
    assert code == 2
    assert "from efforts that are current, not joint_torque" in line
    validated = run("validate", robot, result, scara_bag)
    assert validated["different_settings"]["effort_meaning"]["identified"] == "current"


@pytest.mark.usefixtures("undrawn")
def test_limited_efforts_cost_what_they_leave_unexplained_as_measured(
    report, run, scara_bag, tmp_path
):
    result, parameters = tmp_path / "result.yaml", tmp_path / "parameters.yaml"
    options = ("--robust", "huber", "--robust-threshold", "0.5")
    identified = run("identify", "scara", scara_bag, *options, "-o", result)
    calibrated = run("calibrate", "scara", result, "--prior", "scara", "-o", parameters)
    told = identified["relative_error"]["total"]
    assert calibrated["relative_error_identified"]["total"] == pytest.approx(told)
    page, _ = report(result, "--parameters", parameters)
    assert f"the identified ones {100.0 * told:.3g} %" in words_of(page)


@pytest.mark.usefixtures("undrawn")
def test_parameters_of_another_version_of_the_robot_file_are_told(
    report, run, swinging_scara, tmp_path
):
    parameters = tmp_path / "parameters.yaml"
    run("calibrate", "scara", swinging_scara, "--prior", "scara", "-o", parameters)
    told = "the file of scara has changed since the calibration"
    assert told not in words_of(report(swinging_scara, "--parameters", parameters)[0])
    text = parameters.read_text("utf-8").replace(load_robot("scara").digest, "0" * 64)
    parameters.write_text(text, "utf-8")
    assert told in words_of(report(swinging_scara, "--parameters", parameters)[0])


@pytest.mark.usefixtures("unsaved")
def test_figures_are_written_as_files(report, swinging_scara, tmp_path):
    folder = tmp_path / "figures"
    folder.mkdir()
    _, printed = report(swinging_scara, "--figures", folder)
    names = {Path(path).name for path in printed["figures"]}
    assert names == {path.name for path in folder.iterdir()}
    assert {"torque_1_joint_1.png", "friction_joint_2.png", "singular_values.png"} <= names
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in folder.iterdir())


@pytest.mark.usefixtures("unsaved")
def test_iterations_of_didim_are_drawn(report, swinging_scara, tmp_path):
    result = read_result(swinging_scara)
    iterations = tuple(
        Iteration(
            number=number,
            torque_error=RelativeError(error, np.array([error, 2.0 * error])),
            step=1.0,
            parameter_change=10.0**-number,
            frequency_ratio=np.ones(2),
            values=result.estimate.values,
            simulations=7,
        )
        for number, error in enumerate((0.9, 0.1, 0.02))
    )
    history = History("regular", 0.4, iterations, np.array([0.01, 0.0]), "high band", "converged")
    path = tmp_path / "didim.yaml"
    write_result(path, replace(result, method="didim", iterations=2, history=history))
    page, _ = report(path)
    assert re.findall(r'<h2 id="(\w+)"', page) == [*SECTIONS[:6], "convergence", *SECTIONS[6:]]
    assert "converged after 2 iterations" in words_of(page)
    assert "parameter change" in " ".join(words_of(page).split())
    drawn = pictures(gather(Request(result=path))).convergence
    with style.drawing():
        assert style.png_file(drawn.draw(width=drawn.width)).startswith(b"\x89PNG")


@pytest.mark.usefixtures("unsaved", "undiagnosed")
@pytest.mark.parametrize(
    "options",
    [("--method", "energy"), ("--method", "one-joint"), ("--essential", "--robust", "huber")],
)
def test_other_ways_to_identify(report, run, scara_bag, tmp_path, options):
    path = tmp_path / "result.yaml"
    identified = run("identify", "scara", scara_bag, *options, "-o", path)
    page, printed = report(path)
    assert len(re.findall(r'class="verdict (?:good|weak|bad|removed)"', page)) == len(
        printed["verdicts"]
    )
    assert ("Outliers" in words_of(page)) == ("--robust" in options)
    assert "each block from the others" in words_of(page) or "energy" in options
    removed = [p["name"] for p in identified["parameters"] if p["essential"] is False]
    kept_zero = [n for n, v in printed["verdicts"].items() if v == "removed as not essential"]
    assert removed == kept_zero


@pytest.mark.usefixtures("unsaved", "undiagnosed")
def test_merged_results_have_a_report(report, run, scara_bag, tmp_path):
    other = tmp_path / "other"
    write_joint_states(other, load_robot("scara").joint_names, samples(15.0))
    settings = ("--method", "ols", "--cutoff", "20", "--rate", "40", "--velocity-threshold", "0.05",
                "--drop-start", "30", "--drop-end", "30")  # fmt: skip
    for name, bag in (("one", scara_bag), ("two", other)):
        run("identify", "scara", bag, *settings, "-o", tmp_path / f"{name}.yaml")
    merged = tmp_path / "merged.yaml"
    run("merge", tmp_path / "one.yaml", tmp_path / "two.yaml", "-o", merged)
    page, printed = report(merged)
    assert set(printed["recordings"].values()) == {"drawn"}
    assert "from 2 recordings" in words_of(page)


@pytest.mark.usefixtures("unsaved")
def test_recordings_of_one_name_are_told_apart_and_all_drawn(
    swinging_scara, scara_bag, tmp_path, run
):
    """As merged results have them that were made in folders of their own."""
    other = tmp_path / "other" / "bag"
    other.parent.mkdir()
    write_joint_states(other, load_robot("scara").joint_names, samples(12.0))
    result = read_result(swinging_scara)
    (own,) = result.sources
    with open_bag(other) as bag:
        digest = bag.digest()
    sources = (replace(own, name="bag"), replace(own, name="bag", digest=digest))
    path = tmp_path / "merged.yaml"
    write_result(path, replace(result, sources=sources))
    evidence = gather(Request(path, bags=(str(scara_bag), str(other))))
    assert evidence.titles == ("bag", "bag (2)")
    lengths = [len(prediction.time) for prediction in evidence.predictions.values()]
    assert len(lengths) == 2
    assert lengths[0] != lengths[1]
    printed = run("report", path, "-o", tmp_path / "page.html", "--bag", scara_bag, other)
    assert [state[:5] for state in printed["recordings"].values()] == ["drawn", "drawn"]
    assert "bag (2)" in words_of((tmp_path / "page.html").read_text("utf-8"))


def test_without_the_template_engine_there_is_advice(
    refusal, swinging_scara, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.delitem(sys.modules, "robot_identification.report.page", raising=False)
    code, line = refusal("report", swinging_scara, "-o", tmp_path / "x.html")
    assert code == 2
    assert "robot_identification[report]" in line
