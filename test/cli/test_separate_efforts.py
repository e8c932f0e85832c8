"""Bags in which the efforts have a topic of their own, and come late."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from robot_identification.files.bags.cdr.joint_states import MESSAGE_TYPE, encode
from robot_identification.files.bags.writing import write_bag
from robot_identification.report.evidence import Request, gather
from robot_identification.robot.files.loading import load_robot
from swinging_scara import swinging_scara

DELAY = 0.006
pytestmark = pytest.mark.usefixtures("undiagnosed")


def write_late_efforts(path, samples):
    """Write a bag of a SCARA whose efforts are stamped 6 ms late, in the other order."""
    names, stamps = load_robot("scara").joint_names, samples.stamps
    late = stamps + round(DELAY * 1e9)
    states = encode(stamps, names, samples.position, samples.velocity)
    nothing = np.zeros((len(late), 0))
    efforts = encode(late, names[::-1], nothing, None, samples.effort[:, ::-1])
    with write_bag(path) as bag:
        for stamp, state, delayed, effort in zip(stamps, states, late, efforts, strict=True):
            bag.write("/joint_states", MESSAGE_TYPE, int(stamp), state.tobytes())
            bag.write("/efforts", MESSAGE_TYPE, int(delayed), effort.tobytes())
    return path


@pytest.fixture(scope="module")
def late_efforts(scara_samples, tmp_path_factory):
    """A bag of the swinging SCARA whose efforts come late."""
    return write_late_efforts(tmp_path_factory.mktemp("late") / "late_efforts", scara_samples)


def test_efforts_of_a_topic_of_their_own_are_used_as_the_options_say(run, refusal, late_efforts):
    def identified(*options):
        return run("identify", "scara", late_efforts, "--effort-topic", "/efforts", *options)

    told, stated, moved = (
        identified(),
        identified("--effort-delay", DELAY),
        identified("--effort-delay", "estimated"),
    )
    delays = [document["settings"]["effort_delay"]["value"] for document in (told, stated, moved)]
    assert delays == [[0.0], [DELAY], [pytest.approx(DELAY, abs=2e-4)]]
    (advice,) = [line for line in told["warnings"] if "not corrected; give a delay of" in line]
    assert float(advice.split()[-2]) == pytest.approx(1e3 * DELAY, abs=0.2)
    assert any("corrected by that" in line for line in moved["warnings"])
    late, right, found = (d["relative_error"]["total"] for d in (told, stated, moved))
    assert late > 2.0 * right
    assert found == pytest.approx(right, rel=0.05)


def test_a_report_reads_efforts_as_the_result_says(run, late_efforts, tmp_path):
    pytest.importorskip("jinja2", reason="needs the extra report")
    result, moved = tmp_path / "result.yaml", tmp_path / "moved"
    shutil.copytree(late_efforts, moved)
    for delay in (DELAY, "estimated"):
        options = ("--effort-topic", "/efforts", "--effort-delay", delay)
        fit = run("identify", "scara", late_efforts, *options, "-o", result)
        for bags in ((), (str(moved),)):
            evidence = gather(Request(result=result, bags=bags))
            (found,) = evidence.sources
            assert found.state.startswith("drawn")
            (drawn,) = evidence.predictions.values()
            unexplained = (drawn.measured - drawn.predicted)[drawn.kept]
            share = np.linalg.norm(unexplained) / np.linalg.norm(drawn.measured[drawn.kept])
            assert share == pytest.approx(fit["relative_error"]["total"], rel=0.2)


def test_efforts_that_are_not_numbers_are_left_out_and_told(run, refusal, scara_samples, tmp_path):
    """The joint states at their time have no effort then, as where an effort was lost."""
    effort = np.array(scara_samples.effort)
    effort[700:703, 1] = np.nan
    few = write_late_efforts(tmp_path / "few", replace(scara_samples, effort=effort))
    options = ("--effort-topic", "/efforts", "--effort-delay", DELAY)
    found = run("identify", "scara", few, *options)
    (told,) = [line for line in found["warnings"] if "efforts were left out" in line]
    assert "3 of" in told
    assert "effort of joint joint_2 is nan at sample 700" in told
    assert any("joint states have no effort on /efforts" in line for line in found["warnings"])
    effort[700:] = np.nan
    most = write_late_efforts(tmp_path / "most", replace(scara_samples, effort=effort))
    code, line = refusal("identify", "scara", most, *options)
    assert code == 2
    assert "effort of joint joint_1 is nan at sample 700" in line


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--effort-joints", "joint_1,joint_2"), "needs --effort-topic"),
        (("--effort-delay", "0.006"), "needs --effort-topic"),
        (("--effort-topic", "/efforts", "--effort-delay", "soon"), "give seconds, or estimated"),
        (("--effort-topic", "/nothing"), "no messages on topic /nothing"),
        (("--effort-topic", "/efforts", "--effort-delay", "2"), "must lie within a second"),
    ],
)
def test_options_for_efforts_that_make_no_sense_are_refused(
    refusal, late_efforts, options, problem
):
    code, line = refusal("identify", "scara", late_efforts, *options)
    assert code == 2
    assert problem in line


@pytest.mark.usefixtures("unsaved")
@pytest.mark.parametrize("delay", [DELAY, "estimated"])
def test_a_report_draws_such_efforts(run, late_efforts, tmp_path, delay):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    pytest.importorskip("jinja2", reason="jinja2 is not installed")
    result, page = tmp_path / "result.yaml", tmp_path / "report.html"
    reading = ("--effort-topic", "/efforts", "--effort-delay", delay)
    run("identify", "scara", late_efforts, *reading, "-o", result)
    drawn = run("report", result, "-o", page, *reading)
    assert drawn["recordings"] == {str(late_efforts): "drawn"}
    without = run("report", result, "-o", page)
    assert without["recordings"][str(late_efforts)].startswith("drawn")


@pytest.fixture(scope="module")
def pair(late_efforts):
    """Options of two runs whose efforts come late."""
    loaded = write_late_efforts(late_efforts.parent / "loaded", swinging_scara(12.0))
    return ("--bare", late_efforts, "--loaded", loaded)


def test_bare_and_loaded_runs_have_such_efforts_too(run, pair):
    found = run("payload", "scara", *pair, "--effort-topic", "/efforts", "--effort-delay", DELAY)
    assert found["settings"]["effort_delay"]["value"] == [DELAY, DELAY]
    assert max(found["relative_error"]["bare"].values()) < 0.05


@pytest.mark.parametrize("command", [("payload",), ("drive-gains", "--mass", "1")])
def test_bare_and_loaded_runs_without_them_are_refused(refusal, pair, command):
    code, line = refusal(command[0], "scara", *command[1:], *pair, "--effort-topic", "/nothing")
    assert code == 2
    assert "no messages on topic /nothing" in line
