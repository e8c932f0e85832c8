"""What ``ri.load_surroundings`` is given."""

from dataclasses import replace

import pytest

import robot_identification as ri


@pytest.mark.parametrize("given", [{"cell": "cell.yaml"}, {"clearance": 0.5}])
def test_a_cell_of_a_robot_without_a_file_is_refused(given):
    """Nothing would be kept clear of, and nobody would say so."""
    robot = replace(ri.load_robot("scara"), file=None)
    assert not ri.load_surroundings(robot).checked
    with pytest.raises(ri.SettingError, match="scara is of no file, which tells its shapes"):
        ri.load_surroundings(robot, **given)
