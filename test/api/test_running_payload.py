import numpy as np

import robot_identification as ri
from carried_payloads import BEGIN, BODY, ROBOT, SETTINGS, TRUTH, Carrying


def recording(*parts):
    stamps, q, tau = (np.concatenate(signals) for signals in zip(*parts, strict=True))
    return ri.Recording.from_arrays(ROBOT, (stamps - BEGIN) * 1e-9, q, tau)


def test_a_recording_with_a_body_in_its_second_half():
    arm = Carrying()
    free, run = recording(arm.part(22.0)), recording(arm.part(4.0), arm.part(6.0, BODY))
    found = ri.running_payload(ROBOT, TRUTH, run, free_motion=free, settings=SETTINGS)
    assert len(found.changes) == 1
    assert found.status[-1] is ri.PayloadStatus.CARRIED
    error = np.abs(found.values[-1, :4] - [BODY.mass, *BODY.centre])
    assert (error < 4.0 * found.std[-1, :4]).all()
    assert "1 changes" in found.headline
    assert len(found.records()) == len(found.stamps) == len(found.states)
    assert found.summary()["changes"] == list(found.changes)
