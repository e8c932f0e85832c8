"""Tables for people show names as they stand."""

from robot_identification.cli.tables.printing import console, print_table


def test_headings_are_no_markup(capsys):
    print_table(console(), "title [bold]", ("[red]one", "two[/]"), [("[b]1", "2")])
    printed = capsys.readouterr().out
    assert all(text in printed for text in ("title [bold]", "[red]one", "two[/]", "[b]1"))
