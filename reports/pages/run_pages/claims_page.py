"""Claims page: the verdicts on claims, with programs and evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.analysis.claim_tables.claim_store import stored_verdicts
from tf_opdiff.reports.analysis.claim_tables.claims import Chapter, chapters
from tf_opdiff.reports.pages.menu import Menu
from tf_opdiff.reports.pages.scripts import enclosed, hash_of, script
from tf_opdiff.reports.pages.template import HERE, POLICY, render
from tf_opdiff.reports.text.source_code import token_style
from tf_opdiff.reports.text.verdicts import CLAIM_WORDS

_SCRIPTS = ("dom.js", "claims.js")


def counts(chapters: Sequence[Chapter]) -> dict[str, int]:
    """How many claims have each word."""
    each = [claim.word for chapter in chapters for claim in chapter.claims]
    return {word: each.count(word) for word in CLAIM_WORDS}


def html(
    records: pd.DataFrame, info: RunInfo, claims: Sequence[Mapping[str, Any]], others: pd.DataFrame | None = None
) -> str:
    """The page of the claims; without its script, it is complete. All text from outside is escaped.

    Args:
      records: those of the run.
      info: its run.json.
      claims: its claims.json, as `reports.data.run_data.load.load_claims` gives it.
      others: verdicts of other runs; by default those of `reports.analysis.claim_tables.claim_store`.
    """
    return page(chapters(records, info, claims, stored_verdicts() if others is None else others), info)


def page(all_chapters: Sequence[Chapter], info: RunInfo, menu: Menu | None = None) -> str:
    """The page of some chapters; see `html`."""
    own = enclosed(script(HERE / "templates" / name) for name in _SCRIPTS)
    return render(
        "claims.html",
        policy=f"{POLICY}; script-src {hash_of(own)}",
        script=own,
        info=info,
        menu=menu or Menu("claims.html"),
        chapters=all_chapters,
        counts=counts(all_chapters),
        words=CLAIM_WORDS,
        tokens=token_style(),
    )
