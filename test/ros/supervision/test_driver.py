"""How long a driver may be silent where nobody has said so."""

import math

import pytest

from robot_identification.ros.supervision.driver import usual_timeout


@pytest.mark.parametrize(
    ("rate", "jitter", "timeout"),
    [
        (1000.0, 0.0, 0.1),
        (125.0, 0.5, 0.1),
        (125.0, 2.5, 0.14),
        (25.0, 0.0, 0.2),
        (25.0, 1.0, 0.4),
        (2.0, 0.0, 0.5),
        (math.nan, math.nan, 0.1),
    ],
)
def test_four_states_may_be_lost_and_the_next_one_late_within_bounds(rate, jitter, timeout):
    assert usual_timeout(1.0 / rate, jitter) == pytest.approx(timeout)
