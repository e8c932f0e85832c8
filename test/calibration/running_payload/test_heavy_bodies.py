"""Heavy bodies ask of drives and gears what their models do not know, and are lifted slowly."""

import numpy as np
import pytest

from carried_payloads import (
    LITTLE_NOISE,
    NOISE,
    Carrying,
    learn,
    learned_arm,
    new_watch,
    send,
)
from robot_identification.calibration.running_payload.state import PayloadStatus
from robot_identification.robot.bodies import Body

HEAVY = Body(5.0, [0.02, -0.03, 0.08], np.diag([0.015, 0.018, 0.01]))


def picked_up_and_laid_down(arm, watch):
    """Return what is told of a heavy body that an arm carries for eight seconds, and after it."""
    carried = send(watch, arm.part(8.0, HEAVY))
    assert carried[-1].status is PayloadStatus.CARRIED
    assert carried[-1].body.mass[0] == pytest.approx(HEAVY.mass, rel=0.02)
    laid_down = send(watch, arm.part(6.0))
    assert laid_down[-1].status is PayloadStatus.NONE
    return [*carried, *laid_down]


def test_friction_under_a_heavy_load_is_neither_payload_nor_contact():
    arm, watch = learned_arm()
    arm.load_friction = 0.05
    states = picked_up_and_laid_down(arm, watch)
    assert states[-1].changes == 2
    assert abs(states[30].body.mass[0] - HEAVY.mass) < 3.0 * states[30].body.mass[1]


def test_efforts_that_are_late_under_a_heavy_load_are_neither_payload_nor_contact():
    arm, watch = Carrying(seed=7), new_watch()
    arm.delay = 0.003
    learn(arm, watch)
    send(watch, arm.part(4.0))
    for changes in (2, 4):
        assert picked_up_and_laid_down(arm, watch)[-1].changes == changes


@pytest.mark.parametrize("noise", [NOISE, LITTLE_NOISE])
def test_gears_that_turn_unevenly_under_a_heavy_load_are_neither_payload_nor_contact(noise):
    arm, watch = learned_arm(noise)
    arm.ripple = 0.02
    for changes in (2, 4, 6, 8):
        states = picked_up_and_laid_down(arm, watch)
        assert states[-1].changes == changes
        assert PayloadStatus.CONTACT not in {state.status for state in states}


def test_the_threshold_of_a_change_grows_by_what_uneven_gears_leave_of_the_rows():
    arm, watch = learned_arm(LITTLE_NOISE)
    bare = send(watch, arm.part(2.0))[-1]
    arm.ripple = 0.02
    carried = send(watch, arm.part(6.0, HEAVY))[-1]
    assert bare.misfit < 1.2
    assert carried.misfit > 3.0
    assert carried.limit > 9.0 * bare.limit
    assert abs(carried.body.mass[0] - HEAVY.mass) < 3.0 * carried.body.mass[1]


@pytest.mark.parametrize("lifting", [0.5, 1.0])
def test_a_heavy_body_is_weighed_however_slowly_it_is_lifted_from_a_table(lifting):
    arm, watch = learned_arm(LITTLE_NOISE)
    for number in range(2):
        lifted = send(watch, arm.part(lifting + 5.0, HEAVY, lifting))[-1]
        assert (lifted.status, lifted.changes) == (PayloadStatus.CARRIED, 2 * number + 1)
        assert lifted.body.mass[0] == pytest.approx(HEAVY.mass, rel=0.02)
        laid_down = send(watch, arm.part(5.0))[-1]
        assert (laid_down.status, laid_down.changes) == (PayloadStatus.NONE, 2 * number + 2)
