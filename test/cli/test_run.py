"""The command run without nodes: options, refusals, and the file by which a run goes on."""

import json

import pytest
from robot_identification.srv import PlanExcitation

from robot_identification.cli.main import parser
from robot_identification.cli.run import STEPS, moves, moves_to_identify, nodes_for, settle
from robot_identification.cli.walk.record import FILE, RunRecord
from robot_identification.cli.walk.walk import Walk
from robot_identification.errors import OutputError, ResultFileError, SettingError
from robot_identification.ros.clients.client import (
    RequestInvalidError,
    RequestRefusedError,
    ResultNotGivenError,
    refusal,
)
from robot_identification.ros.clients.live_run import Move
from robot_identification.ros.messages.error_codes import CODES


def options(*arguments):
    chosen = parser().parse_args(["run", *arguments])
    settle(chosen)
    return chosen


def test_steps_are_taken_in_the_order_of_a_run():
    assert options("--steps", "identify,plan").steps == ("plan", "identify")
    assert options("--from", "validate").steps == ("validate", "calibrate")
    assert options().steps == STEPS


@pytest.mark.parametrize(
    ("arguments", "nodes"),
    [
        ((), ["acquisition", "calibration", "excitation", "identification"]),
        (("--steps", "plan"), ["excitation"]),
        (("--steps", "validate"), ["acquisition", "excitation", "identification"]),
        (("--steps", "validate", "--held-out", "0.2"), ["identification"]),
        (("--from", "identify", "--bag", "b"), ["calibration", "identification"]),
    ],
)
def test_only_the_nodes_that_the_steps_need_are_asked(arguments, nodes):
    assert nodes_for(options(*arguments)) == nodes


@pytest.mark.parametrize(
    ("arguments", "moving"),
    [
        ((), True),
        (("--steps", "plan"), False),
        (("--steps", "rehearse"), True),
        (("--steps", "identify,calibrate"), False),
        (("--steps", "validate"), True),
        (("--steps", "validate", "--held-out", "0.2"), False),
    ],
)
def test_only_steps_that_move_need_an_active_node(arguments, moving):
    assert moves(options(*arguments)) == moving


def test_the_help_offers_no_empty_friction_law(capsys):
    with pytest.raises(SystemExit):
        parser().parse_args(["run", "--help"])
    assert "--friction {stated," in capsys.readouterr().out
    assert options("--friction", "").friction == ""


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        ((), True),
        (("--steps", "plan,rehearse,run"), False),
        (("--steps", "identify,calibrate"), False),
        (("--steps", "validate"), True),
        (("--steps", "plan,rehearse,run,validate", "--held-out", "0.2"), True),
    ],
)
def test_efforts_must_be_of_use_where_a_motion_is_identified_from(arguments, needed):
    assert moves_to_identify(options(*arguments)) == needed


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--bag", "b"), "nothing is to move"),
        (("--recording", "r"), "come from elsewhere"),
        (("--method", "didim", "--held-out", "0.2"), "not with didim"),
        (("--from", "identify", "--bag", "b", "--method", "didim"), "give --validation-bag"),
        (("--method", "didim", "--friction", "auto"), "not with didim"),
        (("--method", "energy", "--friction", "auto"), "--friction = energy: works with the"),
        (("--method", "one-joint", "--essential"), "--essential = one-joint: works with the"),
        (("--method", "didim", "--essential"), "methods ols and wls"),
        (("--from", "identify", "--held-out", "0.2", "--validation-bag", "b"), "what to validate"),
        (("--from", "identify", "--bag", "b", "--validation-bag", "c", "x/../b"), "is fitted"),
        (("--steps", "plan,run,identify,calibrate", "--accept", "0.05"), "nothing is validated"),
    ],
)
def test_options_that_do_not_go_together_are_refused(arguments, problem):
    with pytest.raises(SettingError, match=problem):
        options(*arguments)


@pytest.mark.parametrize(
    ("arguments", "share"),
    [
        (("--from", "identify"), 0.25),
        (("--from", "identify", "--held-out", "0.1"), 0.1),
        (("--from", "identify", "--validation-bag", "c"), 0.0),
        (("--steps", "identify,calibrate"), 0.0),
        (("--steps", "identify,calibrate", "--method", "didim"), 0.0),
        (("--from", "identify", "--validation-bag", "c", "--method", "didim"), 0.0),
    ],
)
def test_of_bags_only_what_validates_is_held_out(arguments, share):
    assert options("--bag", "b", *arguments).held_out == share


