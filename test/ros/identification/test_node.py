import json
import os
from pathlib import Path

import numpy as np
import pytest
from rclpy.duration import Duration
from robot_identification.srv import BaseParameters, Identify, IdentifyPayload, Validate

from live_nodes import BEGIN, ROBOT, SAMPLES, TRUTH, motion, states
from long_work import names_of
from robot_identification import msg
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.files.results import read_result
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.robot.bodies import Body
from robot_identification.robot.mounting import mounting
from robot_identification.ros.common import qos
from robot_identification.ros.messages.blocks import block_message, raw_block
from robot_identification.ros.messages.error_codes import CODES
from robot_identification.signals.raw_samples import RawSamples

pytestmark = pytest.mark.ros

BASE = base_parameters(ROBOT)
EXACT = BASE.values(TRUTH[BASE.columns])
MANY = 3000


@pytest.fixture(scope="module")
def recording(suite):
    return suite.record(states())[0].recording


@pytest.fixture(scope="module")
def bag(tmp_path_factory):
    q, tau = motion()
    begin = (
        BEGIN + 3_600_000_000_000
    )  # the same samples at the same time would be the same recording
    stamps = begin + np.rint(np.arange(SAMPLES) * 1e7).astype(np.int64)
    path = tmp_path_factory.mktemp("bags") / "bag"
    write_joint_states(path, ROBOT.joint_names, RawSamples(stamps, q, None, tau))
    return path


def values_of(result):
    return np.array([parameter.value for parameter in result.parameters])


def same(one, other):
    return repr(one) == repr(other)  # a NaN equals itself here


def test_parameters_are_found_published_and_latched(suite, recording):
    suite.progress.clear()
    response = suite.identify(recording, method="ols", held_out_fraction=0.3)
    assert (response.success, response.error_code) == (True, CODES.OK), response.message
    result = response.result
    assert [parameter.name for parameter in result.parameters] == list(BASE.names)
    assert all(parameter.std_robust > 0.0 for parameter in result.parameters)
    np.testing.assert_allclose(values_of(result), EXACT, rtol=0.02, atol=8e-3)
    assert result.relative_error_total < 0.01
    assert result.held_out_relative_error_total < 0.01
    assert [source.name for source in result.sources] == [recording]
    assert result.header.stamp == states()[-1].header.stamp
    assert same(suite.latched(), result)
    suite.wait(lambda: suite.progress and suite.progress[-1].fraction == 1.0, "end of progress")
    assert {message.robot for message in suite.progress} == {"scara"}


def test_a_recording_that_runs_is_identified_while_its_states_come(suite):
    everything = states(1000)
    suite.let_readers_find_samples()
    recording = suite.verbs.start_recording().message
    suite.send(recording, everything[:700])
    suite.wait(lambda: suite.received(recording) >= 700, "first samples")
    asked, sent = [], 700
    while sent < len(everything):
        if not asked or (asked[-1].done() and len(asked) < 5):
            request = Identify.Request(data=msg.DataSelection(recordings=[recording]))
            asked.append(suite.verbs.begun.ask(request))
        suite.driver.publish(everything[sent])
        sent += 1
        suite.client.spin(0.01)
    suite.wait(lambda: all(future.done() for future in asked), "answers")
    suite.verbs.stop_recording()
    for response in (future.result() for future in asked):
        assert response.success, response.message
        assert any("not ended" in line for line in response.result.warnings)
        np.testing.assert_allclose(values_of(response.result), EXACT, rtol=0.1, atol=0.05)


def test_permuted_names_give_the_same_parameters(suite, recording):
    permuted = suite.record(states(names=tuple(reversed(ROBOT.joint_names))))[0].recording
    one, other = (values_of(suite.identify(name).result) for name in (recording, permuted))
    assert one.tolist() == other.tolist()


def test_recordings_and_bags_go_together(suite, recording, bag):
    request = Identify.Request(output="result.yaml")
    request.data.recordings, request.data.bags = [recording], [str(bag)]
    request.processing.velocity_threshold_window = 1.0
    response = suite.verbs.answers.ask(request)
    assert response.success, response.message
    names = [(source.name, bool(source.hash)) for source in response.result.sources]
    assert sorted(names) == sorted([(str(bag), True), (recording, False)])
    assert sum(source.samples for source in response.result.sources) == 2 * SAMPLES
    live = Identify.Request(processing=request.processing)
    live.data.recordings = [recording]
    alone = suite.verbs.answers.ask(live)
    np.testing.assert_allclose(values_of(response.result), values_of(alone.result), rtol=1e-4)
    validation = suite.verbs.answers.validate(
        request.data, processing=request.processing, result=response.written[0]
    )
    assert validation.success, validation.message
    assert validation.relative_error_total == pytest.approx(
        response.result.relative_error_total, rel=1e-6
    )


