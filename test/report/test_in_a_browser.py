"""The report opened in a real browser: on a phone, on a screen, on paper."""

import pytest

from browser import look_at, needs_browser, page_count, printed
from robot_identification.cli.main import main

pytest.importorskip("matplotlib", reason="needs the extra report")
pytest.importorskip("jinja2", reason="needs the extra report")
pytestmark = needs_browser


@pytest.fixture(scope="module")
def page(swinging_scara, tmp_path_factory):
    """The report of a SCARA, calibrated, with every section but convergence."""
    folder = tmp_path_factory.mktemp("page")
    parameters = folder / "parameters.yaml"
    calibrated = ("calibrate", "scara", str(swinging_scara), "--prior", "scara")
    assert main([*calibrated, "--space", "base", "-o", str(parameters)]) == 0
    target = folder / "report.html"
    arguments = ("report", str(swinging_scara), "-o", str(target))
    assert main([*arguments, "--parameters", str(parameters)]) == 0
    return target


@pytest.fixture(scope="module")
def seen(page, tmp_path_factory):
    """What the browser sees at the width of a phone and of a screen; its console; its requests."""
    return look_at(page, tmp_path_factory.mktemp("browser") / "profile")


def test_nothing_sticks_out_on_a_phone_or_on_a_screen(seen):
    views, _, _ = seen
    assert [view["width"] for view in views] == [390, 1280]
    for view in views:
        assert view["overflow"] == 0, view["out"]
        assert view["out"] == []
        assert view["smallest"] >= 10.0


def test_every_figure_is_there_and_shows_something(seen):
    for view in seen[0]:
        # of two joints: effort, friction, spectrum, histogram; then the singular values
        assert view["shown"] == 2 * 4 + 1
        assert view["images"] == view["shown"] + 3  # efforts and singular values for both widths
        assert view["empty"] == []


def test_the_page_is_readable_and_its_links_lead_somewhere(seen):
    for view in seen[0]:
        assert "base parameters of scara" in view["text"]
        assert view["broken"] == []


def test_it_opens_without_errors_and_loads_nothing(seen):
    views, console, asked = seen
    assert console == []
    assert set(asked) == {"/report.html"}
    assert all(view["scripts"] == 0 for view in views)


def test_it_prints_on_several_pages(page, tmp_path):
    pdf = printed(page, tmp_path / "report.pdf", tmp_path / "profile")
    assert pdf.startswith(b"%PDF")
    assert 3 <= page_count(pdf) <= 12
    assert len(pdf) > 50_000


def test_the_browser_would_notice_faults(tmp_path):
    page = tmp_path / "bad.html"
    page.write_text(
        "<!DOCTYPE html><body><p style='width:2000px'>wide</p><a href='#nowhere'>lost</a>"
        "<img alt='missing' src='no.png'><img alt='blank' src='data:image/svg+xml,"
        '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="60"></svg>\'>'
        "<script>console.error('heard')</script>"
    )
    views, console, asked = look_at(page, tmp_path / "profile", widths=[390])
    assert views[0]["overflow"] > 1000
    assert views[0]["out"] == ["P."]
    assert views[0]["broken"] == ["lost"]
    assert views[0]["empty"] == ["missing", "blank"]
    assert any("heard" in line for line in console)
    assert "/no.png" in asked
