"""Payloads and drive gains from Python, as the commands give them."""

import json
from dataclasses import replace

import numpy as np
import pytest

import robot_identification as ri
from live_nodes import ROBOT, TRUTH, motion
from robot_identification.errors import InputError
from robot_identification.files.payloads import read_payload
from robot_identification.files.results import read_result
from robot_identification.identification.estimators.weighting import Weighting
from robot_identification.identification.identify import identify
from robot_identification.identification.payload.calibrate_drives import with_all_gains
from robot_identification.identification.payload.known import KnownPayload
from robot_identification.robot.bodies import Body
from robot_identification.robot.model import EffortMeaning
from robot_identification.robot.mounting import mounting

BODY = Body(1.5, [0.1, 0.02, 0.0], np.diag([0.004, 0.004, 0.006]))


def run(values):
    q, tau = motion(values)
    return ri.Recording.from_arrays(ROBOT, 0.01 * np.arange(len(q)), q, tau)


@pytest.fixture(scope="module")
def runs():
    return run(TRUTH), run(mounting(ROBOT).with_body(TRUTH, BODY))


def test_a_payload_has_a_line_a_table_and_plain_data(runs, tmp_path):
    found = ri.identify_payload("scara", *runs)
    assert "scara" in found.headline
    rows = {row["quantity"]: row for row in found.records()}
    assert rows["mass"]["value"] == pytest.approx(1.5, rel=0.02)
    assert found.summary()["body"]["mass"]["value"] == rows["mass"]["value"]
    found.save(tmp_path / "payload.yaml")
    assert "robot_identification/payload" in (tmp_path / "payload.yaml").read_text()
    assert json.dumps(found.summary()["body"])


def test_exchanged_runs_are_not_told_as_a_mass_of_zero(runs):
    exchanged = ri.identify_payload("scara", *reversed(runs))
    assert exchanged.result.estimate.body.values[0] == pytest.approx(-1.5, rel=0.02)
    assert exchanged.consistent is None
    (told,) = [line for line in exchanged.result.warnings if line.startswith("the mass")]
    assert told == "the mass is negative: are bare and loaded runs exchanged?"
    nothing = ri.identify_payload("scara", runs[0], run(TRUTH * (1.0 + 1e-9)))
    assert any("not distinguishable from zero" in line for line in nothing.result.warnings)


def test_an_identification_of_the_bare_robot_is_enough(runs):
    earlier = ri.identify("scara", runs[0])
    found = ri.identify_payload(ROBOT, (), runs[1], result=earlier)
    assert found.result.estimate.body.values[0] == pytest.approx(1.5, rel=0.02)


def test_a_bare_run_that_the_identification_was_made_from_is_told(runs):
    earlier = ri.identify("scara", runs[0].between(0.0, 0.5))
    found = ri.identify_payload(ROBOT, runs[0], runs[1], result=earlier)
    assert any("behind the result too" in line for line in found.result.warnings)
    other = run(TRUTH * (1.0 + 1e-9))
    alone = ri.identify_payload(ROBOT, other, runs[1], result=earlier)
    assert not any("behind the result" in line for line in alone.result.warnings)


def test_an_identification_from_efforts_of_another_kind_is_refused(runs):
    """Currents that were taken for torques would make a payload of several times its mass."""
    earlier = ri.identify("scara", runs[0])
    pushed = currents(LOADED, 0.5)
    with pytest.raises(
        ri.ResultMismatchError, match="joint_torque, and those of the runs are curr"
    ):
        ri.identify_payload(with_all_gains(UNSTATED), (), pushed, result=earlier)


def test_weights_between_bags_of_an_identification_are_no_noise_of_the_payload(runs):
    halves = [runs[0].between(0.0, 0.5), runs[0].between(0.5, 1.0)]
    plain, weighted = (
        identify(ROBOT, halves, weighting=Weighting(weights)) for weights in ((), (1e4, 2e4))
    )
    found, other = (
        ri.identify_payload(ROBOT, (), runs[1], result=earlier).result.estimate
        for earlier in (plain, weighted)
    )
    np.testing.assert_allclose(other.std_white, found.std_white, rtol=1e-6)
    np.testing.assert_allclose(other.values, found.values, atol=1e-6)


