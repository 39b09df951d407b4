"""Template: the Jinja environment, the style sheet and the content policy that all pages share."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from tf_opdiff.reports.pages.compiled_templates import CompiledTemplates
from tf_opdiff.reports.text import bounded, glossary, source_code, verdicts
from tf_opdiff.reports.text.lines import is_address
from tf_opdiff.reports.text.sentences import sentence

HERE = Path(__file__).parent
#: The policy of a page without scripts: it may load nothing and use only its own style.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
#: The end of the part of `style.css` that small pages have too.
_END = "/* End of the foundation. */"
#: The most rows of a list on a page.
LISTED = 500


@cache
def environment() -> Environment:
    """The environment that finds the templates and has their filters; it escapes and bounds everything."""
    jinja = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=bounded.finalized,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=CompiledTemplates(),
    )
    jinja.filters["number"] = lambda n: f"{n:,}"
    jinja.filters["ulp"] = sentence.number
    jinja.tests["address"] = is_address
    jinja.filters["capital"] = lambda text: text[:1].upper() + text[1:]
    jinja.filters["with_code"] = source_code.with_code
    jinja.filters["glossed"] = glossary.glossed
    jinja.filters["glossed_as"] = lambda text, term: glossary.tooltip(text, glossary.TERMS[term])
    jinja.globals["tooltip"] = glossary.tooltip
    jinja.globals["terms"] = glossary.TERMS
    jinja.globals["verdicts"] = verdicts.VERDICTS
    return jinja


@cache
def compiled(name: str) -> Template:
    """A template, compiled once for all pages that are made from it."""
    return environment().get_template(name)


def foundation() -> Markup:
    """The first part of `style.css`, with the colours of verdicts: enough for the many small pages of a run."""
    return Markup(verdicts.style_sheet() + (HERE / "templates" / "style.css").read_text().partition(_END)[0])


def own_style(name: str) -> Markup:
    """The style sheet of one sort of page, in a folder of its own."""
    return Markup((HERE / "templates" / name).read_text())


def style() -> Markup:
    """The style sheet that all pages share: the colours of verdicts, `style.css`, then the other sheets by name."""
    sheets = sorted((HERE / "templates").glob("*.css"), key=lambda path: (path.name != "style.css", path.name))
    return Markup(verdicts.style_sheet() + "".join(path.read_text() for path in sheets))


def render(name: str, *, policy: str = POLICY, **values: object) -> str:
    """A page from a template and the values that it needs, with the shared style."""
    return compiled(name).render(style=style(), policy=policy, **values)
