"""Formulas as MathML, which browsers draw themselves: no script, nothing to load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

if TYPE_CHECKING:
    from docutils.nodes import Element
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

NAME = "mathml"
STYLE = "overflow-x: auto; overflow-y: hidden; padding: 0.5em 0"


def setup(app: Sphinx) -> dict[str, Any]:
    """Make this the renderer of formulas that ``html_math_renderer`` names."""
    app.add_html_math_renderer(NAME, (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(writer: HTML5Translator, node: Element) -> None:
    writer.body.append(convert(node.astext()))
    raise SkipNode


def _block(writer: HTML5Translator, node: Element) -> None:
    formula = convert(node.astext().strip(), display="block")
    writer.body.append(f'<div style="{STYLE}">{formula}</div>\n')
    raise SkipNode