def test_a_run_that_is_named_twice_is_refused(runs):
    """It would count twice, and deviations would be too small by a third."""
    bare, loaded = runs
    for pair in (([bare, bare], loaded), (bare, [loaded, loaded])):
        with pytest.raises(ri.SettingError, match="would count twice"):
            ri.identify_payload(ROBOT, *pair)
        with pytest.raises(ri.SettingError, match="would count twice"):
            ri.identify_drive_gains(ROBOT, *pair, KNOWN)
    halves = [loaded.between(0.0, 0.5), loaded.between(0.5, 1.0)]
    assert len(ri.identify_payload(ROBOT, bare, halves).result.loaded) == 2
    with pytest.raises(ri.SettingError, match=r"is the same recording as .*, given as bare"):
        ri.identify_payload(ROBOT, loaded, halves[0])


def test_the_beginning_of_a_recording_may_be_bare_and_its_end_loaded(runs):
    before, after = (
        run.between(*part) for run, part in zip(runs, ((0, 0.5), (0.5, 1)), strict=True)
    )
    whole = replace(before, segments=before.segments + after.segments, digest="one")
    parts = [whole.between(0.0, 0.5), whole.between(0.5, 1.0)]
    assert len(ri.identify_payload(ROBOT, *parts).result.bare) == 1


def test_drive_gains_with_a_payload_in_a_file(runs, tmp_path):
    path = tmp_path / "known.yaml"
    path.write_text(
        "mass: 1.5\ncentre: [0.1, 0.02, 0.0]\ninertia: [0.004, 0, 0, 0.004, 0, 0.006]\n"
    )
    found = ri.identify_drive_gains(ROBOT, *runs, path)
    same = ri.identify_drive_gains(ROBOT, *runs, read_payload(path))
    assert [row["factor"] for row in found.records()] == pytest.approx([1.0, 1.0], abs=0.02)
    assert found.headline == same.headline
    found.save(tmp_path / "gains.yaml")
    for read in (read_payload, read_result):
        with pytest.raises(InputError, match="the gains of drive-gains, and"):
            read(tmp_path / "gains.yaml")
    assert found.summary()["gains"][0]["joint"] == "joint_1"


def currents(values, gain):
    """Return a run whose recorded currents are the torques over the gain, for an unknown gain."""
    q, tau = motion(values)
    return ri.Recording.from_arrays(
        with_all_gains(UNSTATED), 0.01 * np.arange(len(q)), q, tau / gain
    )


UNSTATED = replace(ROBOT, effort_meaning=EffortMeaning.CURRENT)
LOADED = mounting(ROBOT).with_body(TRUTH, BODY)
KNOWN = KnownPayload(BODY.mass, BODY.centre, BODY.inertia)


def test_gains_that_the_robot_file_does_not_state_are_not_far_from_it():
    pair = currents(TRUTH, 0.11), currents(LOADED, 0.11)
    found = ri.identify_drive_gains(UNSTATED, *pair, KNOWN)
    assert found.result.gains == pytest.approx([0.11, 0.11], rel=0.02)
    assert np.isnan(found.result.believed).all()
    assert {gain["believed"] for gain in found.summary()["gains"]} == {None}
    assert not any("far from the believed" in line for line in found.result.warnings)


def test_gains_of_exchanged_runs_are_no_gains(runs):
    found = ri.identify_drive_gains(ROBOT, *reversed(runs), KNOWN)
    assert found.result.reversed
    assert (found.result.estimate.factors < 0.0).all()
    (told,) = [line for line in found.result.warnings if "gains" in line]
    assert "exchanged, or have all currents the wrong sign" in told
