"""One table for each settings class: options, schemas and messages say what the table says."""

import argparse
import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import yaml

from robot_identification import msg, srv
from robot_identification.calibration.calibrate import CalibrationSettings
from robot_identification.cli.main import parser
from robot_identification.cli.options import common as shared
from robot_identification.cli.options import fitting
from robot_identification.dynamics.simulation.sensors import SensorSettings
from robot_identification.errors import SettingError
from robot_identification.excitation.families.fourier_settings import FourierSettings
from robot_identification.excitation.one_joint.settings import OneJointSettings
from robot_identification.excitation.plan_settings import PlanSettings
from robot_identification.excitation.search.points import PointSettings
from robot_identification.excitation.simulated_recording import SimulationSettings
from robot_identification.identification.didim.settings import DidimSettings
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.estimators.huber import HuberSettings
from robot_identification.identification.estimators.weighting import Weighting
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.ros.excitation.parameters import ExcitationParameters
from robot_identification.ros.identification import didim_requests
from robot_identification.ros.identification.parameters import IdentificationParameters
from robot_identification.ros.identification.requests import processing_of
from robot_identification.ros.identification.streaming import StreamingOptions
from robot_identification.ros.messages.common import stated
from robot_identification.ros.planning import requests
from robot_identification.ros.simulation.parameters import SimulatedRobotParameters
from robot_identification.ros.supervision.phases import MotionSettings
from robot_identification.setting_kinds import Kind
from robot_identification.settings import Settings, same, setting
from robot_identification.signals.periodic.periods import PeriodicMotion
from robot_identification.signals.processing.complete import Processing

SCHEMAS = Path(__file__).parents[1] / "config" / "schema"
PROCESSING, SAID = ProcessingSettings.table(), ProcessingSettings.in_requests()
A_VALUE = {
    "cutoff_hz": 5.0,
    "filter_order": 4,
    "difference_order": 2,
    "rate_hz": 50.0,
    "velocities": "measured",
    "decimation_pins": "last",
    "velocity_threshold": (0.0, 0.2),
    "velocity_threshold_window": 0.5,
    "velocity_threshold_scope": "sample",
    "drop_start": 0,
    "drop_end": 7,
    "ends": "keep",
    "residual_divisor": "rows-1",
}


@dataclass(frozen=True)
class Made(Settings):
    """Settings of every kind."""

    share: float = setting("share of it", 0.5, above=0.0, maximum=1.0, unit="m")
    order: int = setting("order of it", 2, minimum=2, maximum=8, multiple=2)
    way: Literal["up", "down"] = setting("way to go", "up")
    on: bool = setting("whether it is on", True)
    names: tuple[str, ...] = setting("names of it", ())
    floor: float | None = setting("lowest", minimum=0.0)


