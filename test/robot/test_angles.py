"""Roll, pitch and yaw are those of the rotation, upright or not."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from random_robots import random_rotation
from robot_identification.robot.geometry import roll_pitch_yaw, rotation_x, rotation_y, rotation_z


@given(st.integers(0, 2**32 - 1), st.sampled_from(["any", "upright", "nearly upright"]))
def test_roll_pitch_and_yaw_give_the_rotation_back(seed, kind):
    rng = np.random.default_rng(seed)
    turn = random_rotation(rng)
    if kind != "any":
        pitch = rng.choice([-1, 1]) * np.pi / 2 + (10.0 ** -rng.uniform(2, 17)) * (
            kind != "upright"
        )
        turn = rotation_z(rng.uniform(-3, 3)) @ rotation_y(pitch) @ rotation_x(rng.uniform(-3, 3))
    roll, pitch, yaw = roll_pitch_yaw(turn)
    again = rotation_z(yaw) @ rotation_y(pitch) @ rotation_x(roll)
    np.testing.assert_allclose(again, turn, atol=1.5e-10)