def test_a_result_is_validated_with_its_own_settings(suite, recording):
    stated = msg.ProcessingSettings(cutoff_hz=4.0, rate_hz=8.0, velocity_threshold=[0.3, 0.2])
    request = Identify.Request(processing=stated)
    request.data.recordings = [recording]
    result = suite.verbs.ask(request).result
    ask = Validate.Request(data=request.data)
    validation = suite.verbs.ask(ask)
    assert validation.relative_error_total == pytest.approx(result.relative_error_total, rel=1e-9)
    settings = {entry.key: json.loads(entry.value) for entry in validation.settings}
    assert settings["cutoff_hz"] == {"value": 4.0, "reason": "result"}
    assert settings["velocity_threshold_window"] == {"value": 1.5, "reason": "result"}
    ask.processing.cutoff_hz = 6.0
    validation = suite.verbs.ask(ask)
    settings = {entry.key: json.loads(entry.value) for entry in validation.settings}
    assert settings["cutoff_hz"] == {"value": 6.0, "reason": "option"}


def test_settings_are_derived_anew_for_a_validation_that_asks_for_it(suite, recording):
    request = Identify.Request(processing=msg.ProcessingSettings(cutoff_hz=4.0, rate_hz=8.0))
    request.data.recordings = [recording]
    derived = Identify.Request(data=request.data)
    usual = {e.key: json.loads(e.value) for e in suite.verbs.ask(derived).result.settings}
    assert suite.verbs.ask(request).success
    validation = suite.verbs.ask(Validate.Request(data=request.data, derive_settings=True))
    settings = {entry.key: json.loads(entry.value) for entry in validation.settings}
    assert {name: settings[name] for name in usual if name in settings} == usual
    assert settings["cutoff_hz"]["value"] != 4.0
    assert any("cutoff_hz" in line and "4.0" in line for line in validation.warnings)


def test_measured_velocities_are_used_where_a_request_says_so(suite):
    q, _ = motion()
    everything = states()
    for message, speed in zip(everything, np.gradient(q, 0.01, axis=0), strict=True):
        message.velocity = speed.tolist()
    recording = suite.record(everything)[0].recording
    derived = suite.identify(recording)
    response = suite.identify(recording, **settings(velocities="measured"))
    assert response.success, response.message
    said = {entry.key: json.loads(entry.value) for entry in response.result.settings}
    assert said["velocities"] == {"value": "measured", "reason": "option"}
    assert (values_of(response.result) != values_of(derived.result)).any()
    np.testing.assert_allclose(values_of(response.result), EXACT, rtol=0.1, atol=0.05)


def test_given_parameters_are_validated(suite, recording):
    names = [name for name, value in zip(ROBOT.all_parameter_names, TRUTH, strict=True) if value]
    standard = Validate.Request(names=names, values=[float(v) for v in TRUTH if v])
    base = Validate.Request(names=list(BASE.names), values=EXACT.tolist())
    nothing = Validate.Request(names=["Fv1"], values=[0.0])
    errors = []
    for request in (standard, base, nothing):
        request.data.recordings = [recording]
        response = suite.verbs.answers.ask(request)
        assert response.success, response.message
        assert response.joint_names == list(ROBOT.joint_names)
        assert len(response.rows) == len(response.relative_error) == 2
        assert len(response.residual_std) == 2
        errors.append(response.relative_error_total)
    assert errors[0] == pytest.approx(errors[1], rel=1e-9)
    assert errors[0] < 0.01
    assert errors[2] == pytest.approx(1.0)


def test_a_payload_is_identified_from_a_recording_and_a_bag(suite, recording, bag):
    body = Body(1.5, [0.1, 0.02, 0.0], np.diag([0.004, 0.004, 0.006]))
    values = mounting(ROBOT).with_body(TRUTH, body)
    loaded = suite.record(states(values=values))[0].recording
    request = IdentifyPayload.Request(bare=msg.DataSelection(bags=[str(bag)]))
    request.loaded.recordings = [loaded]
    response = suite.verbs.ask(request)
    assert response.success, response.message
    assert response.payload.values[0] == pytest.approx(body.mass, rel=0.02)
    assert response.payload.lower[0] < body.mass < response.payload.upper[0]
    request.loaded.recordings = ["nobody"]
    refused = suite.verbs.answers.ask(request)
    assert refused.error_code == CODES.UNKNOWN_RECORDING, refused.message


