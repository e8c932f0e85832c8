"""Bags in which the efforts have a topic of their own, and come late."""

import numpy as np
import pytest

from robot_identification.robot.loading import load_robot
from robot_identification.storage.bag_writing import write_bag
from robot_identification.storage.joint_state_cdr import MESSAGE_TYPE, encode

DELAY = 0.006


@pytest.fixture
def late_efforts(scara_samples, tmp_path):
    """A bag of the swinging SCARA whose efforts are stamped 6 ms late, in the other order."""
    names, stamps = load_robot("scara").joint_names, scara_samples.stamps
    late = stamps + round(DELAY * 1e9)
    states = encode(stamps, names, scara_samples.position, scara_samples.velocity)
    nothing = np.zeros((len(late), 0))
    efforts = encode(late, names[::-1], nothing, None, scara_samples.effort[:, ::-1])
    path = tmp_path / "late_efforts"
    with write_bag(path) as bag:
        for stamp, state, delayed, effort in zip(stamps, states, late, efforts, strict=True):
            bag.write("/joint_states", MESSAGE_TYPE, int(stamp), state.tobytes())
            bag.write("/efforts", MESSAGE_TYPE, int(delayed), effort.tobytes())
    return path


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
    (advice,) = [line for line in told["warnings"] if "not corrected; state a delay of" in line]
    assert float(advice.split()[-2]) == pytest.approx(1e3 * DELAY, abs=0.2)
    assert any("corrected by that" in line for line in moved["warnings"])
    late, right, found = (d["relative_error"]["total"] for d in (told, stated, moved))
    assert late > 2.0 * right
    assert found == pytest.approx(right, rel=0.05)


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
