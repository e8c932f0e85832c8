"""The steps of a run: what they send to the nodes."""

import pytest
from robot_identification.srv import Calibrate, PlanExcitation, Validate

from robot_identification.cli.main import parser
from robot_identification.cli.run import settle
from robot_identification.cli.walk import record as record_of_run
from robot_identification.cli.walk.record import RESULT, NoResultError, RunRecord
from robot_identification.cli.walk.walk import NotConfirmedError, Walk
from robot_identification.errors import OutputError
from robot_identification.ros.clients.client import ResultNotGivenError
from robot_identification.ros.clients.live_run import Move


class Nodes:
    """Nodes that note what they are asked, and give no result."""

    def __init__(self, folder):
        self.folder, self.asked, self.plan_of = folder, {}, ""
        self.moved = []

    @property
    def verbs(self):
        return self

    def telling(self, report):
        return self

    def planned(self, expected=""):
        return self.plan_of

    def plan(self, **fields):
        self.asked["plan"] = fields
        self.plan_of = f"plan of seed {fields['seed']}"
        (self.folder / fields["output"]).write_text("a plan")
        return PlanExcitation.Response(
            trajectory_hash=self.plan_of, written=[str(self.folder / fields["output"])]
        )

    def preview(self, speed):
        return "approach, trajectory"

    def move(self, report, speed, *, record, refresh=True):
        self.moved.append(self.plan_of)
        return Move(self.plan_of, speed, 1.0, f"recording of {self.plan_of}" if record else "")

    def identify(self, method, data, **fields):
        raise ResultNotGivenError("identification/identify", "the rank cannot be decided")

    def validate(self, data, result=""):
        self.asked["validate"] = result
        return Validate.Response(relative_error_total=0.01)

    def calibrate(self, **fields):
        self.asked["calibrate"] = fields
        for name in (fields["output"], fields["urdf"]):
            (self.folder / name).write_text("parameters")
        return Calibrate.Response(
            written=[str(self.folder / fields[name]) for name in ("output", "urdf")]
        )


@pytest.fixture
def nodes(tmp_path):
    (tmp_path / "nodes").mkdir()
    return Nodes(tmp_path / "nodes")


def walk(nodes, folder, *arguments):
    """Take the steps of a run that the arguments ask for."""
    options = parser().parse_args(["run", "--yes", "--json", "--output", str(folder), *arguments])
    settle(options)
    record = RunRecord.begin(options.output, resumed=options.steps[0] != "plan")
    steps = Walk(nodes, options, record)
    for step in options.steps:
        steps.take(step)
    return record


@pytest.mark.parametrize("step", ["validate", "calibrate"])
def test_a_run_without_result_does_not_go_on_with_that_of_another(nodes, tmp_path, step):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / RESULT).write_text("of another motion")
    with pytest.raises(ResultNotGivenError):
        walk(nodes, folder)
    with pytest.raises(NoResultError):
        walk(nodes, folder, "--from", step)
    assert not {"validate", "calibrate"} & {*nodes.asked}


def test_the_result_of_the_run_is_calibrated(nodes, tmp_path):
    folder = tmp_path / "run"
    record = walk(nodes, folder, "--steps", "plan,run")
    (folder / RESULT).write_text("of this motion")
    record.keep("identify", {"file": str(folder / RESULT)})
    walk(nodes, folder, "--from", "validate")
    assert nodes.asked["validate"] == nodes.asked["calibrate"]["result"] == str(folder / RESULT)


@pytest.mark.parametrize(("arguments", "space"), [((), ""), (("--space", "base"), "base")])
def test_the_space_of_the_calibration_is_asked_for_and_else_left_to_the_node(
    nodes, tmp_path, arguments, space
):
    folder = tmp_path / "run"
    record = walk(nodes, folder, "--steps", "plan,run")
    (folder / RESULT).write_text("of this motion")
    record.keep("identify", {"file": str(folder / RESULT)})
    walk(nodes, folder, "--from", "calibrate", *arguments)
    assert nodes.asked["calibrate"]["space"] == space


def planned_for(nodes, folder, *arguments):
    """Return what a run that goes on asks of its plan for validation."""
    record = RunRecord.begin(folder, resumed=True)
    options = parser().parse_args(["run", "--from", "validate", "--yes", "--json", *arguments])
    settle(options)
    kept = Walk(nodes, options, record)._second_motion()
    asked = {name: nodes.asked["plan"][name] for name in ("method", "rows", "duration", "seed")}
    assert kept["asked"] == asked
    return tuple(asked.values())


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ((), ("", 40, 15.0, 8)),
        (("--seed", "3"), ("", 40, 15.0, 4)),
        (("--duration", "20"), ("", 40, 20.0, 8)),
        (("--method", "ols"), ("", 40, 15.0, 8)),
        (("--method", "one-joint"), ("one-joint", 0, 0.0, 8)),
    ],
)
def test_a_run_that_goes_on_validates_on_a_motion_like_its_own(nodes, tmp_path, arguments, asked):
    its_own = ("--seed", "7", "--rows", "40", "--duration", "15")
    walk(nodes, tmp_path / "run", "--steps", "plan,run", *its_own)
    assert nodes.asked["plan"]["seed"] == 7
    assert planned_for(nodes, tmp_path / "run", *arguments) == asked


def test_a_run_one_joint_at_a_time_that_goes_on_stays_one(nodes, tmp_path):
    walk(nodes, tmp_path / "run", "--steps", "plan,run", "--method", "one-joint")
    assert planned_for(nodes, tmp_path / "run") == ("one-joint", 0, 0.0, 1)


def test_a_run_whose_record_says_nothing_of_its_plan_validates_on_seed_1(nodes, tmp_path):
    RunRecord.begin(tmp_path / "run", resumed=False).keep("plan", {"asked": {"seed": "x"}})
    assert planned_for(nodes, tmp_path / "run") == ("", 0, 0.0, 1)


def test_where_the_record_cannot_be_written_the_recording_is_named(nodes, tmp_path, monkeypatch):
    def full(path, _text):
        raise OutputError(path, "no space left on device")

    walk(nodes, tmp_path / "run", "--steps", "plan")
    monkeypatch.setattr(record_of_run, "write_text_atomically", full)
    with pytest.raises(OutputError, match=r"no space left.*recording of plan of seed 0"):
        walk(nodes, tmp_path / "run", "--steps", "run", "--speed", "0.2")


@pytest.mark.parametrize("steps", ["plan,rehearse", "rehearse"])
def test_a_plan_that_somebody_makes_while_the_question_is_open_moves_nothing(
    nodes, tmp_path, monkeypatch, steps
):
    def asked_for_long(_speed):
        nodes.plan_of = "the plan of somebody else"
        return "approach, trajectory"

    nodes.plan_of = "a plan of before"
    monkeypatch.setattr(nodes, "preview", asked_for_long)
    with pytest.raises(NotConfirmedError, match="another plan by now"):
        walk(nodes, tmp_path / "run", "--steps", steps)
    assert nodes.moved == []
