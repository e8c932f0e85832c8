"""Plain data as YAML that ROS, PyYAML and YAML 1.2 readers understand alike."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence


def number(value: float) -> str:
    """Return the shortest text from which the same double comes back; zero has no sign."""
    return repr(float(value) + 0.0).removesuffix(".0")


def numbers(values: Iterable[float]) -> str:
    """Return numbers with spaces between them, as XML attributes hold them."""
    return " ".join(number(value) for value in values)


def yaml_number(value: float) -> str:
    """Return a number that every YAML reader takes for a float: with a point, ``1.0e-05``."""
    digits, exponent, power = repr(float(value) + 0.0).partition("e")
    return digits + ("" if "." in digits else ".0") + exponent + power


Scalar = str | float | int | bool
Data = Mapping[str, "Data"] | Sequence[Scalar] | Scalar


def yaml_text(data: Mapping[str, Data], *, heading: Sequence[str] = ()) -> str:
    """Return mappings, lists of scalars and scalars as YAML.

    Texts are quoted, floats have a point, lists stand on one line; empty mappings are left out.

    Args:
        data: what to write, in that order.
        heading: lines of the comment at the top.
    """
    lines = [f"# {line}" for line in heading]
    return "\n".join([*lines, *_lines(data, 0), ""])


def _lines(data: Mapping[str, Data], depth: int) -> Iterator[str]:
    indent = "  " * depth
    for key, value in data.items():
        if not isinstance(value, Mapping):
            yield f"{indent}{_quoted(key)}: {_inline(value)}"
        elif value:
            yield f"{indent}{_quoted(key)}:"
            yield from _lines(value, depth + 1)


def _inline(value: Sequence[Scalar] | Scalar) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return yaml_number(value)
    return f"[{', '.join(_inline(item) for item in value)}]"


def _quoted(text: str) -> str:
    """Return text as it is where that is plain, else as JSON, which YAML contains."""
    plain = text.isascii() and text.replace("_", "a").replace("/", "a").isalnum()
    starts = text[:1].isalpha() or text[:1] in "_/"
    if plain and starts and text.lower() not in _WORDS:
        return text
    return _ESCAPED.sub(
        lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False)
    )


# What no reader of YAML takes as it stands, or takes for the end of a line.  Escapes of JSON, which
# are of 16 bits, would tear what lies beyond U+FFFF in two.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_WORDS = {"true", "false", "yes", "no", "on", "off", "y", "n", "null"}


def comment(text: str) -> str:
    """Return a comment of XML, in which two hyphens may not stand side by side."""
    while "--" in text:
        text = text.replace("--", "- -")
    return f"<!-- {text} -->"