@pytest.mark.parametrize(
    "arguments", [("--speed", "0"), ("--speed", "1.1"), ("--steps", "plan,jump"), ("--speed", "x")]
)
def test_values_of_no_use_are_refused(arguments, capsys):
    with pytest.raises(SystemExit) as error:
        options(*arguments)
    assert error.value.code == 2


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--namespace", "left arm"),
        ("--namespace", "/left//x"),
        ("--prior", "not_there.yaml"),
        ("--prior", "not_there.urdf"),
        ("--seed", "-1"),
        ("--seed", str(2**64 - 1)),
        ("--rows", "1"),
        ("--rows", "5000000000"),
        ("--duration", "nan"),
        ("--duration", "-3"),
        ("--duration", "3601"),
    ],
)
def test_what_no_node_can_be_asked_for_is_refused_in_a_line(refusal, tmp_path, option, value):
    code, line = refusal("run", f"{option}={value}", "--output", tmp_path / "run")
    assert code == 2
    assert f"run: {option}" in line
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--held-out", "1"),
        ("--held-out", "nan"),
        ("--accept", "nan"),
        ("--accept", "-1"),
        ("--wait", "nan"),
        ("--wait", "inf"),
        ("--seed", "1.5"),
    ],
)
def test_what_is_no_value_of_an_option_is_refused_with_it(option, value, capsys):
    with pytest.raises(SystemExit) as error:
        options(f"{option}={value}")
    assert error.value.code == 2
    assert f"argument {option}" in capsys.readouterr().err


@pytest.mark.parametrize("prior", ["", "none", "tx40", "/on/the/machine/of/the/node.yaml"])
def test_a_prior_is_a_file_or_one_of_the_package(prior):
    assert options("--prior", prior).prior == prior


def test_rows_and_duration_of_0_are_those_of_the_node():
    chosen = options("--rows", "0", "--duration", "0", "--namespace", "left/")
    assert (chosen.rows, chosen.duration, chosen.namespace) == (0, 0.0, "/left")


@pytest.mark.ros
def test_nodes_that_do_not_run_are_named_together(refusal, giving_up):
    code, line = refusal("run", "--namespace", "/nobody_here", "--wait", "0.5")
    assert code == 2
    for name in ("excitation", "acquisition", "/nobody_here", "live.launch.py"):
        assert name in line


def test_a_record_goes_on_where_a_run_has_ended(tmp_path):
    folder = tmp_path / "new" / "run"
    first = RunRecord.begin(folder, resumed=False)
    first.keep("run", {"recording": "scara-1", "speed": float("inf")})
    later = RunRecord.begin(folder, resumed=True)
    assert later.text("run", "recording") == "scara-1"
    assert later.document["run"]["speed"] is None
    assert RunRecord.begin(folder, resumed=False).document == {}
    assert later.path("result.yaml") == str(folder / "result.yaml")


def test_without_a_folder_nothing_is_written():
    record = RunRecord.begin(None, resumed=True)
    record.keep("run", {"recording": "scara-1"})
    assert record.path("result.yaml") == record.asked("result.yaml") == ""
    assert record.take("result.yaml", []) == ""


def test_what_a_node_has_written_is_moved_into_the_folder(tmp_path):
    record = RunRecord.begin(tmp_path / "run", resumed=False)
    own = tmp_path / "node"
    own.mkdir()
    file = own / record.asked("plan.yaml")
    file.write_text("a plan")
    assert record.take("plan.yaml", [str(file)]) == str(tmp_path / "run" / "plan.yaml")
    assert (tmp_path / "run" / "plan.yaml").read_text() == "a plan"
    assert list(own.iterdir()) == []


@pytest.mark.parametrize("name", ["precious", "run-0-plan.yaml", ""])
def test_nothing_else_is_moved_whatever_a_node_says(tmp_path, name):
    """Who answers in place of the node names a file of the user's."""
    record = RunRecord.begin(tmp_path / "run", resumed=False)
    precious = tmp_path / "precious"
    precious.write_text("not yours")
    with pytest.raises(OutputError, match="the node has not written it"):
        record.take("plan.yaml", [str(tmp_path / name)])
    assert precious.read_text() == "not yours"


def test_a_node_on_another_machine_is_told(tmp_path):
    record = RunRecord.begin(tmp_path / "run", resumed=False)
    with pytest.raises(OutputError, match="on its machine: take it from there"):
        record.take("plan.yaml", [f"/nowhere/{record.asked('plan.yaml')}"])