class TestTable:
    def test_types_and_choices_are_those_of_the_fields(self):
        kinds = {name: entry.kind for name, entry in Made.table().items()}
        assert kinds == {
            "share": Kind.NUMBER,
            "order": Kind.WHOLE,
            "way": Kind.TEXT,
            "on": Kind.FLAG,
            "names": Kind.TEXTS,
            "floor": Kind.NUMBER,
        }
        assert not any(entry.required for entry in Made.table().values())
        assert Made.table()["way"].choices == ("up", "down")

    @pytest.mark.parametrize(
        ("stated", "problem"),
        [
            ({"share": 0.0}, "share = 0.0: must be above 0 and at most 1"),
            ({"share": float("nan")}, "must be a finite number"),
            ({"share": True}, "must be a finite number"),
            ({"share": 10**400}, "must be a finite number"),
            ({"order": 3}, "must be a multiple of 2, at least 2 and at most 8"),
            ({"order": 2.5}, "must be a whole number"),
            ({"way": "left"}, "must be one of up, down"),
            ({"way": ["up"]}, "must be text"),
            ({"on": 1}, "must be true or false"),
            ({"names": "a"}, "must be a list of text"),
            ({"floor": -1.0}, "must be at least 0"),
        ],
    )
    def test_a_value_that_cannot_be_is_refused(self, stated, problem):
        for make in (Made.of, lambda values: Made(**values)):
            with pytest.raises(SettingError) as caught:
                make(stated)
            assert problem in str(caught.value)

    def test_numbers_and_arrays_of_numpy_are_kept_as_plain_ones(self):
        for made, plain in (
            (ProcessingSettings(cutoff_hz=np.float64(20.0)), {"cutoff_hz": 20.0}),
            (ProcessingSettings(cutoff_hz=np.float32(20.5)), {"cutoff_hz": 20.5}),
            (ProcessingSettings(cutoff_hz=20), {"cutoff_hz": 20.0}),
            (ProcessingSettings(filter_order=np.int64(4)), {"filter_order": 4}),
            (
                ProcessingSettings(velocity_threshold=np.array([0.1, 0.2])),
                {"velocity_threshold": [0.1, 0.2]},
            ),
            (
                Weighting(bag_weights=(np.float64(1.0), 2)),
                {"bag_weights": [1.0, 2.0], "bag_noise": False},
            ),
            (HuberSettings(threshold=np.float64(2.0)), {"threshold": 2.0}),
            (
                EliminationRule(threshold=np.float64(10.0)),
                {"rule": "ratio", "threshold": 10.0},
            ),
        ):
            assert made.stated() == plain
            assert yaml.safe_load(yaml.safe_dump(made.stated())) == plain
            assert made == type(made).of(plain)
        with pytest.raises(SettingError, match="must be a list of finite numbers"):
            ProcessingSettings(velocity_threshold=np.eye(2))

    def test_what_has_no_default_must_be_given(self):
        @dataclass(frozen=True)
        class Named(Settings):
            name: str = setting("name of it")

        for given in ({}, {"name": ""}):
            with pytest.raises(SettingError, match=r"name = .*: must be given"):
                Named.of(given)

    def test_a_setting_of_another_class_differs_where_that_is_said(self):
        @dataclass(frozen=True)
        class Other(Settings):
            length: float = same(Made, "share", help="long: {}; of two", default=0.25, live=True)

        entry = Other.table()["length"]
        assert (entry.description, entry.above, entry.maximum) == (
            "long: share of it, m; of two",
            0.0,
            1.0,
        )
        assert Other() == Other(0.25)
        assert entry.live
        assert entry.option == "--length"

    def test_the_unit_stands_behind_the_first_part_of_the_meaning(self):
        entry = SensorSettings.table()["position_resolution"]
        assert entry.description == "steps of the published positions, rad or m; 0: none"

    def test_plain_data_come_back(self):
        made = Made(share=np.float64(0.25), order=4, way="down", on=False, names=("a", "b"))
        assert Made.of(json.loads(json.dumps(made.stated()))) == made
        assert Made.of({}) == Made()


class TestProcessing:
    def test_every_field_is_in_the_table(self):
        assert list(PROCESSING) == [field.name for field in fields(ProcessingSettings)]
        assert set(PROCESSING) == {field.name for field in fields(Processing)} - {
            "reasons",
            "warnings",
            "row_noise",
        }
        assert set(A_VALUE) == set(PROCESSING)

    @pytest.mark.parametrize(
        ("name", "path"),
        [
            ("robot", ("$defs", "processing")),
            ("parameters", ("properties", "provenance", "properties", "processing")),
        ],
    )
    def test_schemas_are_made_of_the_table(self, name, path):
        section = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
        for step in path:
            section = section[step]
        assert section["properties"] == ProcessingSettings.schema()
        assert section["additionalProperties"] is False

    def test_the_message_has_the_fields_of_the_table_and_says_nothing_at_first(self):
        message = msg.ProcessingSettings()
        assert set(message.get_fields_and_field_types()) == set(SAID)
        assert processing_of(message) == ProcessingSettings()

    @pytest.mark.parametrize("name", SAID)
    def test_every_setting_can_be_said_by_message_option_and_plain_data(self, name):
        value = A_VALUE[name]
        wanted = ProcessingSettings(**{name: value})
        assert processing_of(msg.ProcessingSettings(**{name: value})) == wanted
        assert ProcessingSettings.of(json.loads(json.dumps(wanted.stated()))) == wanted
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        parser = argparse.ArgumentParser()
        shared.add_processing(parser)
        options = parser.parse_args([PROCESSING[name].option, text])
        assert shared.processing_of(options) == wanted

    @pytest.mark.parametrize("name", PROCESSING)
    def test_a_robot_file_can_recommend_every_setting(self, name, tmp_path):
        stated = ProcessingSettings(**{name: A_VALUE[name]})
        document = yaml.safe_load((SCHEMAS.parent / "robots" / "scara.yaml").read_text())
        path = tmp_path / "scara.yaml"
        path.write_text(yaml.safe_dump({**document, "processing": stated.stated()}))
        assert load_robot(path).processing == stated

    @pytest.mark.parametrize("name", ["velocity_threshold_window", "cutoff_hz"])
    def test_a_message_cannot_say_that_a_number_is_none(self, name):
        with pytest.raises(SettingError, match=name):
            processing_of(msg.ProcessingSettings(**{name: float("nan")}))


