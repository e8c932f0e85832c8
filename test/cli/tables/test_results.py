"""Settings as people read them."""

from robot_identification.cli.tables.results import console, print_settings


def test_a_setting_without_a_value_has_a_dash(capsys):
    print_settings(console(), {"noise_floor": {"value": None, "reason": "default: from the data"}})
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.split(maxsplit=2) == ["noise_floor", "-", "default: from the data"]