@pytest.mark.parametrize("text", ["{", "[]", "[" * 100_000, '"plan"'])
def test_a_damaged_record_is_refused(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(ResultFileError, match="begin anew"):
        RunRecord.begin(tmp_path, resumed=True)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(OutputError):
        RunRecord.begin(tmp_path / "taken" / "run", resumed=False)


def test_a_record_of_other_things_tells_nothing(tmp_path):
    (tmp_path / FILE).write_text(json.dumps({"run": ["scara-1"], "plan": {"hash": 3}}))
    record = RunRecord.begin(tmp_path, resumed=True)
    assert record.text("run", "recording") == record.text("plan", "hash") == ""


@pytest.mark.parametrize(
    ("message", "code", "kind"),
    [
        ("no", CODES.UNKNOWN_RECORDING, RequestInvalidError),
        ("no", CODES.STATE_STALE, RequestInvalidError),
        ("no", CODES.NOT_ACTIVE, RequestInvalidError),
        ("no", CODES.ILL_CONDITIONED, ResultNotGivenError),
        ("no", CODES.BUSY, RequestRefusedError),
        ("NOT_CERTIFIED: velocity", None, ResultNotGivenError),
        ("STATE_STALE: it moves", None, RequestInvalidError),
        ("recording x is running", None, RequestRefusedError),
    ],
)
def test_what_is_refused_is_told_apart_by_its_code(message, code, kind):
    assert type(refusal("node/service", message, code)) is kind


class Robot:
    """Nodes of a robot that does as it is told; notes at which speeds."""

    def __init__(self):
        self.plans, self.speeds = 0, []

    def planned(self, expected=""):
        return f"plan {self.plans}"

    @property
    def verbs(self):
        return self

    def telling(self, report):
        return self

    def plan(self, **fields):
        self.plans += 1
        return PlanExcitation.Response(success=True, trajectory_hash=self.planned())

    def preview(self, speed):
        return "approach, trajectory\nclock: 2 ms\ncontroller: an arm by the topic"

    def move(self, report, speed, *, record, refresh=True):
        self.speeds.append((self.planned(), speed))
        return Move(self.planned(), speed, 1.0, "recording" if record else "")


SLOW, FULL = 0.2, 1.0


@pytest.mark.parametrize(
    ("steps", "motions"),
    [
        ("plan,rehearse,run", [("plan 1", SLOW), ("plan 1", FULL)]),
        ("plan,run", [("plan 1", SLOW), ("plan 1", FULL)]),
        ("run", [("plan 0", SLOW), ("plan 0", FULL)]),
    ],
)
def test_every_plan_is_rehearsed_before_it_is_run(steps, motions):
    robot, chosen = Robot(), options("--steps", steps, "--yes", "--json")
    walk = Walk(robot, chosen, RunRecord(None))
    for step in chosen.steps:
        walk.take(step)
    assert robot.speeds == motions


def test_the_question_shows_every_check_and_the_record_keeps_them(tmp_path, capsys):
    chosen = options("--steps", "rehearse", "--yes", "--json")
    record = RunRecord.begin(tmp_path, resumed=False)
    Walk(Robot(), chosen, record).take("rehearse")
    told = capsys.readouterr().err
    assert told.startswith("rehearsal: the robot will move: approach, trajectory\n  clock: 2 ms\n")
    kept = json.loads((tmp_path / FILE).read_text())["rehearse"]["checks"]
    assert kept == ["clock: 2 ms", "controller: an arm by the topic"]


def test_a_plan_that_was_made_anew_is_rehearsed_again_when_the_run_goes_on(tmp_path):
    robot, chosen = Robot(), options("--steps", "run", "--yes", "--json")
    Walk(robot, chosen, RunRecord.begin(tmp_path, resumed=False)).take("run")
    robot.plans += 1
    robot.speeds.clear()
    Walk(robot, chosen, RunRecord.begin(tmp_path, resumed=True)).take("run")
    assert robot.speeds == [("plan 1", SLOW), ("plan 1", FULL)]


def test_the_plan_of_a_validation_is_rehearsed_whatever_the_run_begins_with():
    robot, chosen = Robot(), options("--from", "validate", "--yes", "--json")
    Walk(robot, chosen, RunRecord(None))._second_motion()
    assert robot.speeds == [("plan 1", SLOW), ("plan 1", FULL)]


def test_what_was_rehearsed_is_known_when_the_run_goes_on(tmp_path):
    chosen = options("--steps", "run", "--yes", "--json")
    first, second = Robot(), Robot()
    Walk(first, chosen, RunRecord.begin(tmp_path, resumed=False)).take("run")
    Walk(second, chosen, RunRecord.begin(tmp_path, resumed=True)).take("run")
    assert second.speeds == [("plan 0", FULL)]


def test_a_run_as_slow_as_a_rehearsal_needs_none():
    robot, chosen = Robot(), options("--steps", "run", "--speed", "0.2", "--yes", "--json")
    Walk(robot, chosen, RunRecord(None)).take("run")
    assert robot.speeds == [("plan 0", SLOW)]
