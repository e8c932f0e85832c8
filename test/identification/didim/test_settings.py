"""Settings of DIDIM with where they come from."""

from robot_identification.identification.didim.settings import DidimSettings


def test_a_noise_floor_that_nobody_states_is_found_from_the_data():
    entries = DidimSettings().entries()
    assert entries["noise_floor"] == {"value": None, "reason": "default: from the data"}
    assert entries["growth"] == {"value": 1.2, "reason": "default"}
    assert DidimSettings(noise_floor=0.1).entries()["noise_floor"]["reason"] == "option"