def test_base_parameters_need_no_data(suite):
    standard = dict(zip(ROBOT.all_parameter_names, TRUTH.tolist(), strict=True))
    names = [name for name in BASE.standard_names if standard[name]]
    request = BaseParameters.Request(names=names, values=[standard[name] for name in names])
    response = suite.verbs.answers.ask(request)
    assert response.success, response.message
    assert response.rank == 8
    np.testing.assert_allclose([p.value for p in response.base], EXACT, rtol=1e-12)
    assert len(response.relations) == 8
    other = BaseParameters.Request(robot="three_dof")
    response = suite.verbs.answers.ask(other)
    assert response.rank == 15
    assert np.isnan([parameter.value for parameter in response.base]).all()


def settings(**fields):
    return {"processing": msg.ProcessingSettings(**fields)}


@pytest.mark.parametrize(
    ("fields", "code", "text"),
    [
        ({"method": "magic"}, CODES.INVALID_REQUEST, "choose one of"),
        ({"essential": True, "method": "energy"}, CODES.INVALID_REQUEST, "essential"),
        ({"held_out_fraction": 1.5}, CODES.INVALID_REQUEST, "held_out_fraction"),
        (settings(cutoff_hz=60.0), CODES.INVALID_REQUEST, "cutoff"),
        (settings(cutoff_hz=-1.0), CODES.INVALID_REQUEST, "cutoff"),
        (settings(ends="off"), CODES.INVALID_REQUEST, "ends"),
        (settings(velocity_threshold_scope="x"), CODES.INVALID_REQUEST, "velocity_threshold_scope"),
        (settings(residual_divisor="x"), CODES.INVALID_REQUEST, "residual_divisor"),
        (settings(velocity_threshold=[0.1] * 3), CODES.INVALID_REQUEST, "velocity_threshold"),
        (settings(drop_start=SAMPLES), CODES.DATA_INVALID, "samples"),
        (settings(velocities="guessed"), CODES.INVALID_REQUEST, "velocities"),
        (settings(velocities="measured"), CODES.DATA_INVALID, "no measured velocities"),
        ({"output": "/no/such/folder/result.yaml"}, CODES.OUTPUT_FAILED, "/no/such/folder"),
    ],
)
def test_impossible_requests_are_refused(suite, recording, fields, code, text):
    response = suite.identify(recording, **fields)
    assert not response.success
    assert (response.error_code, response.result.robot) == (code, ""), response.message
    assert text in response.message


def test_a_request_writes_nothing_but_what_its_node_may(suite, recording, tmp_path):
    """Through DDS, to a file of the user's, by a path, by dots and by a link."""
    precious = tmp_path / "precious.yaml"
    precious.write_text("not yours")
    suite.identify(recording, output=str(precious), method="ols")
    assert precious.read_text() == "not yours"
    response = suite.identify(recording, output="allowed.yaml")
    assert response.success, response.message
    folder = Path(response.written[0]).parent
    (folder / "link.yaml").symlink_to(precious)
    (folder / "by_hand.yaml").write_text("made by hand")
    good = suite.latched()
    dots = os.path.relpath(precious, folder)
    for name in (str(precious), dots, "link.yaml"):
        for overwrite in (False, True):
            refused = suite.identify(recording, output=name, overwrite=overwrite, method="ols")
            assert refused.error_code == CODES.OUTPUT_FAILED, refused.message
            assert "the folder that services may write to" in refused.message
            assert list(refused.written) == []
    assert precious.read_text() == "not yours"
    refused = suite.identify(recording, output="by_hand.yaml", method="ols")
    assert refused.error_code == CODES.OUTPUT_FAILED
    assert "set overwrite" in refused.message
    assert (folder / "by_hand.yaml").read_text() == "made by hand"
    assert same(suite.latched(), good)
    assert suite.identify(recording, output="by_hand.yaml", overwrite=True).success
    assert read_result(folder / "by_hand.yaml").method == "wls"


