"""Source code as HTML, with a class for each token."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from markupsafe import Markup, escape
from pygments import highlight
from pygments.filter import Filter
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import CppLexer, PythonLexer
from pygments.token import Name, Operator, Punctuation, Text, Whitespace, _TokenType

#: Tokens that have the colour of text: most of them, so a page is half as large without elements for each.
_PLAIN = (Name, Operator, Punctuation, Whitespace)


class _Plain(Filter):
    """Turns tokens that have the colour of text into text."""

    def filter(self, lexer: Lexer | None, stream: Iterable[tuple[_TokenType, str]]) -> Iterator[tuple[_TokenType, str]]:
        for kind, text in stream:
            yield (Text if kind in _PLAIN else kind), text


@cache
def listed(source: str, *, cpp: bool = False) -> Markup:
    """Python or C++ source as HTML with a class for each token that has a colour; Pygments escapes it."""
    lexer = CppLexer() if cpp else PythonLexer()
    lexer.add_filter(_Plain())
    return Markup(highlight(source, lexer, HtmlFormatter(nowrap=True)))


def with_code(text: str) -> Markup:
    """A sentence as HTML, escaped; words between backticks become code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def token_style() -> Markup:
    """The colours of tokens, for light and for dark pages."""
    light = HtmlFormatter(style="default").get_style_defs(".code")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".code")
    light, dark = ("\n".join(r for r in p.splitlines() if "background" not in r) for p in (light, dark))
    return Markup(f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}")
