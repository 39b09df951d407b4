"""Template: the Jinja environment, the style sheet and the content policy that all pages share."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tf_opdiff.reports.text import sentence, verdicts

HERE = Path(__file__).parent
#: The policy of a page without scripts: it may load nothing and use only its own style.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
#: The most rows of a list on a page.
LISTED = 500


def environment() -> Environment:
    """The environment that finds the templates and has their filters; it escapes everything."""
    jinja = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.filters["number"] = lambda n: f"{n:,}"
    jinja.filters["ulp"] = sentence.number
    jinja.globals["verdicts"] = verdicts.VERDICTS
    return jinja


def style() -> Markup:
    """The style sheet that all pages share: the colours of verdicts, `style.css`, then the other sheets by name."""
    sheets = sorted((HERE / "templates").glob("*.css"), key=lambda path: (path.name != "style.css", path.name))
    return Markup(verdicts.style_sheet() + "".join(path.read_text() for path in sheets))


def render(name: str, *, policy: str = POLICY, **values: object) -> str:
    """A page from a template and the values that it needs, with the shared style."""
    return environment().get_template(name).render(style=style(), policy=policy, **values)