def test_data_that_are_not_there_are_named(suite, recording, bag, tmp_path):
    def answer(**fields):
        request = Identify.Request(data=msg.DataSelection(**fields))
        return suite.verbs.answers.ask(request)

    unknown = answer(recordings=["x"])
    assert unknown.error_code == CODES.UNKNOWN_RECORDING
    assert recording in unknown.message
    for fields, code in (
        ({"bags": [str(tmp_path / "none")]}, CODES.BAG_UNREADABLE),
        ({"bags": [str(bag)], "joint_states_topic": "/other"}, CODES.BAG_UNREADABLE),
        ({"bags": [str(bag)], "effort_topic": "/efforts"}, CODES.BAG_UNREADABLE),
        ({"recordings": [recording], "begin": 0.6, "end": 0.5}, CODES.INVALID_REQUEST),
        ({"recordings": [recording], "begin": 0.5, "end": 0.51}, CODES.DATA_INVALID),
    ):
        response = answer(**fields)
        assert response.error_code == code, response.message
        assert response.message


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"result": "/no/such/file"}, CODES.RESULT_INVALID),
        ({"names": ["Fv1"], "values": [1.0, 2.0]}, CODES.INVALID_REQUEST),
        ({"names": ["Fv9"], "values": [1.0]}, CODES.INVALID_REQUEST),
        ({"names": ["Fv1"], "values": [float("nan")]}, CODES.INVALID_REQUEST),
    ],
)
def test_parameters_of_no_use_are_refused(suite, recording, fields, code):
    request = Validate.Request(**fields)
    request.data.recordings = [recording]
    response = suite.verbs.answers.ask(request)
    assert (response.success, response.error_code) == (False, code), response.message


def test_unknown_robots_and_models_are_refused(suite):
    for request, code in (
        (BaseParameters.Request(robot="nobody"), CODES.ROBOT_INVALID),
        (BaseParameters.Request(model="magic"), CODES.INVALID_REQUEST),
        (BaseParameters.Request(method="magic"), CODES.INVALID_REQUEST),
    ):
        response = suite.verbs.answers.ask(request)
        assert (response.success, response.error_code) == (False, code), response.message


def test_a_robot_at_rest_tells_nothing_and_leaves_the_result(suite, recording):
    answer = suite.identify(recording)
    assert answer.success, answer.message
    good = answer.result
    still = states(600)
    for message in still:
        message.position, message.effort = [0.1, 0.2], [0.0, 0.0]
    response = suite.identify(suite.record(still)[0].recording)
    assert response.error_code in (CODES.ILL_CONDITIONED, CODES.DATA_INVALID), response.message
    assert same(suite.latched(), good)


def test_one_at_a_time_busy_at_once_and_cancel(suite, recording, bag):
    answer = suite.identify(recording)
    assert answer.success, answer.message
    good = answer.result
    request = Identify.Request(data=msg.DataSelection(bags=names_of(bag, MANY)))
    long = suite.begin(request)
    assert suite.identify(recording).error_code == CODES.BUSY
    other = Validate.Request(data=msg.DataSelection(recordings=[recording]))
    assert suite.verbs.answers.ask(other).error_code == CODES.BUSY
    assert suite.verbs.answers.ask(BaseParameters.Request()).success
    assert not long.done()
    assert suite.verbs.answers.cancel("identification").success
    suite.client.wait_for(long.done, 30.0, "answer of the cancelled request")
    assert long.result().error_code == CODES.CANCELLED
    assert same(suite.latched(), good)
    assert not suite.verbs.answers.cancel("identification").success
    assert suite.identify(recording).success


def test_lost_blocks_and_foreign_samples_are_told(suite, recording):
    publisher = suite.client.node.create_publisher(msg.SampleBlock, "samples", qos.BLOCKS)
    suite.wait(lambda: publisher.get_subscription_count() >= 2, "reader of samples")
    blocks = suite.of(recording)
    kept = [block for i, block in enumerate(blocks) if i != len(blocks) // 2]
    for block in kept:
        block.recording = "replayed"
        publisher.publish(block)
    foreign = block_message(raw_block(blocks[0]), ROBOT)
    foreign.robot, foreign.recording = "another", "foreign"
    publisher.publish(foreign)
    publisher.wait_for_all_acked(Duration(seconds=10))
    suite.wait(
        lambda: suite.identify("replayed").error_code != CODES.UNKNOWN_RECORDING, "recording"
    )
    response = suite.identify("replayed")
    assert response.success, response.message
    assert "recording replayed: 1 blocks, " in "\n".join(response.result.warnings)
    assert suite.identify("foreign").error_code == CODES.UNKNOWN_RECORDING
    for block in blocks:
        block.recording = recording


def test_without_data_or_result_there_is_nothing_to_answer(make_suite):
    suite = make_suite()
    suite.start("identification")
    response = suite.verbs.answers.ask(Identify.Request())
    assert response.error_code == CODES.UNKNOWN_RECORDING
    response = suite.verbs.answers.ask(Validate.Request())
    assert response.error_code == CODES.RESULT_INVALID
    assert "~/identify" in response.message
    suite.processes.stop("identification")
