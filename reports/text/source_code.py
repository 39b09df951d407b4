"""Source code as HTML, with a class for each token."""

from __future__ import annotations

import re
from functools import cache

from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import CppLexer, PythonLexer


@cache
def listed(source: str, *, cpp: bool = False) -> Markup:
    """Python or C++ source as HTML with a class for each token; Pygments escapes it."""
    return Markup(highlight(source, CppLexer() if cpp else PythonLexer(), HtmlFormatter(nowrap=True)))


def with_code(text: str) -> Markup:
    """A sentence as HTML, escaped; words between backticks become code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def token_style() -> Markup:
    """The colours of tokens, for light and for dark pages."""
    light = HtmlFormatter(style="default").get_style_defs(".code")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".code")
    light, dark = ("\n".join(r for r in p.splitlines() if "background" not in r) for p in (light, dark))
    return Markup(f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}")
