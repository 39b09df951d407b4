"""Search page: one box that finds the ops, functions, specs, discrepancies and claims of a run, offline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple

from markupsafe import Markup

from tf_opdiff.harness.store.formats.json_text import json_of
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.analysis.search_index import Entry
from tf_opdiff.reports.pages import embed
from tf_opdiff.reports.pages.menu import Menu
from tf_opdiff.reports.pages.scripts import enclosed, hash_of, script
from tf_opdiff.reports.pages.template import HERE, POLICY, own_style, render
from tf_opdiff.reports.text.bounded import bounded

_SCRIPTS = ("dom.js", "unpack.js", "search/search.js")
#: The most characters of a text of an entry.
_MOST = 600


def html(entries: Sequence[Entry], info: RunInfo, menu: Menu) -> str:
    """The page. Its index is compressed; the script puts texts into the page as text only."""
    own = enclosed(script(HERE / "templates" / name) for name in _SCRIPTS)
    index = [[bounded(text, _MOST) for text in astuple(entry)] for entry in entries]
    return render(
        "search.html",
        policy=f"{POLICY}; script-src {hash_of(own)}",
        own=own,
        own_style=own_style("search/search.css"),
        info=info,
        menu=menu,
        count=len(entries),
        data=Markup(embed.packed(json_of(index))),
    )
