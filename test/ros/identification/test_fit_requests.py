"""What a request wants fitted, held out, weighted and limited."""

from types import SimpleNamespace

import pytest
from robot_identification.srv import Identify

from robot_identification.errors import RecordingError, SettingError
from robot_identification.identification.estimators.huber import HuberSettings
from robot_identification.identification.estimators.weighting import Weighting
from robot_identification.ros.identification.requests import fit_request

RECORDINGS = [SimpleNamespace(source=name) for name in ("one", "two", "live-1")]


def request_of(**fields):
    request = Identify.Request(**fields)
    request.data.bags, request.data.recordings = ["one", "two"], ["live-1"]
    return request


def test_a_request_that_says_nothing_fits_all():
    found = fit_request(request_of(), RECORDINGS)
    assert found.fitted == RECORDINGS
    assert found.held_out == []
    assert found.weighting == Weighting()
    assert found.robust is None


def test_bags_come_before_recordings_in_weights_and_those_held_out_need_none():
    request = request_of(
        held_out=["two"], bag_weights=[2.0, 7.0, 0.5], bag_noise=True, robust="huber"
    )
    found = fit_request(request, RECORDINGS)
    assert [r.source for r in found.fitted] == ["one", "live-1"]
    assert [r.source for r in found.held_out] == ["two"]
    assert found.weighting == Weighting((2.0, 0.5), bag_noise=True)
    assert found.robust == HuberSettings(1.345)
    limited = fit_request(request_of(robust="huber", robust_threshold=2.0), RECORDINGS)
    assert limited.robust == HuberSettings(2.0)


@pytest.mark.parametrize(
    ("fields", "error", "text"),
    [
        ({"held_out": ["three"]}, SettingError, "not among the bags"),
        ({"held_out": ["one", "two", "live-1"]}, RecordingError, "leave one to fit"),
        ({"bag_weights": [1.0]}, SettingError, "one for each of 3"),
        ({"bag_weights": [1.0, 0.0, 1.0]}, SettingError, "must be positive"),
        ({"robust": "tukey"}, SettingError, "choose huber"),
        ({"robust_threshold": 2.0}, SettingError, "needs robust"),
        ({"robust": "huber", "robust_threshold": -1.0}, SettingError, "positive"),
    ],
)
def test_fields_that_cannot_be_are_refused(fields, error, text):
    with pytest.raises(error, match=text):
        fit_request(request_of(**fields), RECORDINGS)
