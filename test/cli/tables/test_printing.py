"""Tables for people show names as they stand."""

from robot_identification.cli.tables.printing import console, fraction, print_table


def test_headings_are_no_markup(capsys):
    print_table(console(), "title [bold]", ("[red]one", "two[/]"), [("[b]1", "2")])
    printed = capsys.readouterr().out
    assert all(text in printed for text in ("title [bold]", "[red]one", "two[/]", "[b]1"))


def test_what_was_never_predicted_has_no_error():
    assert [fraction(error, 4) for error in (0.0, None, float("nan"))] == ["0.0000", "-", "-"]