class TestOptions:
    """Options of the commands are read from the tables."""

    @pytest.mark.parametrize(
        ("command", "kind", "names"),
        [
            ("identify", ProcessingSettings, SAID),
            ("identify", DidimSettings, ("max_iterations", "noise_floor")),
            ("identify", EliminationRule, ()),
            ("identify", HuberSettings, ()),
            ("identify", Weighting, ("bag_noise",)),
            ("identify", PeriodicMotion, ("period", "harmonics")),
            ("identify-many", EliminationRule, ()),
            ("identify-many", Weighting, ("bag_noise",)),
            ("calibrate", CalibrationSettings, ()),
            ("calibrate", EliminationRule, ()),
            ("simulate", SimulationSettings, ()),
            ("excite", FourierSettings, ()),
            ("run", PlanSettings, ("rows", "duration")),
        ],
    )
    def test_an_option_says_what_the_table_knows(self, command, kind, names):
        (commands,) = (one for one in parser()._actions if one.dest == "command")
        options = commands.choices[command]._option_string_actions
        for name in names or kind.table():
            entry = kind.table()[name]
            option = options[entry.option]
            assert option.help.replace("%%", "%").startswith(entry.description)
            assert tuple(option.choices or ()) == entry.choices
            assert not option.default

    def test_what_is_not_said_is_as_the_table_has_it(self):
        options = parser().parse_args(["identify", "ur10", "bag", "--robust", "huber"])
        assert fitting.robust_of(options) == HuberSettings()
        assert shared.elimination_of(options) is None
        said = ["--essential", "--essential-rule", "f-test", "--robust", "huber"]
        options = parser().parse_args(["identify", "ur10", "bag", *said, "--robust-threshold", "2"])
        assert fitting.robust_of(options) == HuberSettings(2.0)
        assert shared.essential_of(options) == EliminationRule("f-test")
        assert EliminationRule("f-test").limit == 0.05


class TestRequests:
    """Fields of requests that are settings are there, with types that fit."""

    @pytest.mark.parametrize(
        ("request_type", "kind", "names"),
        [
            (srv.IdentifyDidim.Request, DidimSettings, didim_requests.SETTINGS),
            (srv.PlanExcitation.Request, OneJointSettings, requests.OF_ONE_JOINT),
            (srv.PlanExcitation.Request, PointSettings, ("starts", "seed")),
            (srv.PlanExcitation.Request, PlanSettings, ("model", "rows", "duration")),
        ],
    )
    def test_a_request_says_what_the_table_knows(self, request_type, kind, names):
        request = request_type()
        assert set(names) <= set(request.get_fields_and_field_types())
        for name in set(names) - {"seed"}:
            entry = kind.table()[name]
            assert stated(request, kind, [name]) == {}
            value = entry.default or entry.minimum or (1.0 if name == "duration" else ("a",))
            setattr(request, name, list(value) if isinstance(value, tuple) else value)
            assert kind.of(stated(request, kind, [name])) == kind(**{name: value})

    @pytest.mark.parametrize("file", ["srv/Identify.srv", "action/Identify.action"])
    def test_a_request_to_identify_tells_the_usual_threshold_of_outliers(self, file):
        text = (SCHEMAS.parents[1] / file).read_text()
        (told,) = (line for line in text.splitlines() if "robust_threshold" in line)
        assert told.endswith(f"0.0: {HuberSettings.threshold:g}")

    def test_a_request_to_calibrate_is_as_the_table_has_it(self):
        request = srv.Calibrate.Request()
        assert CalibrationSettings.of(stated(request, CalibrationSettings)) == CalibrationSettings()
        request.space, request.consistent = "base", False
        assert stated(request, CalibrationSettings) == {"space": "base", "consistent": False}

    @pytest.mark.parametrize(
        ("parameters", "kind", "names"),
        [
            (ExcitationParameters, FourierSettings, FourierSettings.table()),
            (ExcitationParameters, PointSettings, ("starts",)),
            (SimulatedRobotParameters, SensorSettings, SensorSettings.table()),
            (IdentificationParameters, StreamingOptions, ("refresh_period",)),
            (ExcitationParameters, MotionSettings, ("rest_speed",)),
        ],
    )
    def test_parameters_of_nodes_allow_what_the_table_allows(self, parameters, kind, names):
        declared = parameters.table()
        for name in names:
            entry, spec = kind.table()[name], declared[name]
            assert (spec.minimum, spec.maximum) == (entry.minimum, entry.maximum)
            assert entry.description in spec.description or name == "starts"
