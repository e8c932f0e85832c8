"""Settings of the documentation: ``make docs`` builds it."""

import sys
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "extensions"))

from robot_identification import __version__  # noqa: E402

# rosdoc2 has neither; rosdep knows no key for them.
HAS_MATHML, HAS_FURO = (find_spec(name) is not None for name in ("latex2mathml", "furo"))

project = "robot_identification"
author = "the developers of robot_identification"
release = version = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinxarg.ext",
    "mathml" if HAS_MATHML else "sphinx.ext.mathjax",
    "reference_pages",
]
exclude_patterns = ["build"]
source_suffix = {".md": "markdown"}
root_doc = "index"
nitpicky = True
nitpick_ignore_regex = [(r"py:.*", r".*")]  # types and modules that have no page
autodoc_typehints = "none"  # docstrings tell shapes and units, which types do not
napoleon_google_docstring = True
napoleon_use_ivar = True
suppress_warnings = ["myst.domains"]  # sphinx-argparse does not resolve references of others

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
myst_url_schemes = ("http", "https", "mailto")

highlight_language = "none"  # blocks without a language are commands and what they print
html_math_renderer = "mathml" if HAS_MATHML else "mathjax"
html_theme = "furo" if HAS_FURO else "alabaster"
html_title = f"robot_identification {release}"
html_show_sphinx = False
html_copy_source = False
