"""Estimates that are refreshed while a recording runs, through DDS."""

import numpy as np
import pytest
from robot_identification.msg import IdentificationResult

from live_nodes import ROBOT, SAMPLES, TRUTH, states
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.rows.growing import is_streamed
from robot_identification.ros.common import qos
from robot_identification.ros.messages.received_results import result_of

pytestmark = pytest.mark.ros

BASE = base_parameters(ROBOT)
EXACT = BASE.values(TRUTH[BASE.columns])


@pytest.fixture(scope="module")
def suite(make_suite):
    """Acquisition and identification with quick refreshes, ready; estimates are collected."""
    suite = make_suite()
    suite.start("acquisition", block_period=0.05, diagnostics_period=0.1)
    suite.start("identification", streaming_settle=3.0, refresh_period=0.05)
    suite.wait_for_acquisition()
    suite.verbs.require("identification")
    suite.estimates = []
    suite.client.node.create_subscription(
        IdentificationResult, "identified_parameters", suite.estimates.append, qos.LATCHED
    )
    return suite


def estimates_of(suite, recording):
    """Return the estimates of a recording of :func:`states`, up to the one of all its samples."""

    def found():
        return [e for e in suite.estimates if e.sources[0].name == recording]

    suite.wait(lambda: found() and samples_of(found()[-1]) == SAMPLES, "estimate of all samples")
    return found()


def samples_of(message):
    return message.sources[0].samples


def test_estimates_sharpen_before_anybody_asks_and_then_give_way(suite):
    recording = suite.verbs.start_recording().message
    everything = states()
    suite.let_readers_find_samples()
    suite.send(recording, everything[:1200])
    suite.wait(lambda: suite.estimates, "first estimate")
    early = suite.estimates[-1]
    suite.send(recording, everything[1200:], before=1200)
    # A block of a few samples, of which no further row comes, is no reason for an estimate.
    suite.wait(lambda: samples_of(suite.estimates[-1]) > 1200, "further estimate")
    late = suite.estimates[-1]
    assert late.sources[0].name == recording
    assert late.method == "wls"
    assert is_streamed(result_of(late))
    assert sum(late.rows) > sum(early.rows)
    values = [parameter.value for parameter in late.parameters]
    np.testing.assert_allclose(values, EXACT, rtol=0.05, atol=2e-2)
    assert all(p.std > 0.0 and p.std_robust > 0.0 for p in late.parameters)
    assert late.header.stamp == everything[samples_of(late) - 1].header.stamp

    assert suite.verbs.stop_recording().message == recording
    answer = suite.identify(recording)
    assert answer.success, answer.message
    assert not is_streamed(result_of(answer.result))
    suite.wait(lambda: not is_streamed(result_of(suite.estimates[-1])), "the answer")
    count = len(suite.estimates)
    assert not is_streamed(result_of(suite.latched()))
    assert not any(is_streamed(result_of(e)) for e in suite.estimates[count:])


def test_good_enough_follows_its_threshold(suite):
    suite.verbs.set_parameter("identification", "good_enough_std", 10.0)
    recording = suite.record(states())[0].recording
    assert estimates_of(suite, recording)[-1].good_enough
    suite.verbs.set_parameter("identification", "good_enough_std", 0.0)
    recording = suite.record(states())[0].recording
    assert not any(estimate.good_enough for estimate in estimates_of(suite, recording))


def test_streaming_is_switched_off_by_a_parameter(suite):
    suite.verbs.set_parameter("identification", "streaming", value=False)
    recording = suite.record(states())[0].recording
    assert suite.identify(recording).success
    suite.wait(lambda: suite.estimates[-1].sources[0].name == recording, "the answer")
    of_it = [e for e in suite.estimates if e.sources[0].name == recording]
    assert not any(is_streamed(result_of(e)) for e in of_it)
    suite.verbs.set_parameter("identification", "streaming", value=True)
